"""Many runs of one task: a table, and what goes with failure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from ..auditors.spectrum import ElementSink, RunElements, Spectrum, rank
from ..canonical import JsonError, JsonObject, loads
from ..errors import EvidenceError, Otel2TrajError, UsageError
from ..outcome import EndStatus
from .runs import runs_at
from .source import drive

_PASSED = ("passed", "pass", "success", "succeeded", "true", "resolved")
_FAILED = ("failed", "fail", "failure", "false", "error", "unresolved")


@dataclass(frozen=True, slots=True)
class Compared:
    """The spectrum, the runs without a verdict, and those that could not be read (name and reason)."""

    spectrum: Spectrum
    undecided: list[RunElements]
    unread: list[tuple[str, str]]

    def to_json(self, limit: int) -> JsonObject:
        spectrum = self.spectrum
        verdicts = [("failed", spectrum.failed), ("passed", spectrum.passed), ("undecided", self.undecided)]
        return {
            "runs": [{**run.row(), "verdict": verdict} for verdict, runs in verdicts for run in runs],
            "elements": [one.to_json() for one in spectrum.ranked[:limit]],
            "remark": spectrum.remark,
            "unread": [{"name": name, "reason": reason} for name, reason in self.unread],
        }


def compare_runs(
    paths: Sequence[Path],
    *,
    passed: Sequence[str] = (),
    failed: Sequence[str] = (),
    verdicts: Path | None = None,
) -> Compared:
    """Compare runs by what happened in them.

    Each path is a run, or a folder of attempts. The verdict of a run is the first of: the file `verdicts` (a JSON
    object of names to `passed` or `failed`), the globs `failed` and `passed` over names, the recorded end. Raises
    `UsageError` for a verdict file that is none, `EvidenceError` where no run can be read.
    """
    told = {} if verdicts is None else read_verdicts(verdicts)
    runs, unread = read_runs(paths)
    if not runs:
        raise EvidenceError(unread[0][1] if unread else "no run was given", hint="give attempts, traces or saved runs")
    sides: dict[bool | None, list[RunElements]] = {True: [], False: [], None: []}
    for run in runs:
        sides[_verdict(run, told, passed, failed)].append(run)
    return Compared(rank(sides[False], sides[True]), sides[None], unread)


def read_runs(paths: Sequence[Path]) -> tuple[list[RunElements], list[tuple[str, str]]]:
    """What happened in each run, and those that cannot be read (name and reason). A folder stands for its attempts."""
    runs: list[RunElements] = []
    unread: list[tuple[str, str]] = []
    for name, place in _places(paths):
        sink = ElementSink(name)
        try:
            drive(place, sink)
        except (Otel2TrajError, OSError) as err:
            unread.append((name, str(err)))
            continue
        runs.append(sink.run)
    return runs, unread


def read_verdicts(file: Path) -> dict[str, bool]:
    """Names of runs to whether they passed, from a JSON object of words or booleans."""
    try:
        data: Any = loads(file.read_bytes())
    except (OSError, JsonError) as err:
        raise UsageError(f"{file.name} is no verdict file: {err}") from err
    out: dict[str, bool] = {}
    for name, value in data.items() if isinstance(data, dict) else ():
        word = str(value).lower()
        if word not in _PASSED and word not in _FAILED:
            raise UsageError(f"{file.name}: the verdict of {name!r} is {value!r}", hint="passed or failed")
        out[str(name)] = word in _PASSED
    if not out:
        raise UsageError(f"{file.name} holds no verdict", hint='a JSON object: {"run-1": "passed", "run-2": "failed"}')
    return out


def _verdict(run: RunElements, told: dict[str, bool], passed: Sequence[str], failed: Sequence[str]) -> bool | None:
    if run.name in told:
        return told[run.name]
    if any(fnmatch(run.name, glob) for glob in failed):
        return False
    if any(fnmatch(run.name, glob) for glob in passed):
        return True
    if run.ended is EndStatus.NOT_RECORDED:
        return None
    return run.ended is EndStatus.SUCCEEDED


def _places(paths: Sequence[Path]) -> list[tuple[str, Path]]:
    """Every run, named by the shortest end of its path that tells it from the others."""
    found = [place for path in paths for place in runs_at(path)]
    parts = {place: place.absolute().with_suffix("").parts for place in found}
    length = 1
    while length < 8 and len({parts[place][-length:] for place in parts}) < len(parts):
        length += 1
    shared = {place: parts[place][-length:] for place in parts}
    ends = {names[-1] for names in shared.values()}
    cut = 1 if len(ends) == 1 and length > 1 else 0
    return [("/".join(names[: len(names) - cut]), place) for place, names in shared.items()]
