"""State hashes: in the contract's form, recomputed from the state, and following from the events."""

from __future__ import annotations

from typing import Any, Final

from ...canonical import JsonError, JsonObject
from ...model.ledger import DIGEST, STATE_RULE, state_hash
from ...model.ledger_state import first_state, next_state
from .base import Options, Report, Rule, shown

FORM: Final = Rule("ledger.state-hash-form", "A state_hash is 'sha256:' and 64 lower-case hex digits.")
HASH: Final = Rule("ledger.state-hash", "The state_hash recomputes from the state, where the event holds one.")
FOLLOWS: Final = Rule(
    "ledger.state-rule", f"Under the state rule {STATE_RULE}, the state follows from the state before and the event."
)
RULES: Final = (FORM, HASH, FOLLOWS)


class State:
    def __init__(self, options: Options) -> None:
        self._before: Any = None
        """The last recorded state, where the ledger names the rule that is known here."""
        self._last_state: Any = None
        self._last_hash = ""
        self._without = 0

    def event(self, event: JsonObject, report: Report) -> None:
        if report.index == 0 and event.get("state_rule") == STATE_RULE:
            self._before = first_state()
        recorded = event.get("state_hash")
        if recorded is not None and (not isinstance(recorded, str) or DIGEST.fullmatch(recorded) is None):
            report.fail(FORM, f"has invalid state_hash {shown(recorded)}")
        elif "state" not in event:
            self._without += 1
        elif recorded is not None and self._hash(event["state"]) != recorded:
            report.fail(HASH, "state_hash does not recompute")
        if self._before is not None:
            self._follow(event, report)

    def _hash(self, state: Any) -> str:
        """Runs of equal states are common; equality in Python is not equality in JSON (1, 1.0, True), so only a state
        of strings is taken from the event before."""
        if state == self._last_state and _only_text(state):
            return self._last_hash
        self._last_state, self._last_hash = state, state_hash(state)
        return self._last_hash

    def _follow(self, event: JsonObject, report: Report) -> None:
        try:
            expected = next_state(self._before, event)
        except (KeyError, TypeError, ValueError, JsonError):
            expected = None
        if "state" not in event:
            recorded = event.get("state_hash")
            if recorded is not None and not report.gap and (expected is None or state_hash(expected) != recorded):
                report.fail(FOLLOWS, f"state_hash is not that of the state under '{STATE_RULE}'")
        else:
            if event["state"] != expected and not report.gap:
                report.fail(FOLLOWS, f"state does not follow from the event under '{STATE_RULE}'")
            expected = event["state"]
        if _is_state(expected):
            self._before = expected

    def end(self, report: Report) -> None:
        if self._without:
            report.line = 0
            report.note(HASH, f"{self._without} event(s) hold no state, so their state_hash cannot be recomputed")


def _only_text(state: Any) -> bool:
    return _is_state(state) and all(isinstance(value, str) for value in state["files"].values())


def _is_state(state: Any) -> bool:
    return (
        isinstance(state, dict)
        and state.keys() == {"conversation", "files"}
        and isinstance(state["conversation"], str)
        and isinstance(state["files"], dict)
    )
