"""Outcomes: pending, then running, then one terminal one, each with the field it needs."""

from __future__ import annotations

from typing import Any, Final

from ...canonical import JsonObject
from ...model.ledger import REQUIRED_FIELD, Outcome
from ...model.ledger_cost import is_amount
from .base import Options, Report, Rule, shown

KNOWN: Final = Rule("ledger.outcome", "An outcome is pending, running, succeeded, failed, blocked or timeout.")
FIELD: Final = Rule(
    "ledger.outcome-field",
    "succeeded has evidence, failed a reason, blocked a blocker, timeout its elapsed_seconds; an empty one is none.",
)
ORDER: Final = Rule("ledger.outcome-order", "Outcomes never go back, and none follows a terminal one.")
RULES: Final = (KNOWN, FIELD, ORDER)

_OUTCOMES: Final = {outcome.value: outcome for outcome in Outcome}


class Outcomes:
    def __init__(self, options: Options) -> None:
        self._last: Outcome | None = None

    def event(self, event: JsonObject, report: Report) -> None:
        told = event.get("outcome")
        if told is None:
            return
        outcome = _OUTCOMES.get(told) if isinstance(told, str) else None
        if outcome is None:
            report.fail(KNOWN, f"has invalid outcome {shown(told)}")
            return
        name = REQUIRED_FIELD.get(outcome)
        if name is not None and not _says(name, event.get(name)):
            report.fail(FIELD, f"outcome '{outcome}' missing '{name}'")
        if self._last is not None and (self._last.terminal or outcome.rank < self._last.rank):
            report.fail(ORDER, f"has outcome '{outcome}' after '{self._last}'")
        else:
            self._last = outcome

    def end(self, report: Report) -> None:
        if self._last is None or not self._last.terminal:
            report.note(ORDER, "no terminal outcome: the run is not finished, or the end of the ledger is missing")


def _says(name: str, value: Any) -> bool:
    if name == "elapsed_seconds":
        return is_amount(value)
    if isinstance(value, str):
        return bool(value.strip())
    return isinstance(value, (list, dict)) and len(value) > 0
