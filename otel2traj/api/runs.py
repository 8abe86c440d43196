"""Which runs a path stands for: one rule for every command that takes a folder."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from ..errors import EvidenceError
from ..readers.attempt import open_attempt
from ..stored import is_stored

_OF_ATTEMPTS: Final = frozenset({"network.jsonl", "run.json", "otel.jsonl", "otel-logs.jsonl"})
"""Files that make their folder an attempt; the last two are how the receiver writes one."""
_SAVED: Final = (".json", ".jsonl")


def holds_attempt(folders: Iterable[str], files: Iterable[str]) -> bool:
    """Whether a folder with these names in it is an attempt."""
    names = set(folders)
    layout = {"steps", "evaluation"} & names or _OF_ATTEMPTS & set(files)
    return bool(layout) or any(name.startswith("invocation-") for name in names)


def walk_attempts(root: Path) -> Iterator[Path]:
    """Every attempt directory at or below `root`, in order, each when its folder is reached; what lies inside one is
    part of it."""
    return (place for place, is_attempt in _walk(root) if is_attempt)


def find_attempts(root: Path) -> list[Path]:
    """The same as a list."""
    return list(walk_attempts(root))


def runs_at(path: Path) -> Iterator[Path]:
    """The runs that a path stands for, in order, at least one.

    A file and an attempt directory are one run. Another folder stands for the attempts below it; where there are none,
    for the evidence in it, such as trace files, which is one run; where there is none either, for the saved
    trajectories below it. So what was saved beside its evidence is no second run.
    """
    if not path.is_dir():
        yield path
        return
    saved: list[Path] = []
    attempts = False
    for place, is_attempt in _walk(path):
        if is_attempt:
            attempts = True
            yield place
        elif not attempts:
            saved.append(place)
    if not attempts:
        saved = [file for file in saved if not file.is_symlink() and is_stored(file)]
        yield from saved if saved and not _holds_evidence(path) else [path]


def is_folder_of_runs(path: Path) -> bool:
    """Whether a path is a folder that is no run itself and holds some."""
    return path.is_dir() and next(runs_at(path)) != path


def _walk(root: Path) -> Iterator[tuple[Path, bool]]:
    """Attempts, and files outside of them that may be saved trajectories, with whether it is an attempt."""
    for folder, names, files in os.walk(root):
        names.sort()
        if holds_attempt(names, files):
            names.clear()
            yield Path(folder), True
        else:
            yield from ((Path(folder, name), False) for name in sorted(files) if name.endswith(_SAVED))


def _holds_evidence(folder: Path) -> bool:
    try:
        return bool(open_attempt(folder).sources)
    except EvidenceError:
        return False
