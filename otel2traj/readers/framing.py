"""Bytes into JSON documents: one a line, pretty-printed over many, several on a line, or in one array.

Between documents white space, `,`, `[` and `]` are separators, so that an array of documents is a run of documents.
Lines end in `\\n` and nothing else; there is no limit to their length.
"""

from __future__ import annotations

import mmap
import re
from collections.abc import Callable, Iterator
from io import BytesIO
from typing import Final, NamedTuple

from ..model.evidence import Notice
from .inflate import Stream

BLOCK: Final = 1 << 19
"""Bytes that are read at once."""

GIANT: Final = 16 << 20
"""Bytes of one document up to which it is held in memory; beyond, it is mapped."""

_TOKEN: Final = re.compile(rb'"(?:[^"\\\n]++|\\.)*+"|["{}\[\]]')
_SEPARATORS: Final = b" \t\r\n,[]"
_PIECE: Final = 1 << 17
_OPEN: Final = 0x7B
_QUOTE: Final = 0x22

Buffer = bytes | mmap.mmap


class Doc(NamedTuple):
    """One document: `buffer[start:end]`, which stands at `base + start` of the stream, on `line`."""

    buffer: Buffer
    start: int
    end: int
    base: int
    line: int
    utf8: bool = False
    """Whether it is known to be UTF-8, and to stand on one line."""

    def view(self) -> memoryview:
        return memoryview(self.buffer)[self.start : self.end]

    @property
    def one_line(self) -> bool:
        return self.utf8 or self.lines(self.start, self.end - 1) == 0

    def text(self) -> bytes | memoryview:
        """The document without a copy where that is possible."""
        if isinstance(self.buffer, bytes) and self.start == 0 and self.end == len(self.buffer):
            return self.buffer
        return self.view()

    def release(self, end: int | None = None) -> None:
        """Of a mapped document: what stands before `end` need not stay in memory. It can still be read."""
        if not isinstance(self.buffer, bytes) and hasattr(mmap, "MADV_DONTNEED"):
            pages = (self.end if end is None else end) // mmap.PAGESIZE * mmap.PAGESIZE
            if pages:
                self.buffer.madvise(mmap.MADV_DONTNEED, 0, pages)

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
        self.depth = 0
        """Brackets that are open in the document that has begun; 0 between documents."""
        self.kinds = bytearray()
        """Those brackets."""
        self.begin = 0
        """Where in the stream that document begins."""
        self.pending: list[tuple[int, bytes]] = []
        """The lines (number, bytes) since then, without the one at hand; bytes only up to `GIANT` in all."""
        self.held = 0
        self.skipped = 0
        """How far into its first line the document begins."""
        self.mapped: mmap.mmap | None = None

    def run(self) -> Iterator[Doc | Notice]:
        offset, number, size = 0, 1, self.stream.size
        begun = BytesIO()
        """What there is of a line that began in an earlier block: grown in place, so that a long one is held once."""
        length = 0
        while offset < size and (block := self.stream.read_chunk(min(BLOCK, size - offset))):
            at, last = 0, block.rfind(b"\n") + 1
            if length and last:
                at = block.find(b"\n") + 1
                base = offset - length
                if length <= GIANT:
                    begun.write(block[:at])
                    line = begun.getvalue()
                    yield from self._line(Doc(line, 0, len(line), base, number, is_utf8(line)))
                else:
                    yield from self._line(Doc(self._map(), base, offset + at, 0, number))
                begun, length, number = BytesIO(), 0, number + 1
            if at < last:
                utf8 = is_utf8(block if at == 0 and last == len(block) else memoryview(block)[at:last])
                find, whole = block.find, self.whole
                while at < last:
                    end = find(b"\n", at) + 1
                    doc = Doc(block, at, end, offset, number, utf8)
                    if self.depth == 0 and whole(doc):
                        yield doc
                    else:
                        yield from self._line(doc)
                    at, number = end, number + 1
            if last < len(block):
                length += len(block) - last
                if length > GIANT:
                    begun = BytesIO()
                else:
                    begun.write(block[last:])
            offset += len(block)
        if 0 < length <= GIANT:
            line = begun.getvalue()
            yield from self._line(Doc(line, 0, len(line), offset - length, number, is_utf8(line)))
        elif length:
            yield from self._line(Doc(self._map(), offset - length, offset, 0, number))
        yield from self._drop()

    def _line(self, doc: Doc) -> Iterator[Doc | Notice]:
        buffer, start, end, base, number, _ = doc
        if number == 1 and buffer[start : start + 3] == b"\xef\xbb\xbf":
            start += 3
            doc = doc._replace(start=start)
            yield Notice("repaired_record", "byte-order-mark", self.stream.name, 1, lossy=False)
        alone = self.depth == 0 or (buffer[start : start + 2] == b'{"' and not self._awaits_item())
        if alone and self.whole(doc):
            if self.pending:
                yield from self._drop()
            yield doc
            return
        yield from self._scan(buffer, start, end, base, number)

    def _awaits_item(self) -> bool:
        """Whether a list is open whose next entry is to follow: entries may stand on lines of their own."""
        return self.kinds[-1:] == b"[" and self.pending[-1][1].rstrip()[-1:] in (b",", b"[")

    def _scan(self, buffer: Buffer, start: int, end: int, base: int, number: int) -> Iterator[Doc | Notice]:
        """Follows the brackets of one line, which is no document by itself."""
        at, depth, junk = start, self.depth, False
        for match in _TOKEN.finditer(buffer, start, end):
            place = match.start()
            byte = buffer[place]
            if depth == 0:
                if place < at:
                    continue
                if byte == _OPEN and not junk:
                    junk = buffer[at:place].strip(_SEPARATORS) != b""
                    if junk:
                        yield from self._junk(buffer, at, place, number)
                    if not junk or self._anchored(buffer, place):
                        junk = False
                        self.begin, self.skipped, depth = base + place, place - start, 1
                        self.kinds[:] = b"{"
                elif byte == _OPEN and self._anchored(buffer, place):
                    junk = False
                    self.begin, self.skipped, depth = base + place, place - start, 1
                    self.kinds[:] = b"{"
                elif byte == _QUOTE and not junk:
                    junk = True
                    yield self._unreadable(number, "not a JSON object")
            elif byte in b"{[":
                depth += 1
                self.kinds.append(byte)
            elif byte in b"}]":
                depth -= 1
                self.kinds.pop()
                if depth == 0:
                    at = match.end()
                    yield self._complete(buffer, start, at, base, number)
            elif match.end() == place + 1:
                self.depth = depth
                self._hold(buffer, start, end, number)
                yield from self._drop()
                return
        self.depth = depth
        if depth > 0:
            self._hold(buffer, start, end, number)
        elif not junk and buffer[at:end].strip(_SEPARATORS) != b"":
            yield self._unreadable(number, "not JSON")

    def _anchored(self, buffer: Buffer, place: int) -> bool:
        return self.anchor is not None and buffer[place : place + len(self.anchor)] == self.anchor

    def _junk(self, buffer: Buffer, at: int, place: int, number: int) -> Iterator[Notice]:
        if self._anchored(buffer, place):
            message = f"{place - at} bytes before the document passed over"
            yield Notice("repaired_record", message, self.stream.name, number, lossy=False)
        else:
            yield self._unreadable(number, "not JSON")

    def _hold(self, buffer: Buffer, start: int, end: int, number: int) -> None:
        self.held += end - start
        self.pending.append((number, buffer[start:end] if self.held <= GIANT else b""))

    def _complete(self, buffer: Buffer, start: int, end: int, base: int, number: int) -> Doc:
        """The document that ends at `end` of the buffer, in the line that begins at `start`."""
        begin, pending, held = self.begin, self.pending, self.held
        self.pending, self.depth, self.held = [], 0, 0
        if not pending:
            return Doc(buffer, begin - base, end, base, number)
        first = pending[0][0]
        if held > GIANT or not isinstance(buffer, bytes):
            return Doc(self._map(), begin, base + end, 0, first)
        data = b"".join(piece for _, piece in pending) + buffer[start:end]
        return Doc(data, self.skipped, len(data), begin - self.skipped, first)

    def _drop(self) -> Iterator[Doc | Notice]:
        """What has begun will not end: the documents that stand on lines of their own after all, and one notice for
        each other line that began like a document, at least one."""
        pending, self.pending, self.depth, self.held = self.pending, [], 0, 0
        offset = self.begin - self.skipped
        for index, (number, line) in enumerate(pending):
            if index == 0 or line.startswith(b'{"'):
                doc = Doc(line, 0, len(line), offset, number)
                yield doc if index and self.whole(doc) else self._unreadable(number, "incomplete JSON")
            offset += len(line)

    def _unreadable(self, number: int, why: str) -> Notice:
        return Notice("unreadable_line", why, self.stream.name, number)

    def _map(self) -> mmap.mmap:
        if self.mapped is None:
            self.mapped = mmap.mmap(self.stream.file.fileno(), self.stream.size, access=mmap.ACCESS_READ)
        return self.mapped


def is_utf8(data: bytes | memoryview) -> bool:
    """Whether the bytes are UTF-8; asked in pieces, so that the text that is made and thrown away stays small."""
    if isinstance(data, bytes) and data.isascii():
        return True
    view, size, at = memoryview(data), len(data), 0
    try:
        while at < size:
            end = min(at + _PIECE, size)
            while end < size and at < end - 4 and data[end] & 0xC0 == 0x80:
                end -= 1
            str(view[at:end], "utf-8")
            at = end
    except UnicodeDecodeError:
        return False
    return True
