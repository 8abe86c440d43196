"""Dead lines out of a file of an attempt: those of traces that moved elsewhere when their attempt was learnt."""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO

from ..files import beside
from .state import State


def cut_out(state: State, path: Path, attempt: str, signal: int, size: int) -> None:
    """Write one file (of `size` bytes) without its dead lines, and tell the state where every line went."""
    holes = state.buried(attempt, signal)
    fresh, target = beside(path)
    db = state.db
    with path.open("rb") as source, target:
        at = 0
        for offset, length in [*holes, (size, 0)]:
            _copy(source, target, at, offset - at)
            at = offset + length
        target.flush()
        os.fsync(target.fileno())
        left = target.tell()
    db.execute("BEGIN")
    gone = passed = 0
    rows = db.execute(
        "SELECT rowid, offset FROM extent WHERE attempt=? AND signal=? ORDER BY offset", (attempt, signal)
    ).fetchall()
    for rowid, offset in rows:
        while passed < len(holes) and holes[passed][0] < offset:
            gone += holes[passed][1]
            passed += 1
        if gone:
            db.execute("UPDATE extent SET offset=? WHERE rowid=?", (offset - gone, rowid))
    db.execute("DELETE FROM dead WHERE attempt=? AND signal=?", (attempt, signal))
    state.set_file(attempt, signal, left, 0)
    fresh.replace(path)
    db.execute("COMMIT")


def _copy(source: IO[bytes], target: IO[bytes], offset: int, length: int) -> None:
    source.seek(offset)
    while length > 0:
        piece = source.read(min(length, 1 << 20))
        if not piece:
            raise OSError(5, "the file is shorter than it was")
        target.write(piece)
        length -= len(piece)
