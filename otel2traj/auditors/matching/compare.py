"""Aligned marks to verdicts, the first divergence and scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from ...canonical import JsonObject
from ...errors import UsageError
from .align import Pair, align
from .marks import FIELDS, RUN_FIELDS, Marks, StepMarks


class Verdict(StrEnum):
    EQUAL = "equal"
    DIFFERENT = "different"
    MOVED = "moved"
    """Alike in every field, but at another place in the order."""
    MISSING = "missing"
    """Only the reference has it."""
    EXTRA = "extra"
    """Only the candidate has it."""


@dataclass(slots=True)
class Row:
    verdict: Verdict
    reference: StepMarks | None
    candidate: StepMarks | None
    rule: str | None = None
    fields: list[str] = field(default_factory=list)
    """The fields that differ."""

    def to_json(self) -> JsonObject:
        out: JsonObject = {
            "verdict": self.verdict,
            "reference_step": None if self.reference is None else self.reference.step_id,
            "candidate_step": None if self.candidate is None else self.candidate.step_id,
            "reference_agent": None if self.reference is None else self.reference.agent_name,
            "candidate_agent": None if self.candidate is None else self.candidate.agent_name,
            "rule": self.rule,
        }
        if self.fields and self.reference is not None and self.candidate is not None:
            ours, theirs = self.reference.shown, self.candidate.shown
            out["differences"] = [
                {"field": name, "reference": ours.get(name), "candidate": theirs.get(name)} for name in self.fields
            ]
            if "input.messages" in self.fields:
                out["first_differing_message"] = self.parting
        return out

    @property
    def parting(self) -> int | None:
        """Place, from 0, of the first message in which the two requests differ; None where they are no lists."""
        if self.reference is None or self.candidate is None:
            return None
        ours, theirs = self.reference.messages, self.candidate.messages
        for at, pair in enumerate(zip(ours, theirs, strict=False)):
            if pair[0] != pair[1]:
                return at
        return min(len(ours), len(theirs)) if len(ours) != len(theirs) else None


@dataclass(frozen=True, slots=True)
class Score:
    """`value` is None where there was nothing to score."""

    matched: int
    of: int

    @property
    def value(self) -> float | None:
        return None if self.of == 0 else self.matched / self.of

    def to_json(self) -> JsonObject:
        return {"matched": self.matched, "of": self.of, "score": self.value}


@dataclass(frozen=True, slots=True)
class RunDifference:
    """A fact of the whole run that differs; None where one side did not record it."""

    field: str
    reference: str | None
    candidate: str | None

    def to_json(self) -> JsonObject:
        return {"field": self.field, "reference": self.reference, "candidate": self.candidate}


@dataclass(slots=True)
class Comparison:
    rows: list[Row]
    compared: list[str]
    agent: Score
    """Reference steps whose partner is of the same agent."""
    step: Score
    """Rows of both sides together that are equal."""
    run: list[RunDifference] = field(default_factory=list)
    """Facts of the whole run that differ: its task, Inputs, outcome, file changes."""

    @property
    def equal(self) -> bool:
        return not self.run and all(row.verdict is Verdict.EQUAL for row in self.rows)

    @property
    def first_divergence(self) -> Row | None:
        return next((row for row in self.rows if row.verdict is not Verdict.EQUAL), None)

    def to_json(self) -> JsonObject:
        first = self.first_divergence
        return {
            "equal": self.equal,
            "first_divergence": None if first is None else first.to_json(),
            "scores": {"agent": self.agent.to_json(), "step": self.step.to_json()},
            "verdicts": {verdict: sum(row.verdict is verdict for row in self.rows) for verdict in Verdict},
            "rules": dict(sorted(Counter(row.rule for row in self.rows if row.rule is not None).items())),
            "compared": self.compared,
            "run": [one.to_json() for one in self.run],
            "steps": [row.to_json() for row in self.rows],
        }


def compare(reference: Marks, candidate: Marks, ignore: Sequence[str] = ()) -> Comparison:
    """Step by step. Only fields that both forms record are compared; `ignore` takes names of `FIELDS` and
    `RUN_FIELDS`, or `input`, `output` and `run` for all of theirs. Raises `UsageError` for a field there is not."""
    everything = (*FIELDS, *RUN_FIELDS)
    for name in ignore:
        if name not in everything and not any(known.startswith(f"{name}.") for known in everything):
            raise UsageError(f"unknown field {name!r}", hint=f"one of: {', '.join(everything)}, input, output, run")

    def both(names: Sequence[str]) -> list[str]:
        known = [name for name in names if name in reference.recorded and name in candidate.recorded]
        return [name for name in known if name not in ignore and name.split(".")[0] not in ignore]

    compared, of_run = both(FIELDS), both(RUN_FIELDS)
    runs = {run_id for run_id in (reference.run_id, candidate.run_id) if run_id is not None}
    pairs = align(reference.steps, candidate.steps, compared, identifiers=len(runs) < 2)
    rows = [_row(pair, reference, candidate, compared) for pair in pairs]
    same_agent = sum(
        row.reference is not None
        and row.candidate is not None
        and row.reference.digests.get("agent_name") == row.candidate.digests.get("agent_name")
        for row in rows
    )
    equal = sum(row.verdict is Verdict.EQUAL for row in rows)
    differ = [
        RunDifference(name, reference.shown.get(name), candidate.shown.get(name))
        for name in of_run
        if reference.digests.get(name) != candidate.digests.get(name)
    ]
    scores = Score(same_agent, len(reference.steps)), Score(equal, len(rows))
    return Comparison(rows, [*compared, *of_run], *scores, differ)


def _row(pair: Pair, reference: Marks, candidate: Marks, compared: list[str]) -> Row:
    ours = None if pair.reference is None else reference.steps[pair.reference]
    theirs = None if pair.candidate is None else candidate.steps[pair.candidate]
    if ours is None or theirs is None:
        return Row(Verdict.EXTRA if ours is None else Verdict.MISSING, ours, theirs)
    fields = [name for name in compared if ours.digests.get(name) != theirs.digests.get(name)]
    verdict = Verdict.DIFFERENT if fields else Verdict.MOVED if pair.moved else Verdict.EQUAL
    return Row(verdict, ours, theirs, pair.rule, fields)
