"""Who decided that a run failed, and where: candidates for a run, a trace or a history in Who&When form."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..auditors.attribution import Candidate, attribute, turns_of_history, turns_of_trajectory
from ..canonical import JsonError, JsonObject, loads
from ..errors import EvidenceError
from ..model.trajectory import Collect
from ..outcome import EndStatus, OutcomeReader
from .source import drive


@dataclass(frozen=True, slots=True)
class Attributed:
    """Candidates, best first, and why there are none where there are none."""

    candidates: list[Candidate]
    unknown: str | None = None
    measured: bool = False
    """Whether the precision of the rules was measured on runs of this kind."""

    def to_json(self) -> JsonObject:
        return {
            "candidates": [one.to_json() for one in self.candidates],
            "unknown": self.unknown,
            "measured": self.measured,
        }


def attribute_run(path: Path, *, limit: int = 5) -> Attributed:
    """The turns of an attempt, a trace, a saved trajectory or a Who&When file that most likely decided its failure.

    A run that is recorded as succeeded, or that holds no turn, gives no candidate. Raises `EvidenceError` where nothing
    can be read."""
    history = read_history(path)
    if history is not None:
        found = attribute(turns_of_history(history), limit=limit)
        return Attributed(found, None if found else "no turn of it shows a sign that is weighed", measured=True)
    collect, outcome = Collect(), OutcomeReader()
    drive(path, collect, outcome)
    told = outcome.outcome
    if told.ended.status is EndStatus.SUCCEEDED and told.ended.caveat is None:
        return Attributed([], "the run is recorded as succeeded")
    found = attribute(turns_of_trajectory(collect.trajectory.steps), told.unrecovered, limit=limit, measured=False)
    return Attributed(found, None if found else "no turn of it shows a sign that is weighed")


def read_history(path: Path) -> list[Any] | None:
    """The history of a file in Who&When form, or None for anything else."""
    if not path.is_file() or path.suffix.lower() != ".json":
        return None
    try:
        document = loads(path.read_bytes())
    except OSError as err:
        raise EvidenceError(f"cannot read {path.name}: {err.strerror}") from err
    except JsonError:
        return None
    history = document.get("history") if isinstance(document, dict) else None
    if not isinstance(history, list) or not all(isinstance(item, dict) and "content" in item for item in history):
        return None
    return history
