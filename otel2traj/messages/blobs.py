"""Base64 inside any recorded value into one line for people: `image/png 78 bytes sha256 …`."""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final

from ..canonical import JsonValue
from .media import MEDIA_TYPES, media_by_key, media_by_type
from .parts import Media

_DEPTH: Final = 100
_MAGIC: Final = {
    "iVBORw0KGgo": "image/png", "/9j/": "image/jpeg", "R0lGOD": "image/gif", "JVBERi0": "application/pdf",
    "UklGR": "", "SUQz": "audio/mpeg", "T2dnU": "audio/ogg",
}  # fmt: skip
"""How base64 of known files begins; `UklGR` is RIFF, whose bytes 8 to 12 tell more."""
_RIFF: Final = {b"WEBP": "image/webp", b"WAVE": "audio/wav", b"AVI ": "video/x-msvideo"}
_IN_TEXT: Final = re.compile(
    r"data:([\w.+-]+/[\w.+-]+)?(?:;[\w.+-]+=[\w.+-]*)*;base64,((?:[A-Za-z0-9+/]|\\/){16,}={0,2})"
    rf"|(?<![A-Za-z0-9+/])((?:{'|'.join(_MAGIC)})(?:[A-Za-z0-9+/]|\\/){{60,}}={{0,2}})"
)


def media_of(value: Mapping[str, Any]) -> Media | None:
    """The media that a part of a message or of a tool's answer is; None where it is none."""
    kind = value.get("type", value.get("part_kind", value.get("kind")))
    if isinstance(kind, str) and kind in MEDIA_TYPES:
        return media_by_type(value, kind)
    if kind is None and isinstance(value.get("data"), str):
        mime = next((value[key] for key in ("mime_type", "mimeType", "media_type") if key in value), None)
        return media_by_type(value, "blob") if isinstance(mime, str) and "/" in mime else None
    return media_by_key(value) if kind is None else None


def blob_line(media: Media) -> str:
    """What is known of media without drawing it: its type, its size and digest, or where it lies."""
    if media.data is not None:
        return base64_line(media.data, media.mime_type or media.modality)
    what = media.mime_type or media.modality or "media"
    return f"{what} {media.uri}" if media.uri is not None else f"{what} file {media.file_id}"


def base64_line(text: str, mime: str | None = None) -> str:
    """`image/png 78 bytes sha256 …` with the digest of the bytes; of base64 that was cut, that of its characters."""
    compact = _compact(text)
    data = _bytes(compact)
    told = mime or next((word for start, word in _MAGIC.items() if compact.startswith(start)), "")
    if data is None:
        told = told or "application/octet-stream"
        return f"{told} cut, {len(text)} characters of base64 sha256 {sha256(text.encode()).hexdigest()}"
    if not told and data[:4] == b"RIFF":
        told = _RIFF.get(data[8:12], "")
    return f"{told or 'application/octet-stream'} {len(data)} bytes sha256 {sha256(data).hexdigest()}"


def _compact(text: str) -> str:
    return "".join(text.replace("\\/", "/").split())


def _bytes(compact: str) -> bytes | None:
    try:
        return b64decode(compact, altchars=b"-_" if "-" in compact or "_" in compact else None, validate=True)
    except (Error, ValueError):
        return None


def _is_base64(text: str) -> bool:
    """Whether the data of a part is base64 and no plain text: it decodes, or begins as a known file does."""
    compact = _compact(text)
    return len(compact) >= 16 and (_bytes(compact) is not None or compact.startswith(tuple(_MAGIC)))


def fold_text(text: str) -> str:
    """`text` with each data URL, and base64 of a known file, as its line in square brackets."""
    if len(text) < 32 or (";base64," not in text and not any(start in text for start in _MAGIC)):
        return text
    return _IN_TEXT.sub(lambda m: f"[{base64_line(m[2] or m[3], m[1])}]", text)


def fold(value: JsonValue, depth: int = 0) -> JsonValue:
    """`value` with its base64 as lines; the very same object where it holds none."""
    if isinstance(value, str):
        return fold_text(value)
    if depth > _DEPTH:
        return value
    if isinstance(value, list):
        items: list[JsonValue] = []
        for item in value:
            items.append(fold(item, depth + 1))
        return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
    if isinstance(value, dict):
        media = media_of(value)
        data = media.data if media is not None and media.data is not None and _is_base64(media.data) else None
        fields: dict[str, JsonValue] = {}
        for key, inner in value.items():
            fields[key] = _without(inner, data, media, depth) if data and media else fold(inner, depth + 1)
        return fields if any(fields[key] is not value[key] for key in value) else value
    return value


def _without(value: JsonValue, data: str, media: Media, depth: int) -> JsonValue:
    """`value` with the base64 of `media`, bare or in a data URL, as its line."""
    if isinstance(value, str):
        return f"[{blob_line(media)}]" if value == data or value.endswith(f",{data}") else fold_text(value)
    if isinstance(value, dict) and depth <= _DEPTH:
        fields: dict[str, JsonValue] = {}
        for key, inner in value.items():
            fields[key] = _without(inner, data, media, depth + 1)
        return fields
    return fold(value, depth + 1)
