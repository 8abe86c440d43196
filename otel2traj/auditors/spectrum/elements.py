"""A run to the set of what happened in it: agents, tools, shapes of arguments, errors, and who followed whom."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from ...canonical import JsonObject, JsonValue
from ...model.trajectory import Header, Step, StepKind, Summary
from ...outcome import EndStatus, OutcomeReader
from ...timestamps import parse_ns


class ElementKind(StrEnum):
    AGENT = "agent"
    TOOL = "tool"
    ARGUMENTS = "arguments"
    """A tool with the names of the arguments it was given, not their values."""
    ERROR = "error"
    TRANSITION = "transition"
    """One agent acting right after another, or one tool used right after another by the same agent."""


class Element(NamedTuple):
    """One thing that a run did or did not do. `agent` groups the elements by who did it."""

    kind: ElementKind
    name: str
    agent: str | None = None


@dataclass(slots=True)
class RunElements:
    """What happened in a run, each element with the step where it happened first, and a few figures of the whole."""

    name: str = ""
    first: dict[Element, int] = field(default_factory=dict)
    ended: EndStatus = EndStatus.NOT_RECORDED
    reason: str | None = None
    steps: int = 0
    tools: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    started_ns: int | None = None
    ended_ns: int | None = None

    @property
    def seconds(self) -> float | None:
        """From the first start to the last end that was recorded."""
        if self.started_ns is None or self.ended_ns is None:
            return None
        return (self.ended_ns - self.started_ns) / 1e9

    def row(self) -> JsonObject:
        """The run as one line of a list: name, end, reason, figures."""
        return {
            "name": self.name,
            "ended": self.ended,
            "reason": self.reason,
            "steps": self.steps,
            "tool_calls": self.tools,
            "input_tokens": self.tokens_in,
            "output_tokens": self.tokens_out,
            "seconds": self.seconds,
        }


class ElementSink:
    """A `StepSink` that keeps elements, never steps."""

    def __init__(self, name: str) -> None:
        self.run = RunElements(name)
        self._outcome = OutcomeReader()
        self._agent: str | None = None
        self._tool: dict[str | None, str] = {}

    def begin(self, header: Header) -> None:
        self._outcome.begin(header)

    def step(self, step: Step) -> None:
        self._outcome.step(step)
        run, agent, at = self.run, step.agent_name, step.step_id
        run.steps += 1
        started, ended = parse_ns(step.started_at or ""), parse_ns(step.ended_at or "")
        if started is not None and (run.started_ns is None or started < run.started_ns):
            run.started_ns = started
        if ended is not None and (run.ended_ns is None or ended > run.ended_ns):
            run.ended_ns = ended
        if agent is not None:
            self._see(Element(ElementKind.AGENT, agent, agent), at)
            if self._agent is not None and self._agent != agent:
                self._see(Element(ElementKind.TRANSITION, f"{self._agent} → {agent}", agent), at)
            self._agent = agent
        usage = step.output.get("usage")
        if isinstance(usage, dict):
            run.tokens_in += _count(usage.get("input_tokens"))
            run.tokens_out += _count(usage.get("output_tokens"))
        for name, arguments in _calls(step):
            run.tools += 1
            self._see(Element(ElementKind.TOOL, name, agent), at)
            if isinstance(arguments, dict):
                shape = f"{name}({', '.join(sorted(map(str, arguments)))})"
                self._see(Element(ElementKind.ARGUMENTS, shape, agent), at)
            before = self._tool.get(agent)
            if before is not None:
                self._see(Element(ElementKind.TRANSITION, f"{before} → {name}", agent), at)
            self._tool[agent] = name

    def end(self, summary: Summary) -> None:
        self._outcome.end(summary)
        outcome = self._outcome.outcome
        for failure in outcome.failures:
            name = f"{failure.kind}: {failure.code}" if failure.code else str(failure.kind)
            where = f"{failure.tool} {name}" if failure.tool else name
            self._see(Element(ElementKind.ERROR, where, failure.agent), failure.step_id or 0)
        self.run.ended = outcome.ended.status
        self.run.reason = None if outcome.ended.reason is None else outcome.ended.reason.reason

    def _see(self, element: Element, step: int) -> None:
        self.run.first.setdefault(element, step)


def _calls(step: Step) -> list[tuple[str, JsonValue]]:
    if step.kind is StepKind.TOOL_ONLY:
        return [(log.tool_name, log.input_arguments) for log in step.tool_logs if log.tool_name is not None]
    emitted = step.output.get("tool_calls")
    calls = [call for call in emitted if isinstance(call, dict)] if isinstance(emitted, list) else []
    return [(str(call["name"]), call.get("arguments")) for call in calls if call.get("name") is not None]


def _count(value: JsonValue) -> int:
    return value if type(value) is int and value > 0 else 0
