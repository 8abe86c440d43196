"""What every event must have: its mandatory fields, a type of the list, a readable time."""

from __future__ import annotations

from typing import Final

from ...canonical import JsonObject
from ...model.ledger import MANDATORY as FIELDS
from ...model.ledger import EventType, instant_ns
from .base import Options, Report, Rule, shown

MANDATORY: Final = Rule("ledger.mandatory", "Every event has step, timestamp, type, state_hash and cost.")
TYPE: Final = Rule("ledger.type", "The type is think, tool or observe.")
TIMESTAMP: Final = Rule(
    "ledger.timestamp", "The timestamp is an ISO-8601 date and time; --strict: in UTC, ending in Z."
)
NON_DETERMINISM: Final = Rule(
    "ledger.non-determinism",
    "non_determinism stands on observe events alone, and is true; its diverges_at is a position before it.",
)
RULES: Final = (MANDATORY, TYPE, TIMESTAMP, NON_DETERMINISM)

_TYPES: Final = frozenset(kind.value for kind in EventType)


class Envelope:
    def __init__(self, options: Options) -> None:
        self._strict = options.strict

    def event(self, event: JsonObject, report: Report) -> None:
        for name in FIELDS:
            if event.get(name) is None:
                report.fail(MANDATORY, f"missing mandatory field '{name}'")
        kind = event.get("type")
        if kind is not None and (not isinstance(kind, str) or kind not in _TYPES):
            report.fail(TYPE, f"has invalid type {shown(kind)}")
        time = event.get("timestamp")
        if time is not None and (instant_ns(time) is None or (self._strict and not time.endswith("Z"))):
            report.fail(TIMESTAMP, f"has invalid timestamp {shown(time)}")
        if "non_determinism" in event and (event["non_determinism"] is not True or kind != EventType.OBSERVE):
            report.fail(NON_DETERMINISM, "has non_determinism that is not true on an observe event")
        if "diverges_at" in event:
            at = event["diverges_at"]
            if "non_determinism" not in event or type(at) is not int or not 0 <= at < report.index:
                report.fail(NON_DETERMINISM, f"has diverges_at {shown(at)}, which is no position before it")

    def end(self, report: Report) -> None:
        pass
