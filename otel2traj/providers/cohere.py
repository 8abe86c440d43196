"""Cohere chat, version 1 and 2: bodies and event streams to exchanges.

https://docs.cohere.com/v2/reference/chat and https://docs.cohere.com/v1/reference/chat (API versions 2 and 1).
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
    place,
    split_request,
    string,
    unread,
    usage_with_raw,
)
from .sse import frames, objects

_V2 = ("message-start", "content-start", "content-delta", "tool-plan-delta", "tool-call-start", "message-end")
_V1 = ("stream-start", "text-generation", "tool-calls-generation", "stream-end")


class Cohere:
    name = "cohere"

    def recognises(self, path: str, request: JsonValue, response: JsonValue) -> bool:
        return path.endswith(("/v1/chat", "/v2/chat")) or is_response(response) or is_request(request)

    def request(self, payload: JsonValue) -> ModelRequest:
        """Version 1 has the newest message apart from the history; it becomes the last of the messages."""
        body = obj(payload)
        if "messages" in body:
            return split_request(body, "messages", system=None)
        out = split_request(body, "chat_history", system="preamble")
        if isinstance(body.get("message"), str):
            asked = out.parameters.pop("message")
            out.messages = [*(out.messages or []), {"role": "USER", "message": asked}]
        return out

    def response(self, payload: JsonValue) -> ModelResponse:
        events = frames(payload)
        if events is None:
            body = obj(payload)
            return _version_2(body, True) if isinstance(body.get("message"), dict) else _version_1(body, payload, True)
        told = objects(events)
        if any("event_type" in event for event in told):
            return _version_1(_merge_1(told), payload, any(e.get("event_type") == "stream-end" for e in told))
        return _version_2(_merge_2(told), any(event.get("type") == "message-end" for event in told))

    def glance_request(self, payload: JsonValue) -> RequestGlance:
        body = obj(payload)
        out = RequestGlance(model=string(body.get("model")))
        for message in objs(body.get("messages")):
            call_id = message.get("tool_call_id")
            if isinstance(call_id, str):
                out.reported.append((call_id, content_digest(message.get("content"))))
            out.emitted_history += [call["id"] for call in objs(message.get("tool_calls")) if "id" in call]
        return out

    def glance_response(self, payload: JsonValue) -> ResponseGlance:
        return glance_of(self.response(payload))


def is_request(payload: JsonValue) -> bool:
    return isinstance(payload, dict) and isinstance(payload.get("message"), str) and "messages" not in payload


def is_response(payload: JsonValue) -> bool:
    events = frames(payload)
    if events is not None:
        return any(e.get("type") in _V2 or e.get("event_type") in _V1 for e in objects(events)[:8])
    body = obj(payload)
    second = isinstance(obj(body.get("message")).get("content"), list) or "tool_plan" in obj(body.get("message"))
    return (second and "finish_reason" in body) or ("generation_id" in body and isinstance(body.get("text"), str))


def usage_of(raw: JsonValue) -> Usage | None:
    """`tokens` counts what the model saw; `billed_units` what is paid for, which is not the same."""
    tokens = obj(obj(raw).get("tokens"))
    usage = Usage(
        input_tokens=count(tokens.get("input_tokens")),
        output_tokens=count(tokens.get("output_tokens")),
        cache_read_input_tokens=count(obj(raw).get("cached_tokens")),
    )
    return usage_with_raw(raw, usage)


def _merge_2(events: list[JsonObject]) -> JsonObject:
    """Version 2: blocks, calls and citations by their index."""
    body: JsonObject = {}
    blocks: dict[int | str | None, JsonObject] = {}
    calls: dict[int | str | None, JsonObject] = {}
    citations: list[JsonValue] = []
    plan: list[str] = []
    for event in events:
        kind, index, delta = event.get("type"), place(event.get("index")), obj(event.get("delta"))
        told = obj(delta.get("message"))
        if kind == "message-start":
            body["id"] = event.get("id")
        elif kind == "message-end":
            body.update(delta)
        elif kind == "tool-plan-delta":
            plan.append(string(told.get("tool_plan")) or "")
        elif kind in ("content-start", "content-delta"):
            _grow(blocks.setdefault(index, {}), obj(told.get("content")), ("text", "thinking"))
        elif kind in ("tool-call-start", "tool-call-delta"):
            piece = obj(told.get("tool_calls"))
            call = calls.setdefault(index, {"function": {}})
            _grow(call, {key: value for key, value in piece.items() if key != "function"}, ())
            _grow(call["function"], obj(piece.get("function")), ("arguments",))
        elif kind == "citation-start":
            found = told.get("citations")
            citations += found if isinstance(found, list) else [found]
        elif kind not in ("content-end", "tool-call-end", "citation-end"):
            body.setdefault("events", []).append(event)
    message: JsonObject = {"content": list(blocks.values()), "tool_calls": list(calls.values()), "citations": citations}
    if plan:
        message["tool_plan"] = "".join(plan)
    return {**body, "message": message}


def _grow(held: JsonObject, piece: JsonObject, texts: tuple[str, ...]) -> None:
    for key, value in piece.items():
        grows = key in texts and isinstance(value, str) and isinstance(held.get(key), str)
        held[key] = held[key] + value if grows else value


def _version_2(body: JsonObject, complete: bool) -> ModelResponse:
    message = obj(body.get("message"))
    error = error_of(body.get("error"))
    output = Output(usage=usage_of(body.get("usage")), finish_reason=string(body.get("finish_reason")))
    texts: list[str | None] = []
    thoughts: list[str | None] = [string(message.get("tool_plan"))]
    for block in objs(message.get("content")):
        if isinstance(block.get("text"), str):
            texts.append(block["text"])
        elif isinstance(block.get("thinking"), str):
            thoughts.append(block["thinking"])
        else:
            output.other_parts.append(block)
    for call in objs(message.get("tool_calls")):
        function = obj(call.get("function"))
        output.tool_calls.append(
            ToolCall(string(call.get("id")), string(function.get("name")), decoded(function.get("arguments")))
        )
    output.text, output.reasoning = joined(texts), joined(thoughts, "\n")
    output.other_parts += beside(message, "content", "tool_plan", "tool_calls")
    output.other_parts += beside(body, "id", "message", "finish_reason", "usage", "error")
    return ModelResponse(output, string(body.get("id")), complete and error is None, error)


def _merge_1(events: list[JsonObject]) -> JsonObject:
    """Version 1: the last event holds the whole answer; without it the pieces do."""
    body: JsonObject = {}
    texts: list[str] = []
    for event in events:
        kind = event.get("event_type")
        if kind == "stream-start":
            body["generation_id"] = event.get("generation_id")
        elif kind == "text-generation":
            texts.append(string(event.get("text")) or "")
        elif kind == "tool-calls-generation":
            body["tool_calls"] = event.get("tool_calls")
        elif kind == "citation-generation":
            body["citations"] = [*objs(body.get("citations")), *objs(event.get("citations"))]
        elif kind == "stream-end":
            body.update(obj(event.get("response")))
            body["finish_reason"] = event.get("finish_reason")
    if texts:
        body.setdefault("text", "".join(texts))
    return body


def _version_1(body: JsonObject, payload: JsonValue, complete: bool) -> ModelResponse:
    error = error_of(body.get("error"))
    if error is None and "text" not in body and "tool_calls" not in body:
        message = error_of(body.get("message"))
        return unread(payload) if message is None else ModelResponse(complete=False, error=message)
    output = Output(
        text=string(body.get("text")),
        usage=usage_of(body.get("meta")),
        finish_reason=string(body.get("finish_reason")),
        tool_calls=[
            ToolCall(string(call.get("id")), string(call.get("name")), call.get("parameters"))
            for call in objs(body.get("tool_calls"))
        ],
    )
    named = ("response_id", "text", "meta", "finish_reason", "tool_calls", "error")
    output.other_parts += beside(body, *named)
    response_id = string(body.get("response_id"))
    return ModelResponse(output, response_id, complete and error is None, error)
