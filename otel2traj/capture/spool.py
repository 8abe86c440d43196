"""Accepted bodies into the segment log: one writer thread, one sync for all that wait, then the answer.

Nothing is acknowledged before `fdatasync` returned. When writing or syncing fails, everyone who waited is refused, the
segment is cut back to its last good byte and left, and after a pause the next body tries a fresh one. Waiting bodies
are bounded; beyond the mark a body is refused at once.
"""

from __future__ import annotations

import contextlib
import errno
import os
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from .direct import WORTHWHILE, DirectFile, aligned_buffer, forget_pages, open_direct
from .segments import BLOCK, Content, Encoding, Signal, create_segment, end_record, header

Done = Callable[[Exception | None], None]
"""Called once from the writer thread: with None when the body is durable, with the reason when it is refused."""

_IOV: Final = 512
"""Buffers for one writev; systems allow 1024."""

_GATHER: Final = 0.005
"""Seconds that a body waits at most for others to share its sync."""


class Busy(Exception):
    """The body cannot be taken now; try again after `retry_after` seconds."""

    def __init__(self, message: str, retry_after: int = 1) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class _Resting(OSError):
    """The log failed a moment ago and is not tried again yet."""


def _sync(fd: int) -> None:
    getattr(os, "fdatasync", os.fsync)(fd)


class Spool:
    """The writing end of a segment log. `append` may be called from any thread.

    `high_water` bounds the bytes that wait; `min_free` is disk space (bytes) left for others; `sync=False` leaves
    writing back to the system; `pause` is how long (seconds) a failed log rests; `direct=False`
    keeps to the page cache. `write` and `sync_call` stand in for
    the system calls in tests.
    """

    def __init__(
        self,
        folder: Path,
        *,
        segment_bytes: int = 128 << 20,
        high_water: int = 256 << 20,
        min_free: int = 32 << 20,
        sync: bool = True,
        pause: float = 1.0,
        direct: bool = True,
        clock: Callable[[], int] = time.time_ns,
        write: Callable[[int, Sequence[bytes]], int] | None = None,
        sync_call: Callable[[int], None] = _sync,
    ) -> None:
        self._folder = folder
        self._segment_bytes = segment_bytes
        self._high_water = high_water
        self._min_free = min_free
        self._sync_wanted = sync
        self._clock = clock
        self._write = os.writev if write is None else write
        self._buffer = aligned_buffer() if write is None and sync and direct else None
        self._direct: DirectFile | None = None
        self._sync_call = sync_call
        self._pause = pause
        self._retry_at = 0.0
        self._ready = threading.Condition()
        self._queue: list[tuple[bytes, bytes, Done]] = []
        self._waiting = 0
        self._closing = False
        self._senders = 0
        self._took = 0.0
        self._fd = -1
        self._size = 0
        self.path: Path | None = None
        self.records = self.bytes = self.syncs = self.refused = 0
        self.failing: str | None = None
        """Why the last attempt to write failed; None while the log takes bodies."""
        self._thread = threading.Thread(target=self._run, name="otel2traj-spool", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        """Bytes accepted and not yet durable."""
        return self._waiting

    def append(self, signal: Signal, content: Content, encoding: Encoding, items: int, body: bytes, done: Done) -> None:
        """Queue a body; `done` is called when its fate is known. Raises `Busy` when too much waits already."""
        head = header(signal, content, encoding, self._clock(), items, body)
        with self._ready:
            if self._closing:
                raise Busy("the receiver is stopping", retry_after=5)
            if self._waiting + len(body) > self._high_water and self._queue:
                self.refused += 1
                raise Busy("too much is waiting for the disk")
            self._waiting += len(body)
            self._queue.append((head, body, done))
            self._ready.notify()

    def append_and_wait(
        self, signal: Signal, content: Content, encoding: Encoding, items: int, body: bytes, timeout: float = 30.0
    ) -> None:
        """`append`, and wait until the body is durable. Raises `Busy`."""
        event = threading.Event()
        reasons: list[Exception | None] = []

        def done(reason: Exception | None) -> None:
            reasons.append(reason)
            event.set()

        self.append(signal, content, encoding, items, body, done)
        if not event.wait(timeout):
            raise Busy("the disk does not answer", retry_after=5)
        if reasons[0] is not None:
            raise reasons[0]

    def close(self, timeout: float = 30.0) -> None:
        """Write and sync what waits, close the segment. Later bodies are refused."""
        with self._ready:
            self._closing = True
            self._ready.notify()
        self._thread.join(timeout)

    def close_inherited(self) -> None:
        """Let go of the file in a forked child; the log goes on in the parent."""
        if self._fd >= 0:
            with contextlib.suppress(OSError):
                os.close(self._fd)
            self._fd = -1
        self._close_direct()

    def _run(self) -> None:
        while True:
            with self._ready:
                while not self._queue and not self._closing:
                    self._ready.wait()
                self._gather()
                batch, self._queue = self._queue, []
                closing = self._closing
            if batch:
                self._store(batch)
            elif closing:
                self._seal()
                return

    def _gather(self) -> None:
        """Wait for those whom the last sync answered, beside those who wait already; for half of a sync at most.

        They mostly send again within that time, and without the wait every second sync would have one body. One sender
        alone never waits, nor does what is large enough to be worth a sync of its own.
        """
        end = time.monotonic() + min(self._took / 2, _GATHER)
        while self._queue and len(self._queue) < self._senders and self._waiting < WORTHWHILE and not self._closing:
            left = end - time.monotonic()
            if left <= 0 or not self._ready.wait(left):
                return

    def _store(self, batch: list[tuple[bytes, bytes, Done]]) -> None:
        reason: Exception | None = None
        try:
            self._open(sum(len(body) for _, body, _ in batch))
            buffers = [part for head, body, _ in batch for part in (head, body)]
            size = self._write_group(buffers)
            if self._sync_wanted:
                begin = time.monotonic()
                self._sync_call(self._fd)
                self._took = time.monotonic() - begin
                forget_pages(self._fd, self._size, size)
            self._size += size
            self.failing = None
            self.records += len(batch)
            self.bytes += size
            self.syncs += 1
        except Exception as err:  # the writer lives on, whatever it was
            self.failing = (err.strerror if isinstance(err, OSError) else None) or type(err).__name__
            self._abandon()
            if not isinstance(err, _Resting):
                self._retry_at = time.monotonic() + self._pause
            reason = Busy(f"the log cannot be written: {self.failing}", retry_after=2)
            self.refused += len(batch)
        with self._ready:
            self._waiting -= sum(len(body) for _, body, _ in batch)
            self._senders = len(batch) + len(self._queue)
        for _, _, done in batch:
            with contextlib.suppress(Exception):
                done(reason)
        if reason is None and self._size >= self._segment_bytes:
            self._seal()

    def _open(self, wanted: int) -> None:
        if time.monotonic() < self._retry_at:
            raise _Resting(errno.EIO, self.failing or "the log failed a moment ago")
        self._folder.mkdir(parents=True, exist_ok=True)
        if self._min_free and hasattr(os, "statvfs"):
            disk = os.statvfs(self._folder)
            if disk.f_bavail * disk.f_frsize < self._min_free + wanted:
                raise OSError(errno.ENOSPC, "the disk is nearly full")
        if self._fd < 0:
            self._fd, self.path = create_segment(self._folder)
            self._direct = open_direct(self.path, self._buffer)
            self._size = 0

    def _write_group(self, buffers: list[bytes]) -> int:
        """Write at the end of the segment; the bytes it grew by."""
        size = sum(map(len, buffers))
        if self._direct is None or size < WORTHWHILE:
            self._write_all(buffers)
            return size
        padding = -self._size % BLOCK
        if padding:
            os.write(self._fd, bytes(padding))
        try:
            size = padding + self._direct.write(self._size + padding, buffers)
        except OSError as err:
            if err.errno != errno.EINVAL:
                raise
            self._direct.close()  # the file system wants other blocks: never mind
            self._direct = self._buffer = None
            os.ftruncate(self._fd, self._size + padding)
            self._write_all(buffers)
            return padding + size
        os.lseek(self._fd, self._size + size, os.SEEK_SET)
        return size

    def _write_all(self, buffers: list[bytes]) -> None:
        at = 0
        while at < len(buffers):
            part = buffers[at : at + _IOV]
            wanted = sum(map(len, part))
            written = self._write(self._fd, part)
            if written < wanted:
                rest = memoryview(b"".join(part))[written:]
                while rest:
                    count = self._write(self._fd, [bytes(rest)])
                    if count == 0:
                        raise OSError(errno.EIO, "nothing was written")
                    rest = rest[count:]
            at += _IOV

    def _abandon(self) -> None:
        """Cut off what nobody was told is stored, and never write to this segment again: a reader may have seen it."""
        fd, self._fd = self._fd, -1
        self._close_direct()
        if fd >= 0:
            with contextlib.suppress(OSError):
                os.ftruncate(fd, self._size)
            with contextlib.suppress(OSError):
                os.close(fd)

    def _close_direct(self) -> None:
        direct, self._direct = self._direct, None
        if direct is not None:
            direct.close()

    def _seal(self) -> None:
        if self._fd < 0:
            return
        fd, self._fd = self._fd, -1
        self._close_direct()
        with contextlib.suppress(OSError):
            os.write(fd, end_record(self._clock()))
            if self._sync_wanted:
                self._sync_call(fd)
        with contextlib.suppress(OSError):
            os.close(fd)
