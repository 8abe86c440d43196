"""A message of any recorded shape into a role and pieces that can be shown, with nothing left out.

Shapes: GenAI `parts`, OpenAI chat and Responses items, Anthropic blocks, Gemini parts, LangChain dumps. What no shape
knows becomes a piece of kind `other` with its JSON.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from ..canonical import JsonObject, JsonValue
from ..messages import blob_line, fold, media_of


class PieceKind(StrEnum):
    TEXT = "text"
    REASONING = "reasoning"
    REFUSAL = "refusal"
    TOOL_CALL = "tool call"
    TOOL_RESULT = "tool result"
    OTHER = "other"


@dataclass(slots=True)
class Piece:
    """`value` is text, or JSON for what is not text; `id` and `name` are those of a tool call or result."""

    kind: PieceKind
    value: JsonValue
    id: str | None = None
    name: str | None = None


@dataclass(slots=True)
class Said:
    role: str
    pieces: list[Piece]
    name: str | None = None


_ROLE_OF_TYPE: Final = {
    "human": "user",
    "ai": "assistant",
    "system": "system",
    "tool": "tool",
    "function_call": "assistant",
    "reasoning": "assistant",
    "function_call_output": "tool",
}
_TEXT_TYPES: Final = frozenset({"text", "input_text", "output_text", "summary_text"})
_REASONING_TYPES: Final = frozenset({"reasoning", "thinking", "thought"})
_CALL_TYPES: Final = frozenset({"tool_call", "tool_use", "function_call"})
_RESULT_TYPES: Final = frozenset({"tool_call_response", "tool_result", "function_call_output"})


def _text(value: JsonValue) -> str | None:
    return value if isinstance(value, str) else None


def _first(data: JsonObject, *keys: str) -> JsonValue:
    for key in keys:
        if data.get(key) is not None:
            return data[key]  # type: ignore[no-any-return]
    return None


def _call(data: JsonObject) -> Piece:
    function = data.get("function")
    inner: JsonObject = function if isinstance(function, dict) else data
    arguments = _first(inner, "arguments", "args", "input")
    return Piece(PieceKind.TOOL_CALL, arguments, id=_text(_first(data, "call_id", "id")), name=_text(inner.get("name")))


def read_part(part: JsonValue) -> Piece:
    """One part of a message: by its `type`, else by its keys (Gemini)."""
    if isinstance(part, str):
        return Piece(PieceKind.TEXT, part)
    if not isinstance(part, dict):
        return Piece(PieceKind.OTHER, part)
    kind = part.get("type")
    if kind in _TEXT_TYPES and _first(part, "content", "text") is not None:
        return Piece(PieceKind.TEXT, _first(part, "content", "text"))
    if kind in _REASONING_TYPES and _first(part, "content", "text", "thinking") is not None:
        return Piece(PieceKind.REASONING, _first(part, "content", "text", "thinking"))
    if kind == "refusal" and _first(part, "content", "refusal") is not None:
        return Piece(PieceKind.REFUSAL, _first(part, "content", "refusal"))
    if kind in _CALL_TYPES:
        return _call(part)
    if kind in _RESULT_TYPES:
        value = next((part[key] for key in ("response", "output", "content", "result") if key in part), None)
        call_id = _text(_first(part, "tool_use_id", "call_id", "id"))
        return Piece(PieceKind.TOOL_RESULT, _flat(value), id=call_id, name=_text(part.get("name")))
    if kind is None and isinstance(part.get("functionCall"), dict):
        call: JsonObject = part["functionCall"]
        return Piece(PieceKind.TOOL_CALL, call.get("args"), id=_text(call.get("id")), name=_text(call.get("name")))
    if kind is None and isinstance(part.get("functionResponse"), dict):
        got: JsonObject = part["functionResponse"]
        return Piece(PieceKind.TOOL_RESULT, got.get("response"), id=_text(got.get("id")), name=_text(got.get("name")))
    if kind is None and isinstance(part.get("text"), str) and set(part) <= {"text", "thought"}:
        return Piece(PieceKind.REASONING if part.get("thought") is True else PieceKind.TEXT, part["text"])
    return Piece(PieceKind.OTHER, part)


def media_words(part: JsonValue) -> str | None:
    """A picture, sound or document as its line: type, size and digest, or where it lies; then what else its part says.
    None for what is none."""
    media = media_of(part) if isinstance(part, dict) else None
    if media is None:
        return None
    line = blob_line(media)
    told = {line, f"[{line}]", media.mime_type, media.modality, media.uri, media.file_id, "base64", "url", "file"}
    told |= {media.data, (media.mime_type or "").rpartition("/")[2]}
    rest = [f"{key} {value}" for key, value in _words(fold(part), "") if value not in told and key not in _SHAPES]
    return ", ".join([line, *rest])


_SHAPES: Final = frozenset({"type", "part_kind", "kind"})


def _words(value: JsonValue, key: str) -> Iterator[tuple[str, JsonValue]]:
    if isinstance(value, dict):
        for inner, held in value.items():
            yield from _words(held, inner)
    elif isinstance(value, list):
        for held in value:
            yield from _words(held, key)
    elif value is not None:
        yield key, value


def _flat(value: JsonValue) -> JsonValue:
    """A list of nothing but text parts as their text; anything else as it is."""
    if not isinstance(value, list) or not value:
        return value
    pieces = [read_part(item) for item in value]
    texts = [p.value for p in pieces if p.kind is PieceKind.TEXT and isinstance(p.value, str)]
    return "\n".join(texts) if len(texts) == len(pieces) else value


def read_message(message: JsonValue) -> Said:
    """The role and the pieces of one message, in the order in which they stand."""
    if not isinstance(message, dict):
        return Said("input", [read_part(message)])
    kind = _text(message.get("type"))
    role = _text(message.get("role")) or _ROLE_OF_TYPE.get(kind or "", kind or "message")
    if kind in _CALL_TYPES or kind in _RESULT_TYPES:
        return Said(role, [read_part(message)])
    used = {"role", "type", "name", "content", "parts", "tool_calls", "tool_call_id", "refusal", "reasoning_content"}
    pieces: list[Piece] = []
    thought = message.get("reasoning_content")
    if thought is not None:
        pieces.append(Piece(PieceKind.REASONING, thought))
    call_id = _text(message.get("tool_call_id"))
    content = message.get("content")
    if call_id is not None or role == "tool":
        if "content" in message:
            name = _text(message.get("name"))
            pieces.append(Piece(PieceKind.TOOL_RESULT, _flat(content), id=call_id, name=name))
    elif isinstance(content, list):
        pieces.extend(read_part(part) for part in content)
    elif content is not None and content != "":
        pieces.append(read_part(content))
    parts = message.get("parts")
    if isinstance(parts, list):
        pieces.extend(read_part(part) for part in parts)
    elif parts is not None:
        pieces.append(Piece(PieceKind.OTHER, parts))
    if message.get("refusal") is not None:
        pieces.append(Piece(PieceKind.REFUSAL, message["refusal"]))
    calls = message.get("tool_calls")
    if isinstance(calls, list):
        pieces.extend(_call(call) if isinstance(call, dict) else Piece(PieceKind.OTHER, call) for call in calls)
    rest = {key: value for key, value in message.items() if key not in used and value not in (None, [], {})}
    if rest:
        pieces.append(Piece(PieceKind.OTHER, rest))
    return Said(role, pieces, name=_text(message.get("name")))
