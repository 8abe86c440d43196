"""Request bodies whose history grows from call to call: each message is decoded once, and the bodies share it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import msgspec

from ..canonical import (
    JsonError,
    JsonObject,
    JsonValue,
    canonical_bytes,
    key_ends,
    loads_evidence,
    sha256_canonical,
    sha256_hex,
)

HISTORIES: Final = ("messages", "input", "contents")
"""Members of request bodies that hold the conversation so far, one of them in each API."""

_SPACES: Final = b" \t\r\n"
_BETWEEN: Final = b", \t\r\n"
_CLOSED: Final = b']}"'
_ENTRY: Final = 16
"""What a body holds for each entry that it shares with others, in bytes."""
_items = msgspec.json.Decoder(list[msgspec.Raw]).decode


class Item:
    """One entry of a history. `noted` is for whoever reads it to keep what it found there. Never changed: the bodies
    that hold the entry share its value."""

    __slots__ = ("_canonical", "_key_ends", "noted", "value")

    def __init__(self, value: JsonValue) -> None:
        self.value = value
        self.noted: tuple[str, object] | None = None
        self._canonical: bytes | None = None
        self._key_ends: int | None = None

    def canonical(self) -> bytes:
        if self._canonical is None:
            self._canonical = canonical_bytes(self.value, finite=True)
        return self._canonical

    def key_ends(self) -> int:
        if self._key_ends is None:
            self._key_ends = key_ends(self.value)
        return self._key_ends


@dataclass(slots=True)
class Body:
    """A decoded body. Where it is an object with a history, `history` is its key and `items` the entries."""

    value: JsonValue = None
    history: str | None = None
    items: list[Item] = field(default_factory=list)
    read_anew: int | None = None
    """Recorded bytes of the body that no body before it has; None where nobody counted."""
    recorded: msgspec.Raw | None = None
    """The body as it stands in its record, for whoever asks next whether a member stands there twice."""

    def key_ends(self) -> int:
        """What `key_ends` gives for the value."""
        if self.history is None or not isinstance(self.value, dict):
            return key_ends(self.value)
        beside = {key: None if key == self.history else value for key, value in self.value.items()}
        return key_ends(beside) + sum(item.key_ends() for item in self.items)

    def sha256(self) -> str:
        """What `sha256_canonical` gives for the value."""
        if self.history is None or not isinstance(self.value, dict):
            return sha256_canonical(self.value, finite=True)
        parts = []
        for key in sorted(self.value):
            if key == self.history:
                told = b"[" + b",".join([item.canonical() for item in self.items]) + b"]"
            else:
                told = canonical_bytes(self.value[key], finite=True)
            parts.append(canonical_bytes(key) + b":" + told)
        return sha256_hex(b"{" + b",".join(parts) + b"}")


@dataclass(slots=True)
class _Known:
    """An array that was read: its bytes, and where each of its entries ends."""

    data: bytes
    ends: list[int]
    items: list[Item]


class Histories:
    """Keeps the last few histories of up to `keep_bytes` together, so that a longer one costs only what it adds."""

    def __init__(self, keep_bytes: int = 8 << 20, keep: int = 4) -> None:
        self._keep_bytes = keep_bytes
        self._keep = keep
        self._known: list[_Known] = []

    def body(self, members: Mapping[str, msgspec.Raw]) -> Body:
        """The body with these members. Raises `JsonError` where one of them is no JSON."""
        value: JsonObject = {}
        body = Body(value)
        told = [key for key in HISTORIES if key in members]
        body.read_anew = 0
        for key, raw in members.items():
            data = bytes(raw)
            body.read_anew += len(data)
            if told == [key] and data.startswith(b"["):
                body.history, (body.items, known) = key, self._read(data)
                body.read_anew += _ENTRY * len(body.items) - known
                value[key] = [item.value for item in body.items]
            else:
                value[key] = loads_evidence(data)
        return body

    def _read(self, data: bytes) -> tuple[list[Item], int]:
        """The entries, and how many bytes of them were known."""
        base, count = self._nearest(data)
        items = [] if base is None else base.items[:count]
        ends = [] if base is None else base.ends[:count]
        known = at = ends[-1] if ends else 1
        while data[at] in _BETWEEN:
            at += 1
        try:
            raws = _items(b"[" + data[at:])
        except (msgspec.DecodeError, msgspec.ValidationError, RecursionError) as err:
            raise JsonError(str(err)) from err
        for raw in raws:
            while data[at] in _BETWEEN:
                at += 1
            entry = bytes(raw).strip(_SPACES)
            at += len(entry)
            items.append(Item(loads_evidence(entry)))
            ends.append(at)
        self._remember(_Known(data, ends, items), base if base is not None and count == len(base.items) else None)
        return list(items), known

    def _nearest(self, data: bytes) -> tuple[_Known | None, int]:
        """The known history that shares most whole entries from the beginning, and how many."""
        best: tuple[_Known | None, int] = (None, 0)
        for known in self._known:
            common = _common(known.data, data)
            count = bisect_right(known.ends, common)
            if count and known.ends[count - 1] == common and data[common - 1] not in _CLOSED:
                count -= 1  # 1 is not the first entry of [12]
            if count > best[1]:
                best = known, count
        return best

    def _remember(self, known: _Known, instead: _Known | None) -> None:
        self._known = [known, *(other for other in self._known if other is not instead)][: self._keep]
        while self._known and sum(len(other.data) for other in self._known) > self._keep_bytes:
            self._known.pop()


def _common(one: bytes, other: bytes) -> int:
    """How many bytes from the beginning are surely the same."""
    at, end = 0, min(len(one), len(other))
    for size in (1 << 16, 1 << 12, 1 << 8, 1 << 4, 1):
        while at + size <= end and one[at : at + size] == other[at : at + size]:
            at += size
    return at
