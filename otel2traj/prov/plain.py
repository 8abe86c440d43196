"""Any recorded JSON value into one that RFC 8785 can write, with nothing dropped.

RFC 8785 knows neither integers beyond 2**53 nor lone surrogates, and no reader likes nesting without end. Each becomes
an object with one reserved key that says what stood there.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from ..canonical import JsonValue, canonical_bytes

MAX_DEPTH: Final = 100
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_EXACT: Final = 2**53 - 1

Redact = Callable[[str], str]


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
        # RFC 8785 writes a float without a fraction as an integer, and below 1e21 without an exponent
        exact = value == value and (abs(value) <= _EXACT or 1e21 <= abs(value) < float("inf") or value % 1 != 0)
        return value if exact else {"$number": repr(value)}
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
