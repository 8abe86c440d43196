"""The call id of a tool that recorded none, out of the task it was started in."""

from __future__ import annotations

from pathlib import Path

import pytest

from otel2traj.api.source import load
from otel2traj.dialects.enclosing import started_with
from tests.attempt_factory import model_span, otlp, span, tool_span

CALL = '{"name": "read", "args": {"p": 1}, "id": "c1", "type": "tool_call"}'


@pytest.mark.parametrize(
    "given",
    [
        CALL,
        f"[{CALL}]",
        f'{{"input": [{CALL}]}}',
        f'{{"inputs": [{CALL}]}}',
        f'{{"request": {{"tool_call": {CALL}}}}}',
    ],
)
def test_a_task_started_with_one_call(given: str) -> None:
    call = started_with(given)
    assert call is not None
    assert (call.id, call.name, call.arguments) == ("c1", "read", {"p": 1})


def test_a_llama_index_event() -> None:
    event = "ToolCall(tool_name='read', tool_kwargs={'p': \\\"a tool_id='no'\\\"}, tool_id='c1')"
    call = started_with(f'{{"ctx": "x", "ev": "{event}"}}')
    assert call is not None
    assert (call.id, call.name) == ("c1", "read")


@pytest.mark.parametrize("given", [None, "", "go", f"[{CALL}, {CALL}]", '{"messages": []}', '{"ev": "StopEvent()"}'])
def test_anything_else_tells_nothing(given: str | None) -> None:
    assert started_with(given) is None


@pytest.mark.parametrize(("name", "link"), [("read", "exact"), ("other", "none")])
def test_the_failed_tool_hangs_on_its_call(tmp_path: Path, name: str, link: str) -> None:
    chain = {"openinference.span.kind": "CHAIN", "input.value": f"[{CALL}]"}
    failed = {"status": {"code": 2, "message": "broken"}}
    spans = [
        model_span("0000000000000001", 1, calls=[("c1", "read", {"p": 1})]),
        span("0000000000000002", 2, chain),
        tool_span("0000000000000003", 3, name, parent="0000000000000002", **failed),
    ]
    file = tmp_path / "run.jsonl"
    file.write_bytes(otlp(spans) + b"\n")
    log = load(file, inference=False).steps[0].tool_logs[0]
    assert log.link == link
    if link == "exact":
        assert (log.execution_status, log.evidence["link_rule"]) == ("error", "enclosing_task")
