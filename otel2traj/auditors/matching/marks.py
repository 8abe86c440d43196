"""Steps to what two runs are compared by: identifiers, a digest of each field, and a few words for people."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ...canonical import JsonObject, JsonValue, dumps, sha256_canonical
from ...model.trajectory import Header, Step, StepKind, Summary, ToolLog
from ...outcome import Failure, Outcome, OutcomeReader, step_failures

FIELDS = (
    "kind",
    "agent_name",
    "model",
    "status",
    "input.system",
    "input.messages",
    "input.tools",
    "input.parameters",
    "output.text",
    "output.reasoning",
    "output.refusal",
    "output.tool_calls",
    "output.finish_reason",
    "output.choices",
    "tool_logs",
    "failures",
)
"""What is compared of a step. Times, usage, evidence and who recorded a step say nothing of what the run did;
`failures` are all that `outcome` reads in it: kind, code, HTTP status, exit, message."""
RUN_FIELDS = ("run.task", "run.inputs", "run.outcome", "run.file_changes")
"""What is compared of the whole run: the task, the prompts of its Inputs, how they and the run ended, changed files."""
IDENTIFIERS = ("call_id", "otel_span_id", "framework_span_id", "tool_call_id")
"""What two records of one run share, the most telling first."""
SHOWN = 160
"""Characters of a value that a report shows."""


@dataclass(slots=True)
class StepMarks:
    """One step, small enough to keep for every step of a run."""

    step_id: int
    kind: str
    agent_name: str | None
    ids: dict[str, str] = field(default_factory=dict)
    digests: dict[str, str] = field(default_factory=dict)
    """A field that is not here was not recorded: two runs agree on it only where neither has it."""
    shown: dict[str, str] = field(default_factory=dict)
    tools: tuple[str | None, ...] = ()
    """Names of the tools it called or ran."""
    messages: tuple[str, ...] = ()
    """The first 16 hex digits of each message's digest, to say where two requests part."""


@dataclass(slots=True)
class Marks:
    """A whole run. `recorded` are the fields that its form has at all."""

    steps: list[StepMarks] = field(default_factory=list)
    recorded: frozenset[str] = frozenset((*FIELDS, *RUN_FIELDS))
    run_id: str | None = None
    case_id: str | None = None
    status: str | None = None
    digests: dict[str, str] = field(default_factory=dict)
    """Of `RUN_FIELDS`; a field that is not here was not recorded."""
    shown: dict[str, str] = field(default_factory=dict)


class MarkSink:
    """Keeps marks, never steps. Tool call ids are compared up to renaming: each is replaced by the place where the run
    first uses it, since a server invents new ones in every run."""

    def __init__(self, agent: Callable[[str], str] | None = None) -> None:
        self.marks = Marks()
        self._agent = agent
        self._names: dict[str, str] = {}
        self._outcome = OutcomeReader()
        self._task: JsonValue = None

    def begin(self, header: Header) -> None:
        self.marks.run_id, self.marks.case_id = header.run_id, header.case_id
        self._task = header.metadata.get("task_instruction")
        self._outcome.begin(header)

    def step(self, step: Step) -> None:
        self.marks.steps.append(self._marks(step))
        self._outcome.step(step)

    def end(self, summary: Summary) -> None:
        self.marks.status = summary.status
        self._outcome.end(summary)
        values: dict[str, JsonValue] = {
            "run.task": self._task,
            "run.inputs": [item.prompt for item in summary.inputs] or None,
            "run.outcome": _ends(self._outcome.outcome),
            "run.file_changes": _changes(summary) or None,
        }
        for name, value in values.items():
            if value is not None:
                self.marks.digests[name], self.marks.shown[name] = sha256_canonical(value), shorten(value)

    def _marks(self, step: Step) -> StepMarks:
        emitted = step.output.get("tool_calls")
        calls = [call for call in emitted if isinstance(call, dict)] if isinstance(emitted, list) else []
        messages = self._renamed(step.input.get("messages"))
        for call_id in [call.get("id") for call in calls] + [log.tool_call_id for log in step.tool_logs]:
            if isinstance(call_id, str) and call_id not in self._names:
                self._names[call_id] = f"call#{len(self._names) + 1}"
        agent = step.agent_name
        if agent is not None and self._agent is not None:
            agent = self._agent(agent)
        values: dict[str, JsonValue] = {
            "kind": step.kind,
            "agent_name": agent,
            "model": step.model,
            "status": step.status,
            "input.messages": messages,
            "output.tool_calls": self._renamed(calls) or None,
            "tool_logs": [self._log(log) for log in step.tool_logs] or None,
            "failures": failures_of(step),
        }
        for name in FIELDS:
            if name not in values:
                where, key = name.split(".")
                values[name] = (step.input if where == "input" else step.output).get(key)
        names = [call.get("name") for call in calls]
        if step.kind is StepKind.TOOL_ONLY:
            names = [log.tool_name for log in step.tool_logs]
        return StepMarks(
            step.step_id,
            step.kind,
            step.agent_name,
            _ids(step, calls),
            {name: sha256_canonical(value) for name, value in values.items() if value is not None},
            {name: shorten(value) for name, value in values.items() if value is not None},
            tuple(name if isinstance(name, str) else None for name in names),
            tuple(sha256_canonical(one)[:16] for one in messages) if isinstance(messages, list) else (),
        )

    def _log(self, log: ToolLog) -> JsonObject:
        return {
            "tool_call_id": self._renamed(log.tool_call_id),
            "tool_name": log.tool_name,
            "input_arguments": log.input_arguments,
            "outputs": self._renamed(log.outputs),
            "execution_status": log.execution_status,
            "exit_status": log.exit_status,
            "link": log.link,
        }

    def _renamed(self, value: JsonValue) -> JsonValue:
        """A copy with the names of ids in their place; without recursion, since content nests deep."""
        whole: list[JsonValue] = [value]
        left: list[tuple[Any, Any]] = [(whole, 0)]
        while left:
            holder, key = left.pop()
            found = holder[key]
            if isinstance(found, str):
                holder[key] = self._names.get(found, found)
            elif isinstance(found, list):
                holder[key] = [*found]
                left.extend((holder[key], number) for number in range(len(found)))
            elif isinstance(found, dict):
                holder[key] = {**found}
                left.extend((holder[key], name) for name in found)
        return whole[0]


def failures_of(step: Step) -> list[JsonValue] | None:
    return [_failure(failure) for failure in step_failures(step)] or None


def _failure(failure: Failure) -> JsonObject:
    """What a failure says, without where it stands."""
    said = {
        "code": failure.code,
        "http_status": failure.http_status,
        "exit": failure.exit_code,
        "signal": failure.signal,
        "tool": failure.tool,
        "message": failure.message,
    }
    return {"kind": str(failure.kind), **{key: value for key, value in said.items() if value is not None}}


def _ends(outcome: Outcome) -> JsonObject:
    """How the run ended, then each Input: the status, and the error that its own record names."""
    ends = [
        {
            "status": str(end.status),
            "stop_reason": end.stop_reason,
            "error": None if end.error is None else _failure(end.error),
        }
        for end in outcome.inputs
    ]
    reason = outcome.ended.reason
    return {
        "status": str(outcome.ended.status),
        "reason": None if reason is None else _failure(reason),
        "inputs": [{key: value for key, value in end.items() if value is not None} for end in ends],
    }


def _changes(summary: Summary) -> list[JsonValue]:
    """Every file change with the number of its Input, without the bytes that say so."""
    return [
        [number, {key: value for key, value in change.items() if key != "evidence"}]
        for number, item in enumerate(summary.inputs, 1)
        for change in item.file_changes
    ]


def shorten(value: JsonValue) -> str:
    text = value if isinstance(value, str) else dumps(value).decode("utf-8", "replace")
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}… ({len(text)} characters)"


def _ids(step: Step, calls: list[JsonObject]) -> dict[str, str]:
    out: dict[str, str] = {}
    for name in ("call_id", "framework_span_id"):
        value = step.evidence.get(name)
        if isinstance(value, str):
            out[name] = value
    span, trace = step.evidence.get("otel_span_id"), step.evidence.get("trace_id")
    if isinstance(span, str):
        out["otel_span_id"] = f"{trace}:{span}"
    used = [call.get("id") for call in calls] or [log.tool_call_id for log in step.tool_logs]
    if used and all(isinstance(call_id, str) for call_id in used):
        out["tool_call_id"] = " ".join(str(call_id) for call_id in used)
    return out
