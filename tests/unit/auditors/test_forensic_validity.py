"""Changes of a good ledger, each of which makes exactly one rule speak, and what the schema's own example comes to."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from otel2traj.auditors.triage import diagnose
from otel2traj.auditors.triage.validity import check, looks_forensic, resolve, schema
from otel2traj.canonical import loads
from tests.conftest import ROOT

SHAPE = "forensic.json-schema"


def good() -> Any:
    what: Any = loads((ROOT / "fixtures/audits/triage.infra_connection_failed/hit-transport-error.json").read_bytes())
    what["state_snapshot_turns"] = [0, 1]
    what["protocol_sequence_turns"] = [0, 1]
    what["resource_telemetry"] = [
        {"timestamp": 1.0, "cpu_percent": 12.5, "rss_mb": 450.2, "vms_mb": None},
        {"timestamp": 2.0, "cpu_percent": None, "rss_mb": 1.0, "vms_mb": 2.0, "disk_usage_percent": 3.0},
    ]
    what["metrics"] = [{"metric": "tone", "success": False, "score": 0.1, "threshold": None}]
    what["status"] = "failed"
    what["diagnostic_report"] = diagnose(what)[0]
    return what


def test_a_good_ledger_is_clean() -> None:
    jsonschema_rs.meta.validate(schema())
    assert check(good()) == []


def put(*path: Any, value: Any) -> Callable[[Any], None]:
    def change(what: Any) -> None:
        for part in path[:-1]:
            what = what[part]
        if value is ...:
            del what[path[-1]]
        else:
            what[path[-1]] = value

    return change


CHAIN = ("diagnostic_report", "causal_chain", 0)
MUTATIONS: list[tuple[str, Callable[[Any], None], str]] = [
    *((SHAPE, put(name, value=...), "/") for name in schema()["required"]),
    (SHAPE, put("task_id", value=4), "/task_id"),
    (SHAPE, put("attempt", value="1"), "/attempt"),
    (SHAPE, put("turns_taken", value=-1), "/turns_taken"),
    (SHAPE, put("metrics", 0, "metric", value=...), "/metrics/0"),
    (SHAPE, put("metrics", 0, "success", value="yes"), "/metrics/0/success"),
    (SHAPE, put("conversation_history", 0, "identity", value=...), "/conversation_history/0"),
    (SHAPE, put("conversation_history", 0, "identity", value=""), "/conversation_history/0/identity"),
    (SHAPE, put("conversation_history", 0, "content", value=...), "/conversation_history/0"),
    (SHAPE, put("conversation_history", 0, "role", value=None), "/conversation_history/0/role"),
    (SHAPE, put("conversation_history", 1, "timestamp", value="now"), "/conversation_history/1/timestamp"),
    (
        SHAPE,
        put("conversation_history", 1, "evidence", "records", 0, "sha256", value="sha256:00"),
        "/conversation_history/1/evidence/records/0/sha256",
    ),
    (SHAPE, put("protocol_sequence", 0, value=4), "/protocol_sequence/0"),
    (SHAPE, put("protocol_sequence_required", value="http"), "/protocol_sequence_required"),
    (SHAPE, put("state_snapshots", 0, value="hash1"), "/state_snapshots/0"),
    (SHAPE, put("state_snapshots", 0, value="A" * 64), "/state_snapshots/0"),
    (SHAPE, put("state_snapshot_turns", 0, value=None), "/state_snapshot_turns/0"),
    (SHAPE, put("resource_telemetry", 0, "timestamp", value="1"), "/resource_telemetry/0/timestamp"),
    (SHAPE, put("resource_telemetry", 0, "rss_mb", value=...), "/resource_telemetry/0"),
    (SHAPE, put("resource_telemetry", 0, "cpu_percent", value=-1), "/resource_telemetry/0/cpu_percent"),
    (SHAPE, put("tool_registry", "run", "parameters", value="command"), "/tool_registry/run/parameters"),
    (SHAPE, put("tool_registry", "run", value=[]), "/tool_registry/run"),
    (SHAPE, put("diagnostic_report", "root_cause", value="bad_luck"), "/diagnostic_report/root_cause"),
    (SHAPE, put("diagnostic_report", "terminal_status", value=...), "/diagnostic_report"),
    *(
        (SHAPE, put(*CHAIN, name, value=...), "/diagnostic_report/causal_chain/0")
        for name in ("trigger", "turn_index", "rank")
    ),
    (SHAPE, put(*CHAIN, "severity", value="fatal"), "/diagnostic_report/causal_chain/0/severity"),
    (SHAPE, put(*CHAIN, "rank", value=1.5), "/diagnostic_report/causal_chain/0/rank"),
    ("forensic.turns-taken", put("turns_taken", value=3), "/turns_taken"),
    ("forensic.turn-exists", put("conversation_history", 4, "turn_index", value=2), "/conversation_history/4"),
    ("forensic.turn-exists", put(*CHAIN, "turn_index", value=2), "/diagnostic_report/causal_chain/0/turn_index"),
    ("forensic.turns-beside", put("state_snapshot_turns", value=[1]), "/state_snapshot_turns"),
    ("forensic.turns-beside", put("protocol_sequence_turns", value=[1, 1]), "/protocol_sequence_turns"),
    ("forensic.turn-exists", put("protocol_sequence_turns", value=[0, 2]), "/protocol_sequence_turns"),
    ("forensic.telemetry-order", put("resource_telemetry", 0, "timestamp", value=3), "/resource_telemetry/1"),
    (
        "forensic.pointer",
        put(*CHAIN, "pointer", "ledger", value="/conversation_history/9"),
        "/diagnostic_report/causal_chain/0/pointer",
    ),
]


@pytest.mark.parametrize(("rule", "change", "pointer"), MUTATIONS)
def test_one_change_makes_one_rule_speak(rule: str, change: Callable[[Any], None], pointer: str) -> None:
    what = good()
    change(what)
    assert [(finding.rule, finding.pointer) for finding in check(what)] == [(rule, pointer)]


def test_a_chain_out_of_order() -> None:
    what = good()
    link = deepcopy(what["diagnostic_report"]["causal_chain"][0])
    what["diagnostic_report"]["causal_chain"].append({**link, "timestamp": 1.0})
    assert [finding.rule for finding in check(what)] == ["forensic.chain-order"]


def test_the_place_of_a_wrapped_ledger_is_told() -> None:
    what = good()
    what["turns_taken"] = 3
    assert [finding.pointer for finding in check(what, "/task_result")] == ["/task_result/turns_taken"]
    what["task_id"] = 4
    assert {finding.pointer for finding in check(what, "/task_result")} == {
        "/task_result/task_id",
        "/task_result/turns_taken",
    }


def test_the_example_of_the_schemas_page(fixtures: Path) -> None:
    """Placeholders are no hashes, and turn 5 of 5 is not there when turns count from 0; nothing else is wrong."""
    what: Any = loads((fixtures / "forensic/seed-example.json").read_bytes())
    assert looks_forensic(what)
    assert [(finding.rule, finding.pointer) for finding in check(what)] == [
        (SHAPE, "/state_snapshots/0"),
        (SHAPE, "/state_snapshots/1"),
        ("forensic.turn-exists", "/diagnostic_report/causal_chain/0/turn_index"),
    ]


def test_what_is_no_ledger() -> None:
    for value in (None, [], {}, {"turns_taken": 1}, {"conversation_history": []}, {"schema": "trajectory-ledger-v1"}):
        assert not looks_forensic(value)


def test_pointers() -> None:
    document = {"a/b": [{"~": 1}], "n": None}
    assert resolve(document, "/a~1b/0/~0") == 1
    assert resolve(document, "") == document
    for nowhere in ("/a~1b/1", "/a~1b/x", "/n/0", "/z", "/a~1b/-1"):
        assert resolve(document, nowhere) is None
