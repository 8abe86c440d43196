"""Amazon Bedrock Converse: bodies and event streams to exchanges.

https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html (API version 2023-09-30).
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

_EVENTS = ("messageStart", "contentBlockStart", "contentBlockDelta", "messageStop", "metadata")
_NAMED = {
    "messageStart": ("role", "p"),
    "contentBlockStart": ("start", "contentBlockIndex", "p"),
    "contentBlockDelta": ("delta", "contentBlockIndex", "p"),
    "contentBlockStop": ("contentBlockIndex", "p"),
    "messageStop": ("p",),
    "metadata": ("usage", "p"),
}
"""`p` is padding that hides the length of a frame."""


class BedrockConverse:
    name = "bedrock-converse"

    def recognises(self, path: str, request: JsonValue, response: JsonValue) -> bool:
        return path.endswith(("/converse", "/converse-stream")) or is_response(response) or is_request(request)

    def request(self, payload: JsonValue) -> ModelRequest:
        """Tools stand inside `toolConfig`; what else it holds stays a parameter."""
        out = split_request(obj(payload), "messages", system="system", tools="toolConfig")
        config = obj(out.tools)
        rest = {key: value for key, value in config.items() if key != "tools"}
        out.tools = config.get("tools")
        if rest:
            out.parameters["toolConfig"] = rest
        return out

    def response(self, payload: JsonValue) -> ModelResponse:
        events = frames(payload)
        if events is None:
            return _read(payload, complete=True)
        body = merge(objects(events))
        keep(body, broken(events))
        return _read(body, complete=body.get("stopReason") is not None)

    def glance_request(self, payload: JsonValue) -> RequestGlance:
        body = obj(payload)
        out = RequestGlance(model=string(body.get("modelId")))
        for message in objs(body.get("messages")):
            for block in objs(message.get("content")):
                reply, call = obj(block.get("toolResult")), obj(block.get("toolUse"))
                if isinstance(reply.get("toolUseId"), str):
                    out.reported.append((reply["toolUseId"], content_digest(reply.get("content"))))
                if isinstance(call.get("toolUseId"), str):
                    out.emitted_history.append(call["toolUseId"])
        return out

    def glance_response(self, payload: JsonValue) -> ResponseGlance:
        return glance_of(self.response(payload))


def is_request(payload: JsonValue) -> bool:
    return (
        isinstance(payload, dict)
        and ("toolConfig" in payload or "inferenceConfig" in payload)
        and "messages" in payload
    )


def is_response(payload: JsonValue) -> bool:
    events = frames(payload)
    if events is None:
        body = obj(payload)
        return "stopReason" in body and isinstance(obj(body.get("output")).get("message"), dict)
    return any(name in event for event in objects(events)[:8] for name in _EVENTS[:4])


def usage_of(raw: JsonValue) -> Usage | None:
    """`inputTokens` leaves cached tokens out in this API, so they are added."""
    body = obj(raw)
    plain = count(body.get("inputTokens"))
    read, written = count(body.get("cacheReadInputTokens")), count(body.get("cacheWriteInputTokens"))
    return usage_with_raw(
        raw,
        Usage(
            input_tokens=total(plain, read, written) if plain is not None else None,
            output_tokens=count(body.get("outputTokens")),
            cache_read_input_tokens=read,
            cache_creation_input_tokens=written,
        ),
    )


def merge(events: list[JsonObject]) -> JsonObject:
    """The reply that a stream of `{"<event>": {...}}` frames told."""
    body: JsonObject = {}
    message: JsonObject = {}
    blocks: dict[int | str, JsonObject] = {}
    for event in events:
        start, delta = obj(event.get("contentBlockStart")), obj(event.get("contentBlockDelta"))
        if start:
            key = place(start.get("contentBlockIndex"))
            blocks[len(blocks) if key is None else key] = {
                name: dict(value) if isinstance(value, dict) else value
                for name, value in obj(start.get("start")).items()
            }
        if delta:
            key = place(delta.get("contentBlockIndex"))
            _add(blocks.setdefault(len(blocks) if key is None else key, {}), obj(delta.get("delta")))
        carry(message, {"role": obj(event.get("messageStart")).get("role")})
        if "metadata" in event:
            body["usage"] = obj(event["metadata"]).get("usage")
        for name, value in event.items():
            if name.endswith(("Exception", "Error")):
                body["error"] = value if isinstance(value, dict) else {"message": str(value)}
            elif name in _NAMED and isinstance(value, dict):
                carry(body, value, *_NAMED[name])
            else:
                keep(body, [{name: value}])
    body["output"] = {"message": {**message, "content": list(blocks.values())}}
    return body


def _add(block: JsonObject, delta: JsonObject) -> None:
    if isinstance(delta.get("text"), str):
        block["text"] = str(block.get("text") or "") + delta["text"]
    tool, thought, citation = delta.get("toolUse"), delta.get("reasoningContent"), delta.get("citation")
    if isinstance(tool, dict):
        held = {**obj(block.get("toolUse"))}
        if isinstance(tool.get("input"), str):
            held["input"] = str(held.get("input") or "") + tool["input"]
        carry(held, tool, *(("input",) if isinstance(tool.get("input"), str) else ()))
        block["toolUse"] = held
    if isinstance(thought, dict):
        held = {**obj(block.get("reasoningContent"))}
        told = {**obj(held.get("reasoningText"))}
        for key in ("text", "signature"):
            if isinstance(thought.get(key), str):
                told[key] = str(told.get(key) or "") + thought[key]
        if told:
            held["reasoningText"] = told
        carry(held, thought, "text", "signature")
        block["reasoningContent"] = held
    if isinstance(citation, dict):
        block["citations"] = [*objs(block.get("citations")), citation]
    known = [key for key in ("toolUse", "reasoningContent", "citation") if isinstance(delta.get(key), dict)]
    carry(block, delta, *known, *(("text",) if isinstance(delta.get("text"), str) else ()))


def _read(payload: JsonValue, *, complete: bool) -> ModelResponse:
    body = obj(payload)
    taken = Taken()
    message = obj(body.get("output")).get("message")
    error = taken.error(body)
    if not isinstance(message, dict):
        if error is None and isinstance(body.get("message"), str):
            return ModelResponse(complete=False, error=body)
        if error is None:
            return unread(payload)
        return ModelResponse(Output(extra=taken.rest(body)), complete=False, error=error)
    output = Output(usage=usage_of(taken.value(body, "usage")), finish_reason=taken.string(body, "stopReason"))
    texts: list[str | None] = []
    thoughts: list[str | None] = []
    for block in objs(message.get("content")):
        tool, thought = block.get("toolUse"), block.get("reasoningContent")
        cited = obj(block.get("citationsContent"))
        if isinstance(tool, dict):
            arguments = taken.arguments(tool, "input", ended=complete)
            call = ToolCall(taken.id(tool, "toolUseId"), taken.string(tool, "name"), arguments)
            output.tool_calls.append(call)
        elif isinstance(block.get("text"), str):
            texts.append(taken.string(block, "text"))
        elif isinstance(thought, dict):
            inner = obj(thought.get("reasoningText"))
            thoughts.append(taken.string(inner or thought, "text"))
        elif objs(cited.get("content")):
            texts += [taken.string(part, "text") for part in objs(cited.get("content"))]
        else:
            output.other_parts.append(taken.whole(block))
    output.text, output.reasoning = joined(texts), joined(thoughts, "\n")
    output.extra, output.repeated_keys = taken.rest(body), taken.repeated
    return ModelResponse(output, None, complete and error is None, error)
