"""Tool logs into records of tool executions, those included that are only candidates of an ambiguous link."""

from __future__ import annotations

from typing import Final

from ..canonical import JsonObject
from ..model.link import ExecutionStatus, LinkStatus
from ..model.trajectory import Step, StepKind, ToolLog
from ..model.unknown import UnknownReason
from .cited import Cited
from .messages import Response, candidates, declare_cut, observed
from .pointers import identify, pointers, producer
from .records import Record, cited
from .state import State
from .tree import Side


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
        cited = self._state.cited(pointers(evidence))
        identifier = self._state.new("te")
        result = None if log.outputs is None else self._result(log, cited.of_side(Side.ANSWERED))
        record = Record("tool_execution", identifier, cited, key=_KEY)
        _name(record, log, linked=part is not None)
        record.say_or_miss("arguments", _arguments(log, own))
        if result is None:
            record.miss("result", UnknownReason.NOT_RECORDED)
        else:
            record.refer("result", result)
        _call(record, log, part, response)
        if _ended(log, cited):
            record.derive("status", log.execution_status.value, "execution_status")
        else:
            record.miss("status", UnknownReason.NOT_RECORDED)
        if evidence.get("error") is not None:
            record.say("error", evidence["error"])
        record.say_or_miss("exit_status", log.exit_status)
        self._state.agent_and_scope(record, step, cited)
        if own:
            record.derive("order", step.step_id, "order_of_start")
        # The log of a linked call carries no times of its own: they stand in the records it points to.
        absent = UnknownReason.NOT_RECORDED if own else UnknownReason.NOT_CAPTURED
        for field in ("started", "ended"):
            time = evidence.get(f"{field}_at", getattr(step, f"{field}_at") if own else None)
            record.time_or_miss(field, time, absent)
        if isinstance(evidence.get("recorded"), dict):
            record.say("recorded", evidence["recorded"])
        identify(record, evidence)
        declare_cut(record, log.evidence, ("arguments", "result"), cited)
        self._state.writer.write(record)

    def _candidate(self, step: Step, log: ToolLog, evidence: JsonObject) -> None:
        """An execution that carries the id of more than one call, or shares it with another: nothing else is fact."""
        if evidence["interaction_id"] in self._candidates:
            return
        self._candidates.add(evidence["interaction_id"])
        cited = self._state.cited(pointers(evidence))
        record = Record("tool_execution", self._state.new("te"), cited, key=_KEY)
        record.say_or_miss("tool_call_id", log.tool_call_id)
        for field in ("call", "name", "arguments", "result", "status", "exit_status", "agent"):
            record.miss(field, UnknownReason.AMBIGUOUS)
        self._state.scope(record, step, cited)
        for field in ("started", "ended"):
            record.miss(field, UnknownReason.NOT_CAPTURED)
        identify(record, evidence)
        self._state.writer.write(record)

    def _result(self, log: ToolLog, cited: Cited) -> Record:
        record = Record("generic_artefact", self._state.new("ga"), cited, narrow=True)
        record.derive("role", "tool_result", "place_in_record")
        record.say("content", log.outputs)
        self._state.writer.write(record)
        return record


_KEY: Final = ("tool_call_id", "otel_span_id", "framework_span_id", "name", "result")
_SAYS_HOW: Final = frozenset({"status", "statuscode", "code", "outcome", "success", "iserror", "exitcode", "haserror"})
_WELL: Final = ("completed", "ok", "OK", "Ok", "success", "succeeded", "STATUS_CODE_OK", "done")


def _ended(log: ToolLog, cited: Cited) -> bool:
    """Whether anything tells how the execution ended: an error, a result, or a recorder that says so."""
    if log.execution_status is ExecutionStatus.NOT_OBSERVED:
        return False
    if log.execution_status is ExecutionStatus.ERROR or log.outputs is not None or log.exit_status is not None:
        return True
    return (
        cited.says(_SAYS_HOW, _WELL)
        or cited.says(frozenset({"success"}), (True,))
        or cited.says(frozenset({"iserror", "haserror"}), (False,))
        or cited.says(frozenset({"code", "statuscode"}), (1,))
    )


def _said(evidence: JsonObject) -> JsonObject:
    return {key: value for key, value in evidence.items() if value is not None}


def _name(record: Record, log: ToolLog, *, linked: bool) -> None:
    """What the execution itself is called; where only the call names it, that is derived. What a protocol shows to
    people in place of a name is a title: it may hold anything the tool was given."""
    recorded = log.evidence.get("recorded_name")
    task = log.evidence.get("link_rule") in ("enclosing_task", "task_output")
    record.say_or_miss("tool_call_id", log.tool_call_id, rule="call_of_task" if task else None)
    own = recorded if isinstance(recorded, str) else log.tool_name
    if any(one.get("what") == "acp" for one in record.data["source"]):
        if isinstance(own, str) and (isinstance(recorded, str) or not linked):
            record.say("title", own)
        record.derive_or_miss("name", log.tool_name if linked else None, "name_of_call")
    elif isinstance(recorded, str):
        record.say("name", recorded)
    elif linked and "tool_name" not in (log.evidence.get("said_by") or {}):
        record.derive_or_miss("name", log.tool_name, "name_of_call")
    else:
        record.say_or_miss("name", log.tool_name)


def _arguments(log: ToolLog, own: bool) -> object:
    """The arguments the execution recorded. Those of its call are the call's, and stand there."""
    if "recorded_arguments" in log.evidence:
        return log.evidence["recorded_arguments"]
    said = own or "arguments" in (log.evidence.get("said_by") or {})
    return log.input_arguments if said else None


def _call(record: Record, log: ToolLog, part: str | None, response: Response | None) -> None:
    if log.link is LinkStatus.EXACT and part is not None and response is not None:
        rule = cited("tool_call_id_unique", producer(log))
        record.derive("call", part, rule)
        if not rule.endswith("_unverified"):
            record.after("call_before_execution", {response.message})
    else:
        ambiguous = log.link is LinkStatus.AMBIGUOUS
        record.miss("call", UnknownReason.AMBIGUOUS if ambiguous else UnknownReason.NOT_RECORDED)
