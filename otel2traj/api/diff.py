"""Two runs, and where the second parted from the first."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

from .. import prices
from ..auditors.matching.compare import RunDifference, compare
from ..auditors.matching.difference import StepChange, Total, step_changes, totals
from ..auditors.matching.marks import MarkSink
from ..canonical import JsonObject
from ..files import replacing
from ..model.ledger_cost import decimal_text, usd
from ..model.trajectory import Collect, Trajectory
from ..outcome import Outcome, OutcomeReader
from ..renderers import diff as rendered
from ..timestamps import parse_ns
from .source import drive


@dataclass(slots=True)
class Diffed:
    """`changes` are the rows of the alignment that are not equal, the first divergence first; `ends` how both
    runs ended, with the recorded reason."""

    names: tuple[str, str]
    ends: tuple[str, str]
    same: int
    """Steps that are equal."""
    changes: list[StepChange] = field(default_factory=list)
    totals: list[Total] = field(default_factory=list)
    run: list[RunDifference] = field(default_factory=list)
    """Facts of the whole run that differ: task, Inputs, outcome, file changes."""

    @property
    def equal(self) -> bool:
        """Whether the runs did the same and ended the same; times, tokens and cost may differ."""
        return not self.changes and not self.run

    def to_json(self) -> JsonObject:
        return {
            "equal": self.equal,
            "a": {"name": self.names[0], "ended": self.ends[0]},
            "b": {"name": self.names[1], "ended": self.ends[1]},
            "first_divergence": self.changes[0].to_json() if self.changes else None,
            "equal_steps": self.same,
            "changes": [one.to_json() for one in self.changes],
            "run": [{"what": one.field, "a": one.reference, "b": one.candidate} for one in self.run],
            "totals": [one.to_json() for one in self.totals],
        }


def diff(a: Path, b: Path, *, ignore: tuple[str, ...] = ()) -> Diffed:
    """Align two runs as `match` does, and tell what differs. Both are held in memory.

    Raises `EvidenceError` where one cannot be read, `UsageError` for a field there is not."""
    left, left_marks, left_end = _read(a)
    right, right_marks, right_end = _read(b)
    comparison = compare(left_marks.marks, right_marks.marks, ignore)
    changes = list(step_changes(comparison, left, right))
    return Diffed(
        _names(a, b),
        (_end(left_end), _end(right_end)),
        sum(row.verdict == "equal" for row in comparison.rows),
        changes,
        totals(left, right, _cost(left), _cost(right)),
        comparison.run,
    )


def _names(a: Path, b: Path) -> tuple[str, str]:
    """The shortest ends of the two paths that tell them apart."""
    for length in range(1, 4):
        left, right = ("/".join(path.absolute().parts[-length:]) for path in (a, b))
        if left != right:
            break
    return left, right


def _read(path: Path) -> tuple[Trajectory, MarkSink, Outcome]:
    collect, marks, outcome = Collect(), MarkSink(), OutcomeReader()
    drive(path, collect, marks, outcome)
    return collect.trajectory, marks, outcome.outcome


def _end(outcome: Outcome) -> str:
    ended = outcome.ended
    return f"{ended.status}: {ended.reason.reason}" if ended.reason is not None else str(ended.status)


def _cost(run: Trajectory) -> str | None:
    """US dollars by the pinned price table, or None where a call has no price."""
    total = Decimal(0)
    priced = False
    for step in run.steps:
        usage = step.output.get("usage")
        if step.kind != "model" or not isinstance(usage, dict) or step.model is None:
            continue
        at = parse_ns(step.started_at or "")
        amount, _ = usd(usage, prices.rate(step.model, at, at)[0])
        if amount is None:
            return None
        total, priced = total + amount, True
    return decimal_text(total) if priced else None


def lines(found: Diffed, width: int = 60, limit: int = 12) -> list[str]:
    """For people, within `width` columns; at most `limit` lines of each field."""
    return rendered.lines(found.to_json(), width, limit)


def page(found: Diffed, output: Path) -> None:
    """Write one self-contained page, both runs side by side."""
    with replacing(output) as stream:
        stream.write(rendered.page(found.to_json()).encode("utf-8", "replace"))
