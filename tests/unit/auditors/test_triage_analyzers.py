"""Analyzers of users: how they are found, what they may return, and that one that raises stops nothing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from otel2traj.auditors.triage import Custom, custom, diagnose
from otel2traj.auditors.triage.custom import installed, load, observations
from otel2traj.canonical import loads
from otel2traj.errors import UsageError
from otel2traj.model.forensic import FailureCategory, Observation
from tests.conftest import ROOT

LEDGER = ROOT / "fixtures/audits/triage.infra_simulator_exception/hit-tool-broke.json"


@dataclass
class Says:
    value: Any
    priority: bool = False

    def analyze(self, history: Any, task_result: Any) -> Any:
        return self.value


class Raises:
    def analyze(self, history: Any, task_result: Any) -> Any:
        raise KeyError("rss_mb")


class Meddles:
    def analyze(self, history: Any, task_result: Any) -> None:
        history.clear()
        task_result.clear()


def ledger() -> Any:
    return loads(LEDGER.read_bytes())


def report(*targets: Any) -> tuple[dict[str, Any], list[Any]]:
    analyzers = [Custom(type(target).__name__, target, getattr(target, "priority", False)) for target in targets]
    return diagnose(ledger(), analyzers)


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (None, []),
        ("", []),
        ([], []),
        ("LOGIC_ABANDONMENT", [("logic_abandonment", "logic_abandonment", 0.7)]),
        ({"category": "infra_oom", "explanation": "grew", "confidence": "high"}, [("infra_oom", "grew", 0.95)]),
        ({"trigger": "infra_oom", "evidence": "grew", "confidence": 0}, [("infra_oom", "grew", 0.0)]),
        (SimpleNamespace(category="infra_oom", explanation="grew"), [("infra_oom", "grew", 0.7)]),
        (Observation(FailureCategory.LOGIC_STALL, "slow"), [("logic_stall", "slow", 0.7)]),
        (
            ["infra_oom", None, {"category": "logic_stall"}],
            [("infra_oom", "infra_oom", 0.7), ("logic_stall", "logic_stall", 0.7)],
        ),
    ],
)
def test_what_an_analyzer_may_return(value: Any, found: list[Any]) -> None:
    assert [(item.category, item.evidence, item.confidence) for item in observations(value)] == found


@pytest.mark.parametrize(
    "value",
    [
        "bad_luck",
        {"explanation": "no category"},
        {"category": "infra_oom", "confidence": 2},
        {"category": "infra_oom", "confidence": "very"},
        {"category": "infra_oom", "severity": "fatal"},
        {"category": "infra_oom", "index": "3"},
        5,
        object(),
    ],
)
def test_what_is_no_observation_is_told_and_skipped(value: Any) -> None:
    result, findings = report(Says(value))
    assert result["root_cause"] == "infra_simulator_exception"
    assert [finding.rule for finding in findings] == ["triage.analyzer-skipped"]
    assert result["analyzers"] == [{"name": "Says", "skipped": result["analyzers"][0]["skipped"]}]


def test_one_that_raises_is_skipped_and_the_next_is_heard() -> None:
    result, findings = report(
        Raises(), Says({"category": "logic_abandonment", "confidence": 1.0, "rank": 9, "index": 3})
    )
    assert [finding.message for finding in findings] == ["analyzer Raises was skipped: KeyError: 'rss_mb'"]
    assert result["analyzers"] == [{"name": "Raises", "skipped": "KeyError"}, {"name": "Says", "observations": 1}]
    assert result["root_cause"] == "logic_abandonment"
    last = result["causal_chain"][-1]
    assert (last["analyzer"], last["turn_index"], last["pointer"]["ledger"]) == ("Says", 1, "/conversation_history/3")


def test_an_index_that_is_not_there_anchors_nowhere() -> None:
    result, _ = report(Says({"category": "logic_stall", "index": 99, "turn_index": 99, "rank": 9}))
    last = result["causal_chain"][-1]
    assert (last["turn_index"], last["timestamp"], last["pointer"]) == (None, None, {"ledger": "/conversation_history"})


def test_the_ledger_is_a_copy() -> None:
    result, findings = report(Meddles(), Says(None))
    assert findings == []
    assert result["causal_chain"] == diagnose(ledger())[0]["causal_chain"]


def test_priority_goes_before_the_metrics() -> None:
    what = {**ledger(), "metrics": [{"metric": "m", "success": True}]}
    said = {"category": "security_identity_hitl_failure", "confidence": "weak"}
    for first, cause in ((False, "success"), (True, "security_identity_hitl_failure")):
        result, _ = diagnose(what, [Custom("x", Says(said), first)])
        assert result["root_cause"] == cause


def test_the_interface_of_the_schemas_page() -> None:
    """`telemetry[-1]["rss_mb"]` works on what `task_result` holds."""

    class Memory:
        def analyze(self, history: Any, task_result: Any) -> Any:
            telemetry = task_result.get("resource_telemetry", [])
            current_rss = telemetry[-1]["rss_mb"]
            return {"category": "infra_oom", "explanation": f"{current_rss} of {len(history)}"}

    what = {**ledger(), "resource_telemetry": [{"timestamp": 1.0, "cpu_percent": 1.0, "rss_mb": 450.2}]}
    result, findings = diagnose(what, [Custom("memory", Memory())])
    assert findings == []
    assert "450.2 of 4" in [link["evidence"] for link in result["causal_chain"]]


def test_named_by_file_and_by_module(fixtures: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = fixtures / "forensic/analyzer/slow_turns.py"
    assert load(f"{file}:SlowTurns").observe(ledger()) == []
    (tmp_path / "mine_of_test.py").write_text(file.read_text() + "\n\nready = SlowTurns()\nready.priority = True\n")
    monkeypatch.chdir(tmp_path)
    assert load("mine_of_test:ready").priority is True
    slow = {"conversation_history": [{"timestamp": 0.0}, {"timestamp": 61.0}]}
    (found,) = load("mine_of_test:SlowTurns").observe(slow)
    assert (found.category, found.index, found.evidence) == ("infra_timeout", 1, "61 s passed before this entry")


@pytest.mark.parametrize(
    "spec", ["nothing", ":x", "json:", "no_such_module_here:X", "json:NoSuch", "json:dumps", "gone.py:X"]
)
def test_a_name_that_leads_nowhere_is_a_usage_error(spec: str) -> None:
    with pytest.raises(UsageError):
        load(spec)


def test_installed_ones_come_by_name_and_a_broken_one_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    class Point:
        def __init__(self, name: str, value: Any) -> None:
            self.name, self.value, self._target = name, name, value

        def load(self) -> Any:
            if isinstance(self._target, Exception):
                raise self._target
            return self._target

    def points(group: str) -> list[Point]:
        assert group == "otel2traj.analyzers"
        return [Point("b", Raises), Point("c", ImportError("gone")), Point("a", Says(None))]

    monkeypatch.setattr(custom, "entry_points", points)
    found, findings = installed()
    assert [item.name for item in found] == ["a", "b"]
    assert [finding.message for finding in findings] == ["analyzer c was skipped: ImportError: gone"]
