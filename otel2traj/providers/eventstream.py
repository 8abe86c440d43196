"""Amazon's binary event stream to frames: `{"<event type>": {...}}` each, or the inner event where one is wrapped.

https://smithy.io/2.0/aws/amazon-eventstream.html
"""

from __future__ import annotations

import base64
import binascii
import zlib

from ..canonical import JsonError, JsonValue, loads

_PRELUDE = 12
_CRC = 4
_STRING = 7
_FIXED = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
"""Bytes of a header value by its type; 6 and 7 carry their length in front."""


def frames_of(data: str) -> list[JsonValue] | None:
    """Frames of a base64 text, or None where it is no event stream. A message that is cut or damaged ends the stream:
    it stands as the text `cut`, as a broken frame of any stream stands as text."""
    try:
        raw = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return None
    if len(raw) < _PRELUDE or zlib.crc32(raw[:8]) != int.from_bytes(raw[8:12], "big"):
        return None
    out: list[JsonValue] = []
    at = 0
    while at < len(raw):
        size = int.from_bytes(raw[at : at + 4], "big")
        message = raw[at : at + size]
        whole = size >= _PRELUDE + _CRC and len(message) == size
        if not whole or zlib.crc32(message[:-_CRC]) != int.from_bytes(message[-_CRC:], "big"):
            out.append("cut")
            break
        frame = _frame(message)
        if frame is not None:
            out.append(frame)
        at += size
    return out


def _frame(message: bytes) -> JsonValue:
    end = _PRELUDE + int.from_bytes(message[4:8], "big")
    headers = _headers(message[_PRELUDE:end])
    try:
        body = loads(message[end:-_CRC])
    except JsonError:
        return None
    name = headers.get(":exception-type") or headers.get(":error-code") or headers.get(":event-type")
    wrapped = body.get("bytes") if isinstance(body, dict) else None
    if name == "chunk" and isinstance(wrapped, str):
        try:
            return loads(base64.b64decode(wrapped))
        except (JsonError, binascii.Error, ValueError):
            return None
    return body if name is None else {name: body}


def _headers(data: bytes) -> dict[str, str]:
    """Text headers by name; a header that cannot be read ends the reading."""
    out: dict[str, str] = {}
    at = 0
    while at < len(data):
        name_size = data[at]
        name = data[at + 1 : at + 1 + name_size].decode("utf-8", "replace")
        at += 1 + name_size
        if at >= len(data):
            break
        kind = data[at]
        at += 1
        size = _FIXED.get(kind)
        if size is None:
            size = int.from_bytes(data[at : at + 2], "big")
            at += 2
        if kind == _STRING:
            out[name] = data[at : at + size].decode("utf-8", "replace")
        at += size
    return out
