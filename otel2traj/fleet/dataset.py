"""A data set: which parts it has, which attempts are in them, and how parts come and go.

A part is a set of Parquet files and, written last, its record `_parts/NAME.json`. Files without a record are what a
process that was killed left; records say what counts.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from ..canonical import JsonError, dumps, dumps_pretty, loads
from ..errors import EvidenceError, UsageError
from .place import Place
from .schema import SCHEMA, TABLES, TEXTS, columns

ABOUT: Final = "_dataset.json"
PARTS: Final = "_parts"


@dataclass(slots=True)
class Entry:
    """One attempt of a part. `key` is the digest of everything its rows follow from, `token` what the file system said
    of its files when they were read."""

    root: str
    attempt: str
    key: str
    token: str
    runs: list[str] = field(default_factory=list)
    error: str | None = None
    """Why the attempt could not be built."""
    again: bool = False
    """Whether the error may be gone the next time: the next build tries again."""
    same: bool = False
    """Nothing but the token is new: the rows are in an earlier part."""


@dataclass(slots=True)
class Record:
    """One part. Of two that have an attempt the higher generation counts; `replaces` names parts that are void."""

    name: str
    generation: int
    files: list[str] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    replaces: list[str] = field(default_factory=list)

    def to_bytes(self) -> bytes:
        return dumps({"schema": SCHEMA, **asdict(self)}) + b"\n"

    @staticmethod
    def of(data: bytes, name: str) -> Record:
        try:
            told: Any = loads(data)
            entries = [Entry(**entry) for entry in told["entries"]]
            return Record(told["name"], told["generation"], told["files"], entries, told["replaces"])
        except (JsonError, KeyError, TypeError) as err:
            raise EvidenceError(f"{name} is not a record of a part: {err}") from err


class DataSet:
    """Opened for one process at a time; see `Place.held`."""

    def __init__(self, place: Place) -> None:
        self.place = place
        about = place.read(ABOUT)
        self.roots: dict[str, str] = {}
        if about is None:
            return
        try:
            told: Any = loads(about)
            schema, self.roots = told["schema"], dict(told["roots"])
        except (JsonError, KeyError, TypeError, ValueError) as err:
            raise EvidenceError(f"{ABOUT} is not the head of a data set: {err}") from err
        if schema != SCHEMA:
            raise UsageError(f"the data set is {schema!r}, this version writes {SCHEMA!r}", hint="build it anew")

    @property
    def exists(self) -> bool:
        return self.place.read(ABOUT) is not None

    def describe(self) -> None:
        """Write the head: schema, columns, and the trees that attempts came from."""
        tables = {table: dict(columns(table)) for table in (*TABLES, TEXTS)}
        told = {"schema": SCHEMA, "roots": dict(sorted(self.roots.items())), "tables": tables}
        self.place.write(ABOUT, dumps_pretty(told) + b"\n")

    def records(self) -> Iterator[Record]:
        """Those that count, the lowest generation first."""
        void: set[str] = set()
        order: list[tuple[int, str]] = []
        for name in self.place.names(PARTS):
            record = self._record(name)
            void.update(record.replaces)
            order.append((record.generation, name))
        for _, name in sorted(order):
            if name.rpartition("/")[2].removesuffix(".json") not in void:
                yield self._record(name)

    def _record(self, name: str) -> Record:
        return Record.of(self.place.read(name) or b"", name)

    def commit(self, record: Record) -> None:
        """From here on the part counts; its files are in place."""
        self.place.write(f"{PARTS}/{record.name}.json", record.to_bytes())

    def sweep(self) -> None:
        """Drop void records and every file that no record names."""
        live = {record.name: record for record in self.records()}
        files = {name for record in live.values() for name in record.files}
        for name in self.place.names(PARTS):
            if name.rpartition("/")[2].removesuffix(".json") not in live:
                self.place.drop(name)
        for record in live.values():  # only now: a part that was void may come back under its name
            if record.replaces:
                record.replaces = []
                self.commit(record)
        for table in (*TABLES, TEXTS):
            for name in self.place.names(table):
                if name not in files:
                    self.place.drop(name)


@dataclass(frozen=True, slots=True)
class Known:
    """What a data set knows of an attempt."""

    key: str
    token: str
    part: str
    again: bool


class State:
    """Attempts by name, and those that are waiting, in a private database on disk: memory does not grow with them."""

    def __init__(self) -> None:
        self._base = sqlite3.connect("")
        self._base.execute(
            "CREATE TABLE known (root TEXT, attempt TEXT, key TEXT, token TEXT, part TEXT, again INT,"
            " PRIMARY KEY (root, attempt)) WITHOUT ROWID"
        )
        self._base.execute("CREATE TABLE stale (part TEXT, root TEXT, attempt TEXT)")
        self._base.execute("CREATE TABLE waiting (attempt TEXT PRIMARY KEY, token TEXT) WITHOUT ROWID")
        self.generation = 0

    def load(self, records: Iterable[Record]) -> None:
        """Take in the records of a data set, the lowest generation first."""
        for record in records:
            self.take(record)

    def take(self, record: Record) -> None:
        self.generation = max(self.generation, record.generation)
        for entry in record.entries:
            known = self.known(entry.root, entry.attempt)
            part = record.name
            if entry.same:
                if known is None:
                    continue
                part = known.part
            elif known is not None and known.part != part:
                self._base.execute("INSERT INTO stale VALUES (?, ?, ?)", (known.part, entry.root, entry.attempt))
            row = (entry.root, entry.attempt, entry.key, entry.token, part, entry.again)
            self._base.execute("INSERT OR REPLACE INTO known VALUES (?, ?, ?, ?, ?, ?)", row)

    def known(self, root: str, attempt: str) -> Known | None:
        told = "SELECT key, token, part, again FROM known WHERE root = ? AND attempt = ?"
        row = self._base.execute(told, (root, attempt)).fetchone()
        return None if row is None else Known(row[0], row[1], row[2], bool(row[3]))

    def stale(self) -> dict[str, set[tuple[str, str]]]:
        """Parts with rows that a later part has anew: part -> (root, attempt)."""
        out: dict[str, set[tuple[str, str]]] = {}
        for part, root, attempt in self._base.execute("SELECT part, root, attempt FROM stale"):
            out.setdefault(part, set()).add((root, attempt))
        return out

    def wait(self, attempt: str, token: str) -> None:
        self._base.execute("INSERT OR REPLACE INTO waiting VALUES (?, ?)", (attempt, token))

    def waiting(self) -> int:
        count: int = self._base.execute("SELECT count(*) FROM waiting").fetchone()[0]
        return count

    def batches(self, size: int) -> Iterator[list[tuple[str, str]]]:
        """(attempt, token) of those that wait, by name, so many at a time."""
        last = ""
        while True:
            told = "SELECT attempt, token FROM waiting WHERE attempt > ? ORDER BY attempt LIMIT ?"
            rows = self._base.execute(told, (last, size)).fetchall()
            if not rows:
                return
            yield rows
            last = rows[-1][0]

    def close(self) -> None:
        self._base.close()


def part_name(keys: Iterable[str]) -> str:
    """The name of a part, by the digest of what is in it."""
    digest = hashlib.sha256(SCHEMA.encode())
    for key in keys:
        digest.update(b"\0" + key.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:32]
