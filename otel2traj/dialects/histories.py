"""Histories that a span repeats, as messages that are read once: a bounded memo by the bytes of a message.

An agent's spans tell the same messages again and again, each with a few more. What `told` gives is shared between the
readings that hold it, and never changed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Generic, NamedTuple, TypeVar

import msgspec

from ..canonical import JsonError, JsonObject, JsonValue
from ..messages import Message, Part, PartKind
from ..messages.nested import REDACTED, Decoded, decode, ident, load, repeated_so_far
from ..messages.reader import is_item, read_message, read_messages

K = TypeVar("K")
V = TypeVar("V")

_split: Final = msgspec.json.Decoder(list[msgspec.Raw]).decode
_REFUSED: Final = (msgspec.DecodeError, msgspec.ValidationError, RecursionError, UnicodeEncodeError, JsonError)


class Memo(Generic[K, V]):
    """What was made of a key, for the keys of up to `limit` weight that were asked for last, and as much before it.
    What was made of a text that names a key twice is not kept: each time it is read, that is told."""

    __slots__ = ("_limit", "_weight", "old", "young")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._weight = 0
        self.young: dict[K, V] = {}
        self.old: dict[K, V] = {}

    def get(self, key: K, weight: int) -> V | None:
        found = self.young.get(key)
        if found is None:
            found = self.old.get(key)
            if found is not None:
                self._put(key, found, weight)
        return found

    def put(self, key: K, value: V, weight: int, since: int) -> None:
        """`since`: what `repeated_so_far` gave before the key was read."""
        if repeated_so_far() == since:
            self._put(key, value, weight)

    def _put(self, key: K, value: V, weight: int) -> None:
        self._weight += weight
        if self._weight > self._limit:
            self.old, self.young, self._weight = self.young, {}, weight
        self.young[key] = value


_MESSAGES: Final[dict[str | None, Memo[bytes, tuple[Message, ...]]]] = {}
_LIMIT: Final = 4 << 20
"""Bytes of messages that a memo of one kind holds, and as much again of those before."""


class Told(NamedTuple):
    """The messages that an attribute tells, whether its text was cut, and how many bytes of it were read before."""

    messages: list[Message]
    cut: bool = False
    shared: int = 0


def told(value: JsonValue, role: str | None = None) -> Told:
    """Messages as `read_messages` gives them, those that were read before from memory."""
    if isinstance(value, str) and value.startswith("["):
        found = _told_before(value, role)
        if found is not None:
            return found
    decoded = decode(value)
    return Told(read_messages(decoded.value, role), decoded.cut)


def _told_before(text: str, role: str | None) -> Told | None:
    """The messages of a JSON array; None where they do not each stand for themselves."""
    memo = _MESSAGES.get(role)
    if memo is None:
        memo = _MESSAGES[role] = Memo(_LIMIT)
    out: list[Message] = []
    shared = 0
    try:
        for raw in _split(text):
            key = bytes(raw)
            found = memo.young.get(key) or memo.get(key, len(key))
            if found is None:
                since = repeated_so_far()
                value = load(key.decode("utf-8"))
                if not isinstance(value, dict) or is_item(value):
                    return None
                found = tuple(_as_it_stands(value) or read_message(value, role))
                memo.put(key, found, len(key), since)
            else:
                shared += len(key)
            out += found
    except _REFUSED:
        return None
    return Told(out, False, shared)


_PLAIN: Final = frozenset({("role", "parts"), ("role", "parts", "finish_reason")})
_ROLES: Final = frozenset({"system", "user", "assistant"})


def _as_it_stands(value: JsonObject) -> list[Message] | None:
    """A message that is written exactly as the conventions say, part for part; None where `read_message` must look."""
    if tuple(value) not in _PLAIN:
        return None
    role, parts, reason = value["role"], value["parts"], value.get("finish_reason")
    if type(parts) is not list or not (reason is None or (type(reason) is str and reason)):
        return None
    read: list[Part] = []
    for part in parts:
        if type(part) is not dict:
            return None
        keys = tuple(part)
        if keys == ("type", "content"):
            text = part["content"]
            if part["type"] != "text" or type(text) is not str or not text or text in REDACTED:
                return None
            read.append(Part(PartKind.TEXT, text))
        elif keys == ("type", "id", "name", "arguments"):
            arguments = part["arguments"]
            if part["type"] != "tool_call" or not (arguments is None or type(arguments) is dict):
                return None
            if type(part["name"]) is not str or not part["name"] or not _is_id(part["id"]):
                return None
            read.append(Part(PartKind.TOOL_CALL, None, part["id"], part["name"], arguments))
        elif keys == ("type", "id", "response"):
            if part["type"] != "tool_call_response" or type(part["response"]) is not str or not _is_id(part["id"]):
                return None
            if len(parts) != 1 or role != "tool" or reason is not None:
                return None
            read.append(Part(PartKind.TOOL_RESULT, None, part["id"], None, part["response"]))
        else:
            return None
    if role == "tool":
        if not read or read[0].kind is not PartKind.TOOL_RESULT:
            return None
    elif role not in _ROLES or not (parts or role == "assistant"):
        return None
    message = Message(role, read, None, reason)
    message.json = value
    return [message]


def _is_id(value: JsonValue) -> bool:
    return value is None or (type(value) is str and ident(value) is value)


_DECODED: Final[Memo[str, Decoded]] = Memo(1 << 20)


def decoded(value: JsonValue) -> Decoded:
    """`decode` for texts that span after span repeats, such as the schema of a tool. What it gives is shared."""
    if type(value) is not str:
        return decode(value)
    found = _DECODED.get(value, len(value))
    if found is None:
        since = repeated_so_far()
        found = decode(value)
        _DECODED.put(value, found, len(value), since)
    return found


_TOOLS: Final[Memo[str, tuple[list[JsonObject] | None]]] = Memo(1 << 20)


def tool_definitions(value: JsonValue) -> list[JsonObject] | None:
    """Tool definitions as recorded; None without any. A text of them that spans repeat is read once."""
    if type(value) is not str:
        return _definitions(value)
    found = _TOOLS.get(value, len(value))
    if found is None:
        since = repeated_so_far()
        found = (_definitions(value),)
        _TOOLS.put(value, found, len(value), since)
    return found[0]


def _definitions(value: JsonValue) -> list[JsonObject] | None:
    found = decode(value).value
    if isinstance(found, dict):
        found = [found]
    if not isinstance(found, list):
        return None
    tools = [item for item in (decode(entry).value for entry in found) if isinstance(item, dict)]
    return tools or None


_FLAT: Final[Memo[tuple[Any, ...], list[Message]]] = Memo(_LIMIT)


def of_fields(fields: dict[str, Any], role: str | None, build: Callable[[dict[str, Any]], JsonObject]) -> Told:
    """The messages of one flattened message: `build` makes the object that `fields` were flattened from."""
    if set(map(type, fields.values())) != {str}:  # equal numbers and truth values are one key
        return Told(read_message(build(fields), role))
    if fields.get("role"):
        role = None  # its own
    key = (build, role, *fields.items())
    weight = sum(map(len, fields.values()))
    found = _FLAT.get(key, weight)
    if found is None:
        since = repeated_so_far()
        found = read_message(build(fields), role)
        _FLAT.put(key, found, weight, since)
        weight = 0
    return Told(found, False, weight)
