"""Two ledgers to the first place where their state hashes part."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from ...canonical import JsonObject
from ...model.ledger import state_hash
from .base import Report
from .lines import events


@dataclass(frozen=True, slots=True)
class Place:
    """What a ledger says at one position; None where it has ended."""

    step: Any
    type: Any
    state_hash: str | None


@dataclass(frozen=True, slots=True)
class Replay:
    """`position` of the first divergence, from 0, or None; the two places there; `count` positions that agree."""

    count: int
    position: int | None = None
    first: Place | None = None
    second: Place | None = None

    @property
    def reproduced(self) -> bool:
        return self.position is None and self.count > 0

    def line(self) -> str:
        """The contract's line."""
        if self.position is not None:
            return f"FAIL: replay diverges at step {self.position}"
        if not self.count:
            return "FAIL: nothing to replay: the ledgers are empty"
        return f"PASS: replay reproduces all {self.count} hashes"


def replay(first: Iterable[bytes], second: Iterable[bytes]) -> Replay:
    """Compares position by position and stops at the first difference. A state that does not give its recorded hash
    counts by the hash that it gives, so a changed state cannot hide behind an old hash. A position without a hash, or
    whose line is no event, reproduces nothing."""
    position = -1
    for position, (one, other) in enumerate(zip_longest(_places(first), _places(second))):
        if one is None or other is None or one.state_hash is None or one.state_hash != other.state_hash:
            return Replay(position, position, one, other)
    return Replay(position + 1)


def _places(lines: Iterable[bytes]) -> Iterator[Place]:
    for event in events(lines, Report(lambda finding: None)):
        yield Place(None, None, None) if event is None else _place(event)


def _place(event: JsonObject) -> Place:
    recorded = event.get("state_hash")
    known = recorded if isinstance(recorded, str) else None
    if known is not None and "state" in event:
        known = state_hash(event["state"])
    return Place(event.get("step"), event.get("type"), known)
