"""A tree of attempts to a data set, on an engine: what is new or changed, and only that."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from ..errors import UsageError, WriteError
from ..renderers.safe import inline
from .compact import rewrite
from .dataset import DataSet, Record, State
from .engines import ENGINES, local
from .parts import arrow
from .place import Place
from .task import Attempt, Task, build_part
from .trees import Tree

BATCH: Final = 64
"""Attempts a part, if nothing else is said: enough for files that are worth opening, few enough to lose little."""


@dataclass(slots=True)
class Progress:
    """How far a build is. `failures` are those since the last call: (attempt, why)."""

    found: int = 0
    waiting: int = 0
    done: int = 0
    failed: int = 0
    same: int = 0
    failures: list[tuple[str, str]] = field(default_factory=list)

    def describe(self) -> str:
        """One line for people."""
        unchanged = self.found - self.waiting + self.same
        return (
            f"{self.done} of {self.waiting} attempts built, {self.failed} failed"
            f" ({self.found} found, {unchanged} unchanged)"
        )


def build_dataset(
    tree: Tree,
    place: Place,
    *,
    root: str | None = None,
    engine: str = "local",
    jobs: int = 1,
    batch: int = BATCH,
    inference: bool = True,
    reread: bool = False,
    report: Callable[[Progress], None] = lambda progress: None,
) -> Progress:
    """Build every attempt of `tree` that the data set at `place` does not have, and drop the rows it replaces.

    Attempts are known by `root`, the name of their tree (its last part if None), and their place in it. One whose
    files the file system says are untouched is passed over; `reread` looks into every file. One that cannot be built
    is a row of `runs` with its error. Raises `UsageError` for another tree under a name that is taken, `RefusedError`
    where another process writes the data set, `EvidenceError` where there is nothing, `WriteError`.
    """
    arrow()
    if engine not in ENGINES:
        raise UsageError(f"there is no engine {engine!r}", hint=f"one of: {', '.join(ENGINES)}")
    with place.held():
        dataset = DataSet(place)
        name = _root(dataset, tree, root)
        state = State()
        try:
            state.load(dataset.records())
            _replace_stale(dataset, state)
            dataset.sweep()
            progress = Progress()
            for attempt, token in tree.attempts():
                progress.found += 1
                known = state.known(name, attempt)
                if known is None or known.token != token or known.again or reread:
                    state.wait(attempt, token)
                if progress.found % 1000 == 0:
                    report(progress)
            dataset.roots[name] = tree.location
            dataset.describe()
            progress.waiting = state.waiting()
            report(progress)
            generation = state.generation + 1
            inner = max(1, jobs // progress.waiting) if engine == "local" and progress.waiting else 1
            tasks = (
                Task(tree, name, place, generation, tuple(_attempts(state, name, part)), inference, jobs=inner)
                for part in state.batches(batch)
            )
            for record in _records(ENGINES[engine](build_part, tasks, jobs)):
                state.take(record)
                _count(progress, record)
                report(progress)
                progress.failures.clear()
            _replace_stale(dataset, state)
            dataset.sweep()
        finally:
            state.close()
    return progress


def _root(dataset: DataSet, tree: Tree, root: str | None) -> str:
    name = tree.name if root is None else root
    before = dataset.roots.get(name)
    if root is None and before is not None and before != tree.location:
        raise UsageError(
            f"the data set has attempts of another tree named {name!r}",
            hint=f"name this one with --as; or say --as {name} where the tree was moved",
        )
    return name


def _attempts(state: State, root: str, waiting: Iterable[tuple[str, str]]) -> Iterator[Attempt]:
    for name, token in waiting:
        yield Attempt(name, token, state.known(root, name))


def _count(progress: Progress, record: Record) -> None:
    for entry in record.entries:
        if entry.same:
            progress.same += 1
            continue
        progress.done += 1
        if entry.error is not None:
            progress.failed += 1
            progress.failures.append((inline(entry.attempt), inline(entry.error)))


def _records(results: Iterator[tuple[Task, Record | Exception]]) -> Iterator[Record]:
    for task, result in results:
        if isinstance(result, Record):
            yield result
        elif isinstance(result, (WriteError, UsageError)):
            raise result
        else:
            yield _without_poison(task)


def _without_poison(task: Task) -> Record:
    """A task that cannot be done as it is: each attempt is tried alone, and those that cannot be done are told."""
    alone = (replace(task, attempts=(attempt,), dry=True) for attempt in task.attempts)
    poison: dict[str, str] = {}
    for one, result in local(build_part, alone, 1, 1):
        if isinstance(result, Exception):
            poison[one.attempts[0].name] = str(result) or type(result).__name__
    for _, result in local(build_part, [replace(task, poison=poison)], 1):
        if isinstance(result, Record):
            return result
    told = {one.name: "the part it would be in cannot be built" for one in task.attempts}
    return build_part(replace(task, poison=told))


def _replace_stale(dataset: DataSet, state: State) -> None:
    """Take rows out of older parts that a later part has anew."""
    stale = state.stale()
    if not stale:
        return
    for record in list(dataset.records()):
        gone = stale.get(record.name)
        if gone is not None:
            rewrite(dataset, record, gone)
