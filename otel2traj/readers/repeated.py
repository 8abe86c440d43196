"""Members that stand twice in one object of OTLP JSON: decoders take the last and say nothing.

Attributes, most of the bytes, are left out: their names are compared when they are decoded.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from ..canonical import JsonValue, key_ends, repeated_key_of
from ..model.evidence import Notice


class _Attributes(msgspec.Struct):
    attributes: msgspec.Raw = msgspec.Raw()


_decode = msgspec.json.Decoder().decode
_attributes = msgspec.json.Decoder(_Attributes).decode
_NAME: Final = b'"attributes":'
_SPACES: Final = b" \t\r\n"


def repeated_member(record: bytes, attributes: bytes | None) -> str | None:
    """The first member that stands twice in an object of a record beside its `attributes`, which are looked for where
    they are not at hand; or None. What is no JSON has none."""
    try:
        rest = _without(record, bytes(_attributes(record).attributes) if attributes is None else attributes)
        return repeated_key_of(rest, key_ends(_decode(rest)))
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None


def _without(record: bytes, attributes: bytes) -> bytes:
    """A record with `0` in place of its attributes."""
    at = record.find(_NAME) + len(_NAME)
    if not attributes or at < len(_NAME):
        return record
    while at < len(record) and record[at] in _SPACES:
        at += 1
    return record[:at] + b"0" + record[at + len(attributes) :] if record.startswith(attributes, at) else record


def told_twice(data: bytes, value: JsonValue, path: str, line: int | None) -> Iterator[Notice]:
    """A notice where an object of data, which was read as this value, names a member twice."""
    try:
        key = repeated_key_of(bytes(data), key_ends(value))
    except (ValueError, RecursionError):  # read with a repair
        return
    if key is not None:
        yield Notice("repeated_key", f"a member {key!r} stands twice in one object", path, line)
