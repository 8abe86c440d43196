"""A step to entries of `conversation_history`: what the agent said, what the environment answered, what broke."""

from __future__ import annotations

from typing import Any, Final

from ..canonical import JsonObject, JsonValue
from ..model.forensic import epoch
from ..model.link import ExecutionStatus
from ..model.trajectory import SdkInput, Step, StepKind, StepStatus, Summary, ToolLog
from .ledger_outcome import result_source

USER, AGENT, SYSTEM, ENV = "user_id", "agent_id", "system_id", "env_id"
ENVIRONMENT: Final = "environment"
_STATUS: Final = {
    ExecutionStatus.SUCCEEDED: "success",
    ExecutionStatus.ERROR: "error",
    ExecutionStatus.NOT_OBSERVED: "not_observed",
}


def entries(step: Step, turn: int | None) -> list[JsonObject]:
    """The answer of a model call, then its failure, then its executions; of another step its executions alone."""
    out: list[JsonObject] = []
    if step.kind is StepKind.MODEL:
        out.append(_agent(step, turn))
        failure = _failure(step)
        if failure is not None:
            out.append(_entry(SYSTEM, ENVIRONMENT, failure, turn, _time(step), _evidence(step, step.evidence)))
    for log in step.tool_logs:
        time = _time(step) if step.kind is StepKind.TOOL_ONLY else None
        out.append(_entry(ENV, ENVIRONMENT, _execution(step, log), turn, time, _evidence(step, log.evidence)))
    return out


def prompt(item: SdkInput, turn: int | None) -> JsonObject:
    """What was asked. The time of a prompt is not recorded."""
    origin: JsonObject = {"input_ordinal": item.ordinal}
    if item.input_id is not None:
        origin["input_id"] = item.input_id
    return _entry(USER, "user", item.prompt, turn, None, origin)


def ending(item: SdkInput, summary: Summary, turn: int | None) -> JsonObject | None:
    """How an Input ended, where that was not well; None where it was, or where nothing was recorded."""
    result = item.result or {}
    status = result.get("status")
    if not isinstance(status, str) or status == "succeeded":
        return None
    content: JsonObject = {"status": status}
    for name in ("error", "message", "reason"):
        if result.get(name) is not None:
            content["error"] = result[name]
            break
    origin: JsonObject = {"input_ordinal": item.ordinal}
    source = result_source(summary, item)
    if source is not None:
        origin["records"] = [{**source, "what": "result"}]
    return _entry(SYSTEM, ENVIRONMENT, content, turn, None, origin)


def _entry(
    identity: str, role: str, content: JsonValue, turn: int | None, time: float | None, evidence: JsonObject
) -> JsonObject:
    out: JsonObject = {"identity": identity, "role": role, "content": content, "turn_index": turn}
    if time is not None:
        out["timestamp"] = time
    out["evidence"] = evidence
    return out


def _time(step: Step) -> float | None:
    ended = epoch(step.ended_at)
    return ended if ended is not None else epoch(step.started_at)


def _evidence(step: Step, said: JsonObject) -> JsonObject:
    out: JsonObject = {"step_id": step.step_id}
    for name in ("interaction_id", "records"):
        if said.get(name) is not None:
            out[name] = said[name]
    return out


def _agent(step: Step, turn: int | None) -> JsonObject:
    output = step.output
    identity = AGENT if step.agent_name is None else f"{AGENT}:{step.agent_name}"
    entry = _entry(identity, "agent", output.get("text"), turn, _time(step), _evidence(step, step.evidence))
    emitted = output.get("tool_calls")
    calls = [
        {"id": call.get("id"), "name": call.get("name"), "arguments": call.get("arguments")}
        for call in (emitted if isinstance(emitted, list) else [])
        if isinstance(call, dict)
    ]
    if calls:
        entry["tool_calls"] = calls
        if step.input.get("tools") is None:
            entry["tools_recorded"] = False
    for name in ("reasoning", "refusal", "finish_reason"):
        if output.get(name) is not None:
            entry[name] = output[name]
    if step.model is not None:
        entry["model"] = step.model
    if step.status is not StepStatus.COMPLETE:
        entry["status"] = step.status
    return entry


def _failure(step: Step) -> JsonObject | None:
    output = step.output
    wire: Any = output.get("wire_error")
    out: JsonObject = {"status": "error"}
    if isinstance(wire, dict):
        out.update({name: wire[name] for name in wire if name != "error"})
        out["error"] = wire.get("error")
    elif step.status is StepStatus.COMPLETE:
        return None
    elif step.status is StepStatus.INCOMPLETE:
        return {"status": "not_observed", "error": output.get("error")}
    if output.get("http_status") is not None:
        out["http_status"] = output["http_status"]
    if out.get("error") is None:
        out["error"] = output.get("error")
    return out


def _execution(step: Step, log: ToolLog) -> JsonObject:
    out: JsonObject = {
        "status": _STATUS[log.execution_status],
        "tool": log.tool_name,
        "tool_call_id": log.tool_call_id,
        "link": log.link,
    }
    if step.kind is StepKind.TOOL_ONLY:
        out["params"] = log.input_arguments
    if log.execution_status is ExecutionStatus.ERROR:
        out["error"] = log.outputs
    elif log.execution_status is ExecutionStatus.SUCCEEDED:
        out["result"] = log.outputs
    if log.exit_status is not None:
        out["exit_status"] = log.exit_status
    return out
