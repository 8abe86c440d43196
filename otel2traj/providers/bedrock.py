"""Amazon Bedrock Converse: bodies and event streams to exchanges.

https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html (API version 2023-09-30).
"""

from __future__ import annotations

from ..canonical import JsonObject, JsonValue
from ..model.message import Output, ToolCall, Usage
from ..model.reading import ModelRequest, ModelResponse, RequestGlance, ResponseGlance
from .shape import (
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
    total,
    unread,
    usage_with_raw,
)
from .sse import frames, objects

_EVENTS = ("messageStart", "contentBlockStart", "contentBlockDelta", "messageStop", "metadata")


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
        if "messageStop" in event:
            body["stopReason"] = obj(event["messageStop"]).get("stopReason")
        if "metadata" in event:
            body["usage"] = obj(event["metadata"]).get("usage")
        for name, value in event.items():
            if name.endswith(("Exception", "Error")):
                body["error"] = value if isinstance(value, dict) else {"message": str(value)}
    body["output"] = {"message": {"content": list(blocks.values())}}
    return body


def _add(block: JsonObject, delta: JsonObject) -> None:
    if isinstance(delta.get("text"), str):
        block["text"] = str(block.get("text") or "") + delta["text"]
    tool, thought = delta.get("toolUse"), delta.get("reasoningContent")
    if isinstance(tool, dict) and isinstance(tool.get("input"), str):
        held = {**obj(block.get("toolUse"))}
        held["input"] = str(held.get("input") or "") + tool["input"]
        block["toolUse"] = held
    if isinstance(thought, dict):
        held = {**obj(block.get("reasoningContent"))}
        held["text"] = str(held.get("text") or "") + str(thought.get("text") or "")
        block["reasoningContent"] = held


def _read(payload: JsonValue, *, complete: bool) -> ModelResponse:
    body = obj(payload)
    message = obj(body.get("output")).get("message")
    error = error_of(body.get("error"))
    if not isinstance(message, dict):
        if error is None and isinstance(body.get("message"), str):
            error = body
        if error is None:
            return unread(payload)
        return ModelResponse(complete=False, error=error)
    output = Output(usage=usage_of(body.get("usage")), finish_reason=string(body.get("stopReason")))
    texts: list[str | None] = []
    thoughts: list[str | None] = []
    for block in objs(message.get("content")):
        tool, thought = block.get("toolUse"), block.get("reasoningContent")
        if isinstance(tool, dict):
            output.tool_calls.append(
                ToolCall(string(tool.get("toolUseId")), string(tool.get("name")), decoded(tool.get("input")))
            )
        elif isinstance(block.get("text"), str):
            texts.append(block["text"])
        elif isinstance(thought, dict):
            inner = obj(thought.get("reasoningText"))
            thoughts.append(string(inner.get("text") if inner else thought.get("text")))
        else:
            output.other_parts.append(block)
    output.text, output.reasoning = joined(texts), joined(thoughts, "\n")
    return ModelResponse(output, None, complete and error is None, error)
