"""Buffers to a file past the page cache, where the system and the file system can.

A receiver's log is written once and read once soon after. Under a growing page cache direct writes cost a fraction of
the CPU and reach several times the rate (ADR 0042); everything works without them.
"""

from __future__ import annotations

import contextlib
import mmap
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from .segments import BLOCK

WORTHWHILE: Final = 256 << 10
"""Bytes from which a group of records is written directly; padding to a block is lost in it."""
_BUFFER: Final = 8 << 20


class DirectFile:
    """A second, direct descriptor of a segment, and the aligned buffer that direct writes need."""

    def __init__(self, fd: int, buffer: mmap.mmap) -> None:
        self.fd = fd
        self._view = memoryview(buffer)

    def write(self, offset: int, parts: Sequence[bytes]) -> int:
        """Write `parts` at `offset` (a multiple of the block), zeros up to the next block; the bytes used. Raises
        `OSError`."""
        filled = 0
        begin = offset
        for part in parts:
            rest = memoryview(part)
            while rest:
                taken = min(len(rest), _BUFFER - filled)
                self._view[filled : filled + taken] = rest[:taken]
                filled += taken
                rest = rest[taken:]
                if filled == _BUFFER:
                    self._write(offset, filled)
                    offset += filled
                    filled = 0
        if filled:
            padded = -(-filled // BLOCK) * BLOCK
            self._view[filled:padded] = bytes(padded - filled)
            self._write(offset, padded)
            offset += padded
        return offset - begin

    def _write(self, offset: int, length: int) -> None:
        done = 0
        while done < length:
            written = os.pwrite(self.fd, self._view[done:length], offset + done)
            if written <= 0 or written % BLOCK:
                raise OSError(5, "a direct write stopped within a block")
            done += written

    def close(self) -> None:
        with contextlib.suppress(OSError):
            os.close(self.fd)


def open_direct(path: Path, buffer: mmap.mmap | None) -> DirectFile | None:
    """A direct descriptor of an existing segment, or None where there is no such thing."""
    flag = getattr(os, "O_DIRECT", 0)
    if not flag or buffer is None:
        return None
    try:
        return DirectFile(os.open(path, os.O_WRONLY | flag | getattr(os, "O_CLOEXEC", 0)), buffer)
    except OSError:
        return None


def aligned_buffer() -> mmap.mmap:
    return mmap.mmap(-1, _BUFFER)


def forget_pages(fd: int, offset: int, length: int) -> None:
    """Tell the system that synced pages need not stay in memory."""
    if hasattr(os, "posix_fadvise"):
        with contextlib.suppress(OSError):
            os.posix_fadvise(fd, offset, length, os.POSIX_FADV_DONTNEED)
