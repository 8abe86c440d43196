"""A step to the events of a ledger, as drafts: everything but step number, state, price and hashes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from ..canonical import JsonObject
from ..model.ledger import EventType, instant_ns
from ..model.ledger_cost import json_number
from ..model.link import ExecutionStatus, LinkStatus
from ..model.trajectory import Step, StepKind, StepStatus, ToolLog
from ..prices import billed_apart, counted


@dataclass(slots=True)
class Draft:
    """An event that waits for its place. `body` has no cost; `seconds`, tokens and counts are what it will cost."""

    step_id: int
    time_ns: int | None
    body: JsonObject
    cost: JsonObject
    model: str | None = None
    unpriced: str | None = None
    """Why no price can be given, where the usage itself says so."""

    def to_json(self) -> JsonObject:
        return {name: getattr(self, name) for name in self.__slots__}


def free() -> JsonObject:
    """The cost of an event that cost nothing."""
    return {"tokens_in": 0, "tokens_out": 0, "seconds": 0, "usd": 0}


def drafts(step: Step, retried: bool) -> Iterator[Draft]:
    """The model call of a step, then its executions and its calls without one, in the trajectory's order."""
    ended = instant_ns(step.ended_at)
    if ended is None:
        ended = instant_ns(step.started_at)
    if step.kind is StepKind.MODEL:
        yield _think(step, ended, retried)
    for log in step.tool_logs:
        yield _execution(step, log, ended)


def _origin(step: Step, evidence: JsonObject) -> JsonObject:
    out: JsonObject = {"step_id": step.step_id, "interaction_id": evidence.get("interaction_id")}
    if step.agent_name is not None:
        out["agent_name"] = step.agent_name
    if step.input_ordinal is not None:
        out["input_ordinal"] = step.input_ordinal
    if evidence.get("records") is not None:
        out["records"] = evidence["records"]
    return out


def _think(step: Step, time_ns: int | None, retried: bool) -> Draft:
    output = step.output
    reasoning, text = output.get("reasoning"), output.get("text")
    body: JsonObject = {"type": EventType.THINK, "thought": _thought(reasoning, text), "model": step.model}
    if reasoning is not None and text is not None:
        body["text"] = text
    for name in ("refusal", "finish_reason"):
        if output.get(name) is not None:
            body[name] = output[name]
    calls = output.get("tool_calls") or []
    if calls:
        body["requested"] = [{"tool_call_id": call.get("id"), "tool": call.get("name")} for call in calls]
    if output.get("wire_error") is not None:
        body["error"] = output["wire_error"]
    elif step.status is not StepStatus.COMPLETE:
        body["error"] = {"status": step.status}
    body["trajectory"] = _origin(step, step.evidence)
    recorded = output.get("usage") or {}
    usage = counted(recorded)
    if usage:
        body["usage"] = usage
    cost: JsonObject = {
        "tokens_in": usage.get("input_tokens"),
        "tokens_out": usage.get("output_tokens"),
        "seconds": _seconds(step.started_at, step.ended_at),
        "usd": None,
    }
    if retried:
        cost["retries"] = 1
    return Draft(step.step_id, time_ns, body, cost, step.model, billed_apart(recorded))


def _thought(reasoning: Any, text: Any) -> str:
    for said in (reasoning, text):
        if isinstance(said, str):
            return said
    return ""


def _execution(step: Step, log: ToolLog, step_ns: int | None) -> Draft:
    begun, ended = _times(step, log)
    time_ns = next((ns for ns in (instant_ns(ended), instant_ns(begun), step_ns) if ns is not None), None)
    origin = _origin(step, {**step.evidence, "records": None, **log.evidence})
    blocker = _blocker(log)
    if blocker is not None:
        call: JsonObject = {"tool_call_id": log.tool_call_id, "tool": log.tool_name, "args": log.input_arguments}
        body: JsonObject = {"type": EventType.OBSERVE, "blocker": blocker, "call": call, "trajectory": origin}
        return Draft(step.step_id, time_ns, body, free())
    code, source = exit_code(log)
    result: JsonObject = {
        "exit_code": code,
        "exit_code_source": source,
        "status": log.execution_status,
        "output": log.outputs,
    }
    if log.exit_status is not None:
        result["exit_status"] = log.exit_status
    body = {
        "type": EventType.TOOL,
        "tool": log.tool_name,
        "args": log.input_arguments,
        "result": result,
        "tool_call_id": log.tool_call_id,
        "link": log.link,
        "trajectory": origin,
    }
    return Draft(step.step_id, time_ns, body, {**free(), "seconds": _seconds(begun, ended), "tool_calls": 1})


def _blocker(log: ToolLog) -> str | None:
    """Why a tool log cannot be written as a grounded call, or None where it can."""
    name = log.tool_name if log.tool_name is not None else "a tool without a recorded name"
    if log.link is LinkStatus.AMBIGUOUS:
        candidates = log.evidence.get("candidates") or []
        return f"execution of {name} is ambiguous: {len(candidates)} candidates, none attached"
    if log.execution_status is ExecutionStatus.NOT_OBSERVED:
        return f"execution of {name} was not observed"
    if log.tool_name is None:
        return "the name of the executed tool was not recorded"
    if log.input_arguments is None:
        return f"the arguments of {name} were not recorded"
    return None


def exit_code(log: ToolLog) -> tuple[int, str]:
    """The recorded exit code and `recorded`; else 0 or 1 by the status, and `derived`."""
    code = (log.exit_status or {}).get("exitCode")
    if isinstance(code, int) and not isinstance(code, bool):
        return code, "recorded"
    return (0 if log.execution_status is ExecutionStatus.SUCCEEDED else 1), "derived"


def _times(step: Step, log: ToolLog) -> tuple[Any, Any]:
    for told in (log.extra, log.evidence):
        if told.get("started_at") is not None or told.get("ended_at") is not None:
            return told.get("started_at"), told.get("ended_at")
    return (step.started_at, step.ended_at) if step.kind is StepKind.TOOL_ONLY else (None, None)


def _seconds(begun: Any, ended: Any) -> int | float | None:
    first, last = instant_ns(begun), instant_ns(ended)
    if first is None or last is None or last < first:
        return None
    return json_number(Decimal(last - first) / 1_000_000_000)
