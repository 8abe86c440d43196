"""Files that are wrong in one clause each: every one is found, and named by its rule."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from otel2traj.api.build import build_path
from otel2traj.api.validate_trajectory import validate
from otel2traj.assembly import BuildSession
from otel2traj.auditors.trajectory_schema import schema
from otel2traj.model.link import JoinRule
from otel2traj.stored import replay
from tests.attempt_factory import AttemptFactory, chat_response, otlp, tool_span

Document = dict[str, Any]


def attempt(root: Path) -> Path:
    made = AttemptFactory(root).input("0001")
    made.start("0001", "u-1", "llm", 0.5).end("0001", "u-1", 2.5)
    made.request("call_a", 1, span="u-1")
    made.response("call_a", 2, chat_response(calls=[("c1", "search", '{"q": "x"}')]))
    made.tool("0001", "u-2", "c1", 3)
    made.request("call_b", 4).response("call_b", 5, chat_response("chatcmpl-2", text="done"))
    return made.write()


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    build_path(attempt(tmp_path / "attempt"), output=tmp_path / "trajectory.json")
    return tmp_path / "trajectory.json"


def rules(path: Path, document: Document) -> set[str]:
    path.write_text(json.dumps(document))
    return {finding.rule for finding in validate(path)}


def first_log(document: Document) -> Document:
    log: Document = document["steps"][0]["tool_logs"][0]
    return log


def put(*path: Any, value: Any) -> Callable[[Document], None]:
    def change(document: Document) -> None:
        node: Any = document
        for key in path[:-1]:
            node = node[key]
        node[path[-1]] = value

    return change


def drop(*path: Any) -> Callable[[Document], None]:
    def change(document: Document) -> None:
        node: Any = document
        for key in path[:-1]:
            node = node[key]
        del node[path[-1]]

    return change


def ambiguous(document: Document) -> None:
    log = first_log(document)
    log.update(link="ambiguous", outputs=None, execution_status="not_observed")
    document["coverage"].update(ambiguous_links=1, unobserved_tool_executions=1)


def swap(document: Document) -> None:
    one, other = document["steps"]
    one["started_at"], other["started_at"] = other["started_at"], one["started_at"]
    one["ended_at"], other["ended_at"] = other["ended_at"], one["ended_at"]


def mark(**changed: Any) -> Document:
    return {"truncated": True, "size": 9, "sha256": "0" * 64, "head": "short", **changed}


WRONG: list[tuple[str, Callable[[Document], None]]] = [
    ("log-of-its-call", put("steps", 0, "tool_logs", 0, "tool_call_id", value="c2")),
    ("no-link-no-execution", put("steps", 0, "tool_logs", 0, "link", value="none")),
    ("loss-is-partial", put("warnings", value=["unreadable_line: lost (logs/network.jsonl:1)"])),
    ("warning-is-listed", put("warnings", value=["something: odd"])),
    ("record-in-sources", put("sources", value=[])),
    ("agent-is-listed", put("metadata", "agent_configuration", "agents", value=[])),
    ("metadata-is-whole", put("metadata", value={})),
    ("input-is-there", put("steps", 0, "input", value={})),
    ("text-is-text", put("steps", 1, "output", "text", value=5)),
    ("text-is-text", put("steps", 1, "output", "reasoning", value=["x"])),
    ("time-is-told", put("steps", 1, "started_at", value=None)),
    ("time-is-a-time", put("steps", 1, "ended_at", value="yesterday")),
    ("times-in-order", put("steps", 1, "ended_at", value="2001-01-01T00:00:00+00:00")),
    ("steps-in-order", swap),
    ("mark-agrees", put("steps", 1, "output", "text", value=mark(size=2))),
    ("mark-agrees", put("steps", 1, "output", "text", value=mark(sha256="x"))),
    ("coverage-adds-up", put("coverage", "model_calls", value=3)),
    ("coverage-adds-up", put("coverage", "tool_calls", value=0)),
    ("coverage-adds-up", put("coverage", "unobserved_tool_executions", value=1)),
    ("coverage-adds-up", put("coverage", "ambiguous_links", value=1)),
    ("step-ids-dense", put("steps", 1, "step_id", value=3)),
    ("log-for-each-call", put("steps", 0, "tool_logs", value=[])),
    ("log-for-each-call", put("steps", 0, "output", "tool_calls", value=[])),
    ("ambiguous-names-candidates", ambiguous),
    ("ambiguous-is-no-fact", put("steps", 0, "tool_logs", 0, "link", value="ambiguous")),
    ("exact-points-back", drop("steps", 0, "tool_logs", 0, "evidence", "interaction_id")),
    ("step-range-holds", put("inputs", 0, "step_range", value=[1, 1])),
    ("step-range-holds", put("inputs", 0, "step_range", value=None)),
    ("json-schema", put("schema", value="abb.agent-trajectory.v2")),
    ("json-schema", put("status", value="done")),
    ("json-schema", put("run_id", value=7)),
    ("json-schema", drop("steps")),
    ("json-schema", drop("sources")),
    ("json-schema", drop("coverage", "model_calls")),
    ("json-schema", put("coverage", "file_changes", value=-1)),
    ("json-schema", put("warnings", value="none")),
    ("json-schema", put("sources", 0, "path", value="/etc/passwd")),
    ("json-schema", put("sources", 0, "path", value="steps/../../x")),
    ("json-schema", put("sources", 0, "sha256", value="0" * 63)),
    ("input-is-listed", put("inputs", 0, "ordinal", value="one")),
    ("json-schema", put("inputs", 0, "step_range", value=[1])),
    ("json-schema", put("inputs", 0, "file_changes", value=None)),
    ("json-schema", put("steps", 0, "step_id", value=0)),
    ("json-schema", put("steps", 0, "kind", value="chain")),
    ("coverage-adds-up", put("steps", 0, "kind", value="tool_only")),
    ("json-schema", put("steps", 0, "source", value="log")),
    ("json-schema", put("steps", 0, "status", value="ok")),
    ("json-schema", put("steps", 0, "input_ordinal", value="1")),
    ("json-schema", put("steps", 0, "input", "messages", value="go")),
    ("json-schema", drop("steps", 0, "output", "finish_reason")),
    ("json-schema", drop("steps", 0, "output", "tool_calls", 0, "arguments")),
    ("json-schema", put("steps", 0, "output", "usage", "input_tokens", value=-1)),
    ("json-schema", put("steps", 0, "output", "usage", "input_tokens", value=1.5)),
    ("json-schema", put("steps", 0, "output", "choices", value=["a"])),
    ("json-schema", put("steps", 0, "tool_logs", 0, "link", value="likely")),
    ("json-schema", put("steps", 0, "tool_logs", 0, "execution_status", value="ok")),
    ("json-schema", put("steps", 0, "tool_logs", 0, "exit_status", value=0)),
    ("json-schema", put("steps", 0, "tool_logs", 0, "evidence", "records", 0, "line", value=0)),
    ("json-schema", put("steps", 0, "evidence", "records", 0, "offset", value=-1)),
    ("json-schema", put("steps", 0, "evidence", "interaction_id", value="call_a")),
    ("json-schema", put("steps", 0, "evidence", "request_sha256", value="F" * 64)),
    ("json-schema", put("steps", 0, "evidence", "join", value="guess")),
    ("json-schema", put("steps", 0, "evidence", "said_by", value={"input": 3})),
    ("json-schema", put("steps", 0, "evidence", "response_id", value=["x"])),
    ("json-schema", put("steps", 0, "evidence", "witness", value="agrees")),
    ("json-schema", put("steps", 0, "tool_logs", 0, "evidence", "interaction_id", value="call_a")),
    ("json-schema", put("steps", 0, "tool_logs", 0, "evidence", "started_at", value=5)),
    ("json-schema", put("steps", 0, "tool_logs", 0, "evidence", "said_by", value=["wire"])),
    ("json-schema", put("inputs", 0, "evidence", value="none")),
    ("json-schema", put("inputs", 0, "evidence", value={"events": [{"event": "stderr", "timestamp": None}]})),
]


BREAKS = [item for item in WRONG if item[0] not in ("json-schema", "mark-agrees")]
"""Marks are made as a file is written, after what a build checks: before that they are recorded values."""


def as_if_built(
    change: Callable[[Document], None], saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[AssertionError, Document]:
    """What becomes of a changed trajectory that a build would have made: the bug it is, and the valid file in its
    place."""
    document = json.loads(saved.read_bytes())
    change(document)
    saved.write_text(json.dumps(document))
    monkeypatch.setattr(BuildSession, "build", lambda self, conversation, *sinks: replay(saved, *sinks))
    (built,) = build_path(tmp_path / "attempt", output=tmp_path / "out.json")
    assert isinstance(built.bug, AssertionError)
    assert validate(tmp_path / "out.json") == []
    return built.bug, json.loads((tmp_path / "out.json").read_bytes())


@pytest.mark.parametrize(("rule", "change"), BREAKS, ids=lambda value: value if isinstance(value, str) else "")
def test_no_build_lets_a_wrong_trajectory_out(
    rule: str, change: Callable[[Document], None], saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What breaks an invariant is a bug, and the file says failed."""
    bug, written = as_if_built(change, saved, tmp_path, monkeypatch)
    assert rule in str(bug)
    assert written["status"] == "failed"


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        (put("steps", 1, "purpose", value=7), "/steps/1/purpose"),
        (put("steps", 0, "evidence", "join", value="guess"), "/steps/0/evidence/join"),
        (put("inputs", 0, "step_range", value=[1, 2, 3]), "/inputs/0/step_range"),
        (put("run_id", value=7), "/run_id"),
    ],
)
def test_no_build_lets_out_what_the_schema_forbids(
    change: Callable[[Document], None], pointer: str, saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, written = as_if_built(change, saved, tmp_path, monkeypatch)
    assert (written["status"], written["steps"]) == ("failed", [])
    assert f"{pointer}: " in written["error"]["message"]


def test_a_lone_surrogate_where_the_schema_looks_is_valid(saved: Path, tmp_path: Path) -> None:
    document = json.loads(saved.read_bytes())
    put("steps", 0, "tool_logs", 0, "tool_name", value="\ud800")(document)
    put("steps", 0, "output", "tool_calls", 0, "name", value="\ud800")(document)
    assert rules(saved, document) == set()


def test_a_good_file_has_no_finding(saved: Path, tmp_path: Path) -> None:
    assert validate(saved) == []
    assert validate(saved, tmp_path / "attempt") == []


@pytest.mark.parametrize(("rule", "change"), WRONG, ids=lambda value: value if isinstance(value, str) else "")
def test_each_wrong_clause_is_found(rule: str, change: Callable[[Document], None], saved: Path) -> None:
    document = json.loads(saved.read_bytes())
    change(document)
    assert rule in rules(saved, document)


def test_a_mark_of_truncation_is_a_text(saved: Path) -> None:
    document = json.loads(saved.read_bytes())
    document["steps"][1]["output"]["text"] = mark()
    assert rules(saved, document) == set()


def test_evidence_gives_the_file_again_or_it_is_found(saved: Path, tmp_path: Path) -> None:
    document = saved.read_bytes()
    saved.write_bytes(document.replace(b'"text":"done"', b'"text":"dune"'))
    (found,) = validate(saved, tmp_path / "attempt")
    assert (found.rule, "first in line" in found.message) == ("built-again", True)


def test_recorded_times_that_run_backwards_are_told_and_valid(tmp_path: Path) -> None:
    made = AttemptFactory(tmp_path / "attempt").input("0001")
    made.request("call_a", 5).response("call_a", 2, chat_response(text="done"))
    (built,) = build_path(made.write(), output=tmp_path / "trajectory.json")
    assert [warning.split(":")[0] for warning in built.summary.warnings] == ["reversed_times"]
    assert validate(tmp_path / "trajectory.json") == []


def test_the_schema_knows_every_rule_that_joins() -> None:
    step = schema()["$defs"]["step"]["properties"]
    assert step["evidence"]["properties"]["join"]["enum"][: len(JoinRule)] == [rule.value for rule in JoinRule]


def test_a_count_below_zero_is_kept_raw_told_and_valid(tmp_path: Path) -> None:
    answer = chat_response(text="hi")
    answer["usage"]["prompt_tokens"] = -5
    made = AttemptFactory(tmp_path / "attempt").input("0001").request("c", 1).response("c", 2, answer)
    (built,) = build_path(made.write(), output=tmp_path / "trajectory.json")
    (step,) = json.loads((tmp_path / "trajectory.json").read_bytes())["steps"]
    assert step["output"]["usage"] == {"output_tokens": 5, "raw": answer["usage"]}
    assert [warning.split(":")[0] for warning in built.summary.warnings] == ["unreadable_value"]
    assert validate(tmp_path / "trajectory.json") == []


def test_an_exit_code_of_another_type_is_kept_raw_told_and_valid(fixtures: Path, tmp_path: Path) -> None:
    shutil.copytree(fixtures / "attempts" / "abb-17a-acp" / "attempt", tmp_path / "attempt")
    for file in (tmp_path / "attempt").rglob("acp-events.jsonl"):
        changed = re.sub(rb'"(exit_code|exitCode)": ?[0-9]+', rb'"\1": "two"', file.read_bytes())
        assert changed != file.read_bytes()
        file.write_bytes(changed)
    (built,) = build_path(tmp_path / "attempt", output=tmp_path / "trajectory.json")
    assert any(warning.startswith("unreadable_value: an exit code") for warning in built.summary.warnings)
    assert b'"recorded":{"exitCode":"two"' in (tmp_path / "trajectory.json").read_bytes()
    assert validate(tmp_path / "trajectory.json") == []


@pytest.mark.parametrize("payload", [{}, [], "", None])
def test_a_request_that_holds_nothing_is_an_empty_input_and_ends_no_build(payload: Any, tmp_path: Path) -> None:
    made = AttemptFactory(tmp_path / "attempt").input("0001").request("c1", 1, payload=payload)
    made.response("c1", 1.1, chat_response(text="x"))
    build_path(made.write(), output=tmp_path / "trajectory.json")
    document = json.loads((tmp_path / "trajectory.json").read_bytes())
    assert document["status"] != "failed", document["error"]
    (step,) = document["steps"]
    assert (step["input"], step["output"]["text"]) == ({}, "x")
    assert validate(tmp_path / "trajectory.json") == []


def test_a_file_is_evidence_too(tmp_path: Path) -> None:
    traces = tmp_path / "t.jsonl"
    traces.write_bytes(otlp([tool_span("1" * 16, 1, "s", call_id="t1", arguments="{}", result="r")]))
    build_path(traces, output=tmp_path / "out.json")
    assert validate(tmp_path / "out.json", traces) == []
    traces.write_bytes(traces.read_bytes() + b"\n")
    assert [finding.rule for finding in validate(tmp_path / "out.json", traces)] == ["source-digest"]
