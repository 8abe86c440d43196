"""Small builders of model objects, so that a test names only what it is about."""

from __future__ import annotations

from typing import Any

from otel2traj.canonical import JsonObject
from otel2traj.model.link import ExecutionStatus, LinkStatus
from otel2traj.model.trajectory import (
    Coverage,
    Header,
    SdkInput,
    Step,
    StepKind,
    StepSink,
    StepSource,
    StepStatus,
    Summary,
    ToolLog,
    Trajectory,
    TrajectoryStatus,
)


def tool_log(call_id: str | None = "call_1", name: str | None = "search", **fields: Any) -> ToolLog:
    """An exact, succeeded execution of `search`, unless told otherwise."""
    known: dict[str, Any] = {
        "input_arguments": {"q": "x"},
        "outputs": "found",
        "execution_status": ExecutionStatus.SUCCEEDED,
        "exit_status": None,
        "link": LinkStatus.EXACT,
        "evidence": {},
    }
    return ToolLog(call_id, name, **{**known, **fields})


def not_observed(call_id: str | None = "call_1", name: str | None = "search", **fields: Any) -> ToolLog:
    """A call whose execution nobody recorded."""
    missing: dict[str, Any] = {
        "outputs": None,
        "execution_status": ExecutionStatus.NOT_OBSERVED,
        "link": LinkStatus.NONE,
    }
    return tool_log(call_id, name, **{**missing, **fields})


def step(step_id: int = 1, *logs: ToolLog, **fields: Any) -> Step:
    """A complete model step of agent `lead`, with one user message and a text answer; its calls are those of `logs`."""
    calls = [{"id": log.tool_call_id, "name": log.tool_name, "arguments": log.input_arguments} for log in logs]
    known: dict[str, Any] = {
        "input_ordinal": "0001",
        "agent_name": "lead",
        "kind": StepKind.MODEL,
        "source": StepSource.BOTH,
        "started_at": f"2026-01-02T03:04:{step_id % 60:02d}.250000Z",
        "ended_at": f"2026-01-02T03:04:{step_id % 60:02d}.750000Z",
        "model": "model-1",
        "purpose": "unknown",
        "status": StepStatus.COMPLETE,
        "input": {"messages": [{"role": "user", "content": "Do it."}]},
        "output": {"text": None if calls else "Done.", "tool_calls": calls, "finish_reason": "stop"},
        "evidence": {"interaction_id": f"{step_id:024x}"},
    }
    return Step(step_id, tool_logs=list(logs), **{**known, **fields})


def trajectory(*steps: Step, header: JsonObject | None = None, **fields: Any) -> Trajectory:
    """A complete trajectory of `steps`, with one Input and coverage counted from the steps."""
    known: dict[str, Any] = {
        "run_id": "run-1",
        "agent_id": "agent-1",
        "case_id": "case-1",
        "framework": "langgraph",
        "metadata": {"task_instruction": "Do it."},
    }
    logs = [log for one in steps for log in one.tool_logs]
    summary: dict[str, Any] = {
        "status": TrajectoryStatus.COMPLETE,
        "inputs": [
            SdkInput("0001", "input-1", "Do it.", [1, len(steps)] if steps else None, {"status": "succeeded"}, [])
        ],
        "coverage": Coverage(
            model_calls=sum(one.kind is StepKind.MODEL for one in steps),
            tool_calls=sum(len(calls) for one in steps if isinstance(calls := one.output.get("tool_calls"), list)),
            ambiguous_links=sum(log.link is LinkStatus.AMBIGUOUS for log in logs),
            unlinked_tool_calls=sum(one.kind is StepKind.TOOL_ONLY for one in steps),
            unobserved_tool_executions=sum(log.execution_status is ExecutionStatus.NOT_OBSERVED for log in logs),
            inferred_links=sum("inferred" in log.evidence for log in logs),
        ),
        "sources": [{"path": "logs/network.jsonl", "sha256": "0" * 64}],
    }
    return Trajectory(Header(**{**known, **(header or {})}), list(steps), Summary(**{**summary, **fields}))


def play(what: Trajectory, *sinks: StepSink) -> None:
    """Push a trajectory through sinks, as the build and the stored reader do."""
    for sink in sinks:
        sink.begin(what.header)
    for one in what.steps:
        for sink in sinks:
            sink.step(one)
    for sink in sinks:
        sink.end(what.summary)
