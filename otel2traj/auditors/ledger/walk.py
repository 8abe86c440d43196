"""One pass over a ledger: every family sees every event; nothing is kept, so the length does not matter."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ...canonical import JsonObject
from ...model.finding import Finding
from ...model.ledger_cost import Totals
from .base import Family, Options, Report
from .chain import Chain
from .cost import Cost
from .envelope import Envelope
from .evidence import Evidence
from .grounding import Grounding
from .lines import events
from .outcome import Outcomes
from .sequence import Sequence
from .state import State


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an audit came to. `events` counts the lines that should be events."""

    events: int
    problems: int
    totals: Totals

    @property
    def clean(self) -> bool:
        return self.problems == 0

    def line(self) -> str:
        """The contract's last line."""
        if self.clean:
            return f"PASS: audit clean ({self.events} events)"
        return f"FAIL: audit found {self.problems} problem(s)"


class Walk:
    """All families together, fed one event at a time."""

    def __init__(self, options: Options, derived: Iterable[bytes] | None = None) -> None:
        self.cost = Cost(options)
        self.families: tuple[Family, ...] = (
            Envelope(options),
            Sequence(options),
            Grounding(options),
            State(options),
            Outcomes(options),
            self.cost,
            Chain(options),
            *(() if derived is None else (Evidence(derived),)),
        )

    def event(self, event: JsonObject, report: Report) -> None:
        for family in self.families:
            family.event(event, report)

    def end(self, report: Report) -> None:
        for family in self.families:
            family.end(report)


def audit(
    lines: Iterable[bytes],
    tell: Callable[[Finding], None],
    options: Options | None = None,
    name: str = "ledger",
    derived: Iterable[bytes] | None = None,
) -> Verdict:
    """Audits a ledger given as its lines (a file opened for reading bytes is such). Findings are told as they come:
    errors are failures, notes are remarks. `name` stands in their pointers. `derived` are the lines of
    the ledger that the evidence gives: every difference from it is a failure."""
    walk = Walk(options if options is not None else Options(), derived)
    report = Report(tell, name)
    for event in events(lines, report):
        if event is not None:
            walk.event(event, report)
    count = report.index + 1
    if count:
        walk.end(report)
    return Verdict(count, report.problems, walk.cost.totals)
