"""Cohere chat, version 1 and 2: bodies and event streams to exchanges.

https://docs.cohere.com/v2/reference/chat and https://docs.cohere.com/v1/reference/chat (API versions 2 and 1).
"""

from __future__ import annotations

from ..canonical import JsonObject, JsonValue
from ..messages import Output, ToolCall, Usage
from ..model.reading import ModelRequest, ModelResponse, RequestGlance, ResponseGlance
from .rest import Taken, broken, carry, keep
from .shape import (
    content_digest,
    count,
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
_LISTS = ("content", "tool_plan", "tool_calls", "citations")
_KNOWN = ("message-", "content-", "tool-", "citation-")
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
            body = _merge_1(told)
            keep(body, broken(events))
            return _version_1(body, payload, any(e.get("event_type") == "stream-end" for e in told))
        body = _merge_2(told)
        keep(body, broken(events))
        return _version_2(body, any(event.get("type") == "message-end" for event in told))

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
    start: JsonObject = {}
    for event in events:
        kind, index, delta = event.get("type"), place(event.get("index")), obj(event.get("delta"))
        told = obj(delta.get("message"))
        if isinstance(kind, str) and kind.startswith(_KNOWN):
            carry(body, event, "type", "index", "delta")
            carry(body, delta, "message")
            carry(start, told, *_LISTS)
        if kind == "message-start":
            keep(body, [{key: told[key]} for key in _LISTS if told.get(key)])
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
        elif kind not in ("message-end", "content-end", "tool-call-end", "citation-end"):
            keep(body, [event])
    message: JsonObject = {
        **start,
        "content": list(blocks.values()),
        "tool_calls": list(calls.values()),
        "citations": citations,
    }
    if plan:
        message["tool_plan"] = "".join(plan)
    return {**body, "message": message}


def _grow(held: JsonObject, piece: JsonObject, texts: tuple[str, ...]) -> None:
    grown = [key for key in texts if isinstance(piece.get(key), str) and isinstance(held.get(key), str)]
    for key in grown:
        held[key] += piece[key]
    carry(held, piece, *grown)


def _version_2(body: JsonObject, complete: bool) -> ModelResponse:
    taken = Taken()
    message = obj(body.get("message"))
    error = taken.error(body)
    usage = usage_of(taken.value(body, "usage"))
    output = Output(usage=usage, finish_reason=taken.string(body, "finish_reason"))
    texts: list[str | None] = []
    thoughts: list[str | None] = [taken.string(message, "tool_plan")]
    for block in objs(message.get("content")):
        if isinstance(block.get("text"), str):
            texts.append(taken.string(block, "text"))
        elif isinstance(block.get("thinking"), str):
            thoughts.append(taken.string(block, "thinking"))
        else:
            output.other_parts.append(taken.whole(block))
    for call in objs(message.get("tool_calls")):
        function = obj(call.get("function"))
        arguments = taken.arguments(function, "arguments", ended=complete)
        output.tool_calls.append(ToolCall(taken.id(call, "id"), taken.string(function, "name"), arguments))
    output.text, output.reasoning = joined(texts), joined(thoughts, "\n")
    output.other_parts += taken.beside(message, "content", "tool_plan", "tool_calls")
    response_id = taken.id(body, "id")
    output.extra, output.repeated_keys = taken.rest(body), taken.repeated
    return ModelResponse(output, response_id, complete and error is None, error)


def _merge_1(events: list[JsonObject]) -> JsonObject:
    """Version 1: the last event holds the whole answer; without it the pieces do."""
    body: JsonObject = {}
    texts: list[str] = []
    for event in events:
        kind = event.get("event_type")
        if kind in (*_V1, "citation-generation"):
            carry(body, event, "event_type", "is_finished", "text", "tool_calls", "citations", "response")
        if kind == "text-generation":
            texts.append(string(event.get("text")) or "")
        elif kind == "tool-calls-generation":
            body["tool_calls"] = event.get("tool_calls")
        elif kind == "citation-generation":
            body["citations"] = [*objs(body.get("citations")), *objs(event.get("citations"))]
        elif kind == "stream-end":
            whole = obj(event.get("response"))
            body.update({key: whole[key] for key in ("text", "tool_calls", "citations") if key in whole})
            carry(body, whole, "text", "tool_calls", "citations")
        elif kind != "stream-start":
            keep(body, [event])
    if texts:
        body.setdefault("text", "".join(texts))
    return body


def _version_1(body: JsonObject, payload: JsonValue, complete: bool) -> ModelResponse:
    taken = Taken()
    error = taken.error(body)
    if error is None and "text" not in body and "tool_calls" not in body:
        message = error_of(body.get("message"))
        if message is None:
            return unread(payload)
        taken.value(body, "message")
        return ModelResponse(Output(extra=taken.rest(body)), complete=False, error=message)
    output = Output(
        text=taken.string(body, "text"),
        usage=usage_of(taken.value(body, "meta")),
        finish_reason=taken.string(body, "finish_reason"),
    )
    for call in objs(body.get("tool_calls")):
        arguments = taken.arguments(call, "parameters")
        output.tool_calls.append(ToolCall(taken.id(call, "id"), taken.string(call, "name"), arguments))
    cited = [key for key in ("citations", "documents", "search_results") if body.get(key)]
    output.other_parts += [{key: taken.value(body, key)} for key in cited]
    response_id = taken.id(body, "response_id")
    output.extra, output.repeated_keys = taken.rest(body), taken.repeated
    return ModelResponse(output, response_id, complete and error is None, error)
