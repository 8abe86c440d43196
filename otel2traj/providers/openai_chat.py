"""OpenAI chat completions, and the many servers that speak them: bodies and chunk streams to exchanges.

https://platform.openai.com/docs/api-reference/chat (API v1: the chat completion object and its chunk object).
"""

from __future__ import annotations

from ..canonical import JsonObject, JsonValue
from ..model.message import Output, ToolCall, Usage
from ..model.reading import ModelRequest, ModelResponse, RequestGlance, ResponseGlance
from .shape import (
    choice_of,
    content_digest,
    count,
    decoded,
    error_of,
    glance_of,
    joined,
    obj,
    objs,
    place,
    split_request,
    string,
    unread,
    usage_with_raw,
)
from .sse import frames, objects

_TEXT = ("content", "reasoning_content", "reasoning", "refusal")
_READ = {*_TEXT, "role", "tool_calls", "function_call", "reasoning_details", "name"}


class OpenAIChat:
    name = "openai-chat"

    def recognises(self, path: str, request: JsonValue, response: JsonValue) -> bool:
        return path.endswith("/chat/completions") or is_response(response) or is_request(request)

    def request(self, payload: JsonValue) -> ModelRequest:
        body = obj(payload)
        out = split_request(body, "messages", system=None)
        if out.tools is None and "functions" in out.parameters:
            out.tools = out.parameters.pop("functions")
        return out

    def response(self, payload: JsonValue) -> ModelResponse:
        events = frames(payload)
        if events is None:
            return _read(payload, complete=True)
        merged = merge(objects(events))
        choices = objs(merged.get("choices"))
        ended = bool(choices) and all(choice.get("finish_reason") is not None for choice in choices)
        return _read(merged, complete=ended and not isinstance(events[-1], str))

    def glance_request(self, payload: JsonValue) -> RequestGlance:
        body = obj(payload)
        out = RequestGlance(model=string(body.get("model")))
        for message in objs(body.get("messages")):
            call_id = message.get("tool_call_id")
            if isinstance(call_id, str) and message.get("role") == "tool":
                out.reported.append((call_id, content_digest(message.get("content"))))
            for call in objs(message.get("tool_calls")):
                if isinstance(call.get("id"), str):
                    out.emitted_history.append(call["id"])
        return out

    def glance_response(self, payload: JsonValue) -> ResponseGlance:
        return glance_of(self.response(payload))


def is_request(payload: JsonValue) -> bool:
    return isinstance(payload, dict) and isinstance(payload.get("messages"), list)


def is_response(payload: JsonValue) -> bool:
    events = frames(payload)
    for body in objects(events)[:8] if events is not None else [obj(payload)]:
        first = next(iter(objs(body.get("choices"))), None)
        if first is not None and ("message" in first or "delta" in first):
            return True
        if body.get("object") in ("chat.completion", "chat.completion.chunk"):
            return True
    return False


def usage_of(raw: JsonValue) -> Usage | None:
    """Input includes cached tokens and output includes reasoning in this API."""
    body = obj(raw)
    prompt, completion = obj(body.get("prompt_tokens_details")), obj(body.get("completion_tokens_details"))
    cached = count(prompt.get("cached_tokens"))
    return usage_with_raw(
        raw,
        Usage(
            input_tokens=count(body.get("prompt_tokens")),
            output_tokens=count(body.get("completion_tokens")),
            cache_read_input_tokens=cached if cached is not None else count(body.get("prompt_cache_hit_tokens")),
            cache_creation_input_tokens=count(prompt.get("cache_write_tokens")),
            reasoning_output_tokens=count(completion.get("reasoning_tokens")),
        ),
    )


def merge(chunks: list[JsonObject]) -> JsonObject:
    """One completion object from its chunks: deltas by choice index, tool calls by their own index."""
    out: JsonObject = {}
    choices: dict[int | str, JsonObject] = {}
    for chunk in chunks:
        for key in ("id", "model", "usage", "error"):
            value = chunk.get(key)
            if value is not None and (key in ("usage", "error") or key not in out or out[key] == ""):
                out[key] = value
        for n, piece in enumerate(objs(chunk.get("choices"))):
            index = place(piece.get("index"))
            choice = choices.setdefault(n if index is None else index, {"message": {}, "finish_reason": None})
            if piece.get("finish_reason") is not None:
                choice["finish_reason"] = piece["finish_reason"]
            delta = piece.get("delta")
            _add(choice["message"], obj(delta if isinstance(delta, dict) else piece.get("message")))
    out["choices"] = [{"index": index, **choice} for index, choice in _ordered(choices)]
    for _, choice in choices.items():
        _finish(choice["message"])
    return out


def _ordered(choices: dict[int | str, JsonObject]) -> list[tuple[int | str, JsonObject]]:
    return sorted(choices.items(), key=lambda item: (isinstance(item[0], str), str(item[0]).zfill(12)))


def _add(message: JsonObject, delta: JsonObject) -> None:
    for key, value in delta.items():
        if value is None:
            continue
        if key in _TEXT and isinstance(value, str):
            message.setdefault(key, []).append(value)
        elif key in _TEXT and isinstance(value, list):
            message.setdefault(key, []).extend(value)
        elif key == "tool_calls":
            for call in objs(value):
                _add_call(message.setdefault("tool_calls", []), call)
        elif key == "function_call":
            held = message.setdefault("function_call", {"name": None, "arguments": []})
            _add_function(held, obj(value))
        elif isinstance(value, list) and isinstance(message.get(key), list):
            message[key] = [*message[key], *value]
        else:
            message[key] = value


def _add_call(calls: list[JsonObject], delta: JsonObject) -> None:
    """The call a delta belongs to: the last one of its index; a new id under an old index starts another call, since
    some servers number every call 0; a delta without an index continues the last call unless it brings a new id."""
    index, call_id = place(delta.get("index")), string(delta.get("id")) or None
    held: JsonObject | None = None
    for call in reversed(calls):
        if index is None or call["index"] == index:
            held = call
            break
    if held is None or (call_id is not None and held["id"] is not None and held["id"] != call_id):
        held = {"index": index, "id": None, "type": None, "function": {"name": None, "arguments": []}}
        calls.append(held)
    if held["id"] is None:
        held["id"] = call_id
    if held["type"] is None:
        held["type"] = delta.get("type")
    _add_function(held["function"], obj(delta.get("function")))
    if isinstance(delta.get("custom"), dict):
        _add_function(held.setdefault("custom", {"name": None, "arguments": []}), delta["custom"], "input")


def _add_function(held: JsonObject, delta: JsonObject, key: str = "arguments") -> None:
    if not held["name"] and isinstance(delta.get("name"), str):
        held["name"] = delta["name"]
    piece = delta.get(key)
    if isinstance(piece, str):
        held["arguments"].append(piece)
    elif piece is not None:
        held["arguments"] = [piece]


def _finish(message: JsonObject) -> None:
    for key in _TEXT:
        pieces = message.get(key)
        if isinstance(pieces, list) and all(isinstance(piece, str) for piece in pieces):
            message[key] = "".join(pieces)
    functions = [call["function"] for call in message.get("tool_calls") or []]
    functions += [call["custom"] for call in message.get("tool_calls") or [] if "custom" in call]
    if "function_call" in message:
        functions.append(message["function_call"])
    for function in functions:
        pieces = function["arguments"]
        whole = joined(piece for piece in pieces if isinstance(piece, str))
        function["arguments"] = whole if whole is not None else (pieces[0] if pieces else None)
    for call in message.get("tool_calls") or []:
        if "custom" in call:
            call["custom"]["input"] = call["custom"].pop("arguments")


def _read(payload: JsonValue, *, complete: bool) -> ModelResponse:
    body = obj(payload)
    error = error_of(body.get("error"))
    if error is None and "choices" not in body:
        return unread(payload)
    choices = objs(body.get("choices"))
    output = Output(model=string(body.get("model")), usage=usage_of(body.get("usage")))
    response = ModelResponse(output, string(body.get("id")), complete and error is None, error)
    listed: list[JsonObject] = []
    for n, choice in enumerate(choices):
        message = obj(choice.get("message"))
        text, reasoning, other = _speech(message)
        calls = _calls(message)
        refusal, reason = string(message.get("refusal")), string(choice.get("finish_reason"))
        if n == 0:
            output.text, output.reasoning, output.refusal = text, reasoning, refusal
            output.tool_calls, output.finish_reason, output.other_parts = calls, reason, other
        index = count(choice.get("index"))
        listed.append(
            choice_of(
                n if index is None else index,
                text=text,
                reasoning=reasoning,
                refusal=refusal,
                tool_calls=calls,
                finish_reason=reason,
            )
        )
    if len(listed) > 1:
        output.choices = listed
    return response


def _speech(message: JsonObject) -> tuple[str | None, str | None, list[JsonObject]]:
    content = message.get("content")
    texts: list[str | None] = [content] if isinstance(content, str) else []
    thoughts: list[str | None] = []
    other: list[JsonObject] = []
    for part in content if isinstance(content, list) else []:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict):
            kind = part.get("type")
            if kind in ("text", "output_text") and isinstance(part.get("text"), str):
                texts.append(part["text"])
            elif kind == "thinking":
                inner = part.get("thinking")
                thoughts += [inner] if isinstance(inner, str) else [string(item.get("text")) for item in objs(inner)]
            else:
                other.append(part)
    for key, value in message.items():
        if key not in _READ and value is not None and value != [] and value != {}:
            other.append({key: value})
    named = next(
        (message[key] for key in ("reasoning_content", "reasoning") if isinstance(message.get(key), str)), None
    )
    return joined(texts), named if named is not None else joined(thoughts), other


def _calls(message: JsonObject) -> list[ToolCall]:
    out: list[ToolCall] = []
    for call in objs(message.get("tool_calls")):
        custom = call.get("custom")
        if isinstance(custom, dict):
            out.append(ToolCall(string(call.get("id")), string(custom.get("name")), custom.get("input")))
            continue
        function = obj(call.get("function"))
        out.append(ToolCall(string(call.get("id")), string(function.get("name")), decoded(function.get("arguments"))))
    legacy = message.get("function_call")
    if isinstance(legacy, dict):
        out.append(ToolCall(None, string(legacy.get("name")), decoded(legacy.get("arguments"))))
    return out
