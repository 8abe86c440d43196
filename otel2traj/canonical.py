"""The one place that reads and writes JSON, and takes digests of it.

Reading goes through msgspec (exact integers of any size); what it refuses goes through the standard library once more,
with every repair named. Writing goes through orjson, and through the standard library for the values orjson refuses.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from itertools import accumulate
from typing import Any, Final

import msgspec
import orjson
import rfc8785

JsonObject = dict[str, Any]
JsonValue = dict[str, Any] | list[Any] | str | int | float | bool | None

MAX_DEPTH: Final = 512
"""Nesting beyond this is refused, as a nesting bomb, by every reader alike."""
WRITTEN_DEPTH: Final = MAX_DEPTH + 64
"""Nesting that is read of anything but evidence: what this project writes holds evidence some levels down."""
MAX_DIGITS: Final = 4300
"""A number with more digits in a row is refused likewise."""

_NO_BRACKETS: Final = bytes(byte for byte in range(256) if byte not in b"[]{}")
_NO_STRUCTURE: Final = bytes(byte for byte in range(256) if byte not in b'[]{}"')
_SQUARE: Final = bytes.maketrans(b"{}", b"[]")
_STRIDE: Final = 1024
_DIGITS_IN_STRIDES: Final = re.compile(rb"[0-9]{%d}" % (MAX_DIGITS // _STRIDE))
_TOO_MANY_DIGITS: Final = re.compile(rb"[0-9]{%d}" % (MAX_DIGITS + 1))
_decode = msgspec.json.Decoder().decode
_UNLIKE_STDLIB: Final = re.compile(rb"(?:^|[:\[,])-?(?:0\.0000[0-9]*|[0-9][0-9.]*e[-+]?[0-9]+)(?:[,\]}]|$)")
_SAME_EXPONENTS: Final = orjson.dumps([1e16, -1.5e300]) == b"[1e+16,-1.5e+300]"
"""Whether this orjson writes large numbers as the standard library does; it does since 3.11.7."""
_NUMBER: Final = 40
"""More bytes than any number has that orjson writes for a float."""
_CANONICAL: Final = orjson.OPT_SORT_KEYS | orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_REPAIRABLE: Final = re.compile(r"\\u[dD][89a-fA-F]|\bNaN\b|\bInfinity\b|[eE]\+?[0-9]{3}|[\ud800-\udfff]")


class JsonError(ValueError):
    """The bytes are not JSON that this project can represent."""


def loads(data: bytes | bytearray | memoryview | str) -> JsonValue:
    """Strict JSON, integers exact, last of equal keys wins, within the limits of files that this project writes.
    Raises `JsonError`."""
    return _loads(data, WRITTEN_DEPTH)


def loads_evidence(data: bytes | bytearray | memoryview | str) -> JsonValue:
    """The same within the limits of evidence. Raises `JsonError`."""
    return _loads(data, MAX_DEPTH)


def _loads(data: bytes | bytearray | memoryview | str, depth: int) -> JsonValue:
    try:
        value: JsonValue = _decode(data)
    except RecursionError as err:
        raise JsonError(_too_deep(depth)) from err
    except (msgspec.DecodeError, msgspec.ValidationError, UnicodeEncodeError) as err:
        raise JsonError(str(err)) from err
    beyond = beyond_limits(data, depth)
    if beyond is not None:
        raise JsonError(beyond)
    return value


def beyond_limits(data: bytes | bytearray | memoryview | str, depth: int = MAX_DEPTH) -> str | None:
    """Which limit valid JSON exceeds, `depth` or `MAX_DIGITS`; None for what every reading takes. Readers ask it of
    each record once, so that no later reading, from whatever depth of calls, can end otherwise. Costs half a nanosecond
    a byte, and five where there are more than a thousand brackets."""
    size = len(data)
    if size <= 2 * depth:
        return None
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else bytes(data)
    if len(raw.translate(None, _NO_BRACKETS)) > 2 * depth and _deeper(raw, depth):
        return _too_deep(depth)
    return _TOO_LONG if _digits_beyond(raw) else None


def _too_deep(depth: int) -> str:
    return f"nesting deeper than {depth}"


_TOO_LONG: Final = f"a number of more than {MAX_DIGITS} digits"


def _digits_beyond(raw: bytes) -> bool:
    if len(raw) <= MAX_DIGITS or _DIGITS_IN_STRIDES.search(raw[::_STRIDE]) is None:
        return False
    return any(_TOO_MANY_DIGITS.search(piece) is not None for piece in _unescaped(raw).split(b'"')[::2])


def _deeper(raw: bytes, depth: int) -> bool:
    """Whether brackets outside strings nest deeper; without recursion. Each round takes the innermost
    pairs away."""
    left = b"".join(_unescaped(raw).translate(_SQUARE, _NO_STRUCTURE).split(b'"')[::2])
    rounds = 0
    while left and rounds < 32:
        shorter = left.replace(b"[]", b"")
        if len(shorter) == len(left):
            break
        left, rounds = shorter, rounds + 1
    return rounds + max(accumulate(92 - byte for byte in left), default=0) > depth


def _unescaped(raw: bytes) -> bytes:
    """Without escaped backslashes and quotes, so that every quote begins or ends a string."""
    return raw.replace(b"\\\\", b"").replace(b'\\"', b"") if b"\\" in raw else raw


def repeated_key(data: bytes) -> str | None:
    """The first key that stands twice in one object of valid JSON, or None. `loads` takes the last of them."""
    found: list[str] = []

    def keys(pairs: list[tuple[str, Any]]) -> None:
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                found.append(key)
            seen.add(key)

    json.loads(data, object_pairs_hook=keys)
    return found[0] if found else None


def repeated_key_of(data: bytes, keys: int) -> str | None:
    """The same of data whose value has so many keys (`key_ends`), and much cheaper where none stands twice."""
    return None if data.count(_KEY_END) == keys else repeated_key(data)


def repeated_key_in(text: str, value: JsonValue) -> str | None:
    """The same of a text that was read as this value; None where it was read with a repair."""
    try:
        keys = text.count('":')
        return None if keys == 1 or keys == key_ends(value) else repeated_key(text.encode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError):
        return None


def key_ends(value: JsonValue) -> int:
    """How often a key ends in the value written again; what looks like that inside its texts counts as well, as it does
    in data that the value was read from."""
    return dumps(value).count(_KEY_END)


_KEY_END: Final = b'":'


def loads_tolerant(data: bytes | bytearray | memoryview, depth: int = MAX_DEPTH) -> tuple[JsonValue, tuple[str, ...]]:
    """JSON as clients really write it, and the names of the repairs that were needed (empty for clean input).

    Repairs: `byte-order-mark`, `invalid-utf-8`, `lone-surrogate`, `non-finite-number` (kept as the strings `NaN`,
    `Infinity`, `-Infinity`, the ProtoJSON spelling). Raises `JsonError` for everything else.
    """
    try:
        return _loads(data, depth), ()
    except JsonError:
        pass
    raw = bytes(data)
    repairs: list[str] = []
    if raw.startswith(b"\xef\xbb\xbf"):
        raw = raw[3:]
        repairs.append("byte-order-mark")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        text = raw.decode("utf-8", "replace")
        repairs.append("invalid-utf-8")

    value = _repaired(text, repairs, depth)
    if "\\u" in text and _has_surrogate(value):
        repairs.append("lone-surrogate")
    return value, tuple(repairs)


def loads_text(text: str) -> JsonValue:
    """JSON inside a string of a record: strict, but for lone surrogates and numbers that are not finite, which clients
    write into such strings and which are kept as `loads_tolerant` keeps them. Raises `JsonError`."""
    try:
        return loads_evidence(text)
    except JsonError:
        if _REPAIRABLE.search(text) is None:
            raise
    return _repaired(text, [], MAX_DEPTH)


def _repaired(text: str, repairs: list[str], depth: int) -> JsonValue:
    def constant(word: str) -> str:
        if "non-finite-number" not in repairs:
            repairs.append("non-finite-number")
        return word

    def number(word: str) -> float | str:
        value = float(word)
        return value if math.isfinite(value) else constant("Infinity" if value > 0 else "-Infinity")

    raw = text.encode("utf-8", "surrogatepass")
    if _deeper(raw, depth):
        raise JsonError(_too_deep(depth))
    if _digits_beyond(raw):
        raise JsonError(_TOO_LONG)
    try:
        return json.loads(text, parse_constant=constant, parse_float=number)  # type: ignore[no-any-return]
    except (ValueError, RecursionError) as err:
        raise JsonError(str(err)) from err


def _has_surrogate(value: JsonValue) -> bool:
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            if _SURROGATE.search(item) is not None:
                return True
        elif isinstance(item, dict):
            stack.extend(item)
            stack.extend(item.values())
        elif isinstance(item, list):
            stack.extend(item)
    return False


def dumps(value: Any) -> bytes:
    """Compact UTF-8 JSON in insertion order. Lone surrogates are written as `\\udXXX` escapes, never replaced."""
    try:
        return orjson.dumps(value)
    except (TypeError, orjson.JSONEncodeError):
        return _stdlib(value, sort_keys=False)


def dumps_pretty(value: Any) -> bytes:
    """Indented UTF-8 JSON in insertion order, for people."""
    try:
        return orjson.dumps(value, option=orjson.OPT_INDENT_2)
    except (TypeError, orjson.JSONEncodeError):
        return _escape_surrogates(json.dumps(value, ensure_ascii=False, indent=2))


def ascii_text(value: Any) -> str:
    """JSON as `json.dumps(value)` writes it by default: ASCII, `, ` and `: `. The text that render rules count."""
    return json.dumps(value)


def canonical_bytes(value: Any, *, finite: bool = False) -> bytes:
    """Sorted keys, no ASCII escapes, separators `,` and `:`: exactly `json.dumps(value, sort_keys=True,
    ensure_ascii=False, separators=(",", ":"))` as UTF-8. orjson is used only where its bytes are the same. Numbers that
    are not finite have no JSON, and orjson would write them as null: they raise `JsonError` (no reader gives any).
    `finite`: the value is as `loads` gave it, so that no such number need be looked for."""
    try:
        fast = orjson.dumps(value, option=_CANONICAL)
    except (TypeError, orjson.JSONEncodeError):
        return _stdlib_canonical(value)
    if type(value) is str:
        return fast
    if _unlike_stdlib(fast) or (not finite and b"null" in fast and _has_non_finite(value)):
        return _stdlib_canonical(value)
    return fast


def _unlike_stdlib(written: bytes) -> bool:
    """Whether there may be a number that the standard library writes otherwise. Looked for around the few places where
    one can stand: a search for whole numbers costs more than the writing."""
    if not _SAME_EXPONENTS:
        return _UNLIKE_STDLIB.search(written) is not None
    at = written.find(b"e-")
    while at > 0:
        if 48 <= written[at - 1] <= 57 and _UNLIKE_STDLIB.search(written[max(at - _NUMBER, 0) : at + 8]) is not None:
            return True
        at = written.find(b"e-", at + 2)
    at = written.find(b"0.0000")
    while at >= 0:
        if _UNLIKE_STDLIB.search(written[max(at - 2, 0) : at + _NUMBER]) is not None:
            return True
        at = written.find(b"0.0000", at + 6)
    return False


def _stdlib_canonical(value: Any) -> bytes:
    try:
        text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except ValueError as err:
        raise JsonError(str(err)) from err
    return _escape_surrogates(text)


def _has_non_finite(value: Any) -> bool:
    if isinstance(value, float):
        return not math.isfinite(value)
    stack = [value]
    while stack:
        item = stack.pop()
        for each in item.values() if isinstance(item, dict) else item if isinstance(item, (list, tuple)) else ():
            kind = type(each)
            if kind is str or kind is int or each is None:
                continue
            if isinstance(each, float):
                if not math.isfinite(each):
                    return True
            else:
                stack.append(each)
    return False


def _stdlib(value: Any, *, sort_keys: bool) -> bytes:
    return _escape_surrogates(json.dumps(value, sort_keys=sort_keys, ensure_ascii=False, separators=(",", ":")))


def _escape_surrogates(text: str) -> bytes:
    return _SURROGATE.sub(lambda m: f"\\u{ord(m.group()):04x}", text).encode("utf-8")


def jcs(value: Any) -> bytes:
    """RFC 8785 (JSON Canonicalization Scheme). Raises `JsonError` for integers over 2**53 and non-finite numbers."""
    try:
        return rfc8785.dumps(value)
    except rfc8785.CanonicalizationError as err:
        raise JsonError(str(err)) from err


def sha256_hex(data: bytes | memoryview) -> str:
    return hashlib.sha256(data).hexdigest()


def sha256_canonical(value: Any, *, finite: bool = False) -> str:
    """SHA-256, in hex, over `canonical_bytes(value)`."""
    return sha256_hex(canonical_bytes(value, finite=finite))
