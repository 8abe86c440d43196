"""Statements by their place into one JSON document with sorted keys, in bounded memory.

A place is the path of keys that leads to a statement. What is held beyond a limit goes to a file without a name,
sorted; the end merges.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from tempfile import TemporaryFile
from typing import BinaryIO, Final, cast

from ..canonical import canonical_bytes, loads

Place = tuple[str, ...]
LIMIT: Final = 24 << 20
"""Bytes of statements that are held before they go to a file."""
_OVERHEAD: Final = 400
"""What holding one costs beside its bytes."""


class Differs(ValueError):
    """One place was given two statements that may not differ."""


class Spool:
    """Statements, each under its place. Those that may be given twice have to be alike, others replace."""

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._held: dict[Place, bytes] = {}
        self._size = 0
        self._runs: list[BinaryIO] = []

    def put(self, place: Place, statement: bytes, *, once: bool) -> None:
        """Keep a statement. Raises `Differs` where `once` is asked for and another stands there."""
        before = self._held.get(place)
        if before is not None and once and before != statement:
            raise Differs("/".join(place))
        self._held[place] = bytes(memoryview(statement))  # a copy of the right size: orjson's bytes keep their buffer
        if before is None:
            self._size += len(statement) + _OVERHEAD
            if self._size > self._limit:
                self._spill()

    def _spill(self) -> None:
        run = cast(BinaryIO, TemporaryFile())  # noqa: SIM115  (read at the end, and gone with this object)
        for place in sorted(self._held):
            run.write(canonical_bytes(place) + b"\t" + self._held[place] + b"\n")
        self._runs.append(run)
        self._held, self._size = {}, 0

    def _sorted(self) -> Iterator[tuple[Place, int, bytes]]:
        held = ((place, len(self._runs), self._held[place]) for place in sorted(self._held))
        return heapq.merge(*(_read(run, number) for number, run in enumerate(self._runs)), held)

    def statements(self, once: frozenset[str]) -> Iterator[tuple[Place, bytes]]:
        """All of them in the order of their places. `once` are the sections whose statements may not differ; raises
        `Differs` for one of them."""
        last: tuple[Place, bytes] | None = None
        for place, _, statement in self._sorted():
            if last is not None and last[0] != place:
                yield last
            elif last is not None and last[1] != statement and place[-2] in once:
                raise Differs("/".join(place))
            last = (place, statement)
        if last is not None:
            yield last

    def write(self, out: BinaryIO, once: frozenset[str] = frozenset()) -> None:
        """The JSON object of all places, compact, its keys sorted."""
        open_: Place = ()
        first = True
        out.write(b"{")
        for place, statement in self.statements(once):
            above = place[:-1]
            same = 0
            while same < min(len(open_), len(above)) and open_[same] == above[same]:
                same += 1
            out.write(b"}" * (len(open_) - same))
            first = first and same == len(open_)
            for key in above[same:]:
                out.write((b"" if first else b",") + canonical_bytes(key) + b":{")
                first = True
            out.write((b"" if first else b",") + canonical_bytes(place[-1]) + b":" + statement)
            first, open_ = False, above
        out.write(b"}" * (len(open_) + 1))


def _read(run: BinaryIO, number: int) -> Iterator[tuple[Place, int, bytes]]:
    run.seek(0)
    for line in run:
        head, _, statement = line.partition(b"\t")
        yield tuple(cast(list[str], loads(head))), number, statement[:-1]
