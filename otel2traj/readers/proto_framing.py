"""A stream of OTLP protobuf into the Resource… messages of its export requests, however those follow each other."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from typing import Final, NamedTuple

from ..model.evidence import Notice
from .framing import GIANT
from .inflate import Stream
from .wirescan import Buffer, Field, WireError, fields, varint

HEAD: Final = 1 << 16
"""Bytes that are looked at to tell the form."""


class Block(NamedTuple):
    """One Resource… message: `buffer[start:end]`, which stands at `base + start` of the stream."""

    buffer: Buffer
    start: int
    end: int
    base: int


class Blocks:
    """The blocks of a stream in order; damage is a notice with the byte where it was met."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._mapped: mmap.mmap | None = None

    def run(self) -> Iterator[Block | Notice]:
        framing = framing_of(self._stream.peek(HEAD), self._stream.size)
        at, size = 0, self._stream.size
        while at < size:
            prefix = self._stream.file.read(4 if framing == "fixed" else 10) if framing != "none" else b""
            if framing == "fixed":
                length, width = int.from_bytes(prefix, "big"), 4
            elif framing == "varint":
                try:
                    length, width = varint(prefix, 0, len(prefix))
                except WireError:
                    length, width = size, len(prefix)
                self._stream.file.seek(at + width)
                prefix = prefix[:width]
            else:
                length, width = size, 0
            self._stream.digest(prefix)
            at += width
            if framing != "none" and at + length > size:
                yield self._damage(at - width, "the last message is cut")
                return
            if framing == "none":
                yield from self._top_level(at, size)
                return
            buffer, start = self._take(at, length)
            try:
                for field in fields(buffer, start, start + length):
                    if field.number == 1 and field.wire == 2:
                        yield Block(buffer, field.start, field.end, at - start)
            except WireError as err:
                yield self._damage(at, str(err))
            at += length

    def _top_level(self, at: int, size: int) -> Iterator[Block | Notice]:
        """Fields of one message that fills the stream, each read by itself."""
        file, stream = self._stream.file, self._stream
        while at < size:
            prefix = file.read(min(20, size - at))
            try:
                tag, after = varint(prefix, 0, len(prefix))
                length, after = varint(prefix, after, len(prefix))
            except WireError as err:
                yield self._damage(at, str(err))
                return
            if tag != 0x0A and tag & 7 != 2:
                yield self._damage(at, f"unexpected field {tag >> 3}")
                return
            if at + after + length > size:
                yield self._damage(at, "the last message is cut")
                return
            file.seek(at + after)
            stream.digest(prefix[:after])
            buffer, start = self._take(at + after, length)
            if tag == 0x0A:
                yield Block(buffer, start, start + length, at + after - start)
            at += after + length

    def _take(self, at: int, length: int) -> tuple[Buffer, int]:
        """The next bytes of the stream, and where in the buffer they begin; mapped where they are too many to hold."""
        if length <= GIANT:
            return self._stream.read_chunk(length), 0
        if self._mapped is None:
            self._mapped = mmap.mmap(self._stream.file.fileno(), self._stream.size, access=mmap.ACCESS_READ)
        for place in range(at, at + length, GIANT):
            self._stream.digest(memoryview(self._mapped)[place : min(place + GIANT, at + length)])
        self._stream.file.seek(at + length)
        return self._mapped, at

    def _damage(self, at: int, why: str) -> Notice:
        return Notice("unreadable_record", f"{why} (byte {at})", self._stream.name)


_SPAN_SIGNS: Final = frozenset(((7, 1), (8, 1), (6, 0), (16, 5), (15, 2), (10, 0), (13, 2), (14, 0)))
_LOG_SIGNS: Final = frozenset(((1, 1), (11, 1), (2, 0), (8, 5), (7, 0), (6, 2)))
_METRIC_SIGNS: Final = frozenset(((7, 2),))


def signal_of(buffer: Buffer, records: list[Field]) -> str:
    """What the records are, told by which fields they have on which wire types: the three signals share their frame."""
    for record in records:
        signs: set[tuple[int, int]] = set()
        try:
            for field in fields(buffer, record.start, record.end):
                signs.add((field.number, field.wire))
        except WireError:
            continue
        for name, known in (("spans", _SPAN_SIGNS), ("logs", _LOG_SIGNS), ("metrics", _METRIC_SIGNS)):
            if signs & known:
                return name
        if (1, 2) in signs and (4, 0) not in signs and signs & {(5, 2), (9, 2), (10, 2), (11, 2)}:
            first = next(field for field in fields(buffer, record.start, record.end) if field.number == 1)
            if first.end - first.start != 16:
                return "metrics"
    return "spans"


def framing_of(head: bytes, size: int) -> str | None:
    """How export requests follow each other: "none" (one message, or several run together), "fixed" (4-byte big-endian
    lengths), "varint" (lengths as protobuf writes them); None where this is no OTLP protobuf."""
    if looks_like_export(head, 0, size):
        return "none"
    if len(head) >= 4:
        length = int.from_bytes(head[:4], "big")
        if (length == 0 and size > 4 and framing_of(head[4:], size - 4) == "fixed") or (
            length > 0 and looks_like_export(head, 4, size)
        ):
            return "fixed"
    try:
        length, at = varint(head, 0, min(10, len(head)))
    except WireError:
        return None
    return "varint" if length > 1 and looks_like_export(head, at, size) else None


def looks_like_export(head: bytes, start: int, size: int) -> bool:
    """Whether an export request could begin at `start` of the first bytes of a stream of `size` bytes: field 1 of
    length-delimited fields 1, 2 and 3 alone."""
    if start >= len(head) or head[start] != 0x0A:
        return False
    try:
        length, at = varint(head, start + 1, len(head))
    except WireError:
        return False
    if length == 0:
        return True
    end = min(at + length, len(head))
    whole = at + length <= len(head)
    if at + length > size and whole:
        return False
    seen = 0
    while at < end:
        if head[at] not in b"\x0a\x12\x1a\xc2":
            return False
        try:
            _, after = varint(head, at, end)
            inner, after = varint(head, after, end)
        except WireError:
            return not whole and seen > 0
        seen += 1
        at = after + inner
    return seen > 0 and (not whole or at == end)
