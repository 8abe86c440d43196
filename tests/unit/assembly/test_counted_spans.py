"""Span ids that each Input counts anew, answers of one response id, executions of one call id: what is not one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from otel2traj.api.source import load
from otel2traj.model.trajectory import Trajectory
from otel2traj.renderers.glance import Glance
from otel2traj.renderers.overview import totals_words
from tests.attempt_factory import AttemptFactory, chat_response, model_span, otlp, span, tool_span

DRAWN, COUNTED = "5be1f0a2c4d69788", "0000000000000003"
HISTORY = [
    {"role": "assistant", "tool_calls": [{"id": "toolu_91f3aa", "function": {"name": "read", "arguments": "{}"}}]},
    {"role": "tool", "tool_call_id": "toolu_91f3aa", "content": "one"},
]
PARTS = [
    {"role": "assistant", "parts": [{"type": "tool_call", "id": "toolu_91f3aa", "name": "read", "arguments": {}}]},
    {"role": "tool", "parts": [{"type": "tool_call_response", "id": "toolu_91f3aa", "response": "one"}]},
]


def built(root: Path, inputs: int, lines: list[tuple[str, dict[str, Any], str]]) -> AttemptFactory:
    attempt = AttemptFactory(root)
    for number in range(1, inputs + 1):
        attempt.input(f"{number:04d}")
    for ordinal, made, scope in lines:
        attempt.line(f"steps/{ordinal}/otel.jsonl", otlp([made], scope))
    return attempt


def joins(trajectory: Trajectory) -> set[str | None]:
    return {step.evidence.get("join") for step in trajectory.steps}


@pytest.mark.parametrize(("span_id", "inputs", "text", "joined"), [
    (COUNTED, 2, "other", False), (COUNTED, 2, "hi", True), (COUNTED, 1, "other", True), (DRAWN, 2, "other", True),
])  # fmt: skip
def test_a_counted_id_in_a_header_needs_an_agreement(
    tmp_path: Path, span_id: str, inputs: int, text: str, joined: bool
) -> None:
    attempt = built(tmp_path, inputs, [("0001", model_span(span_id, 1, text="hi"), "lib")])
    attempt.request("w", 1, span=span_id).response("w", 2, chat_response(text=text))
    trajectory = load(attempt.write())
    assert joins(trajectory) == ({"framework_span_id"} if joined else {None})
    if not joined:
        told = [str(warning) for warning in trajectory.summary.warnings]
        assert any("contradicted_join" in message and "contradicts it in text" in message for message in told)
        assert next(step for step in trajectory.steps if step.evidence.get("call_id")).input_ordinal is None


@pytest.mark.parametrize(("parent", "named"), [(COUNTED, "agent-1"), (DRAWN, "lead")])
def test_a_counted_id_names_no_parent_in_another_input(tmp_path: Path, parent: str, named: str) -> None:
    above = span(parent, 1, {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "lead"})
    below = model_span("00000000000000ff", 1.1, text="hi", parent=parent)
    trajectory = load(built(tmp_path, 2, [("0001", above, "lib"), ("0002", below, "lib")]).write())
    assert [step.agent_name for step in trajectory.steps] == [named]


def test_a_response_id_from_a_cache_does_not_make_a_text_of_calls(tmp_path: Path) -> None:
    asks = model_span(DRAWN, 1, calls=[("call_x", "read", {"k": 1})], response_id="r1")
    attempt = built(tmp_path, 1, [("0001", asks, "lib")])
    trajectory = load(attempt.request("w", 1).response("w", 2, chat_response("r1", text="hi")).write())
    assert sorted(step.source for step in trajectory.steps) == ["framework", "wire"]


def test_a_header_that_names_a_lost_span_joins_no_other_by_its_history(tmp_path: Path) -> None:
    asks = model_span(DRAWN, 1, text="hi")
    asks["attributes"].append({"key": "gen_ai.input.messages", "value": {"stringValue": json.dumps(PARTS)}})
    for header, expected in ((None, {"history_ids"}), ("a1b2c3d4e5f60718", {None})):
        attempt = built(tmp_path / str(header), 1, [("0001", asks, "lib")])
        attempt.request("w", 1, span=header, messages=HISTORY).response("w", 2, chat_response(text="hi"))
        assert joins(load(attempt.write())) == expected


@pytest.mark.parametrize(("parents", "steps"), [(("9" * 16, "9" * 16), 1), (("9" * 16, "8" * 16), 2)])
def test_two_instrumentors_below_lost_spans_tell_of_one_call_below_the_same(
    tmp_path: Path, parents: tuple[str, str], steps: int
) -> None:
    one = model_span(DRAWN, 1, text="hi", response_id="r1", parent=parents[0])
    two = model_span("6be1f0a2c4d69788", 1, text="hi", response_id="r1", parent=parents[1])
    trajectory = load(built(tmp_path, 1, [("0001", one, "lib"), ("0001", two, "instrumentor")]).write())
    assert len(trajectory.steps) == steps


@pytest.mark.parametrize(("result", "scope", "steps"), [
    ("one", "instrumentor", 1), ("two", "instrumentor", 2), ("one", "lib", 2),
])  # fmt: skip
def test_two_instrumentors_tell_of_one_execution_by_one_result(
    tmp_path: Path, result: str, scope: str, steps: int
) -> None:
    agent = span("00000000000000aa", 1, {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "lead"})
    one = tool_span(DRAWN, 2, "read", call_id="c1", result="one", parent="00000000000000aa")
    two = tool_span("6be1f0a2c4d69788", 2, "read", call_id="c1", result=result, parent="00000000000000aa")
    lines = [("0001", agent, "lib"), ("0001", one, "lib"), ("0001", two, scope)]
    assert len(load(built(tmp_path, 1, lines).write()).steps) == steps


@pytest.mark.parametrize(("asked", "done", "link"), [
    ({"all": True}, {"key": "k", "deep": True}, "ambiguous"),
    ({"key": "k"}, {"key": "k", "deep": True}, "exact"),
    ({"key": "k"}, {"key": "l", "deep": True}, "ambiguous"),
    ({"input": "k"}, {"key": "k", "deep": True}, "exact"),
    ({"key": ["k"]}, {"key": ["k"], "deep": True}, "exact"),
    ({"key": "k"}, {"key": "k"}, "exact"),
])  # fmt: skip
def test_a_sole_argument_is_compared_by_its_name(
    tmp_path: Path, asked: dict[str, Any], done: dict[str, Any], link: str
) -> None:
    agent = span("00000000000000aa", 1, {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "lead"})
    call = model_span(DRAWN, 1.5, calls=[("c1", "read", asked)], parent="00000000000000aa")
    tool = tool_span("6be1f0a2c4d69788", 2, "read", call_id="c1", arguments=done, parent="00000000000000aa")
    trajectory = load(built(tmp_path, 1, [("0001", made, "lib") for made in (agent, call, tool)]).write())
    assert trajectory.steps[0].tool_logs[0].link == link


@pytest.mark.parametrize(("change", "twice"), [
    ({}, True),
    ({"traceId": "ab" * 16}, False),  # the tree tells: it is no part of the other
    ({"endTimeUnixNano": "1779962499000000000"}, False),  # it went on after the other
])  # fmt: skip
def test_another_instrumentors_call_within_a_call_may_be_that_call(
    tmp_path: Path, change: dict[str, Any], twice: bool
) -> None:
    outer = model_span(DRAWN, 1, text="hi")
    inner = span("6be1f0a2c4d69788", 1.2, {
        "gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.request.model": "m-1",
        "gen_ai.response.id": "r1",
    })  # fmt: skip
    inner.update({"traceId": "cd" * 16, "endTimeUnixNano": str(int(inner["startTimeUnixNano"]) + 1000), **change})
    trajectory = load(built(tmp_path, 1, [("0001", outer, "lib"), ("0001", inner, "instrumentor")]).write())
    assert len(trajectory.steps) == 2
    told = [warning for warning in trajectory.summary.warnings if warning.startswith("calls_may_stand_twice")]
    assert bool(told) == twice
    assert trajectory.summary.status == ("partial" if twice else "complete")
    assert ("some calls may be counted twice" in totals_words(Glance(), trajectory.summary)) == twice
