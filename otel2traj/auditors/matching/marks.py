"""Steps to what two runs are compared by: identifiers, a digest of each field, and a few words for people."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ...canonical import JsonObject, JsonValue, dumps, sha256_canonical
from ...model.trajectory import Header, Step, StepKind, Summary, ToolLog

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
)
"""What is compared. Times, usage, evidence and who recorded a step say nothing of what the run did."""
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
    recorded: frozenset[str] = frozenset(FIELDS)
    run_id: str | None = None
    case_id: str | None = None
    status: str | None = None


class MarkSink:
    """Keeps marks, never steps. Tool call ids are compared up to renaming: each is replaced by the place where the run
    first uses it, since a server invents new ones in every run."""

    def __init__(self, agent: Callable[[str], str] | None = None) -> None:
        self.marks = Marks()
        self._agent = agent
        self._names: dict[str, str] = {}

    def begin(self, header: Header) -> None:
        self.marks.run_id, self.marks.case_id = header.run_id, header.case_id

    def step(self, step: Step) -> None:
        self.marks.steps.append(self._marks(step))

    def end(self, summary: Summary) -> None:
        self.marks.status = summary.status

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
        if isinstance(value, str):
            return self._names.get(value, value)
        if isinstance(value, list):
            return [self._renamed(item) for item in value]
        if isinstance(value, dict):
            return {key: self._renamed(item) for key, item in value.items()}
        return value


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
