"""The call id of a tool that recorded none, out of the task it was started in."""

from __future__ import annotations

from pathlib import Path

import pytest

from otel2traj.api.source import load
from otel2traj.dialects.enclosing import answered_with, started_with
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


MESSAGE = '{"type": "tool", "data": {"content": "one", "type": "tool", "name": "read", "tool_call_id": "c1"}}'
CONSTRUCTED = (
    '{"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "ToolMessage"],'
    ' "kwargs": {"content": "one", "type": "tool", "name": "read", "tool_call_id": "c1"}}'
)


@pytest.mark.parametrize("given", [
    MESSAGE,
    f"[{MESSAGE}]",
    f'{{"messages": [{MESSAGE}]}}',
    f'{{"outputs": {{"messages": [{CONSTRUCTED}]}}, "kwargs": {{}}}}',
])  # fmt: skip
def test_a_task_that_ended_with_one_tool_message(given: str) -> None:
    told = answered_with(given)
    assert told is not None
    assert (told.id, told.name, told.answer) == ("c1", "read", "one")


@pytest.mark.parametrize("given", [None, "", "one", f"[{MESSAGE}, {MESSAGE}]", '{"messages": []}', '[{"type": "ai"}]'])
def test_another_output_answers_nothing(given: str | None) -> None:
    assert answered_with(given) is None


@pytest.mark.parametrize(("name", "result", "more", "link"), [
    ("read", "one", 0, "exact"),
    ("read", None, 0, "exact"),
    ("read", "two", 0, "none"),
    ("other", "one", 0, "none"),
    ("read", "one", 1, "none"),
])  # fmt: skip
def test_the_one_execution_in_a_task_is_the_one_that_its_output_names(
    tmp_path: Path, name: str, result: str | None, more: int, link: str
) -> None:
    chain = {"openinference.span.kind": "CHAIN", "output.value": f'{{"messages": [{MESSAGE}]}}'}
    spans = [
        model_span("5be1f0a2c4d69701", 1, calls=[("c1", "read", {"p": 1})]),
        span("5be1f0a2c4d69702", 2, chain),
        tool_span("5be1f0a2c4d69703", 2.1, name, result=result, parent="5be1f0a2c4d69702"),
        *(tool_span("5be1f0a2c4d69704", 2.2, "third", parent="5be1f0a2c4d69702") for _ in range(more)),
    ]
    file = tmp_path / "run.jsonl"
    file.write_bytes(otlp(spans) + b"\n")
    log = load(file, inference=False).steps[0].tool_logs[0]
    assert (log.link, log.evidence.get("link_rule")) == (link, "task_output" if link == "exact" else None)
