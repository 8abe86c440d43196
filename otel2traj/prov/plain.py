"""Any recorded JSON value into one that RFC 8785 can write, with nothing dropped, and into its canonical bytes.

RFC 8785 knows neither integers beyond 2**53 nor lone surrogates, and no reader likes nesting without end. Each becomes
an object with one reserved key that says what stood there.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from enum import IntEnum
from typing import Any, Final

from ..canonical import JsonValue, canonical_bytes, jcs

MAX_DEPTH: Final = 100
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_ASTRAL: Final = re.compile("[\ud800-\udfff\U00010000-\U0010ffff]")
_EXACT: Final = 2**53 - 1

Redact = Callable[[str], str]


class _Need(IntEnum):
    """What it takes to write a value canonically."""

    NOTHING = 0
    """Sorted compact JSON is the RFC 8785 form already."""
    RFC_8785 = 1
    """There are floats, or keys that sort otherwise in UTF-16."""
    WORDS = 2
    """There is something that RFC 8785 cannot write."""


def _need(value: Any) -> _Need:
    """One look at every node, level by level."""
    need = _Need.NOTHING
    level = [value]
    for _ in range(MAX_DEPTH):
        below: list[Any] = []
        for one in level:
            kind = type(one)
            if kind is str:
                if not one.isascii() and _SURROGATE.search(one) is not None:
                    return _Need.WORDS
            elif kind is dict:
                for key in one:
                    if not key.isascii() and _ASTRAL.search(key) is not None:
                        if _SURROGATE.search(key) is not None:
                            return _Need.WORDS
                        need = _Need.RFC_8785
                below += one.values()
            elif kind is list:
                below += one
            elif kind is int:
                if not -_EXACT <= one <= _EXACT:
                    return _Need.WORDS
            elif kind is float:
                if not _representable(one):
                    return _Need.WORDS
                need = _Need.RFC_8785
            elif one is not None and kind is not bool:
                return _Need.WORDS
        if not below:
            return need
        level = below
    return _Need.WORDS


def _representable(value: float) -> bool:
    # RFC 8785 writes a float without a fraction as an integer, and below 1e21 without an exponent
    return math.isfinite(value) and (abs(value) <= _EXACT or abs(value) >= 1e21 or value % 1 != 0)


def canonical(value: Any) -> bytes:
    """The RFC 8785 form. Raises `JsonError` where there is none."""
    return canonical_bytes(value) if _need(value) is _Need.NOTHING else jcs(value)


def canonical_plain(value: Any, redact: Redact | None = None) -> bytes:
    """The RFC 8785 form of `plain(value, redact)`."""
    need = _need(value) if redact is None else _Need.WORDS
    if need is _Need.NOTHING:
        return canonical_bytes(value)
    return jcs(value if need is _Need.RFC_8785 else plain(value, redact))


def _escape(text: str) -> str:
    return _SURROGATE.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def plain(value: Any, redact: Redact | None = None, depth: int = 0) -> JsonValue:
    """The value itself where RFC 8785 can write it, else an object with one key that says what stood there:
    `$integer`, `$number`, `$surrogates` or `$json`. `redact` is applied to every string, keys included."""
    if isinstance(value, str):
        text = str(value) if redact is None else redact(value)
        return {"$surrogates": _escape(text)} if _SURROGATE.search(text) is not None else text
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if -_EXACT <= value <= _EXACT else {"$integer": str(value)}
    if isinstance(value, float):
        return value if _representable(value) else {"$number": repr(value)}
    if depth >= MAX_DEPTH:
        text = canonical_bytes(value).decode("utf-8")
        return {"$json": text if redact is None else redact(text)}
    if isinstance(value, dict):
        return {_key(key, redact): plain(item, redact, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item, redact, depth + 1) for item in value]
    raise TypeError(f"not a JSON value: {type(value).__name__}")


def _key(key: str, redact: Redact | None) -> str:
    return _escape(key if redact is None else redact(key))
