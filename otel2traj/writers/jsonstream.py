"""One JSON document, written item by item: what is known before the list, the list, what is known after it."""

from __future__ import annotations

from typing import BinaryIO

from ..canonical import JsonObject, JsonValue, dumps


class ListDocument:
    """`{<before>, "<name>": [` one item a line `], <after>}`, or a bare list where `name` is None. Holds no item."""

    def __init__(self, out: BinaryIO, name: str | None) -> None:
        self._out = out
        self._name = name
        self._items = 0

    def open(self, before: JsonObject) -> None:
        if self._name is None:
            self._out.write(b"[")
            return
        head = dumps(before)[:-1]
        self._out.write(head + (b"," if len(head) > 1 else b"") + dumps(self._name) + b":[")

    def item(self, value: JsonValue) -> None:
        self._out.write(b",\n" if self._items else b"\n")
        self._out.write(dumps(value))
        self._items += 1

    def close(self, after: JsonObject) -> None:
        self._out.write(b"\n]" if self._items else b"]")
        if self._name is not None:
            tail = dumps(after)[1:]
            self._out.write((b"," if len(tail) > 1 else b"") + tail)
        self._out.write(b"\n")


def text_of(value: JsonValue) -> str:
    """A text as it stands, nothing as "", every other value as its JSON text."""
    if value is None:
        return ""
    return value if isinstance(value, str) else dumps(value).decode("utf-8")
