"""Accepted bodies to a segment log on disk, and back: the record format, the reader, the recovery.

A segment is a file of records, each a fixed header, then the body exactly as it came (encoding included):

    magic "o2tr" · crc32 of what follows · body length · received ns · items · signal · content · encoding · version

Zeros up to a multiple of `BLOCK` may follow a record.

A record of signal `END` closes a segment. Numbers are little-endian. Segments are named by number, `00000001.seg`, and
written by one process each, which holds a lock on the file while it may still write.
"""

from __future__ import annotations

import contextlib
import os
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import IO, Final

from .inflate import crc32

MAGIC: Final = b"o2tr"
HEADER: Final = struct.Struct("<4sIIQIBBBB")
_CHECKED: Final = struct.Struct("<IQIBBBB")
_CHECKED_AT: Final = 8
VERSION: Final = 1
BLOCK: Final = 4096
"""Groups of records may end in zeros up to a multiple of this, where they were written past the page cache."""
MAX_BODY: Final = 1 << 31
"""A length beyond this is damage, never a record."""
_NAME: Final = re.compile(r"([0-9]{8,})\.seg")


class Signal(IntEnum):
    END = 0
    TRACES = 1
    LOGS = 2
    METRICS = 3


class Content(IntEnum):
    PROTOBUF = 1
    JSON = 2


class Encoding(IntEnum):
    IDENTITY = 0
    GZIP = 1
    DEFLATE = 2
    ZSTD = 3


@dataclass(slots=True)
class Record:
    """One accepted body. `items` counts spans, log records or metrics; `offset` is that of its header."""

    signal: Signal
    content: Content
    encoding: Encoding
    received_ns: int
    items: int
    body: bytes
    offset: int = 0

    @property
    def end(self) -> int:
        return self.offset + HEADER.size + len(self.body)


@dataclass(slots=True)
class Damage:
    """Bytes of a segment that are no record, where one must have been: `offset` and `length` in the segment.

    `signal`, `items` and `received_ns` are what a header says that stands there; None where none does.
    """

    offset: int
    length: int
    signal: Signal | None = None
    items: int | None = None
    received_ns: int | None = None


def header(signal: Signal, content: Content, encoding: Encoding, received_ns: int, items: int, body: bytes) -> bytes:
    """The bytes that go before `body` on disk."""
    checked = _CHECKED.pack(len(body), received_ns, items, signal, content, encoding, VERSION)
    return MAGIC + struct.pack("<I", crc32(body, crc32(checked))) + checked


def end_record(received_ns: int) -> bytes:
    return header(Signal.END, Content.PROTOBUF, Encoding.IDENTITY, received_ns, 0, b"")


def read_record(file: IO[bytes], offset: int) -> Record | None:
    """The record at `offset`, or None where no whole and undamaged record begins."""
    file.seek(offset)
    head = file.read(HEADER.size)
    if len(head) < HEADER.size or not head.startswith(MAGIC):
        return None
    _, crc, length, received, items, signal, content, encoding, version = HEADER.unpack(head)
    if length > MAX_BODY or version != VERSION:
        return None
    body = file.read(length)
    if len(body) < length or crc32(body, crc32(head[_CHECKED_AT:])) != crc:
        return None
    try:
        return Record(Signal(signal), Content(content), Encoding(encoding), received, items, body, offset)
    except ValueError:
        return None


def resync(file: IO[bytes], offset: int) -> int | None:
    """Where the next undamaged record after `offset` begins, or None when there is none."""
    chunk_size = 1 << 20
    position = offset + 1
    while True:
        file.seek(position)
        chunk = file.read(chunk_size)
        at = chunk.find(MAGIC)
        while at >= 0:
            if read_record(file, position + at) is not None:
                return position + at
            at = chunk.find(MAGIC, at + 1)
        if len(chunk) < chunk_size:
            return None
        position += chunk_size - len(MAGIC) + 1


def read_from(file: IO[bytes], offset: int, *, live: bool = False) -> Iterator[Record | Damage]:
    """Records from `offset` on, and the damage between and behind them; stops at the tail.

    `live` says that the segment may still be written: a record that is not all there yet ends the reading.
    """
    while True:
        record = read_record(file, offset)
        if record is None:
            padded = after_padding(file, offset)
            if padded != offset:
                offset = padded
                continue
            size = file.seek(0, os.SEEK_END)
            if offset >= size or (live and _unfinished(file, offset)):
                return
            after = resync(file, offset)
            record = read_record(file, offset)  # it may have been finished meanwhile
            if record is None:
                damage = _damage(file, offset, size if after is None else after)
                yield damage
                offset = damage.offset + damage.length
                continue
        yield record
        offset = record.end


def records_from(file: IO[bytes], offset: int, *, live: bool = False) -> Iterator[Record]:
    """`read_from` without the damage."""
    return (found for found in read_from(file, offset, live=live) if isinstance(found, Record))


def _damage(file: IO[bytes], offset: int, bound: int) -> Damage:
    """What stands between a record and the next whole one: one record as its header tells, else all of it."""
    file.seek(offset)
    head = file.read(HEADER.size)
    if len(head) == HEADER.size and head.startswith(MAGIC):
        _, _, length, received, items, signal, _, _, version = HEADER.unpack(head)
        end = offset + HEADER.size + length
        file.seek(after_padding(file, end))
        followed = end == bound or file.read(len(MAGIC)) == MAGIC
        if version == VERSION and signal in tuple(Signal) and end <= bound and followed:
            return Damage(offset, end - offset, Signal(signal), items, received)
    return Damage(offset, bound - offset)


def after_padding(file: IO[bytes], offset: int) -> int:
    """The begin of the next block when there are only zeros up to it, else `offset`."""
    length = -offset % BLOCK
    file.seek(offset)
    zeros = file.read(length)
    return offset + length if len(zeros) == length and not zeros.strip(b"\0") else offset


def _unfinished(file: IO[bytes], offset: int) -> bool:
    size = file.seek(0, os.SEEK_END)
    file.seek(offset)
    head = file.read(HEADER.size)
    if len(head) < HEADER.size:
        return True
    return head.startswith(MAGIC) and offset + HEADER.size + int.from_bytes(head[8:12], "little") > size


def is_live(file: IO[bytes]) -> bool:
    """Whether another process, or another part of this one, holds the lock of an open segment."""
    try:
        import fcntl
    except ImportError:  # pragma: no cover - Windows
        return True
    try:
        fcntl.flock(file.fileno(), fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    fcntl.flock(file.fileno(), fcntl.LOCK_UN)
    return False


def segment_files(folder: Path) -> list[Path]:
    """The segments of a log, in the order they were begun."""
    if not folder.is_dir():
        return []
    found = [(int(m.group(1)), folder / name) for name in os.listdir(folder) if (m := _NAME.fullmatch(name))]
    return [path for _, path in sorted(found)]


def create_segment(folder: Path) -> tuple[int, Path]:
    """A new, locked, empty segment after all others: its file descriptor and path."""
    folder.mkdir(parents=True, exist_ok=True)
    number = 1
    existing = segment_files(folder)
    if existing:
        number = int(existing[-1].stem) + 1
    while True:
        path = folder / f"{number:08d}.seg"
        try:
            fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), 0o600)
        except FileExistsError:
            number += 1
            continue
        lock(fd, wait=True)  # a reader may look for an instant whether the segment is live
        sync_folder(folder)
        return fd, path


def lock(fd: int, *, wait: bool = False) -> bool:
    """Take the exclusive lock of an open file; False when another process holds it and we do not `wait`."""
    try:
        import fcntl
    except ImportError:  # pragma: no cover - Windows has no flock: one writer per directory is then on trust
        return True
    try:
        fcntl.flock(fd, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def sync_folder(folder: Path) -> None:
    """Make names in a folder durable, where the system can."""
    with contextlib.suppress(OSError):
        fd = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


@dataclass(slots=True)
class Recovered:
    """What `recover` found in one segment that its writer did not close."""

    path: Path
    records: int
    cut: int
    damaged: int
    """Bytes that are no record any more, though they were: kept, told of by readers."""


def recover(folder: Path) -> list[Recovered]:
    """Cut the torn tail off every segment whose writer is gone, and nothing else. Live segments are left alone.

    A tail is torn where it ends before its record does, or where its end was never written. One that is all there and
    yet is no record was acknowledged and is damage: it stays, and readers tell of it.
    """
    found: list[Recovered] = []
    for path in segment_files(folder):
        with path.open("r+b") as file:
            if not lock(file.fileno()):
                continue
            if _is_closed(file):
                continue
            good = records = damaged = 0
            for part in read_from(file, 0):
                if isinstance(part, Damage):
                    if _is_torn(file, part):
                        break
                    damaged += part.length
                    good = part.offset + part.length
                else:
                    good = part.end
                    records += part.signal is not Signal.END
            size = os.fstat(file.fileno()).st_size
            file.seek(good)
            torn = size - good if size - good > BLOCK or file.read(size - good).strip(b"\0") else 0
            if size > good:
                file.truncate(good)
            file.seek(good)
            file.write(end_record(0))
            file.flush()
            os.fsync(file.fileno())
            found.append(Recovered(path, records, torn, damaged))
    return found


_UNWRITTEN: Final = 512
"""Zeros at the end of a record that say it was never written: no sector of it reached the disk."""


def _is_torn(file: IO[bytes], part: Damage) -> bool:
    """Whether damage that reaches to the end of a segment is a write that was cut off before it was acknowledged."""
    size = file.seek(0, os.SEEK_END)
    if part.offset + part.length < size:
        return False
    if part.signal is None:
        return True
    file.seek(max(part.offset + HEADER.size, size - _UNWRITTEN))
    return not file.read(_UNWRITTEN).strip(b"\0")


def _is_closed(file: IO[bytes]) -> bool:
    """Whether the last bytes of a segment are its end record."""
    size = file.seek(0, os.SEEK_END)
    if size < HEADER.size:
        return False
    for offset in (size - HEADER.size, size - BLOCK):
        last = read_record(file, offset) if offset >= 0 else None
        if last is not None and last.signal is Signal.END:
            return True
    return False
