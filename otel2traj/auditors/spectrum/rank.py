"""Elements of passed and failed runs to a ranking by how they go with failure.

Spectrum-based fault localisation. With `ef` and `ep` the failed and passed runs that have an element, `nf` and
`np` those that do not:

    Ochiai  ef / sqrt((ef + nf) * (ef + ep))     Ochiai 1957; for programs Abreu, Zoeteweij, van Gemund, PRDC 2006
    DStar   ef**2 / (ep + nf)                    Wong, Debroy, Gao, Li, IEEE Trans. Reliability 63(1), 2014

Elements are grouped by the agent that acted, as Famas does (Ge et al., arXiv:2509.13782). No model, no guess.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ...canonical import JsonObject
from .elements import Element, RunElements

FEW: Final = 3
"""Runs on either side below which a ranking says that it rests on too few."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """One element with its counts. `dstar` is infinite where only failed runs have it and all of them do."""

    element: Element
    failed_with: int
    passed_with: int
    failed_without: int
    passed_without: int
    example: tuple[str, int]
    """A failed run that has it, and the step where it is first."""

    @property
    def ochiai(self) -> float:
        base = (self.failed_with + self.failed_without) * (self.failed_with + self.passed_with)
        return 0.0 if base == 0 else self.failed_with / math.sqrt(base)

    @property
    def dstar(self) -> float:
        base = self.passed_with + self.failed_without
        return math.inf if base == 0 else self.failed_with**2 / base

    def to_json(self) -> JsonObject:
        return {
            "kind": self.element.kind,
            "name": self.element.name,
            "agent": self.element.agent,
            "failed_with": self.failed_with,
            "passed_with": self.passed_with,
            "failed_without": self.failed_without,
            "passed_without": self.passed_without,
            "ochiai": round(self.ochiai, 6),
            "dstar": None if math.isinf(self.dstar) else round(self.dstar, 6),
            "example": {"run": self.example[0], "step": self.example[1]},
        }


@dataclass(slots=True)
class Spectrum:
    """The ranking, and what it rests on. `remark` says why there is none, or why it is worth little."""

    failed: list[RunElements]
    passed: list[RunElements]
    ranked: list[Ranked]
    remark: str | None = None

    def by_agent(self) -> dict[str | None, list[Ranked]]:
        """The same elements, in the same order, grouped by who acted."""
        out: dict[str | None, list[Ranked]] = {}
        for one in self.ranked:
            out.setdefault(one.element.agent, []).append(one)
        return out


def rank(failed: Sequence[RunElements], passed: Sequence[RunElements]) -> Spectrum:
    """Elements that some failed run has and that do not stand in every run alike, most suspicious first."""
    if not failed or not passed:
        missing = "failed" if not failed else "passed"
        return Spectrum(list(failed), list(passed), [], f"no {missing} run: nothing to hold the others against")
    elements = dict.fromkeys(element for run in failed for element in run.first)
    ranked = []
    for element in elements:
        with_it = [run for run in failed if element in run.first]
        passed_with = sum(element in run.first for run in passed)
        if len(with_it) == len(failed) and passed_with == len(passed):
            continue
        example = min((run.name, run.first[element]) for run in with_it)
        ranked.append(
            Ranked(
                element,
                len(with_it),
                passed_with,
                len(failed) - len(with_it),
                len(passed) - passed_with,
                example,
            )
        )
    ranked.sort(key=lambda one: (-one.ochiai, -one.dstar, one.element.kind, one.element.name, one.element.agent or ""))
    few = min(len(failed), len(passed)) < FEW
    remark = f"{len(failed)} failed and {len(passed)} passed: too few to tell cause from chance" if few else None
    return Spectrum(list(failed), list(passed), ranked, remark)
