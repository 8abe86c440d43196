"""Who decided that a run failed, and where: candidates for a run, a trace or a history in Who&When form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..auditors.attribution import Candidate, Turn, attribute, turns_of_history, turns_of_trajectory
from ..canonical import JsonError, JsonObject, loads
from ..errors import EvidenceError
from ..model.trajectory import Collect
from ..outcome import EndStatus, Failure, OutcomeReader
from .source import drive

if TYPE_CHECKING:
    from .judge import Judge, Judged


@dataclass(frozen=True, slots=True)
class Attributed:
    """Candidates, best first, and why there are none where there are none."""

    candidates: list[Candidate]
    unknown: str | None = None
    measured: bool = False
    """Whether the precision of the rules was measured on runs of this kind."""
    judged: Judged | None = None
    """What a model of the user's own said; where it holds, it is the first candidate, by the rule `judge`."""

    def to_json(self) -> JsonObject:
        return {
            "candidates": [one.to_json() for one in self.candidates],
            "unknown": self.unknown,
            "measured": self.measured,
            **({} if self.judged is None else {"assessment": self.judged.to_json()}),
        }


def attribute_run(path: Path, *, limit: int = 5, judge: Judge | None = None) -> Attributed:
    """The turns of an attempt, a trace, a saved trajectory or a Who&When file that most likely decided its failure.

    A run that is recorded as succeeded, or that holds no turn, gives no candidate. With a `judge`, it is asked too.
    Raises `EvidenceError` where nothing can be read or the judge gives no answer."""
    history = read_history(path)
    failures: Sequence[Failure] = ()
    task: str | None = None
    if history is not None:
        turns = turns_of_history(history)
    else:
        collect, outcome = Collect(), OutcomeReader()
        drive(path, collect, outcome)
        told = outcome.outcome
        if told.ended.status is EndStatus.SUCCEEDED and told.ended.caveat is None:
            return Attributed([], "the run is recorded as succeeded")
        turns, failures = turns_of_trajectory(collect.trajectory.steps), told.unrecovered
        prompts = (one.prompt for one in collect.trajectory.summary.inputs)
        task = next((text for text in prompts if isinstance(text, str) and text), None)
    measured = history is not None
    found = attribute(turns, failures, limit=limit, measured=measured)
    judged = _asked(judge, turns, task) if judge is not None and turns else None
    if judged is not None and judged.assessment.refused is None:
        found = [_first(judged), *(one for one in found if one.step != judged.assessment.step)][:limit]
    return Attributed(found, None if found else "no turn of it shows a sign that is weighed", measured, judged)


def _asked(judge: Judge, turns: list[Turn], task: str | None) -> Judged:
    from .judge import ask

    return ask(judge, turns, task)


def _first(judged: Judged) -> Candidate:
    said = judged.assessment
    assert said.step is not None
    assert said.agent is not None
    evidence = (f"it says: {said.quote}", *([f"the judge says: {said.reason}"] if said.reason else []))
    return Candidate(said.agent, said.step, "judge", 0.0, None, evidence)


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
