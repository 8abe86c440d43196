"""What can be seen of a turn without judging it, and what each sign weighs.

The weights are logarithms of odds, fitted by logistic regression on 89 labelled runs: half of Who&When (64 of AG2
teams, 25 of Magentic-One). `docs/how-to/attribute.md` says how well they do on runs that they were not fitted on.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from .turns import Turn

_NUMBER: Final = re.compile(r"\d+(?:[,.]\d+)*")
_MADE_UP: Final = re.compile(
    r"\b(mock|simulat\w+|assum\w+|placeholder|hypothetical|dummy|example data|sample data|synthetic|for demonstration"
    r"|manually|estimate\w*|approximat\w+)\b",
    re.IGNORECASE,
)
_VERIFIES: Final = re.compile(r"\b(verif\w+|confirm\w*|validated?|double-check\w*|accurate|correct)\b", re.IGNORECASE)
_ERROR: Final = re.compile(r"error|not found|unable|failed|404|denied|captcha", re.IGNORECASE)
_TYPED: Final = re.compile(r"\bI typed\b|\bsearch(?:ed|es)?\b for\b", re.IGNORECASE)
_END: Final = "TERMINATE"


class Run:
    """The turns of one run, and what several signs ask of all of them."""

    def __init__(self, turns: list[Turn]) -> None:
        self.turns = turns
        self.numbers = [frozenset(_NUMBER.findall(turn.text)) for turn in turns]
        spoken = [n for n, turn in enumerate(turns) if turn.text.strip() not in ("", _END) and not turn.ran]
        self.answer = spoken[-1] if spoken else len(turns) - 1
        self.acts = [n for n, turn in enumerate(turns) if not turn.orchestrates and not turn.human]
        self.place = {turn: number for number, turn in enumerate(self.acts)}
        self.first_said: dict[str, int] = {}
        for number, found in enumerate(self.numbers):
            for one in found:
                self.first_said.setdefault(one, number)
        self.speaks_first: dict[str, int] = {}
        for number, turn in enumerate(turns):
            self.speaks_first.setdefault(turn.agent, number)
        self.last_run = max((n for n, turn in enumerate(turns) if turn.ran), default=-1)

    @property
    def orchestrated(self) -> bool:
        return any(turn.orchestrates for turn in self.turns)

    def next(self, number: int) -> Turn | None:
        return self.turns[number + 1] if number + 1 < len(self.turns) else None

    def before(self, number: int) -> Turn | None:
        return self.turns[number - 1] if number else None

    def answer_value(self, number: int, reference: int) -> bool:
        """Whether a figure of the final answer stands here for the first time."""
        wanted = self.numbers[reference]
        return any(one in wanted and self.first_said[one] == number for one in self.numbers[number])


def _empty(run: Run, number: int) -> bool:
    following = run.next(number)
    return following is not None and following.ran and len(following.text.rpartition("Code output:")[2].strip()) < 3


def _after(run: Run, number: int, *, failed: bool) -> bool:
    following = run.next(number)
    return following is not None and following.ran and following.failed is failed


def _last_act(run: Run, number: int) -> bool:
    return bool(run.acts) and number == run.acts[-1]


Check = Callable[[Run, int], bool]
SIGNS: Final[dict[str, tuple[str, Check]]] = {
    "ran": ("the output of an execution, not a decision of an agent", lambda run, n: run.turns[n].ran),
    "opening": ("the first turn", lambda run, n: n == 0),
    "second": ("the turn after the opening", lambda run, n: n == 1),
    "first_words": ("the first words of this agent", lambda run, n: run.speaks_first[run.turns[n].agent] == n),
    "answer_value": (
        "a figure of the final answer stands here for the first time",
        lambda run, n: n <= run.answer and run.answer_value(n, run.answer),
    ),
    "no_output": ("what it ran gave no output", _empty),
    "run_failed": ("what it ran failed", lambda run, n: _after(run, n, failed=True)),
    "made_up": (
        "it assumes, simulates or fills in by hand what was to be found",
        lambda run, n: _MADE_UP.search(run.turns[n].text) is not None,
    ),
    "code": ("it has code run", lambda run, n: "```" in run.turns[n].text),
    "reacts": ("it reacts to an output", lambda run, n: (before := run.before(n)) is not None and before.ran),
    "only_ends": ("it only ends the run", lambda run, n: run.turns[n].text.strip() == _END),
    "answers": ("the final answer", lambda run, n: n == run.answer),
    "verifies": ("it says that something is verified", lambda run, n: _VERIFIES.search(run.turns[n].text) is not None),
    "late": ("one of the last three turns", lambda run, n: n >= len(run.turns) - 3),
    "runs_follow": ("something is still run after it", lambda run, n: run.last_run > n),
    "act": ("an act, not the word of the one who orchestrates", lambda run, n: n in run.place),
    "act_1": ("the first act", lambda run, n: run.place.get(n) == 0),
    "act_2": ("the second act", lambda run, n: run.place.get(n) == 1),
    "act_3": ("the third act", lambda run, n: run.place.get(n) == 2),
    "last_act": ("the last act", _last_act),
    "searches": ("it types a search", lambda run, n: _TYPED.search(run.turns[n].text[:300]) is not None),
    "last_value": (
        "a figure of the last turn stands here for the first time",
        lambda run, n: run.answer_value(n, len(run.turns) - 1),
    ),
    "meets_error": ("it meets an error", lambda run, n: _ERROR.search(run.turns[n].text[:600]) is not None),
    "final": ("it gives the final answer", lambda run, n: "FINAL ANSWER" in run.turns[n].text),
    "thought": ("a thought, said to nobody", lambda run, n: run.turns[n].thought),
}
"""Each sign: what it says in words, and the check."""


@dataclass(frozen=True, slots=True)
class Table:
    """What signs weigh for one kind of run. `precision`: how often the candidate of each rank was the decisive step in
    runs of that kind that were left out of the fit, best first."""

    name: str
    says: str
    weights: dict[str, float]
    precision: tuple[float, ...]


TEAM: Final = Table(
    "team",
    "agents that speak in turn, with one that runs code",
    {
        "ran": -1.15,
        "opening": -0.42,
        "second": 0.53,
        "first_words": 0.35,
        "answer_value": 0.47,
        "no_output": 0.45,
        "run_failed": 0.42,
        "made_up": 0.61,
        "code": 0.84,
        "reacts": -0.74,
        "only_ends": -0.34,
        "answers": 0.25,
        "verifies": 0.25,
        "late": -0.49,
        "runs_follow": -0.18,
    },
    (0.39, 0.20, 0.13),
)
ORCHESTRATED: Final = Table(
    "orchestrated",
    "agents that act when one who orchestrates tells them",
    {
        "act": 0.67,
        "act_1": 0.73,
        "act_2": 0.98,
        "act_3": 0.68,
        "last_act": 0.74,
        "searches": 0.46,
        "last_value": 0.8,
        "meets_error": 0.2,
        "final": 0.33,
        "thought": -0.2,
    },
    (0.20, 0.20, 0.12),
)
