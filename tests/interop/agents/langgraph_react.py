"""LangGraph's prebuilt agent over LangChain's OpenAI model."""

import sys

from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.prebuilt import create_react_agent


@tool
def read_note(path: str) -> str:
    """Read a note."""
    return f"note of {path}"


stream = sys.argv[1:] == ["stream"]
agent = create_react_agent(ChatOpenAI(model="m", streaming=stream, stream_usage=stream), [read_note], name="reader")
answer = agent.invoke({"messages": [("user", "Read the note.")]})["messages"][-1].content
with open("made.txt", "w", encoding="utf-8") as out:
    out.write(answer)
