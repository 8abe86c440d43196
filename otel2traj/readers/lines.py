"""Files to lines with addresses: split on `\\n` only, hashed while read, bounded by the longest line."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ..errors import EvidenceError
from ..model.evidence import EvidenceRef, Notice, Source


class Line(NamedTuple):
    number: int
    offset: int
    data: bytes
    """Without its line end."""
    ended: bool
    """False for a last line without `\\n`: still being written, or cut."""


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

    def __init__(self, source: Source) -> None:
        self.source = source
        self._descriptor = open_source(source.file)
        self._size = os.fstat(self._descriptor).st_size

    def lines(self) -> Iterator[Line | Notice]:
        """Every line up to the size found when the file was opened; a file that grew meanwhile is a notice."""
        digest = hashlib.sha256()
        offset = number = 0
        with os.fdopen(os.dup(self._descriptor), "rb", buffering=1 << 20) as stream:
            stream.seek(0)
            for data in stream:
                number += 1
                if offset + len(data) > self._size:
                    data = data[: self._size - offset]
                if not data:
                    break
                digest.update(data)
                ended = data.endswith(b"\n")
                yield Line(number, offset, data[:-1] if ended else data, ended)
                offset += len(data)
                if offset >= self._size:
                    break
        self.source.sha256 = digest.hexdigest()
        self.source.size = offset
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


def read_document(source: Source) -> bytes:
    """A whole small file, hashed. Raises `EvidenceError`."""
    descriptor = open_source(source.file)
    with os.fdopen(descriptor, "rb") as stream:
        data = stream.read()
    source.sha256 = hashlib.sha256(data).hexdigest()
    source.size = len(data)
    return data
