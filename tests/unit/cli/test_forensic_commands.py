"""`otel2traj forensic` from outside, on captured runs: streams, files and exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from otel2traj.api import forensic as api
from otel2traj.api.validate import validate as validate_any
from otel2traj.cli.forensic import group
from otel2traj.errors import EvidenceError, Otel2TrajError, UsageError
from tests.conftest import ROOT

ATTEMPTS = ROOT / "fixtures" / "attempts"
RUNS = sorted(path.parent.name for path in ATTEMPTS.glob("*/attempt"))
REFUSED = ("abb-20c-steps-symlink",)
FAILED = ATTEMPTS / "openai-traceloop-wirefail-stream" / "attempt"


def forensic(*args: object) -> Result:
    return CliRunner().invoke(group, [str(arg) for arg in args])


@pytest.mark.parametrize("name", [name for name in RUNS if name not in REFUSED])
def test_every_captured_run_exports_clean_and_the_same_twice(name: str, tmp_path: Path) -> None:
    file = tmp_path / "run.forensic.json"
    ledger, warnings = api.export(ATTEMPTS / name / "attempt")
    ledger.save(file)
    assert api.validate(file) == []
    assert validate_any(file) == []
    assert forensic("export", ATTEMPTS / name / "attempt").stdout_bytes == file.read_bytes()
    assert ledger.task_result["provenance"]["warnings"] == warnings
    again = api.read(file)
    api.triage(again)
    again.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == file.read_bytes()
    assert "root cause" in api.explain(again)


def test_records_of_the_chain_are_the_recorded_bytes() -> None:
    import hashlib

    checked = 0
    for name in ("abb-15c-error-codes", "abb-03-tool-error", "openai-traceloop-wirefail-stream"):
        ledger, _ = api.export(ATTEMPTS / name / "attempt")
        for link in ledger.task_result["diagnostic_report"]["causal_chain"]:
            for record in link["pointer"]["records"]:
                raw = (ATTEMPTS / name / "attempt" / record["path"]).read_bytes()
                if "offset" in record:
                    raw = raw[record["offset"] : record["offset"] + record["length"]]
                assert hashlib.sha256(raw).hexdigest() == record["sha256"]
                checked += 1
    assert checked > 10


def test_the_walk_of_an_analyst(tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    result = forensic("export", FAILED, "-o", file)
    assert (result.exit_code, result.stdout) == (0, "")
    assert "warning: no resource telemetry was recorded: resource_telemetry is empty" in result.stderr
    result = forensic("triage", file, "-o", file)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "root cause: infra_connection_failed; terminal status: success\n"
    result = forensic("validate", file)
    assert (result.exit_code, result.stdout) == (0, "")
    result = forensic("explain", file)
    assert result.exit_code == 0
    assert "root cause       infra_connection_failed" in result.stdout
    assert "logs/network.jsonl" in result.stdout


def test_triage_of_a_run_that_ended_well_exits_0() -> None:
    ledger = ROOT / "fixtures/audits/triage.success/hit-all-metrics-hold.json"
    result = forensic("triage", ledger)
    assert result.exit_code == 0
    assert json.loads(result.stdout)["diagnostic_report"]["root_cause"] == "success"


def test_triage_of_a_wrapped_ledger_keeps_what_is_around_it(tmp_path: Path) -> None:
    inner = json.loads((ROOT / "fixtures/audits/triage.infra_oom/hit-killed.json").read_text())
    file = tmp_path / "run.json"
    file.write_text(json.dumps({"run_id": "r", "task_result": inner, "seed": 4}))
    assert api.is_forensic(file)
    given = json.loads(forensic("triage", file).stdout)
    assert list(given) == ["run_id", "task_result", "seed"]
    assert given["task_result"].pop("diagnostic_report")["root_cause"] == "infra_oom"
    assert given["task_result"] == inner


def test_required_steps_are_checked_and_kept(tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    forensic("export", FAILED, "-o", file)
    result = forensic("triage", file, "--protocol", "sse, grpc")
    given = json.loads(result.stdout)
    assert given["protocol_sequence_required"] == ["sse", "grpc"]
    assert "parity_protocol_violation" in [link["trigger"] for link in given["diagnostic_report"]["causal_chain"]]
    assert api.protocol_steps("a, b") == ["a", "b"]
    with pytest.raises(UsageError):
        api.protocol_steps("a,,b")


def test_required_steps_of_the_case(tmp_path: Path) -> None:
    import shutil

    attempt = tmp_path / "attempt"
    shutil.copytree(ATTEMPTS / "abb-04-streaming" / "attempt", attempt)
    case = json.loads((attempt / "evaluation/case.json").read_text())
    (attempt / "evaluation/case.json").write_text(json.dumps({**case, "protocol_sequence_required": ["grpc"]}))
    shutil.copy(ROOT / "fixtures/forensic/telemetry/otel-metrics.jsonl", attempt / "steps/0001/otel-metrics.jsonl")
    ledger, warnings = api.export(attempt)
    assert ledger.task_result["protocol_sequence_required"] == ["grpc"]
    assert len(ledger.task_result["resource_telemetry"]) == 3
    assert ledger.task_result["provenance"]["telemetry"][0]["path"] == "steps/0001/otel-metrics.jsonl"
    assert not [warning for warning in warnings if "telemetry" in warning]


def test_telemetry_given_by_name() -> None:
    table = ROOT / "fixtures/forensic/telemetry/telemetry.csv"
    result = forensic("export", FAILED, "--telemetry", table, "--attempt", "3")
    given = json.loads(result.stdout)
    assert [sample["rss_mb"] for sample in given["resource_telemetry"]] == [450.2, 451, None]
    assert given["attempt"] == 3
    assert "warning: unreadable_line: a row without a readable time (telemetry.csv:4)" in result.stderr


def test_a_saved_trajectory_gives_the_ledger_of_its_attempt(tmp_path: Path) -> None:
    from otel2traj.api.source import drive
    from otel2traj.writers import WRITERS

    saved = tmp_path / "trajectory.json"
    with saved.open("wb") as out:
        drive(FAILED, WRITERS.get("trajectory").sink(out))
    assert api.export(saved)[0].task_result == api.export(FAILED)[0].task_result


def test_an_analyzer_by_name() -> None:
    analyzer = ROOT / "fixtures/forensic/analyzer/slow_turns.py"
    ledger = ROOT / "fixtures/audits/triage.infra_oom/hit-killed.json"
    given = json.loads(forensic("triage", ledger, "--analyzer", f"{analyzer}:SlowTurns").stdout)
    assert given["diagnostic_report"]["analyzers"][-1]["observations"] == 0


def test_validate_tells_findings(tmp_path: Path) -> None:
    seed = ROOT / "fixtures/forensic/seed-example.json"
    result = forensic("validate", seed, "--json")
    assert result.exit_code == 1
    findings = [json.loads(line) for line in result.stdout.splitlines()]
    assert [finding["pointer"] for finding in findings] == [
        "/state_snapshots/0",
        "/state_snapshots/1",
        "/diagnostic_report/causal_chain/0/turn_index",
    ]
    assert [finding.pointer for finding in validate_any(seed)] == [finding["pointer"] for finding in findings]
    assert "forensic.turn-exists: turn 5 of 5, counted from 0" in forensic("validate", seed).stdout


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b"\xff", b'{"task_result": 4}'])
def test_what_is_no_ledger_is_unreadable(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "x.json"
    file.write_bytes(data)
    assert not api.is_forensic(file)
    with pytest.raises(EvidenceError):
        api.read(file)
    with pytest.raises(EvidenceError):
        api.read(tmp_path / "gone.json")


def test_explain_needs_a_diagnosis() -> None:
    with pytest.raises(Otel2TrajError) as raised:
        api.explain(api.read(ROOT / "fixtures/audits/triage.infra_oom/hit-killed.json"))
    assert raised.value.exit_code == 1
    assert raised.value.hint == "add one with `otel2traj forensic triage`"


def test_explain_obeys_nothing_that_was_recorded(tmp_path: Path) -> None:
    ledger: Any = json.loads((ROOT / "fixtures/audits/triage.infra_oom/hit-killed.json").read_text())
    ledger["conversation_history"][2]["content"]["error"] = "out of memory \x1b[2J\u202e"
    file = tmp_path / "x.json"
    file.write_text(json.dumps(ledger))
    found = api.read(file)
    api.triage(found)
    text = api.explain(found)
    assert "out of memory \\x1b[2J\\u202e" in text
    assert "\x1b" not in text


def test_an_attempt_is_diagnosed_as_it_lies_there(tmp_path: Path) -> None:
    result = forensic("triage", FAILED, "-o", tmp_path / "run.json")
    assert result.exit_code == 1
    assert result.stderr == "root cause: infra_connection_failed; terminal status: success\n"
    assert "infra_connection_failed" in forensic("explain", FAILED).stdout


def test_a_verdict_from_outside_decides(tmp_path: Path) -> None:
    good = ATTEMPTS / "abb-02-parallel-tools" / "attempt"
    assert forensic("triage", good, "-o", tmp_path / "a.json").exit_code == 0
    told = forensic("triage", good, "--verdict", "failed", "-o", tmp_path / "b.json")
    assert (told.exit_code, told.stderr.split(";")[0]) == (1, "root cause: unknown_failure")
    verdict = tmp_path / "verdict.json"
    verdict.write_text('{"resolved": false}')
    assert forensic("triage", good, "--verdict", verdict, "-o", tmp_path / "c.json").exit_code == 1
    assert json.loads((tmp_path / "c.json").read_bytes())["outcome"]["ended"]["said_by"] == "verdict"
    verdict.write_text('{"score": 3}')
    assert isinstance(forensic("triage", good, "--verdict", verdict).exception, UsageError)
