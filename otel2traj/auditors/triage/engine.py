"""A forensic ledger to its diagnostic report: all observations in one chain, and the one that explains the rest."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeGuard

from ...canonical import JsonObject
from ...model.finding import Finding
from ...model.forensic import FailureCategory as Category
from ...model.forensic import Observation, category
from .advice import ADVICE
from .base import AGENT, ENVIRONMENT, SYSTEM, Analyzer, Entry, entries
from .conduct import Conduct
from .custom import Custom, skipped
from .environment import Environment
from .metrics import Metrics, verdict
from .protocol import ProtocolSequence
from .recorded import Recorded, decisive, ended, has_outcome
from .speech import Speech
from .stall import Resources, Stall
from .tools import Tools
from .validity import resolve

STAGES: Final[tuple[tuple[int, Analyzer], ...]] = (
    (1, Metrics()),
    (1, Recorded()),
    (2, ProtocolSequence()),
    (3, Environment()),
    (4, Conduct()),
    (4, Tools()),
    (4, Speech()),
    (5, Stall()),
    (5, Resources()),
)
"""The diagnosis order. Stage 0 are a user's analyzers with priority, stage 6 those without."""
_STEPS_BACK: Final = frozenset(
    {
        Category.INFRA_SIMULATOR_EXCEPTION,
        Category.INFRA_CONNECTION_FAILED,
        Category.INFRA_TIMEOUT,
        Category.LOGIC_PLANNING_ERROR,
        Category.LOGIC_STATE_MISMATCH,
    }
)
"""What is anchored to the agent entry before it; a violation of policy stays where it was seen."""
_ENDED: Final = "Every Input ended as succeeded; no metric judges what was answered."
_OPEN: Final = "No metric decides the run, and no rule found a fault in what was recorded."


@dataclass(slots=True)
class _Seen:
    stage: int
    place: int
    by: str
    what: Observation

    def weight(self) -> tuple[float, int, float, int]:
        """Smallest first: the score, the order of the diagnosis, the place in the history."""
        score = self.what.confidence * (1 + self.what.rank / 10)
        index = math.inf if self.what.index is None else self.what.index
        return (-round(score, 9), self.stage, index, self.place)


def diagnose(task_result: JsonObject, custom: Sequence[Custom] = ()) -> tuple[JsonObject, list[Finding]]:
    """The `diagnostic_report` of a ledger, and a finding for each analyzer that was skipped. Changes nothing."""
    history = task_result.get("conversation_history")
    history = history if isinstance(history, list) else []
    seen: list[_Seen] = []
    for stage, analyzer in STAGES:
        for what in analyzer.analyze(history, task_result):
            seen.append(_Seen(stage, len(seen), analyzer.name, what))
    seen = _once(seen, history)
    findings: list[Finding] = []
    used: list[JsonObject] = []
    for one in custom:
        try:
            found = one.observe(task_result)
        except Exception as err:  # an analyzer of somebody else may raise anything
            findings.append(skipped(one.name, err))
            used.append({"name": one.name, "skipped": type(err).__name__})
            continue
        used.append({"name": one.name, "observations": len(found)})
        for what in found:
            if what.index is not None and not 0 <= what.index < len(history):
                what.index = None
            seen.append(_Seen(0 if one.priority else 6, len(seen), one.name, what))
    read = entries(history)
    case = _Case(task_result, history, read)
    whole = verdict(task_result)
    if whole is None and ended(task_result) == "succeeded" and not task_result.get("metrics"):
        whole = Category.SUCCESS
    root = _root(seen, whole) if not has_outcome(task_result) else _by_outcome(seen, whole, task_result)
    chain = sorted((case.place(item.what), item.stage, item.place, item) for item in seen)
    report: JsonObject = {
        "root_cause": root.what.category if root is not None else whole or Category.UNKNOWN_FAILURE,
        "terminal_status": case.terminal(seen),
        "causal_chain": [case.link(item) for _, _, _, item in chain],
        **case.explanation(root, whole),
    }
    if used:
        report["analyzers"] = used
    return report, findings


def _root(seen: list[_Seen], whole: Category | None) -> _Seen | None:
    """The observation that explains the rest; None where the metrics decide, or where there is none."""
    first = [item for item in seen if item.stage == 0]
    if first:
        return min(first, key=_Seen.weight)
    failures = [item for item in seen if item.what.category is not Category.SUCCESS]
    return min(failures, key=_Seen.weight) if failures and whole is None else None


def _once(seen: list[_Seen], history: list[Any]) -> list[_Seen]:
    """What the record itself says stands once: what words say of the same turn to the same end is left out."""
    read = {entry.index: entry.turn for entry in entries(history)}

    def key(what: Observation) -> tuple[Category, int | None]:
        return what.category, what.turn_index if what.turn_index is not None else read.get(what.index or 0)

    told = {key(item.what) for item in seen if item.by == Recorded.name and item.what.index is not None}
    return [
        item
        for item in seen
        if item.by == Recorded.name or item.what.index is None or item.stage in (0, 6) or key(item.what) not in told
    ]


_STRUCTURAL: Final = ("conduct", "stall", "protocol-sequence", "metrics")
"""Analyzers that compare what was recorded, and read no words."""


def _by_outcome(seen: list[_Seen], whole: Category | None, task_result: JsonObject) -> _Seen | None:
    """The cause where the ledger says how the run ended. What was recorded as failed comes first; then what repeats or
    never moves; words decide nothing. A run that ended well, or of which no end is known, has no such cause."""
    first = [item for item in seen if item.stage == 0]
    if first:
        return min(first, key=_Seen.weight)
    found = decisive(task_result)
    if found is not None:
        return _Seen(1, len(seen), Recorded.name, found)
    if whole is not None or ended(task_result) in (None, "succeeded", "not recorded"):
        return None
    likely = [item for item in seen if item.by in _STRUCTURAL and item.what.confidence >= _STRONG]
    return min(likely, key=_Seen.weight) if likely else None


_STRONG: Final = 0.7


class _Case:
    """One ledger, for the report: turns that exist, times, and pointers to the evidence."""

    def __init__(self, task_result: JsonObject, history: list[Any], read: list[Entry]) -> None:
        self._task = task_result
        self._history = history
        self._read = read
        self._by_index = {entry.index: entry for entry in read}
        turns = task_result.get("turns_taken")
        self._turns = turns if type(turns) is int else sum(entry.kind == AGENT for entry in read)
        self._clock: list[float] = []
        clock = -math.inf
        for raw in history:
            time: Any = raw.get("timestamp") if isinstance(raw, dict) else None
            clock = max(clock, float(time)) if _is_time(time) else clock
            self._clock.append(clock)

    def place(self, what: Observation) -> tuple[float, float]:
        """Chronological: by the time that is reported, then by the place in the history. What belongs to the run as a
        whole comes last."""
        time, _ = self._time(what)
        if what.index is None:
            return (math.inf if time is None else time, math.inf)
        return (-math.inf if time is None else time, what.index)

    def _time(self, what: Observation) -> tuple[float | None, bool]:
        """When it was, and whether that is the last time recorded before it, for want of one of its own."""
        if what.timestamp is not None:
            return what.timestamp, False
        if what.index is None or not 0 <= what.index < len(self._history):
            return None, False
        raw = self._history[what.index]
        own: Any = raw.get("timestamp") if isinstance(raw, dict) else None
        if _is_time(own):
            return float(own), False
        before = self._clock[what.index]
        return (None, False) if before == -math.inf else (before, True)

    def link(self, item: _Seen) -> JsonObject:
        what = item.what
        entry = None if what.index is None else self._by_index.get(what.index)
        turn = what.turn_index if what.turn_index is not None else None if entry is None else entry.turn
        time, borrowed = self._time(what)
        out: JsonObject = {
            "timestamp": time,
            "trigger": what.category,
            "evidence": what.evidence,
            "turn_index": turn if turn is not None and 0 <= turn < self._turns else None,
            "severity": what.severity,
            "rank": what.rank,
        }
        if borrowed:
            out["timestamp_source"] = "entry_before"
        pointer: JsonObject = {"ledger": self._pointer(what, entry)}
        records = self._records(what, entry)
        if records:
            pointer["records"] = records
        return {**out, "confidence": what.confidence, "analyzer": item.by, "pointer": pointer}

    def _pointer(self, what: Observation, entry: Entry | None) -> str:
        if what.pointer is not None:
            return what.pointer
        return "/conversation_history" if entry is None else f"/conversation_history/{entry.index}"

    def _records(self, what: Observation, entry: Entry | None) -> list[Any]:
        if entry is None:
            said = None if what.pointer is None else resolve(self._task, what.pointer)
            known = said if isinstance(said, dict) else {}
            evidence, records = known.get("evidence"), known.get("records")
            return records if isinstance(records, list) else [evidence] if isinstance(evidence, dict) else []
        evidence = entry.raw.get("evidence")
        records = evidence.get("records") if isinstance(evidence, dict) else None
        if not isinstance(records, list):
            return []
        errors = [item for item in records if isinstance(item, dict) and item.get("what") in ("error", "result")]
        return errors if errors and entry.kind == SYSTEM else records

    def explanation(self, root: _Seen | None, whole: Category | None) -> JsonObject:
        """What `TriageReport` adds beside the root cause."""
        if root is None:
            cause = whole or Category.UNKNOWN_FAILURE
            said = "Some metrics did not hold." if cause is Category.PARTIAL_PASS else _OPEN
            return {
                "explanation": self._success() if cause is Category.SUCCESS else said,
                "index": None,
                "confidence": 0.1 if whole is None else 1.0,
                "suggestion": ADVICE[cause],
            }
        what = root.what
        index = what.index
        if what.category in _STEPS_BACK:
            until = len(self._history) if index is None else index
            index = next(
                (item.index for item in reversed(self._read) if item.index <= until and item.kind == AGENT), index
            )
        return {
            "explanation": what.evidence,
            "index": index,
            "confidence": what.confidence,
            "suggestion": what.suggestion or ADVICE[what.category],
        }

    def _success(self) -> str:
        results = all(str(item.get("metric")).startswith("input_result:") for item in self._task["metrics"])
        return _ENDED if results else "All metrics succeeded."

    def terminal(self, seen: list[_Seen]) -> Category:
        """How the session ended: by its own status or its last entry, else by the last metric of an Input."""
        if has_outcome(self._task):
            return self._terminal_of_outcome()
        status = category(self._task.get("status"))
        if status is not None and status is not Category.SUCCESS:
            return status
        last = self._read[-1] if self._read else None
        if last is not None and last.kind in (SYSTEM, ENVIRONMENT) and verdict(self._task) is not Category.SUCCESS:
            observed = [item for item in seen if item.what.index == last.index]
            if observed:
                return min(observed, key=_Seen.weight).what.category
        metrics = self._task.get("metrics")
        results = [item for item in metrics if isinstance(item, dict)] if isinstance(metrics, list) else []
        ended = [item for item in results if str(item.get("metric")).startswith("input_result:")]
        if status is Category.SUCCESS or (ended and ended[-1].get("success") is True):
            return Category.SUCCESS
        if not ended and verdict(self._task) is Category.SUCCESS:
            return Category.SUCCESS
        before = self._task.get("diagnostic_report")
        said = category(before.get("terminal_status")) if isinstance(before, dict) else None
        return said or Category.UNKNOWN_FAILURE

    def _terminal_of_outcome(self) -> Category:
        """How the last Input ended, by its own record; a failed end has the category that its failure names."""
        last = [item for item in self._task["outcome"].get("inputs") or [] if isinstance(item, dict)]
        if last and last[-1].get("status") == "succeeded":
            return Category.SUCCESS
        if ended(self._task) == "succeeded":
            return Category.SUCCESS
        found = decisive(self._task)
        return Category.UNKNOWN_FAILURE if found is None else found.category


def _is_time(value: Any) -> TypeGuard[int | float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
