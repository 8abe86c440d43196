"""For each of the 28 categories: ledgers whose triage names it, and near misses whose triage must not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otel2traj.auditors.triage import RULES, STAGES, diagnose
from otel2traj.auditors.triage.advice import ADVICE
from otel2traj.auditors.triage.base import Call
from otel2traj.auditors.triage.conduct import base_action
from otel2traj.auditors.triage.validity import check, schema
from otel2traj.canonical import loads
from otel2traj.model.forensic import FailureCategory
from otel2traj.renderers.forensic import explain
from tests.conftest import ROOT

CASES = sorted((ROOT / "fixtures" / "audits").glob("triage.*/*.json"))


def ledger(path: Path) -> Any:
    return loads(path.read_bytes())


@pytest.mark.parametrize("path", CASES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_hit_is_named_and_a_miss_is_not(path: Path) -> None:
    what = ledger(path)
    report, skipped = diagnose(what)
    named = path.parent.name.removeprefix("triage.")
    triggers = [link["trigger"] for link in report["causal_chain"]]
    if path.stem.startswith("hit-"):
        assert report["root_cause"] == named
    else:
        assert named not in (report["root_cause"], *triggers)
    assert skipped == []
    assert report["suggestion"] == ADVICE[FailureCategory(report["root_cause"])]
    for link in report["causal_chain"]:
        assert link["turn_index"] is None or 0 <= link["turn_index"] < what["turns_taken"]
    assert check({**what, "diagnostic_report": report}) == []


def test_every_category_has_a_rule_a_hit_and_a_miss() -> None:
    assert {rule.category for rule in RULES} == set(FailureCategory)
    assert len(RULES) == 28
    for rule in RULES:
        assert rule.name == f"triage.{rule.category}"
        kinds = {path.stem.partition("-")[0] for path in CASES if path.parent.name == rule.name}
        assert kinds == {"hit", "miss"}, rule.name


def test_the_schema_lists_the_categories_of_the_model() -> None:
    assert schema()["$defs"]["category"]["enum"] == list(FailureCategory)


def test_the_order_of_the_diagnosis() -> None:
    stages = [stage for stage, _ in STAGES]
    assert stages == sorted(stages)
    names = [rule.category for rule in RULES]
    assert names[0] is FailureCategory.SUCCESS
    assert names[-1] is FailureCategory.UNKNOWN_FAILURE


def test_a_run_that_ended_well_keeps_its_chain() -> None:
    report, _ = diagnose(ledger(ROOT / "fixtures/audits/triage.success/hit-recovered-from-an-error.json"))
    assert report["terminal_status"] == "success"
    assert [link["trigger"] for link in report["causal_chain"]] == ["infra_simulator_exception"]
    assert report["explanation"] == "Every Input ended as succeeded; no metric judges what was answered."


def test_the_worked_example() -> None:
    """A transport error on turn 1: cause and end are the connection, and the index steps back to the agent's entry."""
    what = ledger(ROOT / "fixtures/audits/triage.infra_connection_failed/hit-transport-error.json")
    report, _ = diagnose(what)
    assert report["root_cause"] == report["terminal_status"] == "infra_connection_failed"
    (link,) = report["causal_chain"]
    assert link == {
        "timestamp": 1618224010.0,
        "trigger": "infra_connection_failed",
        "evidence": "error code transport_error: connection reset",
        "turn_index": 1,
        "severity": "high",
        "rank": 3,
        "confidence": 0.95,
        "analyzer": "environment",
        "pointer": {
            "ledger": "/conversation_history/4",
            "records": [
                {
                    "path": "logs/network.jsonl",
                    "line": 5,
                    "offset": 150,
                    "length": 40,
                    "sha256": f"{8:064x}",
                    "what": "error",
                }
            ],
        },
    }
    assert report["index"] == 3
    assert what["conversation_history"][3]["identity"] == "agent_id"


def test_a_leak_is_not_repeated_by_its_own_finding() -> None:
    report, _ = diagnose(ledger(ROOT / "fixtures/audits/triage.security_pii_leak/hit-card-number.json"))
    (link,) = report["causal_chain"]
    assert link["severity"] == "critical"
    assert "…1111" in link["evidence"]
    assert "4111" not in link["evidence"]


def test_triage_changes_nothing_and_says_the_same_twice() -> None:
    for path in CASES:
        what = ledger(path)
        first, _ = diagnose(what)
        assert what == ledger(path)
        assert diagnose(what)[0] == first


@pytest.mark.parametrize(
    ("arguments", "action"),
    [
        ({"command": "/usr/bin/grep -r x ."}, "grep"),
        ({"command": "bash -c 'ls -la'"}, "ls"),
        ({"command": ["/bin/sh", "-c", "echo hi"]}, "echo"),
        ('{"command": "sudo timeout 5 make test"}', "make"),
        ({"command": "FOO=1 pytest -q"}, "pytest"),
        ({"command": "echo 'unclosed"}, "echo"),
        ({"path": "a.txt"}, "run"),
        ({"command": ""}, "run"),
        (None, "run"),
        ("{broken", "run"),
    ],
)
def test_base_action(arguments: Any, action: str) -> None:
    assert base_action(Call("c", "run", arguments)) == action


@pytest.mark.parametrize(
    "history",
    [
        None,
        [],
        [None, 1, "x", [], {}],
        [{"identity": 3, "role": None, "content": {"status": 5, "error": []}}],
        [{"identity": "env_id", "content": {"status": "error", "error": {"a": [{"b": None}]}}, "turn_index": -4}],
        [
            {
                "identity": "agent_id",
                "content": "x",
                "tool_calls": [None, {"function": {}}, {"name": 4}],
                "turn_index": "1",
            }
        ],
        [{"identity_id": "environment_id", "content": "no status"}, {"role": "assistant", "content": ["a", 1]}],
    ],
)
def test_no_ledger_is_too_strange(history: Any) -> None:
    report, findings = diagnose({"conversation_history": history, "metrics": "x", "resource_telemetry": [1]})
    assert report["root_cause"] in set(FailureCategory)
    assert findings == []


def test_older_ledgers_are_read_by_role_and_alias() -> None:
    history = [
        {"role": "assistant", "content": "Working."},
        {"identity_id": "environment_id", "content": {"status": "failed", "error": "out of memory"}},
    ]
    report, _ = diagnose({"conversation_history": history})
    assert report["root_cause"] == "infra_oom"
    assert report["causal_chain"][0]["turn_index"] == 0
    assert report["causal_chain"][0]["timestamp"] is None


def test_an_explicit_root_cause_outranks_all() -> None:
    history = [
        {"identity": "agent_id", "content": "x"},
        {"identity": "env_id", "content": {"status": "policy_violation"}},
        {"identity": "system_id", "content": {"status": "failed", "root_cause": "INFRA_DOCKER_FAILURE"}},
    ]
    report, _ = diagnose({"conversation_history": history})
    assert report["root_cause"] == "infra_sandbox_failure"
    assert [link["rank"] for link in report["causal_chain"]] == [5, 10]


def test_the_chain_is_in_the_order_of_time() -> None:
    history = [
        {"identity": "agent_id", "content": "a", "timestamp": 20.0},
        {"identity": "system_id", "content": {"status": "error", "error_code": "transport_error"}, "timestamp": 20.0},
        {"identity": "agent_id", "content": "b", "timestamp": 12.0},
        {"identity": "system_id", "content": {"status": "error", "http_status": 401}, "timestamp": 12.0},
        {"identity": "env_id", "content": {"status": "error", "error": "oom"}},
    ]
    report, _ = diagnose({"conversation_history": history})
    assert [(link["timestamp"], link.get("timestamp_source")) for link in report["causal_chain"]] == [
        (12.0, None),
        (20.0, None),
        (20.0, "entry_before"),
    ]


_SAID = (
    "agent_id env_id system_id user_id agent error success failed oom timeout {} [1] {cut 4111111111111111 "
    "policy_violation"
)
_NAMES = (
    "identity role content status error result tool tool_call_id tool_calls name arguments id function turn_index "
    "timestamp evidence records path metric success trigger root_cause http_status error_code parameters command "
    "cpu_percent"
)
_WORDS, _KEYS = st.sampled_from(_SAID.split()), st.sampled_from(_NAMES.split())
_PLAIN = st.none() | st.booleans() | st.integers(-9, 999) | st.floats(allow_nan=False, allow_infinity=False) | _WORDS
_JSON = st.recursive(
    _PLAIN, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_KEYS, inner, max_size=6), max_leaves=25
)
_TOP = st.sampled_from([*schema()["properties"], "task_result"])


@given(st.dictionaries(_TOP, _JSON | st.lists(st.dictionaries(_KEYS, _JSON, max_size=6), max_size=8), max_size=14))
@settings(max_examples=100, deadline=None)
def test_no_shape_of_a_ledger_raises(what: Any) -> None:
    report, findings = diagnose(what)
    assert findings == []
    check(what)
    assert [
        finding for finding in check({**what, "diagnostic_report": report}) if "diagnostic_report" in str(finding)
    ] == []
    assert explain({**what, "diagnostic_report": report}).startswith("task ")
    if isinstance(what.get("diagnostic_report"), dict):
        explain(what)
