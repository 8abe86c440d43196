"""Where each span of a cleanly written OTLP JSON document begins and ends, without reading the document twice.

Heads of spans are decoded together with the document, which tells everything but their addresses. Those follow from
what is known: a span begins with its own ids, its attributes and events are at least as long as their bytes, the next
span begins one comma after it. What does not fit this is None, and the caller takes the slower way; no address is ever
guessed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Protocol

import msgspec
from msgspec import Raw

from .framing import Buffer

_WINDOW: Final = 4096
_URL: Final = rb'(?:,"schemaUrl":"[^"\\]*")?'
_LAST: Final = re.compile(rb"\}(?=\]" + _URL + rb"\}\]" + _URL + rb"\}\]\}\s*\Z)")
"""The end of the last span of a document that holds nothing but ResourceSpans."""

_BETWEEN: Final = re.compile(rb"\}(?=\]" + _URL + rb"(?:\}\]" + _URL + rb")?\},\{)")
"""What can be the end of the last span of a scope that is not the last."""

_skip = msgspec.json.Decoder(Raw).decode


class Head(Protocol):
    traceId: str
    spanId: str
    attributes: Raw
    events: Raw
    links: Raw


def span_extents(
    buffer: Buffer, start: int, end: int, groups: Sequence[Sequence[Head]], gap: int
) -> list[tuple[int, int]] | None:
    """Begin and end of every span of the document `buffer[start:end]`, in order.

    `groups` are the spans of each scope, as decoded from a document without unknown members; `gap` bounds the bytes of
    resources and scopes between two groups.
    """
    out: list[tuple[int, int]] = []
    at = start
    find = buffer.find
    for spans in groups:
        previous = -1
        for head in spans:
            if len(head.links) > 2:
                return None
            mark = f'{{"traceId":"{head.traceId}","spanId":"{head.spanId}"'.encode()
            found = find(mark, at, at + (_WINDOW if previous >= 0 else _WINDOW + gap))
            if found < 0:
                return None
            if previous >= 0:
                if buffer[found - 2 : found] != b"},":
                    return None
                out.append((previous, found - 1))
            elif out and not _close(buffer, out, at, found):
                return None
            previous = found
            at = found + len(head.attributes) + len(head.events)
        if previous >= 0:
            out.append((previous, -1))
    if out:
        last = end - 1 if buffer[end - 1] == 0x0A else end
        if buffer[last - 7 : last] == b"}]}]}]}":
            out[-1] = out[-1][0], last - 6
            return out
        match = _LAST.search(buffer, max(at, end - _WINDOW), end)
        if match is None:
            return None
        out[-1] = out[-1][0], match.end()
    return out


def _close(buffer: Buffer, out: list[tuple[int, int]], low: int, high: int) -> bool:
    """Finds the end of the last span of a scope between two positions, and makes sure of it."""
    begin = out[-1][0]
    for match in _BETWEEN.finditer(buffer, low, high):
        try:
            _skip(memoryview(buffer)[begin : match.end()])
        except msgspec.DecodeError:
            continue
        out[-1] = begin, match.end()
        return True
    return False
