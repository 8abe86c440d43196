"""OpenAI chat completions, and the many servers that speak them: bodies and chunk streams to exchanges.

https://platform.openai.com/docs/api-reference/chat (API v1: the chat completion object and its chunk object).
"""

from __future__ import annotations

from base64 import b64decode, b64encode

from ..canonical import JsonObject, JsonValue
from ..messages import Output, ToolCall, Usage, put_choices
from ..model.reading import ModelRequest, ModelResponse, RequestGlance, ResponseGlance
from .rest import Taken, broken, carry, keep
from .shape import (
    content_digest,
    count,
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
_BLANK = ("id", "model", "object", "created")
"""Empty in a first chunk that only tells what the prompt was filtered for (Azure)."""
_GROWING = (*_TEXT, "tool_calls", "function_call", "audio")
_READ = (*_TEXT, "tool_calls", "function_call", "reasoning_details", "name")


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
        keep(merged, broken(events))
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
            if value is not None and (key in ("usage", "error") or out.get(key) in (None, "")):
                out[key] = value
        listed = isinstance(chunk.get("choices"), list)
        carry(out, chunk, "usage", "error", *(key for key in _BLANK if chunk.get(key) in ("", 0)), "choices")
        keep(out, broken(chunk["choices"]) if listed else [chunk["choices"]] if chunk.get("choices") else [])
        for n, piece in enumerate(objs(chunk.get("choices"))):
            index = place(piece.get("index"))
            choice = choices.setdefault(n if index is None else index, {"message": {}, "finish_reason": None})
            told = "delta" if isinstance(piece.get("delta"), dict) else "message"
            _add(choice["message"], obj(piece.get(told)))
            carry(choice, piece, *(["index"] if index is not None else []), told)
    out["choices"] = [{"index": index, **choice} for index, choice in _ordered(choices)]
    for _, choice in choices.items():
        _finish(choice["message"])
    return out


def _ordered(choices: dict[int | str, JsonObject]) -> list[tuple[int | str, JsonObject]]:
    return sorted(choices.items(), key=lambda item: (isinstance(item[0], str), str(item[0]).zfill(12)))


def _add(message: JsonObject, delta: JsonObject) -> None:
    """A piece of another kind than its member is kept in `events` of the message."""
    for key, value in delta.items():
        if value is None:
            continue
        if key in _TEXT and isinstance(value, (str, list)):
            message.setdefault(key, []).extend(value if isinstance(value, list) else [value])
        elif key == "tool_calls" and isinstance(value, list):
            for call in objs(value):
                _add_call(message.setdefault("tool_calls", []), call)
            keep(message, [{key: call} for call in value if not isinstance(call, dict)])
        elif key == "function_call" and isinstance(value, dict):
            _add_function(message.setdefault("function_call", {"name": None, "arguments": []}), value)
        elif key == "audio" and isinstance(value, dict):
            _add_audio(message.setdefault("audio", {}), value)
        elif key in _GROWING:
            keep(message, [{key: value}])
        else:
            carry(message, {key: value})


def _add_audio(held: JsonObject, piece: JsonObject) -> None:
    """Sound and transcript arrive in pieces; each piece of sound is base64 of its own."""
    for key in ("data", "transcript"):
        if isinstance(piece.get(key), str):
            held.setdefault(key, []).append(piece[key])
        elif piece.get(key) is not None:
            keep(held, [{key: piece[key]}])
    carry(held, piece, "data", "transcript")


def _sound(pieces: list[str]) -> str:
    if not any(piece.endswith("=") for piece in pieces[:-1]):
        return "".join(pieces)
    try:
        return b64encode(b"".join(b64decode(piece, validate=True) for piece in pieces)).decode()
    except ValueError:
        return "".join(pieces)


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
    carry(held, delta, *(["index"] if index is not None else []), "function", "custom")
    _add_function(held["function"], obj(delta.get("function")))
    if isinstance(delta.get("custom"), dict):
        _add_function(held.setdefault("custom", {"name": None, "arguments": []}), delta["custom"], "input")
    keep(held, [{key: delta[key]} for key in ("function", "custom") if not isinstance(delta.get(key, {}), dict)])


def _add_function(held: JsonObject, delta: JsonObject, key: str = "arguments") -> None:
    if not held["name"] and isinstance(delta.get("name"), str):
        held["name"] = delta["name"]
    if delta.get(key) is not None:
        held["arguments"].append(delta[key])
    carry(held, delta, key, *(["name"] if delta.get("name") == "" else []))


def _finish(message: JsonObject) -> None:
    for key in _TEXT:
        pieces = message.get(key)
        if isinstance(pieces, list) and all(isinstance(piece, str) for piece in pieces):
            message[key] = "".join(pieces)
    audio = obj(message.get("audio"))
    for key, join in (("data", _sound), ("transcript", "".join)):
        if key in audio:
            audio[key] = join(audio[key])
    functions = [call["function"] for call in message.get("tool_calls") or []]
    functions += [call["custom"] for call in message.get("tool_calls") or [] if "custom" in call]
    if "function_call" in message:
        functions.append(message["function_call"])
    for function in functions:
        pieces = function["arguments"]
        odd = [piece for piece in pieces if not isinstance(piece, str)]
        whole = joined(piece for piece in pieces if isinstance(piece, str))
        function["arguments"] = whole if whole is not None else odd.pop(0) if odd else None
        keep(function, odd)
    for call in message.get("tool_calls") or []:
        if "custom" in call:
            call["custom"]["input"] = call["custom"].pop("arguments")


def _read(payload: JsonValue, *, complete: bool) -> ModelResponse:
    body = obj(payload)
    taken = Taken()
    error = taken.error(body)
    if error is None and "choices" not in body:
        return unread(payload)
    output = Output(model=taken.string(body, "model"), usage=usage_of(taken.value(body, "usage")))
    response = ModelResponse(output, taken.id(body, "id"), complete and error is None, error)
    put_choices(
        output, taken.choices(objs(body.get("choices")), lambda choice: _choice(choice, taken, complete=complete))
    )
    output.extra, output.repeated_keys = taken.rest(body), taken.repeated
    return response


def _choice(choice: JsonObject, taken: Taken, *, complete: bool) -> Output:
    message = obj(choice.get("message"))
    text, reasoning, other = _speech(message, taken)
    refusal, reason = taken.string(message, "refusal"), taken.string(choice, "finish_reason")
    calls = _calls(message, taken, ended=complete or reason is not None)
    return Output(
        text=text, reasoning=reasoning, refusal=refusal, tool_calls=calls, finish_reason=reason, other_parts=other
    )


def _speech(message: JsonObject, taken: Taken) -> tuple[str | None, str | None, list[JsonObject]]:
    content = message.get("content")
    texts: list[str | None] = [taken.string(message, "content")]
    thoughts: list[str | None] = []
    other: list[JsonObject] = []
    parts: list[JsonValue] = content if isinstance(content, list) else []
    for number, part in enumerate(parts):
        if isinstance(part, str):
            texts.append(str(taken.item(parts, number)))
        elif isinstance(part, dict):
            kind = part.get("type")
            if kind in ("text", "output_text") and isinstance(part.get("text"), str):
                texts.append(taken.string(part, "text"))
            elif kind == "thinking" and isinstance(part.get("thinking"), (str, list)):
                whole = taken.string(part, "thinking")
                inner = objs(part["thinking"]) if whole is None else []
                thoughts += [taken.string(item, "text") for item in inner] if whole is None else [whole]
            else:
                other.append(taken.whole(part))
    other += taken.beside(message, *_READ)
    named = taken.string(message, "reasoning_content")
    if named is None or message.get("reasoning") == named:
        named = taken.string(message, "reasoning") or named
    return joined(texts), named if named is not None else joined(thoughts), other


def _calls(message: JsonObject, taken: Taken, *, ended: bool) -> list[ToolCall]:
    out: list[ToolCall] = []
    for call in objs(message.get("tool_calls")):
        custom, function = call.get("custom"), obj(call.get("function"))
        call_id = taken.id(call, "id")
        if isinstance(custom, dict):
            out.append(ToolCall(call_id, taken.string(custom, "name"), taken.value(custom, "input")))
        else:
            arguments = taken.arguments(function, "arguments", ended=ended)
            out.append(ToolCall(call_id, taken.string(function, "name"), arguments))
    legacy = message.get("function_call")
    if isinstance(legacy, dict):
        arguments = taken.arguments(legacy, "arguments", ended=ended)
        out.append(ToolCall(None, taken.string(legacy, "name"), arguments))
    return out
