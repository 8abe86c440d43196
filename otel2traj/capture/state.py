"""What the router knows, in one SQLite file beside the log: how far it read, and what it wrote where.

Everything here and in `attempts/` can be derived again from the log.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from .folders import folder_name, marked_name

VERSION: Final = 2
_SCHEMA: Final = """
CREATE TABLE segment (name TEXT PRIMARY KEY, offset INTEGER NOT NULL, closed INTEGER NOT NULL);
CREATE TABLE attempt (
    id TEXT PRIMARY KEY, folder TEXT NOT NULL UNIQUE COLLATE NOCASE,
    spans INTEGER NOT NULL DEFAULT 0, logs INTEGER NOT NULL DEFAULT 0, metrics INTEGER NOT NULL DEFAULT 0,
    first_ns INTEGER NOT NULL, last_ns INTEGER NOT NULL,
    changed INTEGER NOT NULL DEFAULT 0, built INTEGER NOT NULL DEFAULT 0,
    build_ms INTEGER, build_error TEXT, no_agent INTEGER NOT NULL DEFAULT 0);
CREATE INDEX attempt_unbuilt ON attempt (last_ns) WHERE changed > built;
CREATE TABLE placed (grp TEXT PRIMARY KEY, rank INTEGER NOT NULL, attempt TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE file (
    attempt TEXT NOT NULL, signal INTEGER NOT NULL, size INTEGER NOT NULL, dead INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (attempt, signal)) WITHOUT ROWID;
CREATE TABLE extent (
    grp TEXT NOT NULL, attempt TEXT NOT NULL, signal INTEGER NOT NULL,
    offset INTEGER NOT NULL, length INTEGER NOT NULL, items INTEGER NOT NULL);
CREATE INDEX extent_of_group ON extent (grp);
CREATE INDEX extent_of_file ON extent (attempt, signal);
CREATE TABLE dead (
    attempt TEXT NOT NULL, signal INTEGER NOT NULL, offset INTEGER NOT NULL, length INTEGER NOT NULL);
CREATE INDEX dead_of_file ON dead (attempt, signal);
CREATE TABLE source (attempt TEXT NOT NULL, segment TEXT NOT NULL, PRIMARY KEY (attempt, segment)) WITHOUT ROWID;
CREATE INDEX source_of_segment ON source (segment);
CREATE TABLE damage (
    segment TEXT NOT NULL, offset INTEGER NOT NULL, length INTEGER NOT NULL, items INTEGER,
    after_ns INTEGER NOT NULL, before_ns INTEGER NOT NULL, PRIMARY KEY (segment, offset)) WITHOUT ROWID;
CREATE TABLE ending (name TEXT PRIMARY KEY, count INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE seen (digest BLOB PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE note (name TEXT PRIMARY KEY, count INTEGER NOT NULL) WITHOUT ROWID;
"""
_COUNTED: Final = {1: "spans", 2: "logs", 3: "metrics"}


@dataclass(slots=True)
class AttemptRow:
    """One attempt as the status page and the builder see it. Counts are of items routed, times of arrival."""

    id: str
    folder: str
    spans: int
    logs: int
    metrics: int
    first_ns: int
    last_ns: int
    changed: int
    built: int
    build_ms: int | None
    build_error: str | None
    no_agent: bool
    """The build found nothing that an agent does: traces of other programs, not a failure."""


@dataclass(frozen=True, slots=True)
class Lost:
    """Damage in the log: where, how many items its header counts, and the arrivals (ns) of the records around it."""

    segment: str
    offset: int
    length: int
    items: int | None
    after_ns: int
    before_ns: int


_ATTEMPT: Final = "id, folder, spans, logs, metrics, first_ns, last_ns, changed, built, build_ms, build_error, no_agent"
ENDINGS: Final = ("routed", "repeated", "rejected", "damaged")
"""How a record of the log can end. Their sum is the number of records read."""


class State:
    """The open state of one output directory. One process writes; others may look with `read_only`."""

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path = path
        if read_only:
            self.db = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=2)
            return
        self.db = sqlite3.connect(path, isolation_level=None, timeout=10)
        self.db.execute("PRAGMA journal_mode=WAL")
        self.db.execute("PRAGMA synchronous=NORMAL")
        self.db.execute("PRAGMA cache_size=-16000")
        version = self.db.execute("PRAGMA user_version").fetchone()[0]
        if version not in (0, VERSION):
            self.db.close()
            raise sqlite3.DatabaseError(f"a state of version {version}")
        if version == 0:
            self.db.executescript(f"BEGIN; {_SCHEMA} PRAGMA user_version={VERSION}; COMMIT;")

    def close(self) -> None:
        self.db.close()

    # segments

    def position(self, name: str) -> tuple[int, bool]:
        """Where reading of a segment stopped, and whether it is finished."""
        row = self.db.execute("SELECT offset, closed FROM segment WHERE name=?", (name,)).fetchone()
        return (0, False) if row is None else (row[0], bool(row[1]))

    def finished_segments(self) -> set[str]:
        return {name for (name,) in self.db.execute("SELECT name FROM segment WHERE closed=1")}

    def set_position(self, name: str, offset: int, closed: bool) -> None:
        self.db.execute("INSERT OR REPLACE INTO segment VALUES (?,?,?)", (name, offset, closed))

    def end_record(self, how: str) -> None:
        """Count one record of the log by how it ended: one of `ENDINGS`."""
        self.db.execute("INSERT INTO ending VALUES (?,1) ON CONFLICT (name) DO UPDATE SET count=count+1", (how,))

    def endings(self) -> dict[str, int]:
        told = dict(self.db.execute("SELECT name, count FROM ending").fetchall())
        return {name: told.get(name, 0) for name in ENDINGS}

    def from_segment(self, attempt: str, segment: str) -> None:
        self.db.execute("INSERT OR IGNORE INTO source VALUES (?,?)", (attempt, segment))

    def same_sources(self, old: str, new: str) -> None:
        self.db.execute("INSERT OR IGNORE INTO source SELECT ?, segment FROM source WHERE attempt=?", (new, old))

    def lose(self, lost: Lost) -> None:
        """Remember damage; every attempt that it may touch is to be built again."""
        row = (lost.segment, lost.offset, lost.length, lost.items, lost.after_ns, lost.before_ns)
        self.db.execute("INSERT OR IGNORE INTO damage VALUES (?,?,?,?,?,?)", row)
        self.db.execute(
            "UPDATE attempt SET changed=changed+1 WHERE built > 0 AND "
            "(id IN (SELECT attempt FROM source WHERE segment=?) OR (first_ns <= ? AND last_ns >= ?))",
            (lost.segment, lost.before_ns, lost.after_ns),
        )

    def lost_near(self, attempt: str) -> list[Lost]:
        """The damage that may have held something of an attempt: in a segment it has records in, or between its first
        and its last arrival."""
        rows = self.db.execute(
            "SELECT DISTINCT d.segment, d.offset, d.length, d.items, d.after_ns, d.before_ns FROM damage d, attempt a "
            "WHERE a.id=? AND (d.segment IN (SELECT segment FROM source WHERE attempt=a.id) "
            "OR (a.first_ns <= d.before_ns AND a.last_ns >= d.after_ns)) ORDER BY d.segment, d.offset",
            (attempt,),
        )
        return [Lost(*row) for row in rows]

    def needed(self, segment: str) -> bool:
        """Whether an attempt that is not built yet has records of this segment."""
        row = self.db.execute(
            "SELECT 1 FROM source s JOIN attempt a ON a.id=s.attempt WHERE s.segment=? AND a.changed > a.built LIMIT 1",
            (segment,),
        ).fetchone()
        return row is not None

    def dropped_segment(self, segment: str) -> None:
        for table, column in (("segment", "name"), ("source", "segment"), ("damage", "segment")):
            self.db.execute(f"DELETE FROM {table} WHERE {column}=?", (segment,))

    def first_time(self, digest: bytes) -> bool:
        """Whether this body was never seen before; remembers it."""
        return self.db.execute("INSERT OR IGNORE INTO seen VALUES (?)", (digest,)).rowcount == 1

    # groups

    def placed(self, group: str) -> tuple[int, str] | None:
        row = self.db.execute("SELECT rank, attempt FROM placed WHERE grp=?", (group,)).fetchone()
        return None if row is None else (row[0], row[1])

    def place(self, group: str, rank: int, attempt: str) -> None:
        self.db.execute("INSERT OR REPLACE INTO placed VALUES (?,?,?)", (group, rank, attempt))

    def extents(self, group: str) -> list[tuple[str, int, int, int, int]]:
        """(attempt, signal, offset, length, items) of every line of a group that may still move."""
        return self.db.execute(
            "SELECT attempt, signal, offset, length, items FROM extent WHERE grp=? ORDER BY signal, offset", (group,)
        ).fetchall()

    def add_extent(self, group: str, attempt: str, signal: int, offset: int, length: int, items: int) -> None:
        self.db.execute("INSERT INTO extent VALUES (?,?,?,?,?,?)", (group, attempt, signal, offset, length, items))

    # attempts and files

    def folder_of(self, attempt: str) -> str | None:
        row = self.db.execute("SELECT folder FROM attempt WHERE id=?", (attempt,)).fetchone()
        return None if row is None else row[0]

    def new_attempt(self, attempt: str, now_ns: int) -> str:
        """Give an attempt its folder: its own name, or a marked one where case alone would tell two apart."""
        name = folder_name(attempt)
        taken = self.db.execute("SELECT 1 FROM attempt WHERE folder=? COLLATE NOCASE", (name,)).fetchone()
        if taken is not None:
            name = marked_name(attempt)
        self.db.execute(
            "INSERT INTO attempt (id, folder, first_ns, last_ns) VALUES (?,?,?,?)", (attempt, name, now_ns, now_ns)
        )
        return name

    def count(self, attempt: str, signal: int, items: int, last_ns: int) -> None:
        column = _COUNTED[signal]
        self.db.execute(
            f"UPDATE attempt SET {column}={column}+?, last_ns=max(last_ns,?), changed=changed+1 WHERE id=?",
            (items, last_ns, attempt),
        )

    def drop_attempt(self, attempt: str) -> None:
        for table, column in (("attempt", "id"), *((name, "attempt") for name in ("file", "extent", "dead", "source"))):
            self.db.execute(f"DELETE FROM {table} WHERE {column}=?", (attempt,))

    def file(self, attempt: str, signal: int) -> tuple[int, int] | None:
        """(size, dead bytes) of a file of an attempt."""
        row = self.db.execute("SELECT size, dead FROM file WHERE attempt=? AND signal=?", (attempt, signal)).fetchone()
        return None if row is None else (row[0], row[1])

    def files(self) -> Iterator[tuple[str, int, int, int]]:
        """(attempt, signal, size, dead bytes) of every file."""
        yield from self.db.execute("SELECT attempt, signal, size, dead FROM file").fetchall()

    def files_of(self, attempt: str) -> list[tuple[int, int, int]]:
        return self.db.execute("SELECT signal, size, dead FROM file WHERE attempt=?", (attempt,)).fetchall()

    def set_file(self, attempt: str, signal: int, size: int, dead: int) -> None:
        self.db.execute("INSERT OR REPLACE INTO file VALUES (?,?,?,?)", (attempt, signal, size, dead))

    def bury(self, attempt: str, signal: int, offset: int, length: int) -> None:
        self.db.execute("INSERT INTO dead VALUES (?,?,?,?)", (attempt, signal, offset, length))
        self.db.execute("UPDATE file SET dead=dead+? WHERE attempt=? AND signal=?", (length, attempt, signal))

    def buried(self, attempt: str, signal: int) -> list[tuple[int, int]]:
        return self.db.execute(
            "SELECT offset, length FROM dead WHERE attempt=? AND signal=? ORDER BY offset", (attempt, signal)
        ).fetchall()

    def attempts(self, limit: int = 200, find: str = "") -> list[AttemptRow]:
        """The attempts that changed last, newest first; with `find` those that have it in their id or folder."""
        like = "%" + find.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
        rows = self.db.execute(
            f"SELECT {_ATTEMPT} FROM attempt WHERE id LIKE ? ESCAPE '\\' OR folder LIKE ? ESCAPE '\\' "
            "ORDER BY last_ns DESC, id LIMIT ?",
            (like, like, limit),
        )
        return [_row(row) for row in rows]

    def attempt(self, attempt: str) -> AttemptRow | None:
        row = self.db.execute(f"SELECT {_ATTEMPT} FROM attempt WHERE id=?", (attempt,)).fetchone()
        return None if row is None else _row(row)

    def in_folder(self, folder: str) -> AttemptRow | None:
        row = self.db.execute(f"SELECT {_ATTEMPT} FROM attempt WHERE folder=?", (folder,)).fetchone()
        return None if row is None else _row(row)

    def totals(self) -> dict[str, int]:
        row = self.db.execute(
            "SELECT count(*), coalesce(sum(spans),0), coalesce(sum(logs),0), coalesce(sum(metrics),0), "
            "coalesce(sum(changed>built),0), coalesce(sum(build_error IS NOT NULL AND NOT no_agent),0), "
            "coalesce(sum(no_agent),0) FROM attempt"
        ).fetchone()
        names = ("attempts", "spans", "logs", "metrics", "unbuilt", "failed", "no_agent")
        return dict(zip(names, row, strict=True))

    def unbuilt(self) -> list[str]:
        """Ids of the attempts with something new, in order of their last arrival."""
        rows = self.db.execute("SELECT id FROM attempt WHERE changed > built ORDER BY last_ns, id")
        return [row[0] for row in rows]

    def set_built(
        self, attempt: str, revision: int, build_ms: int, error: str | None, *, no_agent: bool = False
    ) -> None:
        self.db.execute(
            "UPDATE attempt SET built=?, build_ms=?, build_error=?, no_agent=? WHERE id=?",
            (revision, build_ms, error, no_agent, attempt),
        )

    def note(self, name: str, count: int) -> None:
        self.db.execute(
            "INSERT INTO note VALUES (?,?) ON CONFLICT (name) DO UPDATE SET count=count+excluded.count", (name, count)
        )

    def notes(self) -> dict[str, int]:
        return dict(self.db.execute("SELECT name, count FROM note ORDER BY name").fetchall())


def _row(row: tuple[Any, ...]) -> AttemptRow:
    made = AttemptRow(*row)
    made.no_agent = bool(made.no_agent)
    return made
