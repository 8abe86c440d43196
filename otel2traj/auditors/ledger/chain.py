"""The event chain: each event's own hash, the hash of the event before, and the end as it was told outside."""

from __future__ import annotations

from typing import Any, Final

from ...canonical import JsonObject
from ...model.ledger import Outcome, declares_chain, event_hash, line_hash
from .base import Options, Report, Rule, shown

DECLARED: Final = Rule("ledger.chain", "A chain that the header declares is of a form that is known here.")
OWN: Final = Rule(
    "ledger.event-hash", "Every event that the chain covers has an event_hash, and it recomputes from the event."
)
LINK: Final = Rule("ledger.prev-event-hash", "A prev_event_hash is the hash of the event before; the first has none.")
TAIL: Final = Rule("ledger.tail", "A ledger that is declared to end in a terminal outcome has one.")
END: Final = Rule("ledger.end", "The chain covers every event and ends in the hash of --expect-end.")
RULES: Final = (DECLARED, OWN, LINK, TAIL, END)

_TERMINAL: Final = frozenset(outcome.value for outcome in Outcome if outcome.terminal)


class Chain:
    """A chain begins where the header says; where it says nothing, with the first event that has a hash. From there
    on every event carries it."""

    def __init__(self, options: Options) -> None:
        self._expected = options.expect_end
        self._previous: str | None = None
        self._unhashed: JsonObject | None = None
        """The event before, where no chain had begun: hashed only if the next one refers to it."""
        self._declared: JsonObject = {}
        self._hashed = 0
        self._bare = 0
        self._chained = False
        self._terminal = False

    def event(self, event: JsonObject, report: Report) -> None:
        if report.index == 0 and "chain" in event:
            self._declare(event["chain"], report)
        outcome = event.get("outcome")
        self._terminal = self._terminal or (isinstance(outcome, str) and outcome in _TERMINAL)
        recorded, link = event.get("event_hash"), event.get("prev_event_hash")
        if recorded is None and self._covers(event):
            report.fail(OWN, "missing 'event_hash'")
        if recorded is None and link is None and not self._chained:
            self._bare += 1
            self._unhashed = event
            return
        if self._unhashed is not None:
            self._previous, self._unhashed = event_hash(self._unhashed), None
            self._chained = True
        own = event_hash(event) if report.text is None else line_hash(report.text, event)
        if recorded is None:
            self._bare += 1
        else:
            self._hashed += 1
            if recorded != own:
                report.fail(OWN, "event_hash does not recompute")
        self._check_link(event, report)
        self._previous, self._chained = own, True

    def _declare(self, told: Any, report: Report) -> None:
        if declares_chain(told):
            self._declared = told
        else:
            report.fail(DECLARED, f"declares a chain that is not known here: {shown(told)}")

    def _covers(self, event: JsonObject) -> bool:
        if not self._declared:
            return self._hashed > 0
        step = event.get("step")
        return not isinstance(step, int) or step >= self._declared["from_step"]

    def _check_link(self, event: JsonObject, report: Report) -> None:
        link = event.get("prev_event_hash")
        if report.index == 0:
            if link is not None:
                report.fail(LINK, "prev_event_hash points to an event before the first")
            elif event.get("event_hash") is not None and "prev_event_hash" not in event and self._declared:
                report.fail(LINK, "missing 'prev_event_hash'")
        elif not self._chained or report.gap:
            pass
        elif link is None:
            if event.get("event_hash") is not None:
                report.fail(LINK, "missing 'prev_event_hash'")
        elif link != self._previous:
            report.fail(LINK, f"prev_event_hash is not the hash of event {report.index - 1}")

    def end(self, report: Report) -> None:
        if report.index < 0:
            return
        report.line = 0
        if self._declared.get("ends_in") is not None and not self._terminal and not report.passed_over:
            report.fail_plainly(TAIL, "the end is missing: the ledger is declared to end in a terminal outcome")
        if self._expected is not None:
            self._check_end(self._expected, report)
        if not self._hashed:
            report.note(OWN, "no event chain: a change of args, result, cost or evidence cannot be seen")
            return
        if self._bare:
            report.note(OWN, f"{self._bare} event(s) carry no event_hash")
        report.note(OWN, f"event chain ends in {self._previous}")

    def _check_end(self, expected: str, report: Report) -> None:
        if self._bare or not self._hashed:
            what = "the chain does not cover every event" if self._hashed else "there is no event chain"
            report.fail_plainly(END, f"{what}, so its end cannot be the expected {expected}")
        elif self._previous != expected:
            report.fail_plainly(END, f"event chain ends in {self._previous}, not in the expected {expected}")
