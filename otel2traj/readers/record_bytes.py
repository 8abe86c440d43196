"""The address of a record into its bytes, read from the attempt where it lies."""

from __future__ import annotations

from pathlib import Path

from ..errors import EvidenceError
from .attempt import safe_join
from .inflate import Stream

_OPEN = 32


class RecordBytes:
    """`(path, offset, length)` to bytes; None where the file is not at hand, too short, or outside the attempt.

    Offsets count inflated bytes. A few files stay open until `close`.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._streams: dict[str, Stream | None] = {}

    def __enter__(self) -> RecordBytes:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __call__(self, path: str, offset: int, length: int) -> bytes | None:
        stream = self._stream(path)
        if stream is None or offset < 0 or length < 0 or offset + length > stream.size:
            return None
        return stream.pread(offset, length)

    def size(self, path: str) -> int | None:
        """Bytes of the whole (inflated) file, or None where it is not at hand."""
        stream = self._stream(path)
        return None if stream is None else stream.size

    def _stream(self, path: str) -> Stream | None:
        if path not in self._streams:
            if len(self._streams) >= _OPEN:
                self.close()
            self._streams[path] = self._open(path)
        return self._streams[path]

    def _open(self, path: str) -> Stream | None:
        try:
            file = safe_join(self._root, path)
            return None if file is None else Stream(file, path)
        except EvidenceError:
            return None

    def close(self) -> None:
        for stream in self._streams.values():
            if stream is not None:
                stream.close()
        self._streams.clear()
