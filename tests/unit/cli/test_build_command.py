"""`otel2traj build`, `info` and `validate` from outside: files, streams, exit codes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from otel2traj.readers import READERS
from otel2traj.readers.wire_files import WIRE_READERS
from tests.attempt_factory import AttemptFactory, chat_response, model_span, otlp


def otel2traj(*words: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "otel2traj", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment})


@pytest.fixture
def attempt(fixtures: Path, tmp_path: Path) -> Path:
    copy = tmp_path / "attempt"
    shutil.copytree(fixtures / "attempts" / "abb-13a-anthropic" / "attempt", copy)
    return copy


def test_write_saves_beside_the_evidence_and_again_the_same(attempt: Path, fixtures: Path) -> None:
    expected = (fixtures / "attempts" / "abb-13a-anthropic" / "expected" / "trajectory.json").read_bytes()
    for _ in range(2):
        run = otel2traj("build", attempt, "--write")
        assert (run.returncode, run.stdout) == (0, "")
        assert (attempt / "trajectory.json").read_bytes() == expected
    assert not list(attempt.glob("*.tmp"))


def test_without_a_target_it_goes_to_stdout(attempt: Path) -> None:
    run = otel2traj("build", attempt)
    assert json.loads(run.stdout)["schema"] == "abb.agent-trajectory.v1"
    assert "2 model calls" in run.stderr


def test_a_build_that_cannot_be_done_is_written_and_exits_1(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    run = otel2traj("build", empty, "--write")
    assert run.returncode == 1
    document = json.loads((empty / "trajectory.json").read_bytes())
    assert (document["status"], document["steps"], document["error"]["type"]) == ("failed", [], "EvidenceError")
    assert str(tmp_path) not in (empty / "trajectory.json").read_text()


def test_no_such_path_is_unreadable_evidence(tmp_path: Path) -> None:
    run = otel2traj("build", tmp_path / "nowhere", "--write")
    assert run.returncode == 3
    assert "hint:" in run.stderr


@pytest.mark.parametrize("value", ["0", "-1", "many", ""])
def test_a_bad_limit_is_an_error_at_the_start(attempt: Path, value: str) -> None:
    run = otel2traj("build", attempt, "--write", ABB_TRAJECTORY_MAX_VALUE_BYTES=value)
    assert run.returncode == 2
    assert not (attempt / "trajectory.json").exists()


def test_a_small_limit_shortens_long_values(attempt: Path) -> None:
    otel2traj("build", attempt, "--write", ABB_TRAJECTORY_MAX_VALUE_BYTES="64")
    text = (attempt / "trajectory.json").read_text()
    assert '"truncated":true' in text
    assert (
        otel2traj(
            "validate", attempt / "trajectory.json", "--evidence", attempt, ABB_TRAJECTORY_MAX_VALUE_BYTES="64"
        ).returncode
        == 0
    )


def test_recursive_builds_every_attempt(tmp_path: Path, fixtures: Path) -> None:
    for name in ("abb-13a-anthropic", "abb-13c-responses", "abb-20c-steps-symlink"):
        shutil.copytree(fixtures / "attempts" / name / "attempt", tmp_path / "runs" / name)
    run = otel2traj("build", tmp_path / "runs", "--recursive", "-j", "2", "-o", tmp_path / "out")
    assert run.returncode == 1
    assert [line.split(":")[0] for line in run.stdout.splitlines()] == [
        "abb-13a-anthropic",
        "abb-13c-responses",
        "abb-20c-steps-symlink",
    ]
    assert len(list((tmp_path / "out").glob("*.json"))) == 3


def test_recursive_without_a_target_is_a_usage_error(tmp_path: Path) -> None:
    assert otel2traj("build", tmp_path, "--recursive").returncode == 2


def test_validate_finds_a_changed_byte_and_a_changed_count(attempt: Path) -> None:
    otel2traj("build", attempt, "--write")
    saved = attempt / "trajectory.json"
    assert otel2traj("validate", saved, "--evidence", attempt).returncode == 0
    wire = attempt / "logs" / "network.jsonl"
    wire.write_bytes(wire.read_bytes().replace(b"lab-agent", b"lab-agenT", 1))
    run = otel2traj("validate", saved, "--evidence", attempt)
    assert run.returncode == 1
    assert "source-digest" in run.stdout
    document = json.loads(saved.read_bytes())
    document["coverage"]["model_calls"] += 1
    saved.write_text(json.dumps(document))
    assert "coverage-adds-up" in otel2traj("validate", saved).stdout


@pytest.mark.parametrize(
    ("where", "value", "rule"),
    [
        (("steps", 0, "step_id"), 7, "step-ids-dense"),
        (("steps", 0, "kind"), "else", "json-schema"),
        (("steps", 0, "tool_logs"), [], "log-for-each-call"),
        (("steps", 0, "tool_logs", 0, "link"), "ambiguous", "ambiguous-is-no-fact"),
        (("inputs", 0, "step_range"), [1, 9], "step-range-holds"),
        (("steps", 0, "input_ordinal"), "0009", "input-is-listed"),
        (("sources",), [{"path": "b", "sha256": "0" * 64}, {"path": "a", "sha256": "0" * 64}], "sources-sorted"),
        (("sources",), [{"path": "/etc/passwd", "sha256": "0" * 64}], "json-schema"),
    ],
)
def test_each_invariant_has_a_mutation_that_breaks_it(
    fixtures: Path, tmp_path: Path, where: tuple[str | int, ...], value: object, rule: str
) -> None:
    from otel2traj.api.validate import validate

    document = json.loads((fixtures / "attempts" / "abb-13a-anthropic" / "expected" / "trajectory.json").read_bytes())
    target = document
    for key in where[:-1]:
        target = target[key]
    target[where[-1]] = value
    file = tmp_path / "t.json"
    file.write_text(json.dumps(document))
    assert rule in {finding.rule for finding in validate(file)}


def test_info_names_the_switch_for_what_is_missing(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    bare = model_span("00000000000000aa", 1, text="hi")
    bare["attributes"] = [a for a in bare["attributes"] if "messages" not in a["key"]]
    file.write_bytes(otlp([bare]) + b"\n")
    run = otel2traj("info", file)
    assert run.returncode == 0
    assert "output of 1 in 1" in run.stdout
    assert "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT" in run.stdout


def test_info_as_json(tmp_path: Path) -> None:
    attempt = AttemptFactory(tmp_path).input("0001")
    attempt.request("w", 1).response("w", 2, chat_response(text="hi"))
    found = json.loads(otel2traj("info", attempt.write(), "--json").stdout)
    assert (found["layout"], found["wire_calls"], found["spans"]) == ("current", 1, 0)


def test_a_folder_of_attempts_is_not_one_heap_of_traces(tmp_path: Path, fixtures: Path) -> None:
    shutil.copytree(fixtures / "attempts" / "mcp-builtin-basic" / "attempt", tmp_path / "runs" / "one")
    run = otel2traj("build", tmp_path / "runs", "-o", tmp_path / "out.json")
    assert (run.returncode, run.stdout.split(":")[0]) == (0, "one")  # each run of a folder is built for itself
    listed = otel2traj("show", tmp_path / "runs")
    assert (listed.returncode, listed.stdout.split()[-1]) == (0, "one")


def test_a_target_that_cannot_be_written_is_an_error_with_words(attempt: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    run = otel2traj("build", attempt, "-o", tmp_path / "file" / "trajectory.json")
    assert run.returncode == 3
    assert "cannot write trajectory.json" in run.stderr
    assert "Traceback" not in run.stderr


def test_info_lists_every_form_and_what_it_cannot_hold(tmp_path: Path) -> None:
    listed = json.loads(otel2traj("info", "--forms", "--json").stdout)
    assert [form["name"] for form in listed] == [*READERS.names(), *WIRE_READERS.names()]
    assert all(form["written_by"] and form["how_to_get"] and form["tried"] for form in listed)
    assert "codex-rollout: Codex CLI; cannot hold: what each call was sent" in otel2traj("info", "--forms").stdout
    assert otel2traj("info").returncode == 2
    assert otel2traj("info", "--forms", tmp_path).returncode == 2
