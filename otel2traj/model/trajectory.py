"""The result: header, steps, tool logs, inputs, coverage, summary; and the sink that consumes them.

Field order and names are those of the trajectory evidence contract (`abb.agent-trajectory.v1`). Every class keeps
what it does not know in `extra` and writes it back.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from ..canonical import JsonObject, JsonValue
from ..messages import Conversation, read_conversation
from .link import ExecutionStatus, LinkStatus

SCHEMA = "abb.agent-trajectory.v1"
BUILDER_VERSION = 1


class TrajectoryStatus(StrEnum):
    COMPLETE = "complete"
    PARTIAL = "partial"
    FAILED = "failed"


class StepKind(StrEnum):
    MODEL = "model"
    TOOL_ONLY = "tool_only"


class StepSource(StrEnum):
    WIRE = "wire"
    BOTH = "wire+framework"
    FRAMEWORK = "framework"


class StepStatus(StrEnum):
    COMPLETE = "complete"
    FAILED = "failed"
    INCOMPLETE = "incomplete"


@dataclass(slots=True)
class Header:
    """All that is known before the first step. `metadata` as in the contract, complete."""

    run_id: str | None = None
    agent_id: str | None = None
    case_id: str | None = None
    framework: str | None = None
    metadata: JsonObject = field(default_factory=dict)
    schema: str = SCHEMA
    builder_version: int = BUILDER_VERSION
    extra: JsonObject = field(default_factory=dict)
    naming: dict[str, list[JsonObject]] = field(default_factory=dict, compare=False)
    """Agent -> the records of the spans that name it. For provenance: it stands in no file."""


@dataclass(slots=True)
class ToolLog:
    """One tool execution, or the fact that none was observed."""

    tool_call_id: str | None
    tool_name: str | None
    input_arguments: JsonValue
    outputs: JsonValue
    execution_status: ExecutionStatus
    exit_status: JsonObject | None
    link: LinkStatus
    evidence: JsonObject = field(default_factory=dict)
    extra: JsonObject = field(default_factory=dict)


@dataclass(slots=True)
class Step:
    """One model call with the executions of the calls it emitted, or one execution that no model call emitted.

    `input` has `messages`, `system`, `tools`, `model`, `parameters` where recorded. `output` has `text`, `reasoning`,
    `tool_calls`, `finish_reason`, `usage`, `model`, and where they apply `refusal`, `choices`, `other_parts`,
    `extra`, `wire_error`, `output_source`, `tool_calls_source`.
    """

    step_id: int
    input_ordinal: str | None
    agent_name: str | None
    kind: StepKind
    source: StepSource
    started_at: str | None
    ended_at: str | None
    model: str | None
    purpose: str | None
    status: StepStatus
    input: JsonObject
    output: JsonObject
    tool_logs: list[ToolLog]
    evidence: JsonObject
    extra: JsonObject = field(default_factory=dict)

    def conversation(self) -> Conversation:
        """What the model received and answered, typed and alike for every recorded shape. Read anew on each call."""
        return read_conversation(self.input, self.output)


@dataclass(slots=True)
class SdkInput:
    """One prompt that was sent to the agent. `step_range` is `[first, last]`, or None without a step."""

    ordinal: str
    input_id: str | None
    prompt: JsonValue
    step_range: list[int] | None
    result: JsonObject | None
    file_changes: list[JsonObject]
    extra: JsonObject = field(default_factory=dict)


@dataclass(slots=True)
class Coverage:
    model_calls: int = 0
    tool_calls: int = 0
    file_changes: int = 0
    ambiguous_links: int = 0
    unlinked_tool_calls: int = 0
    unobserved_tool_executions: int = 0
    inferred_links: int | None = 0
    """None when inference was switched off; then the key is left out."""
    extra: JsonObject = field(default_factory=dict)


@dataclass(slots=True)
class Summary:
    """All that is known only after the last step."""

    status: TrajectoryStatus
    inputs: list[SdkInput] = field(default_factory=list)
    coverage: Coverage = field(default_factory=Coverage)
    sources: list[JsonObject] = field(default_factory=list)
    """`{"path", "sha256"}`, sorted by path."""
    warnings: list[str] = field(default_factory=list)
    error: JsonObject | None = None
    """`{"type", "message"}` when the status is failed."""


@dataclass(slots=True)
class Trajectory:
    """All of it in memory, for those who need random access; sinks should not."""

    header: Header
    steps: list[Step]
    summary: Summary


class StepSink(Protocol):
    """Whatever consumes a trajectory: `begin` once, `step` in order, `end` once. Keeps no step after it returns."""

    def begin(self, header: Header) -> None: ...

    def step(self, step: Step) -> None: ...

    def end(self, summary: Summary) -> None: ...


Event = Header | Step | Summary
"""One part of a trajectory: the header, then the steps in order, then the summary."""


def drive(events: Iterable[Event], sinks: Iterable[StepSink]) -> Summary:
    """Push a trajectory into sinks. Raises `ValueError` where it has no summary."""
    sinks = tuple(sinks)
    summary: Summary | None = None
    for event in events:
        if isinstance(event, Step):
            for sink in sinks:
                sink.step(event)
        elif isinstance(event, Header):
            for sink in sinks:
                sink.begin(event)
        else:
            summary = event
    if summary is None:
        raise ValueError("the trajectory has not ended")
    for sink in sinks:
        sink.end(summary)
    return summary


class Collect:
    """A sink that keeps everything, as a `Trajectory`."""

    def __init__(self) -> None:
        self._header: Header | None = None
        self._steps: list[Step] = []
        self._summary: Summary | None = None

    def begin(self, header: Header) -> None:
        self._header = header

    def step(self, step: Step) -> None:
        self._steps.append(step)

    def end(self, summary: Summary) -> None:
        self._summary = summary

    @property
    def trajectory(self) -> Trajectory:
        if self._header is None or self._summary is None:
            raise ValueError("the trajectory has not ended")
        return Trajectory(self._header, self._steps, self._summary)
