"""The work of one process on a fleet: some attempts become one part of the data set."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from .. import __version__
from ..api.build import Built, build_path
from ..api.source import value_limit
from ..canonical import dumps
from ..errors import EvidenceError, RefusedError, WriteError
from ..model.trajectory import BUILDER_VERSION, StepSink
from .dataset import DataSet, Entry, Known, Record, part_name
from .parts import PartWriter, Spilled, placed
from .place import Place
from .rows import Evidence, RunRows, failed
from .schema import SCHEMA
from .trees import Tree, evidence_of

_NO_EVIDENCE: Final = Evidence("", "", "", 0)


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


class _Work:
    def __init__(self, task: Task, folder: Path) -> None:
        self._task = task
        self._folder = folder
        self._writer = PartWriter(folder)
        self._limit = value_limit()
        self._run: RunRows | None = None
        self._runs: dict[str, None] = {}
        self._evidence = _NO_EVIDENCE
        self.now = ""
        """The attempt that is being built."""
        self.why = "the build failed after much of it was written"

    def run(self) -> Record:
        entries = [self._attempt(attempt) for attempt in self._task.attempts]
        names = self._writer.close()
        part = part_name(f"{e.root}\0{e.attempt}\0{e.key}\0{e.token if e.same else ''}" for e in entries)
        record = Record(part, self._task.generation, [placed(name, part) for name in names], entries)
        if not self._task.dry:
            for name, target in zip(names, record.files, strict=True):
                self._task.place.put(target, self._folder / name)
            DataSet(self._task.place).commit(record)
        return record

    def _attempt(self, attempt: Attempt) -> Entry:
        self.now = attempt.name
        self._runs, self._run = {}, None
        self._evidence = Evidence(self._task.root, attempt.name, "", 0)
        entry = Entry(self._task.root, attempt.name, "", attempt.token)
        died = self._task.poison.get(attempt.name)
        if died is not None:
            self._fail(entry, "ProcessDied", died, again=True)
            return entry
        try:
            with self._task.tree.local(attempt.name) as path:
                digest, size = evidence_of(path)
                self._evidence = Evidence(self._task.root, attempt.name, digest, size)
                entry.key = key_of(digest, self._limit, self._task.inference)
                known = attempt.known
                if known is not None and known.key == entry.key and not known.again:
                    entry.same = True
                    return entry
                built = build_path(path, inference=self._task.inference, sinks=self._sinks)
            self._settle()
            _tell(entry, built)
        except (WriteError, Spilled):
            raise
        except Exception as err:  # one attempt never costs the others
            self._settle()
            lasting = isinstance(err, EvidenceError | RefusedError)
            self._fail(entry, type(err).__name__, str(err), again=not lasting)
        entry.runs = list(self._runs)
        return entry

    def _fail(self, entry: Entry, kind: str, message: str, *, again: bool) -> None:
        entry.key = entry.key or key_of("", self._limit, self._task.inference)
        entry.error, entry.again = message, again
        run = failed(self._writer, self._evidence, {"type": kind, "message": message}, self._limit)
        self._writer.keep()
        self._runs[run] = None
        entry.runs = list(self._runs)

    def _sinks(self, conversation: str | None) -> list[StepSink]:
        self._settle()
        self._run = RunRows(self._writer, self._evidence, conversation, self._limit)
        self._runs[self._run.run] = None
        return [self._run]

    def _settle(self) -> None:
        """Keep the rows of the run before, if it came to its end, else take them back."""
        if self._run is None:
            return
        if self._run.done:
            self._writer.keep()
        else:
            self._writer.forget()
            self._runs.pop(self._run.run, None)
        self._run = None


def _tell(entry: Entry, built: list[Built]) -> None:
    for item in built:
        if item.failed and entry.error is None:
            entry.error = str((item.summary.error or {}).get("message", "failed"))
        entry.again = entry.again or item.bug is not None


def key_of(evidence: str, limit: int, inference: bool) -> str:
    """The digest of everything that the rows of an attempt follow from: evidence, settings, and this program."""
    told = dumps([SCHEMA, __version__, BUILDER_VERSION, limit, inference, evidence])
    return hashlib.sha256(told).hexdigest()
