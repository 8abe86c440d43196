"""States derived from events, beside the recorded ones and beside those of another run, to the first divergence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, Final

from ...canonical import JsonError, JsonObject
from ...model.ledger import STATE_RULE, state_hash
from ...model.ledger_state import first_state, next_state
from .base import Report, shown
from .evidence import differences
from .lines import events

_UNKNOWN: Final = object()
_CAUSES: Final = ("thought", "text", "refusal", "finish_reason", "tool", "args", "result", "call", "input")
"""The fields that the state rule reads."""


@dataclass(frozen=True, slots=True)
class Place:
    """What a ledger says at one position. `state` is the derived one, else the recorded one, else not known;
    `fault` says why the recorded hash is not reproduced."""

    step: Any
    type: Any
    state_hash: str | None
    state: Any = _UNKNOWN
    event: JsonObject = field(default_factory=dict)
    fault: str | None = None

    @property
    def non_determinism(self) -> bool:
        return self.event.get("non_determinism") is True


@dataclass(frozen=True, slots=True)
class Replay:
    """`position` of the first divergence, from 0, or None; the two places there; `count` positions that agree.
    `honoured` is the recorded non-determinism at which the comparison stopped."""

    count: int
    position: int | None = None
    first: Place | None = None
    second: Place | None = None
    honoured: Place | None = None
    remarks: tuple[str, ...] = ()

    @property
    def reproduced(self) -> bool:
        return self.position is None and (self.count > 0 or self.honoured is not None)

    def line(self) -> str:
        """The contract's line."""
        if self.position is not None:
            return f"FAIL: replay diverges at step {self.position}"
        if not self.reproduced:
            return "FAIL: nothing to replay: the ledgers are empty"
        return f"PASS: replay reproduces all {self.count} hashes"


def replay(first: Iterable[bytes], second: Iterable[bytes] | None = None) -> Replay:
    """Derives the states of one ledger, or of two and compares them, and stops at the first divergence.

    A position is reproduced where every recorded state and hash is the derived one, and both ledgers have the same.
    A divergence is honoured where an event with `non_determinism` stands in one of them at that very position, or names
    it as its `diverges_at`: the comparison ends there, and each ledger is still derived alone to its end.
    """
    one = _places(first, "A")
    if second is None:
        count = 0
        for position, place in enumerate(one):
            fault = place.fault
            if fault is None and (place.state is _UNKNOWN or place.state_hash is None):
                fault = "holds no state or no hash, and no rule gives one"
            if fault is not None:
                return Replay(position, position, place, remarks=(f"A event {position} {fault}",))
            count += 1
        return Replay(count)
    other = _places(second, "B")
    position = -1
    for position, (a, b) in enumerate(zip_longest(one, other)):
        remarks = [f"{name} {place.fault}" for name, place in (("A", a), ("B", b)) if place and place.fault]
        if remarks:
            return Replay(position, position, a, b, remarks=tuple(remarks))
        stops = a is not None and b is not None and a.non_determinism != b.non_determinism
        if a is None or b is None or a.state_hash is None or a.state_hash != b.state_hash or stops:
            return _diverged(position, a, b, one, other)
    return Replay(position + 1)


def _diverged(position: int, a: Place | None, b: Place | None, one: Iterator[Place], other: Iterator[Place]) -> Replay:
    honoured, broken = None, None
    for at, places in enumerate(zip_longest(one, other), position + 1):
        for place in places:
            if place is not None and place.non_determinism and place.event.get("diverges_at") == position:
                honoured = honoured or place
            if place is not None and place.fault and broken is None:
                broken = Replay(at, at, *places, remarks=(place.fault,))
    for place in (a, b):
        if place is not None and place.non_determinism and place.event.get("diverges_at") in (None, position):
            honoured = place
    if honoured is not None:
        return broken or Replay(position, honoured=honoured)
    return Replay(position, position, a, b, remarks=tuple(_why(a, b)))


def _why(a: Place | None, b: Place | None) -> Iterator[str]:
    """The keys in which two states differ, and the fields of the events that made them."""
    if a is None or b is None:
        return
    if _UNKNOWN not in (a.state, b.state):
        for pointer, mine, other in differences(a.state, b.state):
            yield f"state {pointer or '/'}: A {_told(mine)}, B {_told(other)}"
    first, second = ({name: place.event[name] for name in _CAUSES if name in place.event} for place in (a, b))
    for pointer, mine, other in differences(first, second):
        yield f"event {pointer}: A {_told(mine)}, B {_told(other)}"


def _told(value: Any) -> str:
    return "has none" if type(value) is object else shown(value)


def _places(lines: Iterable[bytes], name: str) -> Iterator[Place]:
    report = Report(lambda finding: None)
    before: Any = _UNKNOWN
    for event in events(lines, report):
        if event is None:
            yield Place(None, None, None)
            continue
        if report.index == 0 and event.get("state_rule") == STATE_RULE:
            before = first_state()
        derived: Any = _UNKNOWN
        if before is not _UNKNOWN:
            try:
                derived = next_state(before, event)
            except (KeyError, TypeError, ValueError, JsonError):
                derived = event.get("state", _UNKNOWN)
            before = derived
        yield _place(event, derived)


def _place(event: JsonObject, derived: Any) -> Place:
    recorded = event.get("state_hash")
    known = recorded if isinstance(recorded, str) else None
    state = event.get("state", _UNKNOWN)
    fault = None
    if _UNKNOWN not in (state, derived) and state != derived:
        keys = ", ".join(pointer or "/" for pointer, _, _ in differences(state, derived))
        fault = f"the recorded state is not the derived one, in {keys}"
    elif known is not None and (state is not _UNKNOWN or derived is not _UNKNOWN):
        due = state_hash(derived if derived is not _UNKNOWN else state)
        if due != known:
            fault = f"the recorded state_hash is {known}, that of the derived state {due}"
    return Place(
        event.get("step"), event.get("type"), known, derived if derived is not _UNKNOWN else state, event, fault
    )
