"""Inspect's own rules: a head that knows model and time, events that claim nothing that was not observed."""

from __future__ import annotations

from typing import Any

import pytest

from otel2traj.canonical import loads
from otel2traj.model.trajectory import SdkInput, Step, StepStatus, TrajectoryStatus
from tests.factory import not_observed, step, tool_log, trajectory
from tests.unit.writers.run import written


def log(*steps: Step, **fields: Any) -> Any:
    return loads(written("inspect", trajectory(*steps, **fields)))


def test_the_head_is_that_of_the_first_step() -> None:
    got = log(step(1), step(2, model="other"))
    assert got["eval"]["model"] == "model-1"
    assert got["eval"]["created"] == "2026-01-02T03:04:01.250000Z"
    empty = log()
    assert (empty["eval"]["model"], empty["eval"]["created"][:4]) == ("unknown", "1970")
    assert empty["samples"][0]["events"] == []


def test_only_executions_are_tool_events() -> None:
    events = log(step(1, not_observed("c"), tool_log("d")))["samples"][0]["events"]
    assert [event["event"] for event in events] == ["model", "info", "tool"]


def test_a_failed_run_and_a_failed_step() -> None:
    failed = step(1, status=StepStatus.FAILED, output={"wire_error": "reset"})
    got = log(failed, status=TrajectoryStatus.FAILED, error={"type": "E", "message": "m"})
    assert got["status"] == "error"
    assert got["error"]["message"] == "E: m"
    assert got["samples"][0]["events"][0]["error"] == "reset"


def item(result: dict[str, Any] | None) -> SdkInput:
    return SdkInput("0001", None, "Do it.", [1, 1], result, [])


@pytest.mark.parametrize(
    ("result", "status", "message"),
    [
        ({"status": "succeeded"}, "success", None),
        ({"status": "failed", "error": {"type": "ValueError", "message": "no luck"}}, "error", "ValueError: no luck"),
        ({"status": "timeout"}, "error", "timed out"),
        ({"status": "cancelled"}, "cancelled", None),
        (None, "started", None),
    ],
)
def test_the_status_is_how_the_run_ended_and_not_how_the_build_did(
    result: dict[str, Any] | None, status: str, message: str | None
) -> None:
    got = log(step(1), inputs=[item(result)])
    assert got["status"] == status
    assert got.get("error", {}).get("message") == message
    assert got["samples"][0].get("error", {}).get("message") == message


def test_the_head_comes_before_the_samples() -> None:
    keys = list(log(step(1)))
    assert keys[:3] == ["version", "status", "eval"]
    assert keys[-1] == "samples"
    assert {"plan", "stats"} <= set(keys)


def test_arguments_that_are_no_object_are_told() -> None:
    one = step(1, tool_log("c", input_arguments="{cut"))
    call = log(one)["samples"][0]["events"][0]["output"]["choices"][0]["message"]["tool_calls"][0]
    assert (call["arguments"], call["parse_error"]) == ({}, "not a JSON object: {cut")
