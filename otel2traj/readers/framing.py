"""Bytes into JSON documents: one a line, pretty-printed over many, several on a line, or in one array.

Between documents white space, `,`, `[` and `]` are separators, so that an array of documents is a run of documents.
Lines end in `\\n` and nothing else; there is no limit to their length.
"""

from __future__ import annotations

import mmap
import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from ..model.evidence import Notice
from .inflate import Stream

GIANT: Final = 64 << 20
"""Bytes of one document up to which it is held in memory; beyond, it is mapped."""

_STRING: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"')
_TOKEN: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[{}\[\]]')
_SEPARATORS: Final = b" \t\r\n,[]"
_LEADING: Final = re.compile(rb"[ \t\r\n,\[\]]*")


class Doc(NamedTuple):
    """One document: `buffer[start:end]`, which stands at `base + start` of the stream, on `line`."""

    buffer: bytes | mmap.mmap
    start: int
    end: int
    base: int
    line: int

    def view(self) -> memoryview:
        return memoryview(self.buffer)[self.start : self.end]

    def text(self) -> bytes | memoryview:
        """The document without a copy where that is possible."""
        if isinstance(self.buffer, bytes) and self.start == 0 and self.end == len(self.buffer):
            return self.buffer
        return self.view()

    def lines(self, start: int, end: int) -> int:
        """How many lines end between two positions of `buffer`."""
        if isinstance(self.buffer, bytes):
            return self.buffer.count(b"\n", start, end)
        count, at = 0, self.buffer.find(b"\n", start, end)
        while at >= 0:
            count, at = count + 1, self.buffer.find(b"\n", at + 1, end)
        return count


def documents(stream: Stream, whole: Callable[[Doc], bool], anchor: bytes | None = None) -> Iterator[Doc | Notice]:
    """Every document of the stream in order.

    `whole` says whether a line by itself is a document of the wanted kind, and is asked first for each line; it may
    keep what it decoded. `anchor` is how a document begins, to find one behind a log prefix. A line that belongs to no
    document is a notice.
    """
    return _Framer(stream, whole, anchor).run()


class _Framer:
    def __init__(self, stream: Stream, whole: Callable[[Doc], bool], anchor: bytes | None) -> None:
        self.stream = stream
        self.whole = whole
        self.anchor = anchor
        self.pending: list[tuple[int, int, bytes]] = []
        """Lines (offset, number, bytes) of a document that has begun."""
        self.depth = 0
        self.start = 0
        """Where in the first pending line the document begins."""
        self.held = 0
        self.mapped: mmap.mmap | None = None

    def run(self) -> Iterator[Doc | Notice]:
        offset, number = 0, 0
        size, stream = self.stream.size, self.stream
        readline = stream.file.readline
        while offset < size:
            line = readline(min(GIANT, size - offset))
            if not line:
                break
            number += 1
            if len(line) == GIANT and not line.endswith(b"\n") and offset + GIANT < size:
                end = self._end_of_line(offset)
                yield from self._giant(offset, end, number)
                offset = end
                continue
            stream.digest(line)
            yield from self._line(offset, number, line)
            offset += len(line)
        yield from self._drop()

    def _line(self, offset: int, number: int, line: bytes) -> Iterator[Doc | Notice]:
        end = len(line)
        start = 0
        if number == 1 and line.startswith(b"\xef\xbb\xbf"):
            start = 3
            yield Notice("repaired_record", "byte-order-mark", self.stream.name, 1, lossy=False)
        if not self.pending or line.startswith(b'{"', start):
            doc = Doc(line, start, end, offset, number)
            if self.whole(doc):
                yield from self._drop()
                yield doc
                return
        if self.pending:
            yield from self._continue(offset, number, line, 0)
        else:
            yield from self._begin(offset, number, line, start)

    def _begin(self, offset: int, number: int, line: bytes, start: int) -> Iterator[Doc | Notice]:
        """Looks for documents in a line that is none by itself."""
        match = _LEADING.match(line, start)
        at = match.end() if match else start
        if at >= len(line):
            return
        if line[at] != 0x7B:  # {
            found = -1 if self.anchor is None else line.find(self.anchor, at)
            if found < 0:
                yield self._unreadable(number, "not JSON")
                return
            message = f"{found - at} bytes before the document skipped"
            yield Notice("repaired_record", message, self.stream.name, number, lossy=False)
            at = found
        self.start, self.depth, self.held = at, 0, 0
        yield from self._continue(offset, number, line, at)

    def _continue(self, offset: int, number: int, line: bytes, at: int) -> Iterator[Doc | Notice]:
        depth = self.depth
        bare = _STRING.sub(b"", line[at:])
        if b'"' in bare:
            self._hold(offset, number, line)
            yield from self._drop()
            return
        depth += bare.count(b"{") + bare.count(b"[") - bare.count(b"}") - bare.count(b"]")
        closes = depth <= 0 or (bare.count(b"}") > 0 and self._reaches_zero(bare))
        if not closes:
            self.depth = depth
            self._hold(offset, number, line)
            return
        depth = self.depth
        for match in _TOKEN.finditer(line, at):
            byte = line[match.start()]
            if byte in b"{[":
                depth += 1
            elif byte in b"}]":
                depth -= 1
                if depth == 0:
                    self._hold(offset, number, line)
                    yield self._complete(match.end())
                    yield from self._begin(offset, number, line, match.end())
                    return
        self.depth = depth
        self._hold(offset, number, line)

    def _reaches_zero(self, bare: bytes) -> bool:
        depth = self.depth
        for byte in bare:
            if byte in b"{[":
                depth += 1
            elif byte in b"}]":
                depth -= 1
                if depth == 0:
                    return True
        return False

    def _hold(self, offset: int, number: int, line: bytes) -> None:
        self.held += len(line)
        keep = line if self.held <= GIANT else b""
        self.pending.append((offset, number, keep))

    def _complete(self, end: int) -> Doc:
        """The document of the pending lines, which ends at `end` of the last one."""
        first, number, line = self.pending[0]
        last = self.pending[-1][0]
        if self.held > GIANT:
            doc = Doc(self._map(), first + self.start, last + end, 0, number)
        elif len(self.pending) == 1:
            doc = Doc(line, self.start, end, first, number)
        else:
            data = b"".join(piece for _, _, piece in self.pending)
            doc = Doc(data, self.start, last - first + end, first, number)
        self.pending, self.depth, self.held = [], 0, 0
        return doc

    def _drop(self) -> Iterator[Notice]:
        """What has begun will not end: one notice for each line that began like a document, at least one."""
        pending, self.pending, self.depth, self.held = self.pending, [], 0, 0
        for index, (_, number, line) in enumerate(pending):
            if index == 0 or line.startswith(b'{"'):
                yield self._unreadable(number, "incomplete JSON")

    def _unreadable(self, number: int, why: str) -> Notice:
        return Notice("unreadable_line", why, self.stream.name, number)

    def _map(self) -> mmap.mmap:
        if self.mapped is None:
            self.mapped = mmap.mmap(self.stream.file.fileno(), self.stream.size, access=mmap.ACCESS_READ)
        return self.mapped

    def _end_of_line(self, offset: int) -> int:
        found = self._map().find(b"\n", offset)
        return self.stream.size if found < 0 else found + 1

    def _giant(self, offset: int, end: int, number: int) -> Iterator[Doc | Notice]:
        """The documents of one line too long to hold."""
        mapped = self._map()
        self.stream.file.seek(end)
        for at in range(offset, end, GIANT):
            self.stream.digest(memoryview(mapped)[at : min(at + GIANT, end)])
        yield from self._drop()
        doc = Doc(mapped, offset, end, 0, number)
        if self.whole(doc):
            yield doc
            return
        depth, start = 0, -1
        for match in _TOKEN.finditer(mapped, offset, end):
            byte = mapped[match.start()]
            if byte in b"{[" and (start >= 0 or byte == 0x7B):
                start = match.start() if start < 0 else start
                depth += 1
            elif byte in b"}]" and start >= 0:
                depth -= 1
                if depth == 0:
                    yield Doc(mapped, start, match.end(), 0, number)
                    start = -1
        if start >= 0:
            yield self._unreadable(number, "incomplete JSON")
