"""What a scripted model says, by three APIs: OpenAI chat completions and Responses, Gemini generateContent."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

TEXT = "Done: the tool answered."
SIDE_TEXT = "A short title"
SHELLS = ("exec_command", "shell_command", "run_shell_command", "bash")
READERS = ("read_file", "read")
COMMAND = "echo made > made.txt && echo hello from the agent"
MISSING = "missing.txt"

Json = dict[str, Any]
Tools = dict[str, Json]
"""Name to the JSON Schema of the parameters."""

_GEMINI = re.compile(r"/models/([^/:]+):(generateContent|streamGenerateContent)$")
_USAGE = (100, 20)


class Answer(NamedTuple):
    """A text, or one call of a tool."""

    text: str | None = None
    tool: str = ""
    arguments: Json | None = None


Script = Callable[[Tools, int], Answer]
"""From the tools on offer and the number of tool results in the request."""


def first_tool(tools: Tools, turn: int) -> Answer:
    """One call of the first tool, then a text."""
    if not tools or turn:
        return Answer(TEXT)
    name, schema = next(iter(tools.items()))
    return Answer(tool=name, arguments=dict.fromkeys(schema.get("properties") or {}, "a.txt"))


def shell_then_missing_file(tools: Tools, turn: int) -> Answer:
    """A shell command that makes a file, a call that fails for a file that is not there, a text."""
    shell, reader = (next((name for name in known if name in tools), None) for known in (SHELLS, READERS))
    name = shell if turn == 0 else reader or shell
    if name is None:
        return Answer(SIDE_TEXT)
    if turn > 1:
        return Answer(TEXT)
    command = COMMAND if turn == 0 else f"cat {MISSING}"
    return Answer(tool=name, arguments=_arguments(tools[name], command))


def _arguments(schema: Json, command: str) -> Json:
    out: Json = {}
    for name, kind in (schema.get("properties") or {}).items():
        if name in ("command", "cmd"):
            out[name] = command
        elif name in ("file_path", "filePath", "path"):
            out[name] = MISSING
        elif name in (schema.get("required") or ()):
            out[name] = {"boolean": False, "integer": 1, "number": 1}.get(kind.get("type"), "for the test")
    return out


class Api(NamedTuple):
    """One API: what a request holds, and an answer whole or as the frames of an event stream."""

    tools: Callable[[Json], Tools]
    turn: Callable[[Json], int]
    whole: Callable[[Answer, str | None, int], Json]
    frames: Callable[[Answer, str | None, int], Iterator[Json]]
    done: bytes = b""


def called(path: str, body: Json) -> tuple[Api, str | None, bool] | None:
    """The API of a path, the model, whether a stream is wanted; `None` for any other path."""
    found = _GEMINI.search(path)
    if found is not None:
        return GEMINI, found[1], found[2] == "streamGenerateContent"
    api = next((api for end, api in _PATHS.items() if path.endswith(end)), None)
    return None if api is None else (api, body.get("model"), bool(body.get("stream")))


def _chat_tools(body: Json) -> Tools:
    functions = [tool["function"] for tool in body.get("tools") or () if "function" in tool]
    return {function["name"]: function.get("parameters") or {} for function in functions}


def _chat_turn(body: Json) -> int:
    return sum(message.get("role") == "tool" for message in body["messages"])


def _chat_message(answer: Answer, number: int) -> tuple[Json, str]:
    if answer.text is not None:
        return {"role": "assistant", "content": answer.text}, "stop"
    function = {"name": answer.tool, "arguments": json.dumps(answer.arguments)}
    call = {"id": f"call_{number:04d}", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}, "tool_calls"


def _chat_base(model: str | None, number: int) -> Json:
    return {"id": f"chatcmpl-{number:04d}", "created": 1, "model": model}


_CHAT_USAGE = {"prompt_tokens": _USAGE[0], "completion_tokens": _USAGE[1], "total_tokens": sum(_USAGE)}


def _chat_whole(answer: Answer, model: str | None, number: int) -> Json:
    message, finish = _chat_message(answer, number)
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return {**_chat_base(model, number), "object": "chat.completion", "choices": [choice], "usage": _CHAT_USAGE}


def _chat_frames(answer: Answer, model: str | None, number: int) -> Iterator[Json]:
    message, finish = _chat_message(answer, number)
    for index, call in enumerate(message.get("tool_calls") or []):
        call["index"] = index
    base = {**_chat_base(model, number), "object": "chat.completion.chunk"}
    yield {**base, "choices": [{"index": 0, "delta": message, "finish_reason": None}]}
    yield {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}
    yield {**base, "choices": [], "usage": _CHAT_USAGE}


def _responses_tools(body: Json) -> Tools:
    return {
        tool["name"]: tool.get("parameters") or {} for tool in body.get("tools") or () if tool["type"] == "function"
    }


def _responses_turn(body: Json) -> int:
    items = body.get("input")
    return sum(str(item.get("type")).endswith("_output") for item in items) if isinstance(items, list) else 0


def _responses_whole(answer: Answer, model: str | None, number: int) -> Json:
    name = f"resp_{number:04d}"
    if answer.text is not None:
        part = {"type": "output_text", "text": answer.text, "annotations": []}
        item = {"type": "message", "id": f"msg_{name}", "role": "assistant", "content": [part]}
    else:
        arguments = json.dumps(answer.arguments)
        item = {"type": "function_call", "id": f"fc_{name}", "name": answer.tool, "arguments": arguments}
        item["call_id"] = f"call_{number:04d}"
    usage = {"input_tokens": _USAGE[0], "output_tokens": _USAGE[1], "total_tokens": sum(_USAGE)}
    usage |= {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    item["status"] = status = "completed"
    base = {"id": name, "object": "response", "created_at": 1, "model": model}
    return {**base, "status": status, "output": [item], "usage": usage}


def _responses_frames(answer: Answer, model: str | None, number: int) -> Iterator[Json]:
    whole = _responses_whole(answer, model, number)
    (item,) = whole["output"]
    begun = {**item, "status": "in_progress"}
    events: list[tuple[str, Json]] = [
        ("created", {"response": {**whole, "status": "in_progress", "output": [], "usage": None}}),
        ("output_item.added", {"output_index": 0, "item": begun | ({"content": []} if answer.text else {})}),
    ]
    if answer.text is not None:
        delta = {"item_id": item["id"], "output_index": 0, "content_index": 0, "delta": answer.text}
        events.append(("output_text.delta", delta))
    events += [("output_item.done", {"output_index": 0, "item": item}), ("completed", {"response": whole})]
    for sequence, (event, data) in enumerate(events):
        yield {"type": f"response.{event}", "sequence_number": sequence, **data}


def _gemini_tools(body: Json) -> Tools:
    declared = [one for tool in body.get("tools") or () for one in tool.get("functionDeclarations") or ()]
    return {one["name"]: one.get("parametersJsonSchema") or one.get("parameters") or {} for one in declared}


def _gemini_turn(body: Json) -> int:
    return sum("functionResponse" in part for content in body["contents"] for part in content.get("parts") or ())


def _gemini_whole(answer: Answer, model: str | None, number: int) -> Json:
    part: Json = {"text": answer.text}
    if answer.text is None:
        call = {"id": f"call_{number:04d}", "name": answer.tool, "args": answer.arguments}
        part = {"functionCall": call}
    candidate = {"index": 0, "content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}
    usage = {"promptTokenCount": _USAGE[0], "candidatesTokenCount": _USAGE[1], "totalTokenCount": sum(_USAGE)}
    base = {"responseId": f"gemini-{number:04d}", "modelVersion": model}
    return {**base, "candidates": [candidate], "usageMetadata": usage}


def _gemini_frames(answer: Answer, model: str | None, number: int) -> Iterator[Json]:
    yield _gemini_whole(answer, model, number)


CHAT = Api(_chat_tools, _chat_turn, _chat_whole, _chat_frames, b"data: [DONE]\n\n")
RESPONSES = Api(_responses_tools, _responses_turn, _responses_whole, _responses_frames)
GEMINI = Api(_gemini_tools, _gemini_turn, _gemini_whole, _gemini_frames)
_PATHS = {"/chat/completions": CHAT, "/responses": RESPONSES}
