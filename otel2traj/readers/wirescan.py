"""Protobuf bytes into the extents of their fields, in whatever order they stand, without decoding what is inside."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from typing import NamedTuple

Buffer = bytes | mmap.mmap


class WireError(ValueError):
    """The bytes are not protobuf, or end early."""


class Field(NamedTuple):
    """One field: number, wire type, and where its payload stands (of a varint or fixed number: the number's bytes)."""

    number: int
    wire: int
    start: int
    end: int


def varint(buffer: Buffer, at: int, end: int) -> tuple[int, int]:
    """The value and the position after it."""
    value = shift = 0
    while at < end:
        byte = buffer[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
        if shift > 63:
            break
    raise WireError("a varint is cut or too long")


def fields(buffer: Buffer, start: int, end: int) -> Iterator[Field]:
    """Every field of the message at `buffer[start:end]`. Raises `WireError` where it is none."""
    at = start
    while at < end:
        tag, at = varint(buffer, at, end)
        number, wire = tag >> 3, tag & 7
        begin = at
        if wire == 2:
            length, begin = varint(buffer, at, end)
            at = begin + length
        elif wire == 0:
            _, at = varint(buffer, at, end)
        elif wire == 1:
            at += 8
        elif wire == 5:
            at += 4
        else:
            raise WireError(f"wire type {wire}")
        if number == 0 or at > end:
            raise WireError("a field is cut")
        yield Field(number, wire, begin, at)
