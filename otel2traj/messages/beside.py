"""What a message says beside its content: reasoning, media, calls; and what a message of a tool answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ..canonical import JsonObject, JsonValue
from .blocks import flat_text, is_cut, is_result, read_block, read_parts, said, sound_parts
from .media import media_of_text
from .nested import decode, ident, string
from .parts import Part, PartKind, reasoning_part
from .tool_blocks import Parts

_THOUGHTS: Final = ("reasoning_content", "reasoning", "reasoning_details", "thinking", "tool_plan")


_THOUGHTS_SET: Final = frozenset(_THOUGHTS)


def reasoning_beside(value: JsonObject, more: JsonObject) -> Parts:
    """Reasoning beside the content: DeepSeek's, OpenRouter's, Ollama's, Cohere's plan."""
    for holder in (value, more):
        for key in _THOUGHTS if not _THOUGHTS_SET.isdisjoint(holder) else ():
            if is_cut(holder.get(key)):
                return [said(PartKind.REASONING, holder[key])]
            found = flat_text(holder.get(key))
            if found:
                return [reasoning_part(found)]
    return []


def media_beside(value: JsonObject) -> Parts:
    """Media beside the content: Ollama's images, the sound of a chat answer."""
    out: Parts = []
    images = value.get("images")
    for image in images if isinstance(images, list) else []:
        media = media_of_text(image, "image")
        if media is not None:
            out.append(Part(PartKind.MEDIA, media=media, raw={"type": "image", "image": image}))
    if isinstance(value.get("audio"), dict):
        out += sound_parts({"audio": value["audio"]})
    attached = value.get("experimental_attachments")
    for item in attached if isinstance(attached, list) else []:
        if isinstance(item, dict):
            kind = item.get("contentType")
            out.extend(read_block({"type": "file", "mediaType": kind, **item}))
    return out


def tool_content(value: JsonObject, content: JsonValue) -> Parts:
    told = value.get("tool_results")
    if isinstance(told, list) and content is None:  # Cohere's first API
        return [_cohere_result(item) for item in told if isinstance(item, dict)]
    if isinstance(content, list) and any(isinstance(item, dict) and is_result(item) for item in content):
        return read_parts(content)
    if isinstance(content, dict) and is_result(content):
        return read_parts(content)
    return [result_of(value, content)]


def _cohere_result(item: JsonObject) -> Part:
    call = item.get("call")
    name = string(call.get("name")) if isinstance(call, dict) else None
    return Part(PartKind.TOOL_RESULT, name=name, value=item.get("outputs"), raw=item)


def result_of(value: JsonObject, content: JsonValue) -> Part:
    name = string(value.get("name")) or string(value.get("tool_name"))
    status = value.get("status")
    failed = status == "error" if status in ("error", "success") else None
    return Part(PartKind.TOOL_RESULT, id=_result_id(value), name=name, value=content, is_error=failed)


def _result_id(value: Mapping[str, Any]) -> str | None:
    more = value.get("additional_kwargs")
    for holder in (value, more if isinstance(more, dict) else {}):
        for key in ("tool_call_id", "call_id", "toolCallId"):
            found = ident(holder.get(key))
            if found is not None:
                return found
    return None if "additional_kwargs" in value or "response_metadata" in value else ident(value.get("id"))


def calls_beside(value: JsonObject, more: JsonObject) -> list[JsonObject]:
    """Tool calls that stand beside the content; LangChain's invalid ones were emitted as well."""
    calls: list[JsonObject] = []
    for key in ("tool_calls", "toolCalls", "invalid_tool_calls"):
        found = decode(value.get(key), repair=False).value
        if isinstance(found, list):
            calls.extend(item for item in found if isinstance(item, dict))
    if not calls and isinstance(more.get("tool_calls"), list):
        calls = [item for item in more["tool_calls"] if isinstance(item, dict)]
    if not calls:
        for holder in (value, more):
            single = holder.get("function_call")
            if isinstance(single, dict) and single.get("name"):
                calls = [single]
                break
    return calls


def with_calls(parts: Parts, calls: Parts) -> Parts:
    """Calls told twice, among the content and beside it, are one; the one beside is decoded and stands."""
    if not calls:
        return parts
    beside = {call.id: call for call in calls if call.id is not None}
    held = [part.kind is PartKind.TOOL_CALL and not part.hosted for part in parts]
    if not any(held):
        return parts + calls
    out = [beside.pop(part.id, part) if own else part for part, own in zip(parts, held, strict=True)]  # type: ignore[arg-type]
    return out + [call for call in calls if call.id in beside]
