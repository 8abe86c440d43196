"""An Agno agent with one tool."""

import os
import sys

from agno.agent import Agent
from agno.models.openai import OpenAIChat


def read_note(path: str) -> str:
    """Read a note.

    Args:
        path: where it lies
    """
    return f"note of {path}"


agent = Agent(
    name="reader", model=OpenAIChat(id="m", base_url=os.environ["OPENAI_BASE_URL"]), tools=[read_note], telemetry=False
)
if sys.argv[1:] == ["stream"]:
    answer = "".join(
        part.content or "" for part in agent.run("Read the note.", stream=True) if hasattr(part, "content")
    )
else:
    answer = agent.run("Read the note.").content
with open("made.txt", "w", encoding="utf-8") as out:
    out.write(answer)
