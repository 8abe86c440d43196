"""OpenInference's indexed attributes become messages.

https://github.com/Arize-ai/openinference/blob/python-openinference-semantic-conventions-v0.1.42/spec/semantic_conventions.md
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ..canonical import JsonObject
from ..model.message import Message
from .histories import Told, of_fields
from .nested import REDACTED, decode
from .table import family, has_gap, subfamily

UNKNOWN: Final = "unknown"
"""The role of a message whose role was dropped by an attribute limit."""
_CONTENTS: Final = "contents."
_CONTENT: Final = "content."


def oi_messages(attributes: Mapping[str, Any], prefix: str) -> Told:
    """Messages of a family (`llm.input_messages.`), cut where some of them were dropped (the indices have gaps)."""
    indexed = family(attributes, prefix)
    out: list[Message] = []
    lost, shared = has_gap(indexed), 0
    asked = prefix == "llm.input_messages."
    for _, fields in indexed:
        fields = {key.removeprefix("message."): value for key, value in fields.items()}
        if asked and "role" not in fields:
            lost = True
            fields["role"] = UNKNOWN
        found = of_fields(fields, None if asked else "assistant", message_object)
        out += found.messages
        shared += found.shared
    return Told(out, lost, shared)


def message_object(fields: Mapping[str, Any]) -> JsonObject:
    """One message's flat attributes as the object they were flattened from."""
    value: JsonObject = {}
    for key in ("role", "tool_call_id", "name", "finish_reason"):
        if fields.get(key) is not None:
            value[key] = fields[key]
    contents = [_block(inner) for _, inner in subfamily(fields, _CONTENTS) or subfamily(fields, _CONTENT)]
    content = fields.get("content")
    blocks = [block for block in contents if block is not None]
    if isinstance(content, str) and content in REDACTED:
        content = None
    if blocks and content is not None and not any(block.get("type") == "text" for block in blocks):
        blocks.append({"type": "text", "text": content})
    value["content"] = blocks if blocks else content
    calls: list[JsonObject] = []
    for _, inner in subfamily(fields, "tool_calls."):
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
        return {"type": "text", "text": text} if isinstance(text, str) else None
    if kind == "tool_use" and not content.get("name") and not content.get("input"):
        return None
    return dict(content)
