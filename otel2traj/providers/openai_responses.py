"""OpenAI Responses: bodies and event streams to exchanges.

https://platform.openai.com/docs/api-reference/responses (API v1: the response object and its streaming events).
"""

from __future__ import annotations

import re

from ..canonical import JsonObject, JsonValue
from ..messages import Output, ToolCall, Usage
from ..model.reading import ModelRequest, ModelResponse, RequestGlance, ResponseGlance
from .rest import Taken, broken, carry, keep
from .shape import (
    Pieces,
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

_ENDS = ("response.completed", "response.incomplete", "response.failed")
_OWN = {
    "instructions",
    "max_output_tokens",
    "previous_response_id",
    "reasoning",
    "store",
    "text",
    "tools",
    "truncation",
}
_OPEN = ("in_progress", "queued")
_DELTAS = {
    "response.output_text.delta": ("content", "output_text", "text"),
    "response.refusal.delta": ("content", "refusal", "refusal"),
    "response.reasoning_text.delta": ("content", "reasoning_text", "text"),
    "response.reasoning_summary_text.delta": ("summary", "summary_text", "text"),
}
_ARGUMENTS = {
    "response.function_call_arguments.delta": "arguments",
    "response.mcp_call_arguments.delta": "arguments",
    "response.custom_tool_call_input.delta": "input",
    "response.code_interpreter_call_code.delta": "code",
}
_RESTATED = re.compile(
    r"response\.(output_item|content_part|output_text|refusal|reasoning\w*|function_call_arguments|mcp_\w+"
    r"|custom_tool_call_input|code_interpreter_\w+|(web_search|file_search|computer|image_generation)_call)\."
)
"""Events that a later one says again: the item when it is done, and the response when it ends."""
_NAMED = ("type", "delta", "output_index", "content_index", "summary_index", "item_id", "sequence_number")
_FRAME = (
    *_NAMED,
    *("text", "arguments", "name", "item", "part", "response", "logprobs", "annotation", "annotation_index"),
    *("refusal", "code", "input", "partial_image_b64", "partial_image_index", "error"),
)


class OpenAIResponses:
    name = "openai-responses"

    def recognises(self, path: str, request: JsonValue, response: JsonValue) -> bool:
        return path.endswith("/responses") or is_response(response) or is_request(request)

    def request(self, payload: JsonValue) -> ModelRequest:
        body = obj(payload)
        out = split_request(body, "input", system="instructions")
        if isinstance(body.get("input"), str):
            del out.parameters["input"]
            out.messages = [{"role": "user", "content": body["input"]}]
        return out

    def response(self, payload: JsonValue) -> ModelResponse:
        events = frames(payload)
        if events is None:
            return _read(payload, complete=True)
        body, complete = merge(objects(events))
        body = {**body}
        keep(body, broken(events))
        return _read(body, complete=complete)

    def glance_request(self, payload: JsonValue) -> RequestGlance:
        body = obj(payload)
        out = RequestGlance(model=string(body.get("model")))
        for item in objs(body.get("input")):
            call_id, kind = item.get("call_id"), item.get("type")
            if not isinstance(call_id, str) or not isinstance(kind, str):
                continue
            if kind.endswith("_call_output"):
                out.reported.append((call_id, content_digest(item.get("output"))))
            elif kind.endswith("_call"):
                out.emitted_history.append(call_id)
        return out

    def glance_response(self, payload: JsonValue) -> ResponseGlance:
        return glance_of(self.response(payload))


def is_request(payload: JsonValue) -> bool:
    """An embeddings request has an `input` too, so there must be more: items with a role or type, or another key."""
    if not isinstance(payload, dict) or "messages" in payload or "input" not in payload:
        return False
    return any("role" in item or "type" in item for item in objs(payload["input"])) or not _OWN.isdisjoint(payload)


def is_response(payload: JsonValue) -> bool:
    events = frames(payload)
    if events is None:
        body = obj(payload)
        return body.get("object") == "response" and isinstance(body.get("output"), list)
    return any(str(event.get("type")).startswith("response.") for event in objects(events)[:8])


def usage_of(raw: JsonValue) -> Usage | None:
    """Input includes cached tokens and output includes reasoning in this API."""
    body = obj(raw)
    details = obj(body.get("input_tokens_details"))
    return usage_with_raw(
        raw,
        Usage(
            input_tokens=count(body.get("input_tokens")),
            output_tokens=count(body.get("output_tokens")),
            cache_read_input_tokens=count(details.get("cached_tokens")),
            cache_creation_input_tokens=count(details.get("cache_write_tokens")),
            reasoning_output_tokens=count(obj(body.get("output_tokens_details")).get("reasoning_tokens")),
        ),
    )


def merge(events: list[JsonObject]) -> tuple[JsonObject, bool]:
    """The final response object, and whether the stream reached its end. Items come from the last event where it has
    them, else one by one from `output_item.done`, else from their deltas."""
    body: JsonObject = {}
    items: dict[int | str, JsonObject] = {}
    done: set[int | str] = set()
    complete = False
    for event in events:
        kind = event.get("type")
        if isinstance(event.get("response"), dict):
            body = event["response"]
            complete = complete or kind in _ENDS
        elif kind == "error" or (kind is None and event.get("error") is not None):
            error = event.get("error")
            body = {**body, "error": error if error is not None else {k: v for k, v in event.items() if k != "type"}}
        elif kind in ("response.output_item.added", "response.output_item.done"):
            item = obj(event.get("item"))
            key = _key(event, item, len(items))
            items[key] = {**item}
            if kind == "response.output_item.done":
                done.add(key)
    whole = body.get("output")
    body = {**body}
    for event in events:
        if _RESTATED.match(str(event.get("type"))) or isinstance(event.get("response"), dict):
            carry(body, event, *_FRAME)
    keep(body, [event for event in events if _is_unknown(event)])
    if isinstance(whole, list) and whole:
        return body, complete
    _grow(items, [event for event in events if _key(event, {}, -1) not in done])
    if items:
        ordered = sorted(items.items(), key=lambda entry: entry[0] if isinstance(entry[0], int) else len(items))
        body["output"] = [item for _, item in ordered]
    return body, complete


def _is_unknown(event: JsonObject) -> bool:
    told = isinstance(event.get("response"), dict) or event.get("error") is not None
    return not told and event.get("type") not in ("error", "keepalive") and not _RESTATED.match(str(event.get("type")))


def _key(event: JsonObject, item: JsonObject, otherwise: int) -> int | str:
    for value in (event.get("output_index"), item.get("id"), event.get("item_id")):
        key = place(value)
        if key is not None:
            return key
    return otherwise


def _grow(items: dict[int | str, JsonObject], events: list[JsonObject]) -> None:
    """Deltas onto the items they name; an item whose start was lost is begun here."""
    spoken: dict[tuple[int | str, str, int], tuple[JsonObject, Pieces]] = {}
    given: dict[tuple[int | str, str], Pieces] = {}
    for event in events:
        kind, delta = str(event.get("type")), event.get("delta")
        if not isinstance(delta, str):
            continue
        key = _key(event, {}, max(len(items) - 1, 0))
        if kind in _DELTAS:
            where, part_type, field = _DELTAS[kind]
            index = count(event.get("content_index" if where == "content" else "summary_index"))
            at = (key, part_type, 0 if index is None else index)
            if at not in spoken:
                spoken[at] = ({"type": part_type, "field": field, "where": where, "beside": {}}, Pieces())
            spoken[at][1].append(delta)
            carry(spoken[at][0]["beside"], event, *_NAMED)
            began = "reasoning" if part_type in ("reasoning_text", "summary_text") else "message"
        elif kind in _ARGUMENTS:
            given.setdefault((key, _ARGUMENTS[kind]), Pieces()).append(delta)
            began = kind.removeprefix("response.").split("_call")[0] + "_call"
        else:
            continue
        if key not in items:
            items[key] = {"type": began, "id": event.get("item_id")}
    for (key, _, _), (part, pieces) in spoken.items():
        held = items[key].get(part["where"])
        grown = {**part["beside"], "type": part["type"], part["field"]: pieces.text()}
        items[key][part["where"]] = [*(held if isinstance(held, list) else []), grown]
    for (key, field), pieces in given.items():
        items[key][field] = pieces.text()


def _read(payload: JsonValue, *, complete: bool) -> ModelResponse:
    body = obj(payload)
    taken = Taken()
    error = taken.error(body)
    if error is None and not isinstance(body.get("output"), list) and string(body.get("id")) is None:
        return unread(payload)
    output = Output(model=taken.string(body, "model"), usage=usage_of(taken.value(body, "usage")))
    status = string(body.get("status"))
    ended = complete and status not in _OPEN
    texts: list[str | None] = []
    refusals: list[str | None] = []
    thoughts: list[str | None] = []
    for item in objs(body.get("output")):
        kind = item.get("type")
        if kind == "message":
            for part in objs(item.get("content")):
                if part.get("type") == "refusal":
                    refusals.append(taken.string(part, "refusal"))
                elif part.get("type") == "output_text":
                    texts.append(taken.string(part, "text"))
                else:
                    output.other_parts.append(taken.whole(part))
        elif kind == "reasoning":
            told = [*objs(item.get("summary")), *objs(item.get("content"))]
            thoughts += [taken.string(part, "text") for part in told]
        elif isinstance(kind, str) and kind.endswith("_call") and (kind in _CLIENT or "call_id" in item):
            output.tool_calls.append(_call(item, kind, taken, ended or item.get("status") == "completed"))
        else:
            output.other_parts.append(taken.whole(item))
    output.text, output.refusal, output.reasoning = joined(texts), joined(refusals), joined(thoughts, "\n")
    reason = taken.string(obj(body.get("incomplete_details")), "reason")
    output.finish_reason = reason
    if reason is None and status not in _OPEN:
        output.finish_reason = taken.string(body, "status")
    response_id = taken.id(body, "id")
    output.extra, output.repeated_keys = taken.rest(body), taken.repeated
    return ModelResponse(output, response_id, ended and error is None, error)


_CLIENT = {"function_call", "custom_tool_call"}


def _call(item: JsonObject, kind: str, taken: Taken, ended: bool) -> ToolCall:
    """An item with a `call_id` is one the client must answer; its `id` is only the item's own."""
    name = taken.string(item, "name")
    call_id, item_id = taken.id(item, "call_id"), string(item.get("id"))
    if kind == "custom_tool_call":
        return ToolCall(call_id, name, taken.value(item, "input"), item_id)
    key = next((key for key in ("arguments", "action", "operation", "input") if key in item), "arguments")
    if name is None:
        name = kind.removesuffix("_call")
        if kind not in _CLIENT:
            taken.value(item, "type")
    return ToolCall(call_id, name, taken.arguments(item, key, ended=ended), item_id)
