"""`otel2traj ledger` from outside: streams, messages and exit codes of the contract."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from otel2traj.api.validate import FileKind, kind_of
from otel2traj.canonical import canonical_bytes
from otel2traj.cli.ledger import group
from otel2traj.model.ledger import event_hash
from tests.ledgers import events, good, good_ledger, judge, written

COST = {"tokens_in": 0, "tokens_out": 0, "seconds": 0, "usd": 0}
EMPTY = "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
FIRST = {
    "schema": "trajectory-ledger-v1",
    "timestamp": "2026-10-12T08:00:00Z",
    "type": "think",
    "thought": "look",
    "state": {},
    "cost": COST,
}


def ledger(*args: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(group, list(args), input=stdin)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "run.ledger.jsonl"
    file.write_bytes(good_ledger())
    return file


def test_audit_of_a_clean_ledger(path: Path) -> None:
    result = ledger("audit", str(path), "--strict")
    assert result.exit_code == 0
    assert result.stdout == ""
    head = good()[-1]["event_hash"]
    assert result.stderr == f"INFO: event chain ends in {head}\nPASS: audit clean (8 events)\n"


def test_audit_of_a_bad_ledger(path: Path) -> None:
    path.write_bytes(written([FIRST, {"type": "tool"}]) + b"oops\n")
    result = ledger("audit", str(path))
    assert result.exit_code == 1
    assert result.stderr.splitlines()[:2] == [
        "FAIL: event 0 missing mandatory field 'step'",
        "FAIL: event 0 missing mandatory field 'state_hash'",
    ]
    assert "FAIL: line 3 is not valid JSON: " in result.stderr
    assert result.stderr.splitlines()[-1] == "FAIL: audit found 10 problem(s)"


def test_audit_as_json_keeps_the_rule(path: Path) -> None:
    path.write_bytes(b"")
    result = ledger("audit", str(path), "--json")
    assert json.loads(result.stdout) == {
        "rule": "ledger.empty",
        "message": "the ledger is empty",
        "severity": "error",
        "pointer": path.name,
    }


@pytest.mark.parametrize("command", ["audit", "cost"])
@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--max-usd", "0.00557"], 0),
        (["--max-usd", "0.00556999"], 1),
        (["--max-seconds", "1.1"], 0),
        (["--max-seconds", "1.0"], 1),
        (["--max-usd", "0"], 1),
    ],
)
def test_budgets(path: Path, command: str, options: list[str], code: int) -> None:
    result = ledger(command, str(path), *options)
    assert result.exit_code == code
    assert (f"FAIL: total {options[0][6:]}" in result.stderr) == bool(code)


@pytest.mark.parametrize("value", ["much", "-1", "NaN", "Infinity"])
def test_a_budget_that_is_no_amount_is_a_usage_error(path: Path, value: str) -> None:
    done = run("audit", str(path), f"--max-usd={value}")
    assert done.returncode == 2
    assert done.stderr.startswith(b"error: --max-usd ")


def test_cost_prints_four_numbers(path: Path) -> None:
    result = ledger("cost", str(path))
    assert result.exit_code == 0
    assert result.stdout == '{"tokens_in": 2200, "tokens_out": 57, "seconds": 1.1, "usd": 0.00557}\n'
    assert result.stderr == ""


def test_cost_of_an_unknown_price_is_null_and_told(path: Path) -> None:
    path.write_bytes(written([{"cost": {"tokens_in": 3}}, {"cost": {"usd": None}}, {}, {"cost": 5}]))
    result = ledger("cost", str(path))
    assert result.stdout == '{"tokens_in": 3, "tokens_out": 0, "seconds": 0, "usd": null}\n'
    assert result.stderr == "INFO: 'usd' is unknown for 1 event(s)\n"
    assert result.exit_code == 0


def test_cost_of_a_broken_ledger_fails(path: Path) -> None:
    path.write_bytes(b'{"cost": {"usd": 1}}\n{"cost"\n')
    result = ledger("cost", str(path))
    assert result.exit_code == 1
    assert "FAIL: line 2 is not valid JSON" in result.stderr


def test_replay(path: Path, tmp_path: Path) -> None:
    assert ledger("replay", str(path), str(path)).stderr == "PASS: replay reproduces all 8 hashes\n"
    other = tmp_path / "other.jsonl"
    other.write_bytes(written(good()[:3]))
    result = ledger("replay", str(path), str(other))
    assert result.exit_code == 1
    assert result.stderr.splitlines()[0].startswith("INFO: A step 3 (tool) sha256:")
    assert result.stderr.splitlines()[1:] == ["INFO: B has ended", "FAIL: replay diverges at step 3"]


def test_append_starts_a_ledger_with_step_0_a_hash_and_a_chain(tmp_path: Path) -> None:
    path = tmp_path / "new.jsonl"
    result = ledger("append", str(path), json.dumps(FIRST))
    assert (result.exit_code, result.stderr) == (0, "INFO: appended step 0\n")
    (event,) = events(path.read_bytes())
    assert event["step"] == 0
    assert event["state_hash"] == EMPTY
    assert event["prev_event_hash"] is None
    assert path.read_bytes() == canonical_bytes(event) + b"\n"
    assert ledger("audit", str(path)).exit_code == 0


def test_append_goes_on_with_the_chain(path: Path) -> None:
    before = good()[-1]
    extra = {key: before[key] for key in ("state", "cost", "timestamp")}
    result = ledger("append", str(path), "-", stdin=json.dumps({"step": 9, "type": "observe", **extra}))
    assert (result.exit_code, result.stderr) == (0, "INFO: appended step 9\n")
    last = events(path.read_bytes())[-1]
    assert last["prev_event_hash"] == before["event_hash"]
    assert last["event_hash"] == event_hash(last)
    assert judge(path.read_bytes(), strict=True)[0].clean


def test_append_leaves_a_foreign_ledger_without_a_chain(tmp_path: Path) -> None:
    path = tmp_path / "foreign.jsonl"
    first = {**FIRST, "step": 0, "state_hash": EMPTY}
    path.write_bytes(json.dumps(first).encode())
    result = ledger("append", str(path), json.dumps({**FIRST, "step": 1}))
    assert result.exit_code == 0
    assert path.read_bytes() == json.dumps(first).encode() + b"\n" + canonical_bytes({**first, "step": 1}) + b"\n"


@pytest.mark.parametrize(
    ("event", "message"),
    [
        ("{", "the event is not valid JSON: "),
        ("[]", "the event is not a JSON object"),
        ('{"step": 9, "step": 10}', "line 1 names the key 'step' twice"),
        ({"step": 7}, "event 8 has step 7 after step 7"),
        ({}, "event 8 has step 0 after step 7"),
        ({"step": True}, "event 8 has invalid step True"),
        ({"step": 9, "cost": ...}, "event 8 missing mandatory field 'cost'"),
        ({"step": 9, "state": ...}, "event 8 missing mandatory field 'state_hash'"),
        ({"step": 9, "state_hash": EMPTY}, "event 8 state_hash does not recompute"),
        ({"step": 9, "type": "tool"}, "event 8 tool call missing 'tool'"),
        ({"step": 9, "outcome": "running"}, "event 8 has outcome 'running' after 'succeeded'"),
        ({"step": 9, "schema": "v2"}, "event 8 mixes schema 'v2' with 'trajectory-ledger-v1'"),
        ({"step": 9, "totals": {"tokens_in": 1}}, "event 8 has totals 'tokens_in' 1, and the costs sum to 2200"),
    ],
)
def test_append_refuses_what_the_audit_would(path: Path, event: Any, message: str) -> None:
    if isinstance(event, dict):
        whole = {"type": "observe", "state": good()[-1]["state"], "cost": COST, "timestamp": FIRST["timestamp"]}
        event = json.dumps({key: value for key, value in {**whole, **event}.items() if value is not ...})
    result = ledger("append", str(path), event)
    assert result.exit_code == 1
    assert result.stderr.splitlines()[0].startswith(f"FAIL: {message}")
    assert path.read_bytes() == good_ledger()


def test_append_does_not_begin_a_ledger_without_a_schema(tmp_path: Path) -> None:
    path = tmp_path / "new.jsonl"
    result = ledger("append", str(path), json.dumps({**FIRST, "schema": None}))
    assert (result.exit_code, result.stderr) == (1, "FAIL: event 0 missing 'schema'\n")
    assert not path.exists()


@pytest.mark.parametrize("command", [["append", '{"step": 99}'], ["record-non-det", "99"]])
def test_nothing_is_appended_to_a_torn_line(path: Path, command: list[str]) -> None:
    torn = good_ledger()[:-40]
    path.write_bytes(torn)
    result = ledger(command[0], str(path), *command[1:])
    assert result.exit_code == 1
    assert "a line that is not valid JSON" in result.stderr
    assert path.read_bytes() == torn


def test_record_non_det_appends_and_edits_nothing(path: Path) -> None:
    result = ledger("record-non-det", str(path), "8", "--detail", "another listing")
    assert (result.exit_code, result.stderr) == (0, "INFO: recorded non-determinism at step 8\n")
    assert path.read_bytes().startswith(good_ledger())
    last = events(path.read_bytes())[-1]
    assert (last["type"], last["step"], last["non_determinism"]) == ("observe", 8, True)
    assert last["detail"] == "another listing"
    assert last["state_hash"] == good()[-1]["state_hash"]
    assert judge(path.read_bytes(), strict=True)[0].clean


@pytest.mark.parametrize("step", ["7", "0", "3"])
def test_record_non_det_refuses_a_step_out_of_order(path: Path, step: str) -> None:
    result = ledger("record-non-det", str(path), step)
    assert result.exit_code == 1
    assert result.stderr == f"FAIL: step {step} is not greater than the last recorded step 7\n"
    assert path.read_bytes() == good_ledger()


@pytest.mark.parametrize("content", [None, b"", b"\n"])
def test_record_non_det_needs_a_ledger(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "none.jsonl"
    if content is not None:
        path.write_bytes(content)
    result = ledger("record-non-det", str(path), "1")
    assert result.exit_code == 1
    assert path.exists() == (content is not None)


def test_record_non_det_of_words_that_are_no_utf_8_leaves_a_sound_ledger(path: Path) -> None:
    assert ledger("record-non-det", str(path), "8", "--detail", "odd \udcff byte").exit_code == 0
    assert events(path.read_bytes())[-1]["detail"] == "odd ? byte"
    assert judge(path.read_bytes(), strict=True)[0].clean


def test_record_non_det_takes_a_time(path: Path) -> None:
    assert ledger("record-non-det", str(path), "8", "--timestamp", "2026-01-02T03:04:05Z").exit_code == 0
    assert events(path.read_bytes())[-1]["timestamp"] == "2026-01-02T03:04:05Z"
    assert ledger("record-non-det", str(path), "9", "--timestamp", "now").exit_code == 1


def run(*args: str) -> subprocess.CompletedProcess[bytes]:
    code = "import sys; from otel2traj.cli import main; sys.argv[0] = 'otel2traj'; main()"
    return subprocess.run([sys.executable, "-c", code, "ledger", *args], capture_output=True, check=False)


@pytest.mark.parametrize(
    "args", [["audit", "none"], ["cost", "none"], ["replay", "none", "none"], ["export", "none"], ["audit", "."]]
)
def test_what_cannot_be_read_is_exit_3(tmp_path: Path, args: list[str]) -> None:
    done = run(args[0], *(str(tmp_path / name) for name in args[1:]))
    assert done.returncode == 3
    assert done.stderr.startswith(b"error: ")
    assert b"Traceback" not in done.stderr


def test_wrong_words_are_exit_2() -> None:
    assert run("audit").returncode == 2
    assert run("audits", "x").returncode == 2
    assert run("record-non-det", "x", "one").returncode == 2


SPAN = """{"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [{"scope": {"name": "s"}, "spans": [{
"traceId": "0af7651916cd43dd8448eb211c80319c", "spanId": "b7ad6b7169203331", "name": "chat gpt-4o",
"startTimeUnixNano": "1767323041250000000", "endTimeUnixNano": "1767323041750000000", "attributes": [
{"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}},
{"key": "gen_ai.request.model", "value": {"stringValue": "gpt-4o"}},
{"key": "gen_ai.usage.input_tokens", "value": {"intValue": "1000"}},
{"key": "gen_ai.usage.output_tokens", "value": {"intValue": "50"}}]}]}]}]}"""


def test_export_of_a_trace_file_end_to_end(tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    trace.write_text(SPAN.replace("\n", ""))
    target = tmp_path / "run.ledger.jsonl"
    done = run("export", str(trace), "-o", str(target), "--strict")
    end = events(target.read_bytes())[-1]["event_hash"]
    assert (done.returncode, done.stderr.decode()) == (0, f"INFO: event chain ends in {end}\n")
    assert run("audit", str(target), "--expect-end", end, "--evidence", str(trace)).returncode == 0
    assert run("audit", str(target), "--expect-end", end[:-1]).returncode == 2
    assert run("audit", str(target), "--expect-end", "sha256:" + "0" * 64).returncode == 1
    assert kind_of(target) is FileKind.LEDGER
    assert run("export", str(trace)).stdout == target.read_bytes()
    assert run("audit", str(target), "--strict").returncode == 0
    assert (
        run("cost", str(target)).stdout.strip()
        == b'{"tokens_in": 1000, "tokens_out": 50, "seconds": 0.5, "usd": 0.003}'
    )
    assert not list(tmp_path.glob("*.tmp"))


def test_export_of_an_unknown_price_fails_under_strict_alone(tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    trace.write_text(SPAN.replace("\n", "").replace("gpt-4o", "lab-model-1"))
    assert run("export", str(trace), "-o", str(tmp_path / "a")).returncode == 0
    done = run("export", str(trace), "-o", str(tmp_path / "b"), "--strict")
    assert done.returncode == 1
    assert b"FAIL: usd of model 'lab-model-1': model not in the price table" in done.stderr
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
