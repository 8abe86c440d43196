"""Anthropic messages: bodies and event streams to exchanges.

https://docs.anthropic.com/en/api/messages (`anthropic-version: 2023-06-01`).
"""

from __future__ import annotations

from ..canonical import JsonObject, JsonValue
from ..messages import Output, ToolCall, Usage
from ..model.reading import ModelRequest, ModelResponse, RequestGlance, ResponseGlance
from .rest import Taken, broken, carry, keep
from .shape import (
    Pieces,
    content_digest,
    count,
    decoded,
    glance_of,
    joined,
    obj,
    objs,
    place,
    split_request,
    string,
    total,
    unread,
    usage_with_raw,
)
from .sse import frames, objects

_DELTA_FIELD = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "thinking"),
    "signature_delta": ("thinking", "signature"),
    "input_json_delta": ("tool_use", "partial_json"),
}
_EVENTS = ("message_start", "content_block_start", "content_block_delta", "message_delta", "message_stop")
_NAMED = ("type", "index", "message", "content_block", "delta", "usage")


class Anthropic:
    name = "anthropic"

    def recognises(self, path: str, request: JsonValue, response: JsonValue) -> bool:
        telling = path.endswith("/messages") and "/threads/" not in path
        vertex = "/publishers/anthropic/" in path and path.endswith(("rawPredict", "RawPredict"))
        return telling or vertex or is_response(response) or is_request(request)

    def request(self, payload: JsonValue) -> ModelRequest:
        return split_request(obj(payload), "messages", system="system")

    def response(self, payload: JsonValue) -> ModelResponse:
        events = frames(payload)
        if events is None:
            return _read(payload, complete=True)
        body, complete = merge(objects(events))
        keep(body, broken(events))
        return _read(body, complete=complete)

    def glance_request(self, payload: JsonValue) -> RequestGlance:
        body = obj(payload)
        out = RequestGlance(model=string(body.get("model")))
        for message in objs(body.get("messages")):
            for block in objs(message.get("content")):
                kind = block.get("type")
                if kind == "tool_result" and isinstance(block.get("tool_use_id"), str):
                    out.reported.append((block["tool_use_id"], content_digest(block.get("content"))))
                elif kind == "tool_use" and isinstance(block.get("id"), str):
                    out.emitted_history.append(block["id"])
        return out

    def glance_response(self, payload: JsonValue) -> ResponseGlance:
        return glance_of(self.response(payload))


def is_request(payload: JsonValue) -> bool:
    """Only what tells it from a chat request: the version key, a system of its own, or Anthropic's tool form."""
    if not isinstance(payload, dict) or not isinstance(payload.get("messages"), list):
        return False
    tools = objs(payload.get("tools"))
    if "toolConfig" in payload or "inferenceConfig" in payload:
        return False
    return "anthropic_version" in payload or "system" in payload or any("input_schema" in tool for tool in tools)


def is_response(payload: JsonValue) -> bool:
    events = frames(payload)
    if events is None:
        body = obj(payload)
        if body.get("type") == "error":
            return isinstance(body.get("error"), dict)
        return body.get("type") == "message" and isinstance(body.get("content"), list)
    return any(event.get("type") in _EVENTS for event in objects(events)[:8])


def usage_of(raw: JsonValue) -> Usage | None:
    """`input_tokens` leaves cached tokens out in this API, so they are added; the raw object stays beside it."""
    body = obj(raw)
    plain = count(body.get("input_tokens"))
    read, written = count(body.get("cache_read_input_tokens")), count(body.get("cache_creation_input_tokens"))
    return usage_with_raw(
        raw,
        Usage(
            input_tokens=total(plain, read, written) if plain is not None else None,
            output_tokens=count(body.get("output_tokens")),
            cache_read_input_tokens=read,
            cache_creation_input_tokens=written,
            reasoning_output_tokens=count(obj(body.get("output_tokens_details")).get("thinking_tokens")),
        ),
    )


def merge(events: list[JsonObject]) -> tuple[JsonObject, bool]:
    """The message a stream told, and whether it reached `message_stop`.

    An index that starts twice is two blocks; a delta whose start was lost begins its own block.
    """
    body: JsonObject = {}
    blocks: list[JsonObject] = []
    latest: dict[int | str | None, JsonObject] = {}
    complete = False
    for event in events:
        kind = event.get("type")
        if kind in (*_EVENTS, "content_block_stop"):
            carry(body, event, *_NAMED)
        if kind == "message_start":
            carry(body, obj(event.get("message")), "content", "usage")
            _grow_usage(body, obj(event.get("message")).get("usage"))
            content = obj(event.get("message")).get("content")
            blocks += [dict(block) for block in objs(content)]
            keep(body, [content] if not isinstance(content, (list, type(None))) else broken(content or []))
        elif kind == "content_block_start":
            block = dict(obj(event.get("content_block")))
            if block.get("type") == "tool_use" and block.get("input") == {}:
                del block["input"]  # every stream begins with this placeholder; the end of the block makes it an answer
            latest[place(event.get("index"))] = latest[None] = block
            blocks.append(block)
        elif kind == "content_block_stop":
            block = latest.get(place(event.get("index")), {})
            if block.get("type") == "tool_use":
                block.setdefault("input", {})
        elif kind == "content_block_delta":
            if not _add(blocks, latest, place(event.get("index")), obj(event.get("delta"))):
                keep(body, [event])
        elif kind == "message_delta":
            delta = obj(event.get("delta"))
            body.update({key: value for key, value in delta.items() if value is not None and body.get(key) is None})
            carry(body, delta)
            _grow_usage(body, event.get("usage"))
        elif kind == "message_stop":
            complete = True
        elif event.get("error") is not None:
            body["error"] = event["error"]
            carry(body, event, "type", "error")
        elif event != {"type": "ping"}:
            keep(body, [event])
    for block in blocks:
        partial = block.get("partial_json")
        if isinstance(partial, Pieces):
            del block["partial_json"]
            if partial.text():
                keep(block, [{"input": block["input"]}] if block.get("input") else [])
                block["input"] = partial.text() if block.get("type") == "tool_use" else decoded(partial.text())
        for key in ("text", "thinking", "signature"):
            if isinstance(block.get(key), Pieces):
                block[key] = block[key].text()
    if blocks or body:
        body["content"] = blocks
    return body, complete


def _grow_usage(body: JsonObject, told: JsonValue) -> None:
    """Counts of a later frame stand for those before them."""
    grown = {key: value for key, value in obj(told).items() if value is not None}
    if grown:
        body["usage"] = {**obj(body.get("usage")), **grown}


def _add(
    blocks: list[JsonObject], latest: dict[int | str | None, JsonObject], index: int | str | None, delta: JsonObject
) -> bool:
    """Whether the delta is of a known kind."""
    kind = delta.get("type")
    known = _DELTA_FIELD.get(kind) if isinstance(kind, str) else None
    block = latest.get(index)
    if block is None:
        if known is None:
            return False
        block = {"type": known[0]}
        latest[index] = latest[None] = block
        blocks.append(block)
    if known is None:
        if not isinstance(delta.get("citation"), dict):
            return False
        block["citations"] = [*objs(block.get("citations")), delta["citation"]]
        carry(block, delta, "type", "citation")
        return True
    field = known[1]
    piece = delta.get(field)
    if isinstance(piece, str):
        held = block.get(field)
        if not isinstance(held, Pieces):
            if not isinstance(held, str):
                keep(block, [{field: held}] if held else [])
                held = ""
            block[field] = held = Pieces([held])
        held.append(piece)
    carry(block, delta, "type", *((field,) if isinstance(piece, str) else ()))
    return True


def _read(payload: JsonValue, *, complete: bool) -> ModelResponse:
    body = obj(payload)
    taken = Taken()
    error = taken.error(body)
    if error is None and not isinstance(body.get("content"), list):
        return unread(payload)
    if error is not None and body.get("type") == "error":
        taken.value(body, "type")
    output = Output(
        model=taken.string(body, "model"),
        usage=usage_of(taken.value(body, "usage")),
        finish_reason=taken.string(body, "stop_reason"),
    )
    texts: list[str | None] = []
    thoughts: list[str | None] = []
    for block in objs(body.get("content")):
        kind = block.get("type")
        if kind == "text":
            texts.append(taken.string(block, "text"))
        elif kind == "thinking":
            thoughts.append(taken.string(block, "thinking"))
        elif kind == "tool_use":
            arguments = taken.arguments(block, "input", ended=complete)
            output.tool_calls.append(ToolCall(taken.id(block, "id"), taken.string(block, "name"), arguments))
        else:
            output.other_parts.append(taken.whole(block))
    output.text, output.reasoning = joined(texts), joined(thoughts, "\n")
    response_id = taken.id(body, "id")
    output.extra, output.repeated_keys = taken.rest(body), taken.repeated
    return ModelResponse(output, response_id, complete and error is None, error)
