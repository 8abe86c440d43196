"""The files of attempts: lines at their ends, and dead lines out of them.

A line is dead once its trace moved elsewhere, because its attempt was learnt late.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import IO, Final

from ..files import beside
from .layout import ATTEMPTS, FILES, UNROUTED
from .segments import Signal
from .state import State

NOWHERE: Final = ""
"""The attempt id that stands for `unrouted/`: records that name nothing they belong to."""


class AttemptFiles:
    """The files of one output directory, in one transaction of its state at a time. Lines wait in memory until
    `flush`."""

    def __init__(self, root: Path, state: State) -> None:
        self._root = root
        self._state = state
        self._sizes: dict[tuple[str, int], int] = {}
        self._lines: dict[tuple[str, int], list[bytes]] = {}

    def attempt_dir(self, folder: str) -> Path:
        return self._root / ATTEMPTS / folder

    def append(self, attempt: str, signal: Signal, line: bytes, now_ns: int) -> int:
        """Put a line at the end of a file; where it stands."""
        where = (attempt, int(signal))
        offset = self._sizes.get(where)
        if offset is None:
            offset = self._first_size(attempt, signal, now_ns)
        self._sizes[where] = offset + len(line)
        self._lines.setdefault(where, []).append(line)
        return offset

    def _first_size(self, attempt: str, signal: Signal, now_ns: int) -> int:
        if attempt != NOWHERE and self._state.folder_of(attempt) is None:
            self._state.new_attempt(attempt, now_ns)
        known = self._state.file(attempt, signal)
        if known is not None:
            return known[0]
        path = self.path(attempt, signal)
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():  # not ours: kept under another name
            path.replace(path.with_name(path.name + ".old"))
        self._state.set_file(attempt, signal, 0, 0)
        return 0

    def path(self, attempt: str, signal: int) -> Path:
        name = FILES[Signal(signal)]
        if attempt == NOWHERE:
            return self._root / UNROUTED / name
        folder = self._state.folder_of(attempt)
        assert folder is not None
        return self.attempt_dir(folder) / name

    def flush(self) -> None:
        """Write what was appended, and tell the state how long each file is."""
        for (attempt, signal), lines in self._lines.items():
            path = self.path(attempt, signal)
            path.parent.mkdir(parents=True, exist_ok=True)
            size = self._sizes[(attempt, signal)]
            with path.open("ab") as file:
                file.truncate(size - sum(map(len, lines)))
                file.writelines(lines)
            known = self._state.file(attempt, signal)
            self._state.set_file(attempt, signal, size, 0 if known is None else known[1])
        self.clear()

    def clear(self) -> None:
        """Forget what was appended and not flushed."""
        self._lines.clear()
        self._sizes.clear()

    def tidy(self, attempt: str) -> None:
        """After a move: remove an attempt that has nothing left, cut a file that is half dead."""
        files = self._state.files_of(attempt)
        if not files or self._state.folder_of(attempt) is None:
            return
        if all(size == dead for _, size, dead in files):
            folder = self._state.folder_of(attempt)
            assert folder is not None
            self._state.db.execute("BEGIN")
            self._state.drop_attempt(attempt)
            self._state.db.execute("COMMIT")
            shutil.rmtree(self.attempt_dir(folder), ignore_errors=True)
            return
        if any(dead * 2 > size for _, size, dead in files):
            self.compact(attempt)

    def compact(self, attempt: str) -> None:
        """Cut dead lines out of the files of an attempt, as before every build."""
        for signal, size, dead in self._state.files_of(attempt):
            if dead:
                _cut_out(self._state, self.path(attempt, signal), attempt, signal, size)

    def check(self) -> str | None:
        """Make files agree with the state after a kill: cut what was not committed, forget what somebody removed. Why
        all has to be derived again: a file is shorter than it was; None where none is."""
        for attempt, signal, size, _ in list(self._state.files()):
            path = self.path(attempt, signal)
            try:
                actual = path.stat().st_size
            except FileNotFoundError:
                self._forget(attempt, signal)
                continue
            if actual > size:
                os.truncate(path, size)
            elif actual < size:
                return f"{path.name} of attempt {attempt!r} is shorter than it was"
        return None

    def _forget(self, attempt: str, signal: int) -> None:
        for table in ("file", "extent", "dead"):
            self._state.db.execute(f"DELETE FROM {table} WHERE attempt=? AND signal=?", (attempt, signal))


def _cut_out(state: State, path: Path, attempt: str, signal: int, size: int) -> None:
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
