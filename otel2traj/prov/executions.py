"""Tool logs into records of tool executions, those included that are only candidates of an ambiguous link."""

from __future__ import annotations

from ..canonical import JsonObject
from ..model.link import ExecutionStatus, LinkStatus
from ..model.trajectory import Step, StepKind, ToolLog
from ..model.unknown import UnknownReason
from .messages import Response, candidates, observed
from .pointers import identify, log_by, pointers, producer
from .records import Record, cited
from .state import State


class Executions:
    """Writes a record for every execution that was seen, once each."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._candidates: set[str] = set()

    def write(self, step: Step, response: Response | None) -> None:
        for position, log in enumerate(step.tool_logs):
            if observed(log) or step.kind is StepKind.TOOL_ONLY:
                self._execution(step, log, None if response is None else response.part_of(log, position), response)
            elif log.link is LinkStatus.AMBIGUOUS:
                for one in candidates(log):
                    self._candidate(step, log, one)

    def _execution(self, step: Step, log: ToolLog, part: str | None, response: Response | None) -> None:
        own = step.kind is StepKind.TOOL_ONLY
        evidence = {**step.evidence, **_said(log.evidence)} if own else log.evidence
        by, source = log_by(log), pointers(evidence)
        identifier = self._state.new("te")
        result = None if log.outputs is None else self._result(log, by, source)
        record = Record("tool_execution", identifier, by, source=source)
        _name(record, log, by, linked=part is not None)
        record.say_or_miss("arguments", _arguments(log, own), by)
        record.say_or_miss("result", result, by)
        _call(record, log, part, response)
        if log.execution_status is ExecutionStatus.NOT_OBSERVED:
            record.miss("status", UnknownReason.NOT_RECORDED)
        else:
            record.say("status", log.execution_status.value, "adapter", "execution_status")
        if evidence.get("error") is not None:
            record.say("error", evidence["error"], by)
        record.say_or_miss("exit_status", log.exit_status, by)
        self._state.agent_and_scope(record, step)
        if own:
            record.say("order", step.step_id, "adapter", "order_of_start")
        # The log of a linked call carries no times of its own: they stand in the records it points to.
        absent = UnknownReason.NOT_RECORDED if own else UnknownReason.NOT_CAPTURED
        for field in ("started", "ended"):
            time = evidence.get(f"{field}_at", getattr(step, f"{field}_at") if own else None)
            record.say_or_miss(field, time, by, reason=absent)
        if isinstance(evidence.get("recorded"), dict):
            record.say("recorded", evidence["recorded"], by)
        identify(record, evidence, by)
        self._state.writer.write(record)

    def _candidate(self, step: Step, log: ToolLog, evidence: JsonObject) -> None:
        """An execution that carries the id of more than one call, or shares it with another: nothing else is fact."""
        if evidence["interaction_id"] in self._candidates:
            return
        self._candidates.add(evidence["interaction_id"])
        by = "source"
        record = Record("tool_execution", self._state.new("te"), by, source=pointers(evidence))
        record.say_or_miss("tool_call_id", log.tool_call_id, by)
        for field in ("call", "name", "arguments", "result", "status", "exit_status", "agent"):
            record.miss(field, UnknownReason.AMBIGUOUS)
        self._state.scope(record, step)
        for field in ("started", "ended"):
            record.miss(field, UnknownReason.NOT_CAPTURED)
        identify(record, evidence, by)
        self._state.writer.write(record)

    def _result(self, log: ToolLog, by: str, source: list[JsonObject]) -> str:
        record = Record("generic_artefact", self._state.new("ga"), by, source=source)
        record.say("role", "tool_result", by)
        record.say("content", log.outputs, by)
        self._state.writer.write(record)
        return record.id


def _said(evidence: JsonObject) -> JsonObject:
    return {key: value for key, value in evidence.items() if value is not None}


def _name(record: Record, log: ToolLog, by: str, *, linked: bool) -> None:
    """What the execution itself is called; where only the call names it, that is derived."""
    recorded = log.evidence.get("recorded_name")
    record.say_or_miss("tool_call_id", log.tool_call_id, by)
    if isinstance(recorded, str):
        record.say("name", recorded, by)
    elif linked and "tool_name" not in (log.evidence.get("said_by") or {}):
        record.say_or_miss("name", log.tool_name, "adapter", "name_of_call")
    else:
        record.say_or_miss("name", log.tool_name, by)


def _arguments(log: ToolLog, own: bool) -> object:
    """The arguments the execution recorded. Those of its call are the call's, and stand there."""
    if "recorded_arguments" in log.evidence:
        return log.evidence["recorded_arguments"]
    said = own or "arguments" in (log.evidence.get("said_by") or {})
    return log.input_arguments if said else None


def _call(record: Record, log: ToolLog, part: str | None, response: Response | None) -> None:
    if log.link is LinkStatus.EXACT and part is not None and response is not None:
        rule = cited("tool_call_id_unique", producer(log))
        record.say("call", part, "adapter", rule)
        if not rule.endswith("_unverified"):
            record.after("call_before_execution", {response.message})
    else:
        ambiguous = log.link is LinkStatus.AMBIGUOUS
        record.miss("call", UnknownReason.AMBIGUOUS if ambiguous else UnknownReason.NOT_RECORDED)
