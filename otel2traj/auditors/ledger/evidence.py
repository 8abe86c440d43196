"""A ledger beside the one that its evidence gives: every difference by its pointer, every event too many or too few."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any, Final

from ...canonical import JsonObject, canonical_bytes, loads
from .base import Report, Rule, shown

VALUE: Final = Rule("ledger.evidence", "Every value of an event is what the evidence gives.", only="--evidence")
EVENT: Final = Rule(
    "ledger.evidence-event", "The events are those that the evidence gives, in their order.", only="--evidence"
)
RULES: Final = (VALUE, EVENT)

_DERIVED_BY_RULES: Final = frozenset(("state", "state_hash", "event_hash", "prev_event_hash", "step"))
"""What follows from the events, and is derived from them by the rules of states and of the chain."""
_WINDOW: Final = 64
"""How far ahead, and back, an event that is not in its place is looked for."""


class Evidence:
    """Compares in step with `derived`, the lines of the ledger that the evidence gives; keeps a window of them."""

    def __init__(self, derived: Iterable[bytes]) -> None:
        self._rest: Iterator[JsonObject] = (event for event in map(loads, derived) if isinstance(event, dict))
        self._ahead: deque[JsonObject] = deque()
        self._behind: deque[str] = deque(maxlen=_WINDOW)
        self._shift = 0
        self._builder: Any = None

    def event(self, event: JsonObject, report: Report) -> None:
        while len(self._ahead) < _WINDOW and (more := next(self._rest, None)) is not None:
            self._ahead.append(more)
        if not self._ahead and event.get("non_determinism") is True:
            report.note(EVENT, f"event {report.index} records non-determinism after the end that the evidence gives")
            return
        place = _place(event)
        at = next((number for number, due in enumerate(self._ahead) if _place(due) == place), None)
        if at is None and (not self._ahead or place in self._behind or not _alike(event, self._ahead[0])):
            report.fail(EVENT, "follows from nothing in the evidence")
            return
        for _ in range(at or 0):
            report.fail_plainly(EVENT, f"before event {report.index}, {_named(self._ahead.popleft())} is missing")
        due = self._ahead.popleft()
        self._behind.append(_place(due))
        self._compare(event, due, report)

    def _compare(self, event: JsonObject, due: JsonObject, report: Report) -> None:
        for pointer, recorded, derived in differences(_own(event), _own(due)):
            told = "nothing" if recorded is _NOTHING else shown(recorded)
            gives = "nothing" if derived is _NOTHING else shown(derived)
            report.fail(VALUE, f"{pointer} is {told}, the evidence gives {gives}{_source(due)}", pointer)
        if "state" not in event:
            report.fail(VALUE, "/state is nothing, the evidence gives one", "/state")
        step = event.get("step")
        if isinstance(step, int) and step - due["step"] != self._shift:
            report.fail(VALUE, f"/step is {step}, the evidence gives {due['step'] + self._shift}", "/step")
            self._shift = step - due["step"]

    def end(self, report: Report) -> None:
        report.line = 0
        for due in (*self._ahead, *self._rest):
            report.fail_plainly(EVENT, f"at the end, {_named(due)} is missing")


_NOTHING: Final = object()


def differences(recorded: Any, derived: Any, at: str = "") -> Iterator[tuple[str, Any, Any]]:
    """JSON pointer and both values of every difference. 1, 1.0 and true are different, as they are in JSON."""
    if isinstance(recorded, dict) and isinstance(derived, dict):
        for key in sorted(recorded.keys() | derived.keys()):
            where = f"{at}/{key.replace('~', '~0').replace('/', '~1')}"
            yield from differences(recorded.get(key, _NOTHING), derived.get(key, _NOTHING), where)
    elif isinstance(recorded, list) and isinstance(derived, list):
        for index in range(max(len(recorded), len(derived))):
            mine, due = (values[index] if index < len(values) else _NOTHING for values in (recorded, derived))
            yield from differences(mine, due, f"{at}/{index}")
    elif recorded is _NOTHING or derived is _NOTHING or canonical_bytes(recorded) != canonical_bytes(derived):
        yield at, recorded, derived


def _own(event: JsonObject) -> JsonObject:
    return {key: value for key, value in event.items() if key not in _DERIVED_BY_RULES}


def _place(event: JsonObject) -> str:
    """What an event stands for in its run."""
    told = [event.get("type"), "schema" in event, "totals" in event]
    told += [_of(event, name, "ordinal") for name in ("input", "input_result")]
    told += [_of(event, "trajectory", "step_id"), event.get("tool_call_id"), _of(event, "call", "tool_call_id")]
    return canonical_bytes(told).decode()


def _of(event: JsonObject, name: str, key: str) -> Any:
    value = event.get(name)
    return value.get(key) if isinstance(value, dict) else None


def _alike(event: JsonObject, due: JsonObject) -> bool:
    """Whether most of an event is that of another: then it was changed, not put in."""
    mine, other = _own(event), _own(due)
    same = sum(key in mine and canonical_bytes(mine[key]) == canonical_bytes(other[key]) for key in other)
    return 2 * same >= len(other)


def _named(event: JsonObject) -> str:
    step = _of(event, "trajectory", "step_id")
    return f"{event['type']} event {event['step']} of the evidence{'' if step is None else f' (step {step})'}"


def _source(due: JsonObject) -> str:
    """The address of the first record behind an event."""
    records = _of(due, "trajectory", "records")
    first = records[0] if isinstance(records, list) and records else None
    return f" ({first['path']}:{first.get('line', first.get('offset'))})" if isinstance(first, dict) else ""
