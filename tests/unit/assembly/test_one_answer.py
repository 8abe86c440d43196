"""What a call emitted is decided once: every emitted call has its tool log, and its execution is in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from otel2traj.api.build import build_bytes
from tests.attempt_factory import AttemptFactory, model_span, otlp, tool_span

SPAN, TOOL = "1" * 16, "2" * 16


def build(root: Path, wire: str, span: dict[str, Any], *more: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    attempt = AttemptFactory(root).input("0001").request("w1", 1, span=SPAN)
    if wire == "error":
        attempt.error("w1", 2, "transport_error")
    elif wire == "refused":
        attempt.response("w1", 2, {"error": {"message": "no"}}, status=429)
    attempt.write()
    tool = tool_span(TOOL, 3, "read", call_id="call_x", arguments={"k": 1}, result="found")
    lines = [otlp([made], scope) + b"\n" for scope, made in (("lib", span), ("lib", tool), *more)]
    (root / "steps" / "0001" / "otel.jsonl").write_bytes(b"".join(lines))
    document: dict[str, Any] = json.loads(build_bytes(root))
    return document


@pytest.mark.parametrize("wire", ["none", "error", "refused"])
@pytest.mark.parametrize(
    "change", [{}, {"status": {"code": 2}}, {"endTimeUnixNano": "0"}], ids=["ok", "failed", "open"]
)
def test_the_span_tells_what_a_broken_wire_call_emitted(wire: str, change: dict[str, Any], tmp_path: Path) -> None:
    span = model_span(SPAN, 1, calls=[("call_x", "read", {"k": 1})], text="well", **change)
    document = build(tmp_path / "a", wire, span)
    (step,) = document["steps"]
    assert [call["id"] for call in step["output"]["tool_calls"]] == ["call_x"]
    assert step["output"]["output_source"] == "framework"
    (log,) = step["tool_logs"]
    assert (log["link"], log["outputs"]) == ("exact", "found")
    expected = "complete" if change == {} else "incomplete" if wire == "none" else "failed"
    assert step["status"] == expected


def test_calls_that_only_the_second_recording_tells_are_in_the_answer(tmp_path: Path) -> None:
    one = model_span(SPAN, 1, text="well", response_id="r1", parent="9" * 16)
    other = model_span("3" * 16, 1, calls=[("call_x", "read", {"k": 1})], response_id="r1", parent="9" * 16)
    (tmp_path / "trace.jsonl").write_bytes(
        otlp([one], "lib") + b"\n" + otlp([other], "instrumentor") + b"\n"
        + otlp([tool_span(TOOL, 3, "read", call_id="call_x", result="found")], "lib") + b"\n"
    )  # fmt: skip
    (step,) = json.loads(build_bytes(tmp_path))["steps"]
    assert step["output"]["text"] == "well"
    assert [call["id"] for call in step["output"]["tool_calls"]] == ["call_x"]
    assert [(log["link"], log["outputs"]) for log in step["tool_logs"]] == [("exact", "found")]


def test_log_records_that_tell_an_execution_again_stand_with_it(fixtures: Path) -> None:
    """Claude Code tells a tool's result in its span and in its log."""
    document = json.loads(build_bytes(fixtures / "dialects" / "claude_code_traces" / "claude-code-2.1.332"))
    logs = [log for step in document["steps"] for log in step["tool_logs"]]
    assert logs
    for log in logs:
        assert {"span", "log"} <= {record["what"] for record in log["evidence"]["records"]}
