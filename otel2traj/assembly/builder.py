"""A plan and its evidence to a trajectory, one step at a time, pushed into sinks and forgotten."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from ..canonical import JsonObject, JsonValue
from ..evidence import Index
from ..model.evidence import Notice
from ..model.heads import Execution, ModelCall, Recorder, SpanHead
from ..model.link import ExecutionStatus, LinkStatus
from ..model.trajectory import (
    Coverage,
    Event,
    Header,
    SdkInput,
    Step,
    StepKind,
    StepSource,
    StepStatus,
    Summary,
    ToolLog,
    TrajectoryStatus,
)
from ..pairing.actors import Actors, purpose_of
from ..timestamps import format_ns, parse_ns
from .agents import Agents
from .archive import Archive
from .documents import Documents, InputRecord
from .ends import Ends
from .evidence import identity, records_of, span_evidence, step_evidence
from .model_step import ModelStepReader
from .plan import Plan
from .readings import Readings
from .told import homeless, told_events
from .tool_logs import ToolLogs, notice_at

FOR_TOOLS: Final = frozenset({"tool_calls", "tool_call", "tool_use", "tool-calls", "function_call"})
"""Finish reasons of an answer that ends in tool calls, by any API."""


class Builder:
    """Builds one trajectory from one plan."""

    def __init__(
        self,
        archive: Archive,
        index: Index,
        readings: Readings,
        documents: Documents,
        plan: Plan,
        ends: Ends,
        agents: Agents,
    ) -> None:
        self._archive = archive
        self._index = index
        self._readings = readings
        self._documents = documents
        self._plan = plan
        self._ends = ends
        self._agent_spans = agents
        self._reader = ModelStepReader(readings, index.recovered)
        self._coverage = Coverage(inferred_links=plan.inferred)
        self._notices: list[Notice] = list(plan.notices)
        self._tool_logs = ToolLogs(archive, index, readings, plan, self._coverage, self._notices)
        self._ranges: dict[str, list[int]] = {}
        self._agents: dict[ModelCall | Execution, tuple[str | None, str | None]] = {}
        self._actors = Actors()
        self._untimed = 0

    def run(self) -> Iterator[Event]:
        """Header, steps and summary, each made when it is asked for."""
        yield self._header()
        for entry in self._plan.entries:
            step = self._model_step(entry) if isinstance(entry, ModelCall) else self._tool_step(entry)
            if step.input_ordinal is not None:
                span = self._ranges.setdefault(step.input_ordinal, [step.step_id, step.step_id])
                span[1] = step.step_id
            self._times(step, entry)
            self._stop(step)
            yield step
        yield self._summary()

    def _times(self, step: Step, entry: ModelCall | Execution) -> None:
        started, ended = (None if told is None else parse_ns(told) for told in (step.started_at, step.ended_at))
        if started is not None and ended is not None and ended < started:
            message = f"step {step.step_id} ends before it starts, as recorded"
            self._notices.append(Notice("reversed_times", message, lossy=False))
        if step.ended_at is not None and ended is None:
            self._notices.append(Notice("unreadable_time", f"the end of step {step.step_id} is no time"))
        if started is not None:
            return
        head = entry.span if isinstance(entry, ModelCall) and entry.wire is None else None
        head = entry.head if isinstance(entry, Execution) else head
        if head is not None and head.recorder is Recorder.SESSION:
            self._untimed += 1  # told once: a file that tells no times tells none at all
        else:
            self._notices.append(Notice("unreadable_time", f"step {step.step_id} has no readable start time"))

    def _stop(self, step: Step) -> None:
        output = step.output
        told = str(output.get("finish_reason") or "").casefold()
        if told in FOR_TOOLS and not any(output.get(name) for name in ("tool_calls", "choices", "other_parts")):
            message = f"step {step.step_id} stopped for tools ({told}), and no tool call of it is recorded"
            self._notices.append(Notice("unrecorded_tool_calls", message, lossy=False))

    # the header

    def _header(self) -> Header:
        documents = self._documents
        agents: dict[str, list[JsonObject]] = {}
        for entry in self._plan.entries:
            name, _ = self._agent(entry)
            if name is not None and name not in agents:
                agents[name] = self._naming(entry, name)
        calls = [entry for entry in self._plan.entries if isinstance(entry, ModelCall)]
        first = next((call for call in calls if purpose_of(call.span) is None), calls[0] if calls else None)
        request = self._reader.read(first).input if first is not None else {}
        prompt = documents.inputs[0].prompt if documents.inputs else None
        configuration: JsonObject = {
            "agents": [{"agent_name": name} for name in agents],
            "system_prompt": system_prompt(request),
            "tools": request.get("tools"),
            "runtime": _runtime(documents),
        }
        metadata: JsonObject = {
            "task_instruction": prompt,
            "agent_configuration": configuration,
            "system_architecture": {
                "framework": documents.framework,
                "source_revision": documents.run.get("source_revision"),
                "profile": documents.run.get("profile"),
                "binding": documents.run.get("binding"),
            },
        }
        result = documents.run_result()
        if result:
            metadata["run_result"] = result
        if documents.recorded:
            metadata["recorded"] = documents.recorded
        return Header(
            run_id=documents.run_id,
            agent_id=documents.agent_id,
            case_id=documents.case_id,
            framework=documents.framework,
            metadata=metadata,
            naming={name: records for name, records in agents.items() if records},
        )

    def _naming(self, entry: ModelCall | Execution, name: str) -> list[JsonObject]:
        """The records of the spans that name the agent of an entry."""
        head = next((one for one in _heads_of(entry) if self._actors.of(one) == name), None)
        namers = [] if head is None else self._actors.namers(head)
        return records_of(self._archive, [part for one in namers for part in one.parts])

    def _agent(self, entry: ModelCall | Execution) -> tuple[str | None, str | None]:
        """The acting component, and who named it where that was no span."""
        if entry not in self._agents:
            told = (self._actors.of(head) for head in _heads_of(entry))
            name, said_by = next((one for one in told if one is not None), None), None
            if name is None and self._documents.agent_id is not None:
                name, said_by = self._documents.agent_id, "attempt"
            if name is None and isinstance(entry, ModelCall) and entry.wire is not None:
                name, said_by = entry.wire.agent_id, "wire"
            self._agents[entry] = name, None if name is None else said_by
        return self._agents[entry]

    # steps

    def _model_step(self, call: ModelCall) -> Step:
        parts = self._reader.read(call)
        self._notices.extend(parts.notices)
        wire, span = call.wire, call.span
        evidence = step_evidence(self._archive, call, self._index.logs_of)
        evidence["request_sha256"], evidence["response_sha256"] = parts.request_sha256, parts.response_sha256
        agent_name, named_by = self._agent(call)
        if named_by is not None:
            parts.said_by["agent_name"] = named_by
        if parts.said_by:
            evidence["said_by"] = dict(sorted(parts.said_by.items()))
        if parts.exception is not None:
            evidence["exception"] = parts.exception
        evidence.update(parts.elsewhere)
        if parts.response_id is not None and wire is None:
            evidence.setdefault("response_id", parts.response_id)
        if parts.recorded:
            evidence["recorded"] = parts.recorded
        if parts.source_model is not None and parts.source_model != parts.model:
            evidence["source_model"] = parts.source_model
        source = StepSource.FRAMEWORK if wire is None else StepSource.WIRE if span is None else StepSource.BOTH
        if wire is not None:
            started, ended = wire.started_at or wire.ended_at, wire.ended_at
        else:
            assert span is not None
            started, ended = format_ns(span.start_ns), format_ns(span.end_ns)
        if span is not None and not span.finished:
            self._notice("unfinished_span", f"model span {span.span_id} never ended", span)
        if parts.cut and span is not None:
            self._notice("truncated_content", f"span {span.span_id} holds {', '.join(parts.cut)} only cut", span)
            if wire is None:
                evidence["truncated"] = parts.cut
        if call.ordinal is None and self._documents.inputs:
            self._notices.append(
                Notice("unknown_input", f"no identifier tells the Input of step {call.step_id}", lossy=False)
            )
        self._coverage.model_calls += 1
        self._coverage.tool_calls += len(parts.tool_calls)
        return Step(
            step_id=call.step_id,
            input_ordinal=call.ordinal,
            agent_name=agent_name,
            kind=StepKind.MODEL,
            source=source,
            started_at=started,
            ended_at=ended,
            model=parts.model,
            purpose=parts.purpose or self._native_purpose(call) or purpose_of(span) or "unknown",
            status=parts.status,
            input=parts.input,
            output=parts.output,
            tool_logs=self._tool_logs.of_call(call, parts.tool_calls),
            evidence=evidence,
        )

    def _native_purpose(self, call: ModelCall) -> str | None:
        """What the ACP agent called the model call with this response id."""
        response_id = None if call.wire is None else call.wire.response_id
        told = self._index.native_calls.get(response_id or "", [])
        if len(told) != 1:
            return None
        purpose = self._archive.fetch_abb(told[0][1].ref).data.get("purpose")
        return purpose if isinstance(purpose, str) else None

    def _tool_step(self, execution: Execution) -> Step:
        log = ToolLog(
            tool_call_id=execution.tool_call_id(),
            tool_name=None,
            input_arguments=None,
            outputs=None,
            execution_status=ExecutionStatus.NOT_OBSERVED,
            exit_status=None,
            link=LinkStatus.NONE,
        )
        self._tool_logs.attach(log, execution)
        evidence = identity(execution)
        link = self._plan.inferred_calls.get(execution)
        if link is not None:
            evidence["inferred_call"] = {
                "rule": link.inferred_rule,
                "step_id": link.call.step_id,
                "tool_call_id": link.emitted.id,
            }
        evidence["records"] = log.evidence["records"]
        self._coverage.unlinked_tool_calls += 1
        if log.execution_status is ExecutionStatus.NOT_OBSERVED:
            self._coverage.unobserved_tool_executions += 1
            status = StepStatus.INCOMPLETE
        else:
            failed = log.execution_status is ExecutionStatus.ERROR
            status = StepStatus.FAILED if failed else StepStatus.COMPLETE
        if execution.ordinal is None and self._documents.inputs:
            self._notices.append(
                Notice("unknown_input", f"no identifier tells the Input of step {execution.step_id}", lossy=False)
            )
        head = execution.head
        agent_name, named_by = self._agent(execution)
        if named_by is not None:
            evidence["said_by"] = {"agent_name": named_by}
        return Step(
            step_id=execution.step_id,
            input_ordinal=execution.ordinal,
            agent_name=agent_name,
            kind=StepKind.TOOL_ONLY,
            source=StepSource.FRAMEWORK,
            started_at=format_ns(head.start_ns),
            ended_at=format_ns(head.end_ns),
            model=None,
            purpose="unknown",
            status=status,
            input={},
            output={},
            tool_logs=[log],
            evidence=evidence,
        )

    def _notice(self, code: str, message: str, head: SpanHead) -> None:
        self._notices.append(notice_at(code, message, head))

    # the end

    def _summary(self) -> Summary:
        inputs = [self._input(item) for item in self._documents.inputs]
        self._coverage.file_changes = sum(len(item.file_changes) for item in inputs)
        known: set[str | None] = {item.ordinal for item in self._documents.inputs}
        self._notices.extend(homeless(self._index, known))
        if self._untimed:
            message = f"{self._untimed} steps have no time in their file; they stand in its order"
            self._notices.append(Notice("unreadable_time", message))
        notices = unique([*self._index.notices, *self._archive.notices, *self._notices])
        partial = any(notice.lossy for notice in notices)
        return Summary(
            status=TrajectoryStatus.PARTIAL if partial else TrajectoryStatus.COMPLETE,
            inputs=inputs,
            coverage=self._coverage,
            sources=[{"path": source.path, "sha256": source.sha256} for source in self._archive.sources()],
            warnings=[notice.render() for notice in notices],
        )

    def _input(self, item: InputRecord) -> SdkInput:
        result, evidence = self._ends.close(item)
        agents = self._agent_spans.of(item)
        if agents:
            evidence["agents"] = agents
        if item.told_by:
            evidence["told_by"] = {
                name: span_evidence(self._archive, head, self._index.logs_of(head))
                for name, head in item.told_by.items()
            }
        events = told_events(self._archive, self._index, item)
        if events:
            evidence["events"] = events
        if item.recorded:
            evidence["recorded"] = item.recorded
        return SdkInput(
            ordinal=item.ordinal,
            input_id=item.input_id,
            prompt=item.prompt,
            step_range=self._ranges.get(item.ordinal),
            result=result,
            file_changes=item.file_changes,
            extra={"evidence": evidence} if evidence else {},
        )


def unique(notices: Iterable[Notice]) -> list[Notice]:
    """Each notice once, sorted by place, so that the order of the sources does not matter."""
    return sorted(dict.fromkeys(notices), key=lambda n: (n.path or "", n.line or 0, n.code, n.message))


def system_prompt(request: JsonObject) -> JsonValue:
    """The system text of a request: kept apart, or the leading system messages."""
    if request.get("system") is not None:
        system: JsonValue = request["system"]
        return system
    texts = []
    for message in request.get("messages") or []:
        if not isinstance(message, dict) or message.get("role") not in ("system", "developer"):
            break
        texts.append(message["content"] if "content" in message else message.get("parts"))
    return None if not texts else texts[0] if len(texts) == 1 else texts


def _heads_of(entry: ModelCall | Execution) -> Iterator[SpanHead]:
    """The spans that may name the agent of an entry: its own, then those that lend it what it lacks."""
    own = entry.head if isinstance(entry, Execution) else entry.span or entry.anchor
    if own is not None:
        yield own
    if isinstance(entry, ModelCall):
        yield from entry.lenders


def _runtime(documents: Documents) -> JsonValue:
    runtime: JsonValue = documents.run.get("runtime")
    return runtime
