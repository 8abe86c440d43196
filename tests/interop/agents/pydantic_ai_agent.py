"""A Pydantic AI agent with one tool; its own instrumentation is turned on, as its documentation has it."""

import sys

from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel

Agent.instrument_all()
agent = Agent(OpenAIChatModel("m"), name="reader")


@agent.tool_plain
def read_note(path: str) -> str:
    """Read a note."""
    return f"note of {path}"


if sys.argv[1:] == ["stream"]:
    import asyncio

    async def streamed() -> str:
        async with agent.run_stream("Read the note.") as run:
            return await run.get_output()

    answer = asyncio.run(streamed())
else:
    answer = agent.run_sync("Read the note.").output
with open("made.txt", "w", encoding="utf-8") as out:
    out.write(answer)
