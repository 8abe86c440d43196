"""TraceElephant's own rules: the output is text, the request is whole, the labels are open."""

from __future__ import annotations

from typing import Any

from otel2traj.canonical import loads
from tests.factory import step, tool_log, trajectory
from tests.unit.writers.run import written


def test_a_record_holds_request_and_completion() -> None:
    one = step(1, tool_log())
    one.input |= {"parameters": {"temperature": 0}, "system": "s"}
    (record,) = loads(written("traceelephant-steps", trajectory(one)))  # type: ignore[misc]
    got: Any = record
    assert got["input"] == {"system": "s", "messages": one.input["messages"], "temperature": 0}
    completion: Any = loads(got["output"])
    assert completion["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"] == '{"q":"x"}'
    assert got["tool_logs"][0]["link"] == "exact"


def test_labels_are_left_open() -> None:
    got: Any = loads(written("traceelephant-metadata", trajectory(step(1), step(2, agent_name="b"))))
    assert got["task_instruction"] == "Do it."
    assert got["agent_system_intro"]["agents"] == ["lead", "b"]
    assert (got["mistake_agent"], got["mistake_step"]) == (None, None)
