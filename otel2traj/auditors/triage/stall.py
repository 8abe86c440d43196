"""Stage 5 of the diagnosis: runs that go on without getting on, and machines that were at their limit."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any, Final, TypeGuard

from ...canonical import JsonObject
from ...model.forensic import FailureCategory as Category
from ...model.forensic import Observation, TriggerSeverity
from .base import AGENT, ENVIRONMENT, Entry, Rule, entries
from .metrics import verdict
from .thresholds import CONFIDENCE, CPU_PERCENT, MEMORY_PERCENT, RANK_LOOP, RANK_RESOURCES, STALL_MESSAGES, UNCHANGED

RULES: Final = (
    Rule(
        "triage.logic_stall",
        Category.LOGIC_STALL,
        "Ten messages of the agent or more in a run that is not known to have succeeded.",
    ),
    Rule(
        "triage.logic_state_stall",
        Category.LOGIC_STATE_STALL,
        "The same base action in three turns running without another result, or four equal snapshots of turns running "
        "that each executed something.",
    ),
)
RESOURCE_RULES: Final = (
    Rule(
        "triage.infra_resource_exhausted",
        Category.INFRA_RESOURCE_EXHAUSTED,
        "A tool failed when the last sample before it was over 90 percent of CPU or memory, or a call was answered "
        "with 429.",
    ),
)


class Stall:
    name = "stall"

    def analyze(self, history: list[JsonObject], task_result: JsonObject) -> list[Observation]:
        read = entries(history)
        out = _snapshots(read, task_result)
        spoken = [entry for entry in read if entry.kind == AGENT]
        if len(spoken) >= STALL_MESSAGES and verdict(task_result) is None:
            last = spoken[-1]
            out.append(
                Observation(
                    Category.LOGIC_STALL,
                    f"{len(spoken)} messages of the agent without a recorded success",
                    index=last.index,
                    turn_index=last.turn,
                    rank=RANK_LOOP,
                    confidence=CONFIDENCE["weak"],
                )
            )
        return out


def _snapshots(read: list[Entry], task_result: JsonObject) -> list[Observation]:
    snapshots: Any = task_result.get("state_snapshots")
    told: Any = task_result.get("state_snapshot_turns")
    if not isinstance(snapshots, list):
        return []
    own = isinstance(told, list) and len(told) == len(snapshots) and all(type(turn) is int for turn in told)
    turns = told if own else list(range(len(snapshots)))
    acted = {entry.turn for entry in read if entry.kind == ENVIRONMENT and entry.status != "not_observed"}
    run = 0
    for at in range(1, len(snapshots)):
        follows = turns[at] == turns[at - 1] + 1 and (not own or turns[at] in acted)
        run = run + 1 if follows and snapshots[at] == snapshots[at - 1] else 0
        if run == UNCHANGED:
            turn = turns[at]
            entry = next((item for item in read if item.kind == AGENT and item.turn == turn), None)
            return [
                Observation(
                    Category.LOGIC_STATE_STALL,
                    f"the state did not change in turns {turns[at - run]} to {turn}",
                    index=None if entry is None else entry.index,
                    turn_index=None if entry is None else turn,
                    rank=RANK_LOOP,
                    confidence=CONFIDENCE["medium"],
                    pointer=f"/state_snapshots/{at}",
                )
            ]
    return []


class Resources:
    name = "resources"

    def analyze(self, history: list[JsonObject], task_result: JsonObject) -> list[Observation]:
        telemetry: Any = task_result.get("resource_telemetry", task_result.get("forensic_telemetry"))
        samples = [
            (item["timestamp"], at, item)
            for at, item in enumerate(telemetry if isinstance(telemetry, list) else [])
            if isinstance(item, dict) and _number(item.get("timestamp"))
        ]
        samples.sort(key=lambda sample: sample[:2])
        times = [when for when, _, _ in samples]
        read = entries(history)
        turns = {entry.turn: entry.raw.get("timestamp") for entry in read if entry.kind == AGENT}
        out: list[Observation] = []
        for entry in read:
            when = entry.raw.get("timestamp", turns.get(entry.turn))
            if entry.kind == ENVIRONMENT and entry.is_error and _number(when):
                last = bisect_right(times, when) - 1
                if last >= 0:
                    out += _exhausted(entry, samples[last][1], samples[last][2])
        return out


def _exhausted(entry: Entry, at: int, sample: JsonObject) -> list[Observation]:
    for name, limit in (("cpu_percent", CPU_PERCENT), ("memory_percent", MEMORY_PERCENT)):
        value = sample.get(name)
        if _number(value) and value > limit:
            return [
                Observation(
                    Category.INFRA_RESOURCE_EXHAUSTED,
                    f"{name} was {value} when the tool failed",
                    index=entry.index,
                    turn_index=entry.turn,
                    severity=TriggerSeverity.HIGH,
                    rank=RANK_RESOURCES,
                    confidence=CONFIDENCE["medium-high"],
                    pointer=f"/resource_telemetry/{at}",
                )
            ]
    return []


def _number(value: Any) -> TypeGuard[int | float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
