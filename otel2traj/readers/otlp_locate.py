"""One OTLP JSON document that a strict decoder refuses into the byte extents of its records, by structure alone.

What stands inside a record does not matter here, so one bad record costs no other.
"""

from __future__ import annotations

import mmap
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

Extent = tuple[int, int]

_TOKEN: Final = re.compile(rb'"((?:[^"\\]++|\\.)*+)"\s*(:)?|[{}\[\]]', re.DOTALL)

_RESOURCES: Final = frozenset(("resourcespans", "resourcelogs", "batches"))
_SCOPES: Final = frozenset(("scopespans", "instrumentationlibraryspans", "scopelogs", "instrumentationlibrarylogs"))
_SHARED: Final = frozenset(("resource", "scope", "instrumentationlibrary"))
_RECORDS: Final = {"spans": False, "logrecords": True, "logs": True}


class Located(NamedTuple):
    """Where one record stands in the buffer, with its resource and scope where there are any."""

    start: int
    end: int
    logs: bool
    resource: Extent | None
    scope: Extent | None
    snake: bool


class _Open(NamedTuple):
    start: int
    key: str
    """The member whose value this is; of an array, for its items too."""
    parent: str


def locate(buffer: bytes | mmap.mmap, start: int, end: int) -> Iterator[Located]:
    """Every record of the document at `buffer[start:end]`, in order of position."""
    stack: list[_Open] = []
    key = ""
    snake = False
    resource: Extent | None = None
    scope: Extent | None = None
    records: list[tuple[int, int, bool]] = []
    done: list[tuple[int, int, bool, Extent | None]] = []
    inside = 0
    """Stack height at which a record, a resource or a scope ends; 0 outside."""
    for match in _TOKEN.finditer(buffer, start, end):
        token = buffer[match.start()]
        if token == 0x22:
            if not inside and match.group(2) is not None:
                word = match.group(1).decode("ascii", "replace")
                snake = snake or word in ("resource_spans", "resource_logs", "scope_spans", "scope_logs")
                key = word.replace("_", "").lower()
        elif token in b"{[":
            above = stack[-1].key if stack else ""
            item = token == 0x7B and stack and buffer[stack[-1].start] == 0x5B
            name = above if item else key
            parent = stack[-1].parent if item else above
            stack.append(_Open(match.start(), name, parent))
            record = name in _RECORDS and parent in _SCOPES
            if token == 0x7B and not inside and (record or name in _SHARED):
                inside = len(stack)
            key = ""
        elif stack:
            closed = stack.pop()
            if inside and len(stack) >= inside:
                continue
            inside = 0
            if token != 0x7D:
                key = ""
                continue
            extent = (closed.start, match.end())
            if closed.key in _RECORDS and closed.parent in _SCOPES:
                records.append((*extent, _RECORDS[closed.key]))
            elif closed.key == "resource":
                resource = extent
            elif closed.key in ("scope", "instrumentationlibrary"):
                scope = extent
            elif closed.key in _SCOPES:
                done.extend((*record, scope) for record in records)
                records, scope = [], None
            if closed.key in _RESOURCES or not stack:
                for first, last, logs, its_scope in done:
                    yield Located(first, last, logs, resource, its_scope, snake)
                done, resource = [], None
            key = ""
