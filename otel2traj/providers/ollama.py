"""Ollama's own API: `/api/chat` and `/api/generate`, one object or JSON Lines, to exchanges.

https://github.com/ollama/ollama/blob/v0.12.6/docs/api.md
"""

from __future__ import annotations

from ..canonical import JsonObject, JsonValue
from ..model.message import Output, ToolCall, Usage
from ..model.reading import ModelRequest, ModelResponse, RequestGlance, ResponseGlance
from .shape import (
    beside,
    content_digest,
    count,
    decoded,
    error_of,
    glance_of,
    joined,
    obj,
    objs,
    split_request,
    string,
    unread,
    usage_with_raw,
)
from .sse import frames, objects

_COUNTS = ("prompt_eval_count", "eval_count")
_NAMED = ("model", "message", "response", "thinking", "done", "done_reason", "error", *_COUNTS)


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
            body = obj(payload)
            return _read(payload, [body], body)
        pieces = objects(events)
        return _read(payload, pieces, {key: value for piece in pieces for key, value in piece.items()})

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


def _read(payload: JsonValue, pieces: list[JsonObject], last: JsonObject) -> ModelResponse:
    error = error_of(last.get("error"))
    if error is None and "message" not in last and "response" not in last:
        return unread(payload)
    messages = [obj(piece.get("message")) for piece in pieces]
    counts = {key: last[key] for key in last if key in _COUNTS}
    usage = Usage(input_tokens=count(last.get("prompt_eval_count")), output_tokens=count(last.get("eval_count")))
    output = Output(
        text=joined(string(m.get("content")) for m in messages),
        reasoning=joined(string(m.get("thinking")) for m in messages),
        model=string(last.get("model")),
        finish_reason=string(last.get("done_reason")),
        usage=usage_with_raw(counts or None, usage),
    )
    if output.text is None:
        output.text = joined(string(piece.get("response")) for piece in pieces)
    if output.reasoning is None:
        output.reasoning = joined(string(piece.get("thinking")) for piece in pieces)
    for message in messages:
        for call in objs(message.get("tool_calls")):
            function = obj(call.get("function"))
            output.tool_calls.append(
                ToolCall(string(call.get("id")), string(function.get("name")), decoded(function.get("arguments")))
            )
        output.other_parts += beside(message, "content", "thinking", "tool_calls")
    output.other_parts += beside(last, *_NAMED)
    return ModelResponse(output, None, last.get("done") is True and error is None, error)
