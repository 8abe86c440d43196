"""JSON inside attribute strings: decoded a few layers deep, recovered where it was cut, never guessed."""

from __future__ import annotations

import ast
import math
import re
import threading
from typing import Final, NamedTuple

from ..canonical import JsonError, JsonObject, JsonValue, loads_text, repeated_key_in

LAYERS: Final = 3
MAX_REPR: Final = 1_000_000
CUT_MARKS: Final = ("...[TRUNCATED", "…[TRUNCATED", "[truncated]", "...(truncated)", "<truncated")
REDACTED: Final = frozenset({"__REDACTED__", "<REDACTED>", "<elided>", "[REDACTED]", "REDACTED"})
_HEAD_BYTES: Final = 400
_NO_IDS: Final = frozenset({"", "<not specified>", "unknown", "none", "null", "undefined", "n/a", "__fake_id__"})


class Decoded(NamedTuple):
    """`cut` tells that the text was not whole JSON and only its complete leading elements are here."""

    value: JsonValue
    cut: bool = False


class _Watch(threading.local):
    count: int = 0
    """Of the texts so far that named a key twice."""
    found: list[tuple[str, str]] | None = None


_WATCH: Final = _Watch()


class RepeatedKeys:
    """Collects `(key, text)` of the JSON texts that name a key twice, while it is entered, in this thread."""

    def __enter__(self) -> list[tuple[str, str]]:
        self._outer, _WATCH.found = _WATCH.found, []
        return _WATCH.found

    def __exit__(self, *raised: object) -> None:
        _WATCH.found = self._outer


def repeated_so_far() -> int:
    """Grows with each text that names a key twice: what was made of one is not kept in place of the text."""
    return _WATCH.count


def load(text: str) -> JsonValue:
    """JSON inside a string of a record, as `loads_text` reads it; a key that it names twice is told to `RepeatedKeys`.
    Raises `JsonError`."""
    value = loads_text(text)
    if type(value) is dict or type(value) is list:
        key = repeated_key_in(text, value)
        if key is not None:
            _WATCH.count += 1
            if _WATCH.found is not None and (key, text) not in _WATCH.found:
                _WATCH.found.append((key, text))
    return value


def looks_like_json(text: str) -> bool:
    head = text[:64].lstrip()
    return head[:1] in ("{", "[")


def decode(value: JsonValue, *, quoted: bool = False, repair: bool = True, layers: int = LAYERS) -> Decoded:
    """The object or list that a string stands for, else the value unchanged.

    At most `layers` layers. A JSON string literal is unwrapped only with `quoted`, for producers known to quote;
    JSON that was cut is recovered only with `repair`, for keys known to hold JSON.
    """
    if not isinstance(value, str):
        return Decoded(value)
    text = value
    for layer in range(layers):
        if looks_like_json(text):
            try:
                return Decoded(load(text))
            except JsonError:
                recovered = recover(text) if repair else None
            return (
                Decoded(value if layer == 0 or not quoted else text) if recovered is None else Decoded(recovered, True)
            )
        if not text.startswith('"'):
            break
        try:
            inner = load(text)
        except JsonError:
            break
        if not isinstance(inner, str):
            break
        if quoted and not inner.startswith('"') and not looks_like_json(inner):
            return Decoded(inner)
        text = inner
    return Decoded(value)


def literal(value: JsonValue) -> JsonValue:
    """The string that a JSON string literal stands for, where a producer writes every value as JSON; else the value."""
    if isinstance(value, str) and len(value) > 1 and value.startswith('"') and value.endswith('"'):
        try:
            inner = load(value)
        except JsonError:
            return value
        return inner if isinstance(inner, str) else value
    return value


def decode_arguments(value: JsonValue) -> JsonValue:
    """Tool arguments: the decoded value where the text is whole JSON of an object or list, else the text."""
    for _ in range(LAYERS):
        if not isinstance(value, str):
            return value
        if not (looks_like_json(value) or value.startswith('"{')):
            return value
        try:
            value = load(value)
        except JsonError:
            return value
    return value


def decode_repr(value: JsonValue) -> JsonValue:
    """A Python literal (`{'a': 1}`), for the few named keys that hold one; anything else unchanged."""
    if not isinstance(value, str) or len(value) > MAX_REPR or not looks_like_json(value):
        return value
    try:
        return load(value)
    except JsonError:
        pass
    try:
        literal = ast.literal_eval(value)
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return value
    return literal if _plain(literal) else value


_FIELD: Final = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)=")
_QUOTED: Final = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"", re.S)


def repr_fields(text: str) -> dict[str, str] | None:
    """The fields of an object's repr (`status='success' result='a\\n' error=None`): strings as strings, the rest as it
    was written. None where the text is not wholly of that form."""
    out: dict[str, str] = {}
    pos = 0
    while pos < len(text):
        name = _FIELD.match(text, pos)
        if name is None:
            return None
        quoted = _QUOTED.match(text, name.end())
        if quoted is not None:
            try:
                out[name[1]] = str(ast.literal_eval(quoted.group()))
            except (ValueError, SyntaxError):
                return None
            pos = quoted.end()
            continue
        end = text.find(" ", name.end())
        end = len(text) if end < 0 else end
        out[name[1]] = text[name.end() : end]
        pos = end
    return out or None


def _plain(value: object, depth: int = 0) -> bool:
    if depth > 60:
        return False
    if isinstance(value, float):
        return math.isfinite(value)
    if value is None or isinstance(value, (str, int, bool)):
        return True
    if isinstance(value, list):
        return all(_plain(item, depth + 1) for item in value)
    if isinstance(value, dict):
        return all(isinstance(key, str) and _plain(item, depth + 1) for key, item in value.items())
    return False


_OPEN: Final = re.compile(r'["\[\]{},]')


def recover(text: str) -> JsonValue:
    """The complete leading elements of JSON that was cut, or None where nothing complete stands at the front.

    The open containers are closed after the last element that was whole; a string that was cut is dropped with its key.
    """
    closers: list[str] = []
    best: tuple[int, str] | None = None
    pos, end = 0, len(text)
    while pos < end:
        found = _OPEN.search(text, pos)
        if found is None:
            break
        char, pos = found.group(), found.end()
        if char == '"':
            pos = _string_end(text, pos)
            if pos < 0:
                break
        elif char in "[{":
            closers.append("]" if char == "[" else "}")
            if len(closers) > 200:
                return None
        elif char == ",":
            best = (found.start(), "".join(reversed(closers)))
        else:
            if not closers or closers.pop() != char:
                return None
            if not closers:
                return None  # whole, with something behind it: not cut, and not JSON
            best = (pos, "".join(reversed(closers)))
    return None if best is None else _try(text[: best[0]] + best[1])


def _string_end(text: str, pos: int) -> int:
    while True:
        quote = text.find('"', pos)
        if quote < 0:
            return -1
        slashes = 0
        while quote - 1 - slashes >= pos and text[quote - 1 - slashes] == "\\":
            slashes += 1
        if slashes % 2 == 0:
            return quote + 1
        pos = quote + 1


def _try(text: str) -> JsonValue:
    try:
        return load(text)
    except JsonError:
        return None


def at(value: JsonValue, path: tuple[str, ...]) -> JsonValue:
    """The value at a path of keys and list positions; strings on the way are decoded. None where it is not there."""
    for key in path:
        if isinstance(value, str):
            value = decode(value).value
        if isinstance(value, dict):
            value = value.get(key)
        elif isinstance(value, list):
            position = int(key) if key.isdigit() else -1
            value = value[position] if 0 <= position < len(value) else None
        else:
            return None
    return value


def ident(value: JsonValue) -> str | None:
    """An identifier as recorded; what stands for none (`<not specified>`, `unknown`, empty) is None."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        return None
    return None if value.strip().lower() in _NO_IDS else value


def string(value: JsonValue) -> str | None:
    """A string that says something, else None."""
    return value if isinstance(value, str) and value else None


def is_cut(text: str) -> bool:
    """Whether the text ends in one of the markers that producers leave where they cut."""
    return any(mark in text[-_HEAD_BYTES:] for mark in CUT_MARKS)


def redacted(value: JsonValue) -> bool:
    """Whether a producer wrote a stand-in where the content was."""
    return isinstance(value, str) and value in REDACTED


def fields_of(message: JsonObject) -> JsonObject:
    """The fields of a dumped object, out of LangChain's constructor (`lc`, `id`, `kwargs`) or `data` wrapper."""
    for key in ("kwargs", "data"):
        inner = message.get(key)
        if isinstance(inner, dict):
            return inner
    return message
