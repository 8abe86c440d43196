"""Trace and span ids as clients send them, into lower-case hexadecimal or nothing.

https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding: 16 and 8 bytes, hexadecimal in JSON, never all zero.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections import Counter
from typing import Final

TRACE_BYTES: Final = 16
SPAN_BYTES: Final = 8
_HEX: Final = re.compile(r"[0-9a-fA-F]+")
_HEX_BYTES: Final = re.compile(rb"[0-9a-fA-F]+")


def id_from_bytes(raw: bytes, size: int, notes: Counter[str]) -> str | None:
    """The id of a protobuf field, or None where it is empty, zero or of a wrong length.

    Two mistakes are undone and noted: hexadecimal text in the bytes field (`hex-ids`), and hexadecimal text that was
    read as base64 on the way (`hex-as-base64-ids`, 24 or 12 bytes).
    """
    length = len(raw)
    if length == size:
        return raw.hex() if raw.strip(b"\0") else None
    if length == 2 * size and _HEX_BYTES.fullmatch(raw):
        notes["hex-ids"] += 1
        return _nonzero(raw.decode("ascii").lower())
    if length == size * 3 // 2:
        text = base64.b64encode(raw).decode("ascii")
        if _HEX.fullmatch(text):
            notes["hex-as-base64-ids"] += 1
            return _nonzero(text.lower())
    return None


def id_from_text(text: str, size: int, notes: Counter[str]) -> str | None:
    """The id of a JSON field, or None where it is empty, zero or of a wrong length. Base64 (`base64-ids`) and a `0x`
    in front (`0x-ids`) are undone and noted; upper case needs no note."""
    length = len(text)
    if length == 2 * size and _HEX.fullmatch(text):
        return _nonzero(text.lower())
    if length == 2 * size + 2 and text[:2] in ("0x", "0X") and _HEX.fullmatch(text[2:]):
        notes["0x-ids"] += 1
        return _nonzero(text[2:].lower())
    if (size * 4 + 2) // 3 <= length <= (size + 2) // 3 * 4:
        try:
            raw = base64.b64decode(text.replace("-", "+").replace("_", "/") + "=" * (-length % 4), validate=True)
        except (binascii.Error, ValueError):
            return None
        if len(raw) == size:
            notes["base64-ids"] += 1
            return _nonzero(raw.hex())
    return None


def _nonzero(text: str) -> str | None:
    return text if text.strip("0") else None
