"""Trajectory objects to the JSON of the contract, and back, losing nothing."""

from __future__ import annotations

from ..canonical import JsonObject
from .link import ExecutionStatus, LinkStatus
from .trajectory import (
    Coverage,
    Header,
    SdkInput,
    Step,
    StepKind,
    StepSource,
    StepStatus,
    Summary,
    ToolLog,
    Trajectory,
    TrajectoryStatus,
)

_STEP_KEYS = (
    "step_id",
    "input_ordinal",
    "agent_name",
    "kind",
    "source",
    "started_at",
    "ended_at",
    "model",
    "purpose",
    "status",
    "input",
    "output",
    "tool_logs",
    "evidence",
)
_LOG_KEYS = (
    "tool_call_id",
    "tool_name",
    "input_arguments",
    "outputs",
    "execution_status",
    "exit_status",
    "link",
    "evidence",
)
_INPUT_KEYS = ("ordinal", "input_id", "prompt", "step_range", "result", "file_changes")
_COVERAGE_KEYS = (
    "model_calls",
    "tool_calls",
    "file_changes",
    "ambiguous_links",
    "unlinked_tool_calls",
    "unobserved_tool_executions",
    "inferred_links",
)
_TOP_KEYS = (
    "schema",
    "builder_version",
    "status",
    "run_id",
    "agent_id",
    "case_id",
    "framework",
    "error",
    "metadata",
    "steps",
    "inputs",
    "coverage",
    "sources",
    "warnings",
)


def _extra(data: JsonObject, known: tuple[str, ...]) -> JsonObject:
    return {key: value for key, value in data.items() if key not in known}


def tool_log_to_json(log: ToolLog) -> JsonObject:
    return {
        "tool_call_id": log.tool_call_id,
        "tool_name": log.tool_name,
        "input_arguments": log.input_arguments,
        "outputs": log.outputs,
        "execution_status": log.execution_status,
        "exit_status": log.exit_status,
        "link": log.link,
        "evidence": log.evidence,
        **log.extra,
    }


def tool_log_from_json(data: JsonObject) -> ToolLog:
    return ToolLog(
        tool_call_id=data.get("tool_call_id"),
        tool_name=data.get("tool_name"),
        input_arguments=data.get("input_arguments"),
        outputs=data.get("outputs"),
        execution_status=ExecutionStatus(data["execution_status"]),
        exit_status=data.get("exit_status"),
        link=LinkStatus(data["link"]),
        evidence=data.get("evidence") or {},
        extra=_extra(data, _LOG_KEYS),
    )


def step_to_json(step: Step) -> JsonObject:
    return {
        "step_id": step.step_id,
        "input_ordinal": step.input_ordinal,
        "agent_name": step.agent_name,
        "kind": step.kind,
        "source": step.source,
        "started_at": step.started_at,
        "ended_at": step.ended_at,
        "model": step.model,
        "purpose": step.purpose,
        "status": step.status,
        "input": step.input,
        "output": step.output,
        "tool_logs": [tool_log_to_json(log) for log in step.tool_logs],
        "evidence": step.evidence,
        **step.extra,
    }


def step_from_json(data: JsonObject) -> Step:
    """Raises `KeyError` or `ValueError` where the object is not a step."""
    return Step(
        step_id=data["step_id"],
        input_ordinal=data.get("input_ordinal"),
        agent_name=data.get("agent_name"),
        kind=StepKind(data["kind"]),
        source=StepSource(data["source"]),
        started_at=data.get("started_at"),
        ended_at=data.get("ended_at"),
        model=data.get("model"),
        purpose=data.get("purpose"),
        status=StepStatus(data["status"]),
        input=data.get("input") or {},
        output=data.get("output") or {},
        tool_logs=[tool_log_from_json(log) for log in data.get("tool_logs") or []],
        evidence=data.get("evidence") or {},
        extra=_extra(data, _STEP_KEYS),
    )


def sdk_input_to_json(item: SdkInput) -> JsonObject:
    return {
        "ordinal": item.ordinal,
        "input_id": item.input_id,
        "prompt": item.prompt,
        "step_range": item.step_range,
        "result": item.result,
        "file_changes": item.file_changes,
        **item.extra,
    }


def sdk_input_from_json(data: JsonObject) -> SdkInput:
    return SdkInput(
        ordinal=data["ordinal"],
        input_id=data.get("input_id"),
        prompt=data.get("prompt"),
        step_range=data.get("step_range"),
        result=data.get("result"),
        file_changes=data.get("file_changes") or [],
        extra=_extra(data, _INPUT_KEYS),
    )


def coverage_to_json(coverage: Coverage) -> JsonObject:
    out: JsonObject = {key: getattr(coverage, key) for key in _COVERAGE_KEYS}
    if coverage.inferred_links is None:
        del out["inferred_links"]
    return {**out, **coverage.extra}


def coverage_from_json(data: JsonObject) -> Coverage:
    known = {key: data.get(key, 0) for key in _COVERAGE_KEYS[:-1]}
    return Coverage(**known, inferred_links=data.get("inferred_links"), extra=_extra(data, _COVERAGE_KEYS))


def header_to_json(header: Header, status: TrajectoryStatus) -> JsonObject:
    """The top-level keys that stand before `steps`."""
    return {
        "schema": header.schema,
        "builder_version": header.builder_version,
        "status": status,
        "run_id": header.run_id,
        "agent_id": header.agent_id,
        "case_id": header.case_id,
        "framework": header.framework,
    }


def trajectory_to_json(trajectory: Trajectory) -> JsonObject:
    header, summary = trajectory.header, trajectory.summary
    out = header_to_json(header, summary.status)
    if summary.error is not None:
        out["error"] = summary.error
    out["metadata"] = header.metadata
    out["steps"] = [step_to_json(step) for step in trajectory.steps]
    out.update(summary_to_json(summary))
    return {**out, **header.extra}


def summary_to_json(summary: Summary) -> JsonObject:
    """The top-level keys that stand after `steps`."""
    return {
        "inputs": [sdk_input_to_json(item) for item in summary.inputs],
        "coverage": coverage_to_json(summary.coverage),
        "sources": summary.sources,
        "warnings": summary.warnings,
    }


def header_from_json(data: JsonObject) -> Header:
    return Header(
        run_id=data.get("run_id"),
        agent_id=data.get("agent_id"),
        case_id=data.get("case_id"),
        framework=data.get("framework"),
        metadata=data.get("metadata") or {},
        schema=data["schema"],
        builder_version=data["builder_version"],
        extra=_extra(data, _TOP_KEYS),
    )


def summary_from_json(data: JsonObject) -> Summary:
    return Summary(
        status=TrajectoryStatus(data["status"]),
        inputs=[sdk_input_from_json(item) for item in data.get("inputs") or []],
        coverage=coverage_from_json(data.get("coverage") or {}),
        sources=data.get("sources") or [],
        warnings=data.get("warnings") or [],
        error=data.get("error"),
    )


def trajectory_from_json(data: JsonObject) -> Trajectory:
    return Trajectory(
        header_from_json(data),
        [step_from_json(step) for step in data.get("steps") or []],
        summary_from_json(data),
    )
