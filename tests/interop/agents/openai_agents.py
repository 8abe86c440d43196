"""An agent of the OpenAI Agents SDK over chat completions."""

import asyncio
import sys

from agents import Agent, Runner, function_tool, set_default_openai_api


@function_tool
def read_note(path: str) -> str:
    """Read a note."""
    return f"note of {path}"


async def run(stream: bool) -> str:
    agent = Agent(name="reader", model="m", instructions="Read notes.", tools=[read_note])
    if stream:
        result = Runner.run_streamed(agent, "Read the note.")
        async for _ in result.stream_events():
            pass
    else:
        result = await Runner.run(agent, "Read the note.")
    return str(result.final_output)


set_default_openai_api("chat_completions")
answer = asyncio.run(run(sys.argv[1:] == ["stream"]))
with open("made.txt", "w", encoding="utf-8") as out:
    out.write(answer)
