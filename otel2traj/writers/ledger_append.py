"""One more line at the end of a ledger: whole and on disk, or not there at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ..errors import EvidenceError

_BLOCK = 1 << 16


@dataclass(frozen=True, slots=True)
class Tail:
    """What an append must know of the file: its first and its last line that is not blank, without newlines."""

    first: bytes | None = None
    last: bytes | None = None
    ended: bool = True
    """Whether the file ends in a newline, as an undamaged ledger does; an empty file does."""


def append_line(path: Path, make: Callable[[Tail], bytes]) -> None:
    """Writes the line that `make` returns (with its newline) in one write, and waits until it is on disk.

    `make` sees the tail under a lock, and raises to refuse: then nothing is written, and a file that was not there is
    not made. Raises `EvidenceError` where the file cannot be read or written.
    """
    try:
        if not path.exists():
            line = make(Tail())
            with _opened(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL) as fd:
                _write(fd, line)
            _sync_directory(path.parent)
            return
        with _opened(path, os.O_RDWR | os.O_APPEND) as fd:
            tail = read_tail(fd)
            line = make(tail)
            _write(fd, line if tail.ended else b"\n" + line)
    except OSError as err:
        raise EvidenceError(f"cannot append to {path.name}: {err.strerror}", hint="nothing was appended") from err


@contextmanager
def _opened(path: Path, flags: int) -> Iterator[int]:
    fd = os.open(path, flags, 0o644)
    try:
        _lock(fd)
        yield fd
    finally:
        os.close(fd)


def _lock(fd: int) -> None:
    """Waits for other appenders, where the system has such locks; closing the file releases it."""
    try:
        import fcntl
    except ImportError:
        return
    fcntl.flock(fd, fcntl.LOCK_EX)


def _write(fd: int, data: bytes) -> None:
    before = os.fstat(fd).st_size
    written = os.write(fd, data)
    if written != len(data):
        os.ftruncate(fd, before)
        raise OSError(0, "the line was not written whole")
    os.fsync(fd)


def _sync_directory(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def read_tail(fd: int) -> Tail:
    """First and last line, found from both ends: the middle of a large ledger is not read."""
    size = os.fstat(fd).st_size
    data, start = b"", size
    while start > 0 and b"\n" not in data.strip():
        start = max(0, start - _BLOCK)
        data = os.pread(fd, size - start, start)
    if not data.strip():
        return Tail()
    last = data.strip().rpartition(b"\n")[2].strip()
    head, end = b"", 0
    while end < size and b"\n" not in head.lstrip():
        end = min(size, end + _BLOCK)
        head = os.pread(fd, end, 0)
    return Tail(head.strip().partition(b"\n")[0].strip(), last, data.endswith(b"\n"))
