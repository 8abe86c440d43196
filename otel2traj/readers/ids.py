"""Recorded identifiers, in whatever spelling, into lower-case hex; every change is told."""

from __future__ import annotations

import base64
import binascii
import re
from typing import Final

_HEX: Final = re.compile(r"[0-9a-f]+")
_ANY_HEX: Final = re.compile(r"(?:0[xX])?([0-9a-fA-F]+)")


def good(text: str | None, digits: int) -> bool:
    """Whether the text is `digits` lower-case hex digits, not all of them zero."""
    return text is not None and len(text) == digits and _HEX.fullmatch(text) is not None and text.count("0") != digits


def plain_id(value: object, digits: int) -> tuple[str, str | None]:
    """An id of `digits` hex digits, and the repair it took (None for none); "" where there is none.

    Understands upper case, a `0x` prefix, base64 of the bytes (protobuf's own JSON mapping), base64 of the hex text,
    and hex of the bytes that hex text gives when it is taken for base64. What is none of these is kept as it stands.
    """
    if value is None or value == "":
        return "", None
    if not isinstance(value, str):
        return str(value), "identifier that is not text"
    match = _ANY_HEX.fullmatch(value)
    if match is not None:
        text = match.group(1).lower()
        if not text.strip("0"):
            return "", "identifier of zeros"
        if len(text) == digits:
            return text, None if text == value else "identifier in upper case or with prefix"
        if len(text) == digits // 2 * 3:
            inner = base64.b64encode(bytes.fromhex(text)).decode("ascii")
            if _HEX.fullmatch(inner.lower()) is not None:
                return inner.lower(), "identifier decoded as base64 by its sender"
        return text if text != value else value, "identifier of unusual length"
    try:
        data = base64.b64decode(value.replace("-", "+").replace("_", "/"), validate=True)
    except (binascii.Error, ValueError):
        return value, "identifier that is not hex"
    if len(data) * 2 == digits:
        text = data.hex()
        return (text, "identifier in base64") if text.strip("0") else ("", "identifier of zeros")
    if len(data) == digits:
        try:
            inner = data.decode("ascii").lower()
        except UnicodeDecodeError:
            return value, "identifier that is not hex"
        if _HEX.fullmatch(inner) is not None:
            return inner, "identifier in base64 of its hex text"
    return value, "identifier that is not hex"
