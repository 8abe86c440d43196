"""The first bytes of a stream into the names of its JSON members, so that forms are told apart by content."""

from __future__ import annotations

import mmap
import re
from collections.abc import Iterator
from typing import Final

Path = tuple[str, ...]
Buffer = bytes | mmap.mmap

_TOKEN: Final = re.compile(rb'"((?:[^"\\\n]++|\\.)*+)"\s*(:)?|[{}\[\]]')
_DEPTH: Final = 5


class Head:
    """The beginning of a stream. `paths` holds the path of each member name; arrays add nothing to a path."""

    def __init__(self, data: bytes, size: int) -> None:
        self.data = data
        self.size = size
        self._paths: frozenset[Path] | None = None

    @property
    def paths(self) -> frozenset[Path]:
        if self._paths is None:
            self._paths = frozenset(_paths(self.data))
        return self._paths

    def listed(self) -> Iterator[Path]:
        """The paths in the order of the file, as often as they stand there."""
        return _paths(self.data)

    def has(self, *names: str, under: Path = ()) -> bool:
        """Whether all names are members of the objects at `under`."""
        return all((*under, name) in self.paths for name in names)


def _paths(data: bytes) -> Iterator[Path]:
    stack: list[str | None] = []
    path: list[str] = []
    key: str | None = None
    for match in _TOKEN.finditer(data):
        token = data[match.start()]
        if token == 0x22:
            if match.group(2) is not None:
                key = match.group(1).decode("utf-8", "replace")
                if len(path) < _DEPTH:
                    yield (*path, key)
        elif token in b"{[":
            stack.append(key)
            if key is not None:
                path.append(key)
            key = None
        else:
            if stack and stack.pop() is not None:
                path.pop()
            key = None


def extents(buffer: Buffer, start: int, end: int, wanted: frozenset[Path]) -> list[tuple[int, int, Path]]:
    """Start, end and path of each object at one of the wanted paths, by start, an object before what it holds."""
    found: list[tuple[int, int, Path]] = []
    stack: list[tuple[int, str | None]] = []
    path: list[str] = []
    key: str | None = None
    deepest = max(map(len, wanted), default=0)
    for match in _TOKEN.finditer(buffer, start, end):
        token = buffer[match.start()]
        if token == 0x22:
            key = match.group(1).decode("utf-8", "replace") if match.group(2) is not None else None
        elif token in b"{[":
            stack.append((match.start(), key))
            if key is not None:
                path.append(key)
            key = None
        elif stack:
            begin, name = stack.pop()
            if token == 0x7D and len(path) <= deepest and tuple(path) in wanted:
                found.append((begin, match.end(), tuple(path)))
            if name is not None:
                path.pop()
            key = None
    found.sort(key=lambda one: (one[0], -one[1]))
    return found
