"""The work of one process on a fleet: some attempts become one part of the data set."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from .. import __version__
from ..api.build import Built, Sinks, build_path
from ..api.source import value_limit
from ..canonical import dumps, loads
from ..errors import EvidenceError, RefusedError, WriteError
from ..model.trajectory import BUILDER_VERSION, StepSink
from .dataset import DataSet, Entry, Known, Record, part_name
from .parts import PartWriter, Spilled, of_share, placed
from .place import Place
from .rows import Evidence, RunRows, failed
from .schema import SCHEMA
from .trees import Tree, evidence_of

_TOLD: Final = "share.json"
_SHARE: Final = 64
"""Conversations of an attempt whose rows share files, whatever the number of processes that write them."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt to do: its name, what its files looked like when it was found, and what the data set has of it."""

    name: str
    token: str
    known: Known | None = None


@dataclass(frozen=True, slots=True)
class Task:
    """A batch of attempts. Doing it twice leaves what doing it once leaves."""

    tree: Tree
    root: str
    place: Place
    generation: int
    attempts: tuple[Attempt, ...]
    inference: bool = True
    poison: Mapping[str, str] = field(default_factory=dict)
    """Attempts that ended the process that tried them, with what became of it: they are told, not tried."""
    dry: bool = False
    """Build and write nothing: does it live?"""
    jobs: int = 1
    """Processes that share the conversations of an attempt."""


def build_part(task: Task) -> Record:
    """Build the attempts, put the files in place and commit the part. Raises `WriteError` where that cannot be done."""
    spilled: dict[str, str] = {}
    while True:
        with task.place.scratch() as folder:
            work = _Work(replace(task, poison={**task.poison, **spilled}), folder)
            try:
                return work.run()
            except Spilled:
                spilled[work.now] = work.why
                shutil.rmtree(folder, ignore_errors=True)


class _Rows:
    """The rows of the runs of one attempt, or of one share of them, on their way into a writer."""

    def __init__(self, writer: PartWriter, evidence: Evidence, limit: int) -> None:
        self.writer = writer
        self._evidence = evidence
        self._limit = limit
        self._run: RunRows | None = None
        self.runs: dict[str, None] = {}

    def beside(self, writer: PartWriter) -> _Rows:
        """Rows of the same attempt into another writer."""
        return _Rows(writer, self._evidence, self._limit)

    def sinks(self, conversation: str | None) -> list[StepSink]:
        self.settle()
        self._run = RunRows(self.writer, self._evidence, conversation, self._limit)
        self.runs[self._run.run] = None
        return [self._run]

    def settle(self) -> None:
        """Keep the rows of the run before, if it came to its end, else take them back."""
        if self._run is None:
            return
        if self._run.done:
            self.writer.keep()
        else:
            self.writer.forget()
            self.runs.pop(self._run.run, None)
        self._run = None

    def fail(self, kind: str, message: str) -> None:
        """A run that tells why the attempt has none."""
        self.runs[failed(self.writer, self._evidence, {"type": kind, "message": message}, self._limit)] = None
        self.writer.keep()


class _Work:
    def __init__(self, task: Task, folder: Path) -> None:
        self._task = task
        self._folder = folder
        self._writer = PartWriter(folder)
        self._names: list[str] = []
        self._shares = 0
        self._limit = value_limit()
        self.now = ""
        """The attempt that is being built."""
        self.why = "the build failed after much of it was written"

    def run(self) -> Record:
        entries = [self._attempt(attempt) for attempt in self._task.attempts]
        names = sorted([*self._writer.close(), *self._names])
        part = part_name(f"{e.root}\0{e.attempt}\0{e.key}\0{e.token if e.same else ''}" for e in entries)
        record = Record(part, self._task.generation, [placed(name, part) for name in names], entries)
        if not self._task.dry:
            for name, target in zip(names, record.files, strict=True):
                self._task.place.put(target, self._folder / name)
            DataSet(self._task.place).commit(record)
        return record

    def _attempt(self, attempt: Attempt) -> Entry:
        self.now = attempt.name
        entry = Entry(self._task.root, attempt.name, self._key(""), attempt.token)
        rows = _Rows(self._writer, Evidence(self._task.root, attempt.name, "", 0), self._limit)
        died = self._task.poison.get(attempt.name)
        if died is not None:
            entry.error, entry.again = died, True
            rows.fail("ProcessDied", died)
            entry.runs = list(rows.runs)
            return entry
        try:
            with self._task.tree.local(attempt.name) as path:
                digest, size = evidence_of(path)
                rows = _Rows(self._writer, Evidence(self._task.root, attempt.name, digest, size), self._limit)
                entry.key = self._key(digest)
                known = attempt.known
                if known is not None and known.key == entry.key and not known.again:
                    entry.same = True
                    return entry
                built = build_path(
                    path,
                    inference=self._task.inference,
                    jobs=self._task.jobs,
                    share=partial(self._share, rows),
                    share_size=_SHARE,
                )
            rows.settle()
            self._gather(rows)
            _tell(entry, built)
        except WriteError:
            raise
        except Exception as err:  # one attempt never costs the others
            rows.settle()
            self._gather(rows)
            entry.error, entry.again = str(err), not isinstance(err, EvidenceError | RefusedError)
            rows.fail(type(err).__name__, str(err))
        entry.runs = list(rows.runs)
        return entry

    def _key(self, digest: str) -> str:
        return key_of(digest, self._limit, self._task.inference)

    @contextmanager
    def _share(self, whole: _Rows, number: int, shares: int) -> Iterator[Sinks]:
        """Of several shares each has a writer of its own, since another process may hold it."""
        if shares == 1:
            yield whole.sinks
            whole.settle()
            return
        folder = self._folder / f"share-{number:05d}"
        rows = whole.beside(PartWriter(folder))
        yield rows.sinks
        rows.settle()
        (folder / _TOLD).write_bytes(dumps([rows.writer.close(), list(rows.runs), shares]))

    def _gather(self, rows: _Rows) -> None:
        """Take in what the shares wrote, in their order: all of it or, where one of them did not end, nothing."""
        folders = sorted(self._folder.glob("share-*"))
        told: list[Any] = [loads((one / _TOLD).read_bytes()) for one in folders if (one / _TOLD).exists()]
        whole = bool(told) and len(told) == told[0][2]
        for folder, (names, runs, _) in zip(folders, told, strict=True) if whole else ():
            for name in names:
                kept = of_share(name, self._shares)
                target = self._folder / kept
                target.parent.mkdir(parents=True, exist_ok=True)
                (folder / name).rename(target)
                self._names.append(kept)
            rows.runs.update(dict.fromkeys(runs))
            self._shares += 1
        for folder in folders:
            shutil.rmtree(folder)


def _tell(entry: Entry, built: list[Built]) -> None:
    for item in built:
        if item.failed and entry.error is None:
            entry.error = str((item.summary.error or {}).get("message", "failed"))
        entry.again = entry.again or item.bug is not None


def key_of(evidence: str, limit: int, inference: bool) -> str:
    """The digest of everything that the rows of an attempt follow from: evidence, settings, and this program."""
    told = dumps([SCHEMA, __version__, BUILDER_VERSION, limit, inference, evidence])
    return hashlib.sha256(told).hexdigest()
