"""Turns to candidates: a recorded failure first, then what the signs weigh. Nothing without a sign is named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ...canonical import JsonObject
from ...outcome import Failure
from .signs import ORCHESTRATED, SIGNS, TEAM, Run, Table
from .turns import Turn


@dataclass(frozen=True, slots=True)
class Candidate:
    """A turn that may have decided the run. `confidence` is the measured precision of its rank; None where
    nothing of the kind was measured."""

    agent: str
    step: int
    rule: str
    score: float
    confidence: float | None
    evidence: tuple[str, ...] = ()
    records: tuple[JsonObject, ...] = field(default=(), repr=False)

    def to_json(self) -> JsonObject:
        out: JsonObject = {"agent": self.agent, "step": self.step, "rule": self.rule, "score": round(self.score, 2)}
        out["confidence"], out["evidence"] = self.confidence, list(self.evidence)
        return {**out, "records": list(self.records)} if self.records else out


def attribute(
    turns: list[Turn], failures: Sequence[Failure] = (), *, limit: int = 5, measured: bool = True
) -> list[Candidate]:
    """Candidates, best first; none where there is no turn.

    `failures` are recorded ones that nobody recovered from, in recorded order; the last comes first. `measured` says
    that the run is of a kind that the tables were measured on.
    """
    out: list[Candidate] = []
    for failure in reversed(failures):
        if failure.step_id is not None and failure.recovered is False:
            words = f"{failure.kind}: {failure.reason}" if failure.reason else str(failure.kind)
            agent = failure.agent or next((turn.agent for turn in turns if turn.step == failure.step_id), "agent")
            records = tuple(failure.records)
            out.append(Candidate(agent, failure.step_id, "recorded_failure", 0.0, None, (words,), records))
            break
    run = Run(turns)
    table = ORCHESTRATED if run.orchestrated else TEAM
    weighed = [(score(run, number, table), number) for number in range(len(turns))]
    weighed.sort(key=lambda pair: (-pair[0][0], pair[1]))
    named = {one.step for one in out}
    for (total, told), number in weighed:
        turn = turns[number]
        if len(out) >= limit:
            break
        if turn.step in named or not told or turn.ran or turn.human:
            continue
        named.add(turn.step)
        rank = len(out)
        sure = table.precision[rank] if measured and rank < len(table.precision) else None
        out.append(Candidate(turn.agent, turn.step, f"signs_{table.name}", total, sure, tuple(told)))
    return out


def score(run: Run, number: int, table: Table) -> tuple[float, list[str]]:
    """What the signs of a turn weigh, and those that speak for it, heaviest first."""
    seen = [(weight, name) for name, weight in table.weights.items() if SIGNS[name][1](run, number)]
    told = [SIGNS[name][0] for weight, name in sorted(seen, key=lambda pair: (-pair[0], pair[1])) if weight > 0]
    return sum(weight for weight, _ in seen), told
