"""What an audit rule of a ledger is, and how its findings are told: one by one, none kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol

from ...canonical import JsonObject
from ...model.finding import Finding, Severity


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. `says` is its line in the reference page; `only` the option without which it does not speak."""

    name: str
    says: str
    only: str | None = None


@dataclass(frozen=True, slots=True)
class Options:
    """`strict`: partial and unknown costs fail. Budgets in US dollars and seconds, or None.
    `expect_end`: the event_hash in which the chain must end."""

    strict: bool = False
    max_usd: Decimal | None = None
    max_seconds: Decimal | None = None
    expect_end: str | None = None


class Report:
    """Tells findings as they come and counts the failures, so that a ledger of any length needs no memory."""

    def __init__(self, tell: Callable[[Finding], None], name: str = "ledger") -> None:
        self._tell = tell
        self._name = name
        self.problems = 0
        self.index = 0
        """Position of the event at hand, from 0; lines that hold no event count too."""
        self.line = 0
        """Line of the event at hand, from 1; 0 where the whole ledger is meant."""
        self.gap = False
        """Whether a line between the event before and the one at hand held no event."""
        self.passed_over = 0
        """How many lines held no event."""
        self.text: bytes | None = None
        """The line of the event at hand where it is its canonical form, to the byte; else None."""

    def fail(self, rule: Rule, what: str, at: str | None = None) -> None:
        """A failure of the event at hand: `event I` stands before `what`; `at` is a JSON pointer into the event."""
        self.fail_plainly(rule, f"event {self.index} {what}", at)

    def fail_plainly(self, rule: Rule, message: str, at: str | None = None) -> None:
        self.problems += 1
        pointer = self._pointer() if at is None else f"{self._pointer()}#{at}"
        self._tell(Finding(rule.name, message, Severity.ERROR, pointer))

    def note(self, rule: Rule, message: str) -> None:
        """A remark that is no failure."""
        self._tell(Finding(rule.name, message, Severity.NOTE, self._pointer()))

    def _pointer(self) -> str:
        return f"{self._name}:{self.line}" if self.line else self._name


class Family(Protocol):
    """Rules that need the same memory of the events before. Keeps no event but what its rules need."""

    def event(self, event: JsonObject, report: Report) -> None: ...

    def end(self, report: Report) -> None:
        """Once, after the last event of a whole ledger."""
        ...


def shown(value: object) -> str:
    """A value as messages show it, on one line, cut where it is long."""
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
