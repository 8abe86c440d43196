"""Ollama's own API: `/api/chat` and `/api/generate`, one object or JSON Lines, to exchanges.

https://github.com/ollama/ollama/blob/v0.12.6/docs/api.md
"""

from __future__ import annotations

from ..canonical import JsonObject, JsonValue
from ..messages import Output, ToolCall, Usage
from ..model.reading import ModelRequest, ModelResponse, RequestGlance, ResponseGlance
from .rest import Taken, broken, carry, keep
from .shape import (
    content_digest,
    count,
    glance_of,
    obj,
    objs,
    split_request,
    string,
    unread,
    usage_with_raw,
)
from .sse import frames, objects

_COUNTS = ("prompt_eval_count", "eval_count")
_PIECES = ("content", "thinking")


class Ollama:
    name = "ollama"

    def recognises(self, path: str, request: JsonValue, response: JsonValue) -> bool:
        return path.endswith(("/api/chat", "/api/generate")) or is_response(response)

    def request(self, payload: JsonValue) -> ModelRequest:
        """The prompt of `/api/generate` becomes one user message; images stay parameters."""
        body = obj(payload)
        out = split_request(body, "messages", system="system")
        if out.messages is None and isinstance(body.get("prompt"), str):
            out.messages = [{"role": "user", "content": out.parameters.pop("prompt")}]
        return out

    def response(self, payload: JsonValue) -> ModelResponse:
        events = frames(payload)
        if events is None:
            return _read(obj(payload), payload)
        body = merge(objects(events))
        keep(body, broken(events))
        return _read(body, payload)

    def glance_request(self, payload: JsonValue) -> RequestGlance:
        """Tool results bear the id of their call only in newer versions; without one they name nothing."""
        body = obj(payload)
        out = RequestGlance(model=string(body.get("model")))
        for message in objs(body.get("messages")):
            call_id = message.get("tool_call_id")
            if message.get("role") == "tool" and isinstance(call_id, str):
                out.reported.append((call_id, content_digest(message.get("content"))))
            out.emitted_history += [call["id"] for call in objs(message.get("tool_calls")) if "id" in call]
        return out

    def glance_response(self, payload: JsonValue) -> ResponseGlance:
        return glance_of(self.response(payload))


def is_response(payload: JsonValue) -> bool:
    events = frames(payload)
    for body in objects(events)[:8] if events is not None else [obj(payload)]:
        if isinstance(body.get("done"), bool) and ("response" in body or isinstance(body.get("message"), dict)):
            return True
    return False


def merge(lines: list[JsonObject]) -> JsonObject:
    """One answer from its lines: texts in order, calls one after the other. Each line has a time of its own; the last
    one stands, as in a body that was not streamed."""
    body: JsonObject = {}
    message: JsonObject = {}
    texts: dict[str, list[str]] = {}
    for line in lines:
        told = obj(line.get("message"))
        for holder, key in ((line, "response"), (line, "thinking"), *((told, key) for key in _PIECES)):
            if isinstance(holder.get(key), str):
                texts.setdefault(f"{holder is told}.{key}", []).append(holder[key])
        carry(message, told, *(key for key in _PIECES if isinstance(told.get(key), str)))
        body.update({key: line[key] for key in ("created_at", "done") if key in line})
        spoken = [key for key in ("response", "thinking") if isinstance(line.get(key), str)]
        carry(body, line, "created_at", "done", *spoken, *(["message"] if told else []))
    for name, pieces in texts.items():
        holder = message if name.startswith("True") else body
        key = name.partition(".")[2]
        keep(holder, [{key: holder[key]}] if key in holder else [])
        holder[key] = "".join(pieces)
    if message:
        body["message"] = message
    return body


def _read(body: JsonObject, payload: JsonValue) -> ModelResponse:
    taken = Taken()
    error = taken.error(body)
    if error is None and "message" not in body and "response" not in body:
        return unread(payload)
    message = obj(body.get("message"))
    ended = taken.value(body, "done") is True if isinstance(body.get("done"), bool) else False
    counts = {key: body[key] for key in body if key in _COUNTS}
    usage = Usage(input_tokens=count(body.get("prompt_eval_count")), output_tokens=count(body.get("eval_count")))
    holder = message if isinstance(message.get("content"), str) else body
    output = Output(
        text=taken.string(holder, "content" if holder is message else "response"),
        reasoning=taken.string(message if isinstance(message.get("thinking"), str) else body, "thinking"),
        model=taken.string(body, "model"),
        finish_reason=taken.string(body, "done_reason"),
        usage=usage_with_raw(counts or None, usage),
    )
    for key in counts:
        taken.value(body, key)
    for call in objs(message.get("tool_calls")):
        function = obj(call.get("function"))
        arguments = taken.arguments(function, "arguments")
        output.tool_calls.append(ToolCall(taken.id(call, "id"), taken.string(function, "name"), arguments))
    output.other_parts += taken.beside(message, "content", "thinking", "tool_calls")
    output.extra, output.repeated_keys = taken.rest(body), taken.repeated
    return ModelResponse(output, None, ended and error is None, error)
