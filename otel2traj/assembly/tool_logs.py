"""Links and executions to tool logs: what was done about each emitted call, or that nothing was observed."""

from __future__ import annotations

from typing import Final

from ..canonical import JsonObject, canonical_bytes
from ..evidence import Index
from ..messages import ToolCall
from ..model.evidence import Notice
from ..model.heads import Execution, ModelCall, SpanHead, ToolLink
from ..model.link import ExecutionStatus, LinkStatus, Witness
from ..model.reading import Reading
from ..model.trajectory import Coverage, ToolLog
from .acp import exit_status, records_beside
from .archive import Archive
from .combine import combine, exception_json
from .evidence import execution_evidence, identity, interaction_id
from .plan import Plan
from .readings import Readings

SILENCE: Final = "silence"


class ToolLogs:
    """Makes the tool logs of one plan, counting them in `coverage` and remarking in `notices`."""

    def __init__(
        self,
        archive: Archive,
        index: Index,
        readings: Readings,
        plan: Plan,
        coverage: Coverage,
        notices: list[Notice],
    ) -> None:
        self._archive = archive
        self._index = index
        self._readings = readings
        self._plan = plan
        self._coverage = coverage
        self._notices = notices

    def of_call(self, call: ModelCall, tool_calls: list[ToolCall]) -> list[ToolLog]:
        links = {link.position: link for link in reversed(self._plan.links.get(call, ()))}
        return [self._tool_log(tool_call, links.get(position)) for position, tool_call in enumerate(tool_calls)]

    def _tool_log(self, tool_call: ToolCall, link: ToolLink | None) -> ToolLog:
        log = ToolLog(
            tool_call_id=tool_call.id,
            tool_name=tool_call.name,
            input_arguments=tool_call.arguments,
            outputs=None,
            execution_status=ExecutionStatus.NOT_OBSERVED,
            exit_status=None,
            link=LinkStatus.NONE,
        )
        if link is not None:
            log.link = link.status
            if link.execution is not None:
                self.attach(log, link.execution)
                log.evidence["link_rule"] = link.rule
                log.evidence["witness"] = link.witnesses[0].to_json()
            elif link.status is LinkStatus.AMBIGUOUS:
                log.evidence["candidates"] = [
                    self._candidate(link, execution, witness)
                    for execution, witness in zip(link.candidates, link.witnesses, strict=True)
                ]
                log.evidence["emitters"] = link.emitters
            if link.inferred is not None and link.inferred_rule is not None:
                log.evidence["inferred"] = {
                    "rule": link.inferred_rule,
                    "step_id": link.inferred.step_id,
                    "interaction_id": identity(link.inferred)["interaction_id"],
                }
                theirs = link.inferred.tool_call_id()
                if theirs is not None:
                    log.evidence["inferred"]["recorded_id"] = theirs
            if link.reported_by is not None:
                log.evidence["reported_result"] = {
                    "interaction_id": interaction_id(link.reported_by.interaction_key()),
                    "step_id": link.reported_by.step_id,
                    "position": link.reported_position,
                    "sha256": link.reported_sha256,
                }
        if log.execution_status is ExecutionStatus.NOT_OBSERVED:
            self._coverage.unobserved_tool_executions += 1
        if log.link is LinkStatus.AMBIGUOUS:
            self._coverage.ambiguous_links += 1
        return log

    def _candidate(self, link: ToolLink, execution: Execution, witness: Witness) -> JsonObject:
        """An execution that may be the one: what is recorded of it, none of it a fact of the call."""
        reading = combine(self._readings.of(head) for head in execution.heads())
        status, said_by = _outcome(execution, reading)
        told: JsonObject = {"said_by": {"execution_status": said_by}} if said_by is not None else {}
        return {
            "in_scope": execution is link.in_scope,
            "witness": witness.to_json(),
            "tool_name": reading.tool_name,
            "input_arguments": reading.arguments,
            "outputs": reading.result if reading.result is not None else reading.error,
            "execution_status": status,
            **told,
            **execution_evidence(self._archive, execution, self._index.logs_of, ()),
        }

    def attach(self, log: ToolLog, execution: Execution) -> None:
        """Make the execution the fact of a tool log."""
        heads = execution.heads()
        reading = combine([self._readings.of(head) for head in heads])
        self._notices.extend(reading.notices)
        if reading.truncated:
            cut = ", ".join(sorted(reading.truncated))
            self._notice("truncated_content", f"span {execution.head.span_id} holds {cut} only cut", execution.head)
            log.evidence["truncated"] = sorted(reading.truncated)
        log.outputs = reading.result if reading.result is not None else reading.error
        log.execution_status, said_by = _outcome(execution, reading)
        if not any(head.finished for head in heads):
            self._notice("unfinished_span", f"tool execution {execution.head.span_id} never ended", execution.head)
        elif log.execution_status is ExecutionStatus.NOT_OBSERVED:
            message = f"tool execution {execution.head.span_id}: no record tells whether it succeeded"
            at = notice_at("unknown_outcome", message, execution.head)
            self._notices.append(Notice("unknown_outcome", message, at.path, at.line, lossy=False))
        log.exit_status = self._exit_status(execution, reading)
        beside = records_beside(self._archive, self._index, execution.head)
        log.evidence.update(execution_evidence(self._archive, execution, self._index.logs_of, beside))
        if reading.error is not None and reading.result is not None:
            log.evidence["error"] = reading.error
        failure = reading.failure if reading.failure is not None else {}
        if failure.get("error") is not None:
            log.evidence["error"] = failure["error"]
        exception = (
            failure.get("exception") or exception_json(reading)
            if log.execution_status is ExecutionStatus.ERROR
            else None
        )
        if exception is not None:
            log.evidence["exception"] = exception
        if log.tool_call_id is None:
            log.tool_call_id = execution.tool_call_id()
        recorded = reading.arguments
        if log.input_arguments is None:
            log.input_arguments = recorded
        elif recorded is not None and canonical_bytes(recorded) != canonical_bytes(log.input_arguments):
            log.evidence["recorded_arguments"] = recorded
        if log.tool_name is None:
            log.tool_name = reading.tool_name
        elif reading.tool_name is not None and reading.tool_name != log.tool_name:
            log.evidence["recorded_name"] = reading.tool_name
        told_by = dict(reading.said_by) if said_by is None else {**reading.said_by, "execution_status": said_by}
        if told_by:
            log.evidence["said_by"] = dict(sorted(told_by.items()))
        if reading.extra:
            log.evidence["recorded"] = dict(sorted(reading.extra.items()))

    def _exit_status(self, execution: Execution, reading: Reading) -> JsonObject | None:
        found = exit_status(self._archive, self._index, execution.head)
        if found is None and reading.exit_code is not None:
            found = {"exitCode": reading.exit_code, "signal": None}
        if found is None and reading.failure is not None and isinstance(reading.failure.get("exit_status"), dict):
            found = reading.failure["exit_status"]
        return found

    def _notice(self, code: str, message: str, head: SpanHead) -> None:
        self._notices.append(notice_at(code, message, head))


def _outcome(execution: Execution, reading: Reading) -> tuple[ExecutionStatus, str | None]:
    """How an execution ended, and `silence` where that is drawn from a recorded end without a word of failure."""
    failed = reading.is_error if reading.is_error is not None else execution.head.failed
    if not any(head.finished for head in execution.heads()):
        if reading.result is None or reading.is_error is None:
            return ExecutionStatus.NOT_OBSERVED, None
    elif reading.is_error is None and not failed:
        return (ExecutionStatus.NOT_OBSERVED, None) if reading.no_outcome else (ExecutionStatus.SUCCEEDED, SILENCE)
    return ExecutionStatus.ERROR if failed else ExecutionStatus.SUCCEEDED, None


def notice_at(code: str, message: str, head: SpanHead) -> Notice:
    """A notice that points at the first record of a span."""
    ref = head.parts[0].ref if head.parts else None
    return Notice(code, message, head.source, None if ref is None else ref.line)
