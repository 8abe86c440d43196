"""Attributes that were flattened out of a message become the object they were flattened from.

The names are OpenInference's (`message.role`, `message.contents.0.message_content.type`) and Traceloop's:
https://github.com/Arize-ai/openinference/blob/python-openinference-semantic-conventions-v0.1.42/spec/semantic_conventions.md
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ..canonical import JsonObject
from .nested import REDACTED, decode

_CONTENTS: Final = "contents."
_CONTENT: Final = "content."
_INDEXED: Final = re.compile(r"((?:[^.]*\.)+?)([0-9]+)(?:\.(.*))?", re.S)


Family = list[tuple[int, dict[str, Any]]]
"""(index, {rest of the name: value}) by index. Gaps stay gaps: the index says where messages were dropped."""


def families(attributes: Mapping[str, Any]) -> dict[str, Family]:
    """Indexed flat attributes (`llm.input_messages.0.message.role`), each family under what stands before its index."""
    found: dict[str, dict[int, dict[str, Any]]] = {}
    for key, value in attributes.items():
        place = _PLACES.get(key, _UNASKED)
        if place is _UNASKED:
            place = _place(key)
            if len(_PLACES) < _MAX_PLACES:
                _PLACES[key] = place
        if place is None:
            continue
        prefix, index, rest = place
        members = found.get(prefix)
        if members is None:
            members = found[prefix] = {}
        fields = members.get(index)
        if fields is None:
            fields = members[index] = {}
        fields[rest] = value
    return {prefix: sorted(members.items()) for prefix, members in found.items()}


def family(attributes: Mapping[str, Any], prefix: str) -> Family:
    """One of them; `prefix` ends in a dot."""
    return families(attributes).get(prefix, [])


def _place(key: str) -> tuple[str, int, str] | None:
    match = _INDEXED.fullmatch(key)
    if match is None or len(match[2]) > 9:
        return None
    return sys.intern(match[1]), int(match[2]), sys.intern(match[3] or "")


_PLACES: Final[dict[str, tuple[str, int, str] | None]] = {}
"""Where an attribute stands, by its name: the same names come with every span."""
_MAX_PLACES: Final = 16384
_UNASKED: Final = ("", -1, "")


def has_gap(indexed: Sequence[tuple[int, Any]]) -> bool:
    """Whether indexed attributes start late or jump: some were dropped."""
    return any(index != position for position, (index, _) in enumerate(indexed))


def message_object(fields: Mapping[str, Any]) -> JsonObject:
    """One message's flat attributes as the object they were flattened from."""
    value: JsonObject = {}
    for key in ("role", "tool_call_id", "name", "finish_reason"):
        if fields.get(key) is not None:
            value[key] = fields[key]
    indexed = families(fields)
    contents = [_block(inner) for _, inner in indexed.get(_CONTENTS) or indexed.get(_CONTENT, [])]
    content = fields.get("content")
    blocks = [block for block in contents if block is not None]
    if isinstance(content, str) and content in REDACTED:
        content = None
    if blocks and content is not None and not any(block.get("type") == "text" for block in blocks):
        blocks.append({"type": "text", "text": content})
    value["content"] = blocks if blocks else content
    calls: list[JsonObject] = []
    for _, inner in indexed.get("tool_calls.", []):
        call = {key.removeprefix("tool_call."): item for key, item in inner.items()}
        calls.append(
            {
                "id": call.get("id"),
                "name": call.get("function.name", call.get("name")),
                "arguments": call.get("function.arguments", call.get("arguments")),
            }
        )
    if not calls and fields.get("function_call_name"):
        arguments = fields.get("function_call_arguments_json")
        calls.append({"id": None, "name": fields["function_call_name"], "arguments": arguments})
    if calls:
        value["tool_calls"] = calls
    return value


def _block(fields: Mapping[str, Any]) -> JsonObject | None:
    """One of several contents: text, reasoning, image, audio, or a call that is repeated beside it."""
    if "" in fields:
        inner = decode(fields[""], repair=False).value
        return inner if isinstance(inner, dict) else {"type": "text", "text": inner} if isinstance(inner, str) else None
    content = {key.removeprefix("message_content."): value for key, value in fields.items()}
    kind = content.get("type")
    text = content.get("text")
    if isinstance(text, str) and text in REDACTED:
        text = None
    if kind in ("reasoning", "thinking"):
        return {**content, "type": "reasoning", "text": text}
    if kind in (None, "text", "input_text", "output_text"):
        return None if text is None else {"type": "text", "text": text}
    if kind == "tool_use" and not content.get("name") and not content.get("input"):
        return None
    return dict(content)
