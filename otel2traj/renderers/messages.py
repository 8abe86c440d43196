"""A message of any recorded shape into a role and pieces that can be shown, with nothing left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from ..canonical import JsonValue
from ..messages import Message, Part, PartKind, blob_line, fold, media_of, read_recorded


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


_SPOKEN: Final = {
    PartKind.TEXT: PieceKind.TEXT,
    PartKind.REASONING: PieceKind.REASONING,
    PartKind.REFUSAL: PieceKind.REFUSAL,
}


def read_said(message: JsonValue) -> list[Said]:
    """One recorded message as what was said: several where it holds results of tools, which speak for themselves."""
    return [Said(found.role, list(_pieces(found)), found.speaker) for found in read_recorded(message)]


def _pieces(message: Message) -> Iterator[Piece]:
    for part in message.parts:
        yield from pieces_of(part)
    if message.finish_reason is not None:
        yield Piece(PieceKind.OTHER, {"finish_reason": message.finish_reason})
    rest = message.rest()
    if rest:
        yield Piece(PieceKind.OTHER, rest)


def pieces_of(part: Part) -> Iterator[Piece]:
    """A part, and after it what was recorded of it beside its text, its arguments or its answer."""
    kind = _SPOKEN.get(part.kind)
    if kind is not None and part.text is not None:
        yield Piece(kind, part.said)
    elif part.kind is PartKind.TOOL_CALL:
        yield Piece(PieceKind.TOOL_CALL, part.value, part.id, part.name)
    elif part.kind is PartKind.TOOL_RESULT:
        yield Piece(PieceKind.TOOL_RESULT, part.answer, part.id, part.name)
    elif part.stands:
        yield Piece(PieceKind.OTHER, part.raw)
    rest = part.rest()
    if rest:
        yield Piece(PieceKind.OTHER, rest)


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
