"""An agent of a loop and the OpenAI SDK: ask, run the tool that is called, ask again."""

import json
import sys

from openai import OpenAI

TOOL = {
    "type": "function",
    "function": {
        "name": "read_note",
        "description": "Read a note.",
        "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
    },
}
stream = sys.argv[1:] == ["stream"]
client = OpenAI()
messages = [{"role": "user", "content": "Read the note."}]
while True:
    if stream:
        with client.chat.completions.stream(model="m", messages=messages, tools=[TOOL]) as events:
            for _ in events:
                pass
            message = events.get_final_completion().choices[0].message
    else:
        message = client.chat.completions.create(model="m", messages=messages, tools=[TOOL]).choices[0].message
    if not message.tool_calls:
        break
    messages.append({"role": "assistant", "content": message.content, "tool_calls": [
        {"id": call.id, "type": "function",
         "function": {"name": call.function.name, "arguments": call.function.arguments}}
        for call in message.tool_calls
    ]})  # fmt: skip
    for call in message.tool_calls:
        path = json.loads(call.function.arguments)["path"]
        messages.append({"role": "tool", "tool_call_id": call.id, "content": f"note of {path}"})
with open("made.txt", "w", encoding="utf-8") as out:
    out.write(message.content)
