"""A file on disk, plain or compressed, into one seekable stream of the bytes inside, with the digest of its own bytes.

Containers are told by their first bytes: gzip (RFC 1952), zstd (RFC 8878), and the form of the Collector's file
exporter, a 4-byte big-endian length before each zstd frame. What is compressed is inflated to an anonymous temporary
file; addresses count the inflated bytes. Messages of the framed form are written there as the exporter writes them
without compression: JSON with a line feed after it, protobuf with its length before it. The samples of an Inspect log
(zip) stand one after another in the order of their names, each with a line feed after it (ADR 122).
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import zlib
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import BinaryIO, Final, cast
from zipfile import ZipInfo

from ..errors import EvidenceError
from ..model.evidence import Notice
from .lines import open_source
from .unzip import MAGIC, inflated, members

INFLATE_LIMIT: Final = 4 << 30
"""Bytes that a compressed file may become, unless the caller says otherwise."""

CHUNK: Final = 1 << 18
BESIDE: Final = 1 << 19
"""Bytes from which on a piece is digested on a thread of its own."""

QUEUE: Final = 4
"""Pieces that may wait for their digest."""

_GZIP: Final = b"\x1f\x8b"
_ZSTD: Final = b"\x28\xb5\x2f\xfd"


class Stream:
    """Seekable bytes. `container` is "", "gzip", "zstd" or "zip"; `size` counts the bytes that will be read."""

    def __init__(self, path: Path, name: str, limit: int = INFLATE_LIMIT) -> None:
        """Raises `EvidenceError` where the file cannot be opened, is no regular file or inflates beyond `limit`."""
        self.name = name
        self.notices: list[Notice] = []
        self.container = ""
        self._hash = hashlib.sha256()
        self._hashed_to = 0
        self._thread: ThreadPoolExecutor | None = None
        self._waiting: deque[Future[None]] = deque()
        self._own: BinaryIO = os.fdopen(open_source(path), "rb", buffering=CHUNK)
        try:
            self.own_size = os.fstat(self._own.fileno()).st_size
            start = self._own.read(8)
            self._own.seek(0)
            self.file = self._own
            if start.startswith(_GZIP):
                self._inflate("gzip", _gunzip(self._limited()), limit)
            elif start.startswith(_ZSTD):
                self._inflate("zstd", _unzstd(self._limited()), limit)
            elif start.startswith(MAGIC):
                self._unzip(limit)
            elif start[4:8] == _ZSTD:
                self._inflate("zstd", _unframe(self._limited(), limit), limit)
        except (OSError, ValueError) as err:
            self.close()
            raise EvidenceError(f"cannot read {name}: {err}", hint="a regular file is needed") from err
        except EvidenceError:
            self.close()
            raise
        self.size = self.own_size if self.file is self._own else os.fstat(self.file.fileno()).st_size

    def _limited(self) -> Iterator[bytes]:
        """The file's own bytes, no more than there were at the start."""
        left = self.own_size
        while left > 0 and (chunk := self._own.read(min(CHUNK, left))):
            left -= len(chunk)
            self._hash.update(chunk)
            self._hashed_to += len(chunk)
            yield chunk

    def _inflate(self, container: str, chunks: Iterator[bytes], limit: int) -> None:
        self.container = container
        self.file = cast(BinaryIO, tempfile.TemporaryFile(buffering=CHUNK))  # noqa: SIM115
        written = 0
        try:
            for chunk in chunks:
                written += len(chunk)
                if written > limit:
                    raise EvidenceError(
                        f"{self.name} inflates to more than {limit} bytes",
                        hint="inflate it yourself, look at it, and give the plain file",
                        code="evidence.too_large",
                    )
                self.file.write(chunk)
        except _Damaged as err:
            self.notices.append(Notice("truncated_container", f"{container}: {err}", self.name))
        for _ in self._limited_rest():
            pass
        self.file.flush()
        self.file.seek(0)

    def _unzip(self, limit: int) -> None:
        """An archive without a member that is evidence stays what it is."""
        found = members(self._own)
        if found:
            self._inflate("zip", self._members(found), limit)

    def _members(self, found: list[ZipInfo]) -> Iterator[bytes]:
        for member in found:
            try:
                yield from inflated(self._own, member, _unzstd)
            except (OSError, ValueError, _Damaged) as err:
                self.notices.append(Notice("truncated_container", f"zip: {member.filename}: {err}", self.name))
            yield b"\n"

    def _limited_rest(self) -> Iterator[bytes]:
        self._own.seek(self._hashed_to)
        left = self.own_size - self._hashed_to
        while left > 0 and (chunk := self._own.read(min(CHUNK, left))):
            left -= len(chunk)
            self._hash.update(chunk)
            self._hashed_to += len(chunk)
            yield chunk

    def read_chunk(self, limit: int) -> bytes:
        """The next bytes of the stream, digested where they are the file's own."""
        chunk = self.file.read(limit)
        self.digest(chunk)
        return chunk

    def rewind(self) -> None:
        """Back to the beginning, for another pass."""
        self._digested()
        self.file.seek(0)
        if self.file is self._own:
            self._hash = hashlib.sha256()
            self._hashed_to = 0

    def digest(self, data: bytes | memoryview) -> None:
        """Counts bytes read from the file itself; called once for each byte, in order. Large pieces are digested beside
        the reading, on a thread of their own, since hashing needs no interpreter."""
        if self.file is not self._own:
            return
        self._hashed_to += len(data)
        if self._waiting or len(data) >= BESIDE:
            if self._thread is None:
                self._thread = ThreadPoolExecutor(1, "digest")
            self._waiting.append(self._thread.submit(self._hash.update, data))
            if len(self._waiting) > QUEUE:
                self._waiting.popleft().result()
        else:
            self._hash.update(data)

    def _digested(self) -> None:
        while self._waiting:
            self._waiting.popleft().result()

    def finish(self) -> tuple[str, int]:
        """SHA-256 in hex and number of the file's own bytes; remarks on a file that changed are in `notices`."""
        self._digested()
        for _ in self._limited_rest():
            pass
        now = os.fstat(self._own.fileno()).st_size
        if now > self.own_size:
            text = f"grew from {self.own_size} to {now} bytes while it was read; the new bytes were not read"
            self.notices.append(Notice("source_grew", text, self.name))
        elif self._hashed_to < self.own_size:
            text = f"shrank from {self.own_size} to {now} bytes while it was read"
            self.notices.append(Notice("source_shrank", text, self.name))
        return self._hash.hexdigest(), self._hashed_to

    def peek(self, limit: int) -> bytes:
        """The first bytes of the stream, which stays at its beginning."""
        data = os.pread(self.file.fileno(), min(limit, self.size), 0)
        return data

    def pread(self, offset: int, length: int) -> bytes:
        return os.pread(self.file.fileno(), length, offset)

    def close(self) -> None:
        self._digested()
        if self._thread is not None:
            self._thread.shutdown()
        if getattr(self, "file", self._own) is not self._own:
            self.file.close()
        self._own.close()


class _Damaged(Exception):
    """The container ends early or breaks; what came before it was inflated."""


def _gunzip(chunks: Iterator[bytes]) -> Iterator[bytes]:
    engine = zlib.decompressobj(31)
    fresh = True
    for chunk in chunks:
        data = chunk
        while data:
            if engine.eof:
                if not data.strip(b"\0"):
                    break
                engine, fresh = zlib.decompressobj(31), True
            try:
                out = engine.decompress(data, CHUNK)
                fresh = False
                yield out
                data = engine.unconsumed_tail or engine.unused_data
                while engine.unconsumed_tail:
                    out = engine.decompress(engine.unconsumed_tail, CHUNK)
                    yield out
                    data = engine.unused_data
            except zlib.error as err:
                raise _Damaged(str(err)) from err
    if not fresh and not engine.eof:
        raise _Damaged("the last member is cut")


def _unzstd(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Frames one after another. Fed in small pieces, since one piece can become 32 768 times its size."""
    import zstandard

    factory = zstandard.ZstdDecompressor(max_window_size=1 << 31)
    engine = factory.decompressobj()
    fresh = True
    try:
        for chunk in chunks:
            for at in range(0, len(chunk), 1024):
                piece = chunk[at : at + 1024]
                while piece:
                    if engine.eof:
                        engine = factory.decompressobj()
                    fresh = False
                    yield engine.decompress(piece)
                    piece = engine.unused_data if engine.eof else b""
    except zstandard.ZstdError as err:
        raise _Damaged(str(err)) from err
    if not fresh and not engine.eof:
        raise _Damaged("the last frame is cut")


def _unframe(chunks: Iterator[bytes], limit: int) -> Iterator[bytes]:
    source = _Readable(chunks)
    while prefix := source.exactly(4):
        length = int.from_bytes(prefix, "big")
        frame = source.exactly(length)
        if len(prefix) < 4 or len(frame) < length:
            raise _Damaged("the last frame is cut")
        parts: list[bytes] = []
        size = 0
        for part in _unzstd(iter((frame,))):
            parts.append(part)
            size += len(part)
            if size > limit:
                break
        message = b"".join(parts)
        if message.lstrip()[:1] in (b"{", b"["):
            yield message if message.endswith(b"\n") else message + b"\n"
        else:
            yield len(message).to_bytes(4, "big") + message if len(message) < 1 << 32 else message


class _Readable:
    """`read` over an iterator of chunks."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._rest = b""

    def read(self, size: int = -1) -> bytes:
        if not self._rest:
            self._rest = next(self._chunks, b"")
        if size < 0 or size >= len(self._rest):
            out, self._rest = self._rest, b""
        else:
            out, self._rest = self._rest[:size], self._rest[size:]
        return out

    def exactly(self, size: int) -> bytes:
        parts: list[bytes] = []
        while size > 0 and (part := self.read(size)):
            parts.append(part)
            size -= len(part)
        return b"".join(parts)
