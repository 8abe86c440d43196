"""Small fleets, and an engine without processes."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from otel2traj.fleet.build import Progress, build_dataset
from otel2traj.fleet.place import Folder
from otel2traj.fleet.query import query
from otel2traj.fleet.trees import LocalTree
from tests.attempt_factory import AttemptFactory, chat_response

FIXTURES = Path(__file__).parents[3] / "fixtures" / "attempts"


def here(function: Callable[[Any], Any], tasks: Iterable[Any], jobs: int) -> Iterator[tuple[Any, Any]]:
    """An engine in this process."""
    for task in tasks:
        try:
            yield task, function(task)
        except Exception as err:
            yield task, err


def fleet(root: Path, count: int, *, text: str = "hello") -> Path:
    """Attempts of one model call, whose answer is `text` and their number."""
    for number in range(count):
        one(root / f"a{number:03d}", f"{text} {number}")
    return root


def one(root: Path, text: str) -> Path:
    made = AttemptFactory(root).input("0001")
    return made.request("c1", 1).response("c1", 2, chat_response(text=text)).write()


def copied(root: Path, *names: str) -> Path:
    """Attempts of the fixtures."""
    for name in names:
        shutil.copytree(FIXTURES / name / "attempt", root / name, symlinks=True)
    return root


def build(tree: Path, out: Path, **options: Any) -> Progress:
    return build_dataset(LocalTree(tree), Folder(out), **options)


def ask(out: Path, sql: str) -> list[tuple[Any, ...]]:
    return list(query(Folder(out), sql).rows)


def files(out: Path) -> dict[str, bytes]:
    """Every Parquet file of a data set, with its bytes."""
    return {file.relative_to(out).as_posix(): file.read_bytes() for file in sorted(out.rglob("*.parquet"))}


@dataclass(frozen=True)
class Deadly:
    """A tree with an attempt that ends every process that tries to read it."""

    inner: LocalTree
    attempt: str

    @property
    def location(self) -> str:
        return self.inner.location

    @property
    def name(self) -> str:
        return self.inner.name

    def attempts(self) -> Iterator[tuple[str, str]]:
        return self.inner.attempts()

    @contextmanager
    def local(self, attempt: str) -> Iterator[Path]:
        with self.inner.local(attempt) as path:
            if attempt == self.attempt and (path / "deadly").exists():
                os._exit(9)
            yield path
