"""Files to lines with addresses: split on `\\n` only, hashed while read, bounded by the longest line."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from ..errors import EvidenceError
from ..model.evidence import EvidenceRef, Notice, Source


class Line(NamedTuple):
    number: int
    offset: int
    data: bytes
    """Without its line end."""
    ended: bool
    """False for a last line without `\\n`: still being written, or cut."""


class View(NamedTuple):
    """A line whose bytes stand in a buffer that the next line overwrites."""

    number: int
    offset: int
    data: memoryview
    ended: bool


_BUFFER: Final = 1 << 20


def open_source(file: Path) -> int:
    """A read-only descriptor of a regular file, never through a symbolic link. Raises `EvidenceError`."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as err:
        raise EvidenceError(
            f"cannot read {file.name}: {err.strerror}", hint="check the path and its permissions"
        ) from err
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise EvidenceError(f"{file.name} is not a regular file", hint="an attempt holds regular files only")
    return descriptor


class LineFile:
    """Lines of one source in order, and any record again by its address."""

    def __init__(self, source: Source, inflated: int | None = None) -> None:
        """`inflated` is a descriptor of what a compressed source holds; whoever inflated it digests the source."""
        self.source = source
        self._inflated = inflated is not None
        self._descriptor = open_source(source.file) if inflated is None else inflated
        self._size = os.fstat(self._descriptor).st_size

    def lines(self) -> Iterator[Line | Notice]:
        """Every line up to the size found when the file was opened; a file that grew meanwhile is a notice."""
        for item in self.views():
            yield item if isinstance(item, Notice) else Line(item.number, item.offset, bytes(item.data), item.ended)

    def views(self) -> Iterator[View | Notice]:
        """The same without a copy of each line: `data` holds good until the next one is asked for."""
        digest = hashlib.sha256()
        buffer = bytearray(min(self._size + 1, _BUFFER))
        view = memoryview(buffer)
        base = start = scanned = filled = number = 0
        with os.fdopen(os.dup(self._descriptor), "rb", buffering=0) as stream:
            stream.seek(0)
            while True:
                end = buffer.find(b"\n", scanned, filled)
                if end >= 0:
                    number += 1
                    yield View(number, base + start, view[start:end], True)
                    start = scanned = end + 1
                    continue
                if start > 0 or filled == len(buffer):
                    kept = view[start:filled]
                    if filled - start > len(buffer) // 2:
                        buffer = bytearray(2 * len(buffer))
                        view = memoryview(buffer)
                    view[: len(kept)] = kept
                    base, start, filled = base + start, 0, len(kept)
                scanned = filled
                got = stream.readinto(view[filled : filled + self._size - base - filled])
                if not got:
                    break
                digest.update(view[filled : filled + got])
                filled += got
            if filled > start:
                yield View(number + 1, base + start, view[start:filled], False)
        if not self._inflated:
            self.source.sha256 = digest.hexdigest()
            self.source.size = base + filled
        if os.fstat(self._descriptor).st_size > self._size:
            yield Notice("source_grew", "the file grew while it was read; what came later is not in", self.source.path)

    def read(self, ref: EvidenceRef) -> bytes:
        data = os.pread(self._descriptor, ref.length, ref.offset)
        while len(data) < ref.length:
            more = os.pread(self._descriptor, ref.length - len(data), ref.offset + len(data))
            if not more:
                raise EvidenceError(f"{self.source.path} became shorter while it was read")
            data += more
        return data

    def close(self) -> None:
        os.close(self._descriptor)


def is_packed(file: Path) -> bool:
    """Whether a file is gzip or zstd, by its first bytes. Raises `EvidenceError`."""
    descriptor = open_source(file)
    try:
        return os.read(descriptor, 4).startswith((b"\x1f\x8b", b"\x28\xb5\x2f\xfd"))
    finally:
        os.close(descriptor)


def read_document(source: Source) -> bytes:
    """A whole small file, hashed. Raises `EvidenceError`."""
    descriptor = open_source(source.file)
    with os.fdopen(descriptor, "rb") as stream:
        data = stream.read()
    source.sha256 = hashlib.sha256(data).hexdigest()
    source.size = len(data)
    return data
