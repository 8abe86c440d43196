"""What the first pass keeps of a record: keys, times and the address of the bytes. Bodies stay on disk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from .evidence import EvidenceRef
from .link import InferenceRule, JoinRule, LinkStatus, Witness
from .reading import Role


class Recorder(StrEnum):
    """Who wrote a record down."""

    WIRE = "wire"
    FRAMEWORK = "framework"
    OTEL = "otel"
    LOGS = "logs"
    ACP = "acp"
    SESSION = "session"
    """A file that the agent itself keeps of its session."""


class Part(NamedTuple):
    """One record behind a step or a tool log, and what it is: request, response, error, span, log, ..."""

    what: str
    ref: EvidenceRef
    sha256: str | None = None
    """Of the recorded bytes, where they were at hand."""


class Arguments(NamedTuple):
    """Recorded arguments as they can be compared: digests, never the values."""

    sha256: str
    """Over the canonical value as recorded."""
    inner: tuple[str, ...] = ()
    """Digests of what is left when a sole member, a sole item or JSON text around it is taken off, step by step."""
    members: dict[str, int] | None = None
    """The innermost object of several members: each name with a digest of its value. Empty for no arguments at all;
    None where that is a single value."""
    name: str | None = None
    """The name that a single value stood under."""


class EmittedCall(NamedTuple):
    """A tool call in a response position. `also` is another id of the same call that stands in the same record."""

    id: str | None
    name: str | None
    arguments: Arguments | None
    also: str | None = None


class Reported(NamedTuple):
    """A tool result in a request's history, kept where no earlier request reported the same. `position` counts the
    tool results of that request from 0; `sha256` is over the canonical content."""

    tool_call_id: str
    sha256: str
    position: int


class Said(NamedTuple):
    """What a recording of a model call says beside its ids, for comparison with another recording of it."""

    models: tuple[str, ...] = ()
    """Names of the model in the request and in the response."""
    text: str | None = None
    """Digest of the answer's text."""
    history: str | None = None
    """Digest of the set of tool call ids in the request's history; None where there is none."""
    times: tuple[tuple[str, int], ...] = ()
    """Ids that were emitted more than once by then: those that the history holds several times, or that the answer
    emits again, with how often."""


@dataclass(slots=True, eq=False)
class SpanHead:
    """One span, framework span, log group or ACP tool call. Compared by identity."""

    recorder: Recorder
    source: str
    ordinal: str | None
    trace_id: str | None
    span_id: str
    parent_id: str | None
    role: Role
    start_ns: int | None
    end_ns: int | None
    parts: list[Part] = field(default_factory=list)
    dialects: tuple[str, ...] = ()
    scope: str = ""
    agent_name: str | None = None
    agent_path: str | None = None
    conversation_id: str | None = None
    framework_span_id: str | None = None
    otel_span_id: str | None = None
    finished: bool = True
    failed: bool = False
    fallback_only: bool = False
    turn: str | None = None
    """The recorder's own name of the Input: a prompt or turn id, where its traces are no Inputs."""
    purpose: str | None = None
    encloses: bool = False
    """Below it run one model call and the tools that this call asked for, and nothing else."""
    of_span: bool = False
    """A log group whose records carry the span id of the very call they tell of."""
    # set by the glance at its content: model calls
    response_id: str | None = None
    emitted: Sequence[EmittedCall] = ()
    reported: Sequence[Reported] = ()
    said: Said | None = None
    has_content: bool = False
    has_output: bool = False
    # tool executions
    tool_call_id: str | None = None
    id_rule: str = "tool_call_id"
    """Where the tool call id is from: the execution's own records, or the task it was started in."""
    tool_name: str | None = None
    arguments: Arguments | None = None
    result_sha256: str | None = None
    mcp_side: str | None = None
    """`client` or `server`, by the kind of a span of the MCP conventions."""
    session: str | None = None
    # tree
    parent: SpanHead | None = None
    twins: list[SpanHead] = field(default_factory=list)
    """Other recordings of the same call or execution, weaker ones first to be asked last."""

    def interaction_key(self) -> str:
        """The group key of the interaction index: the span within its file, else the place of the record."""
        if self.span_id != "" or not self.parts:
            return f"span:{self.source}:{self.span_id}"
        return f"event:{self.source}:{self.parts[0].ref.offset}"

    def order(self) -> tuple[int, int, str, int]:
        """Sort key: start time (unreadable last), then source and position."""
        ref = self.parts[0].ref if self.parts else None
        return (
            0 if self.start_ns is not None else 1,
            self.start_ns or 0,
            self.source,
            0 if ref is None else ref.offset,
        )


@dataclass(slots=True, eq=False)
class WireHead:
    """One model call on the wire, grouped by `call_id`."""

    call_id: str
    source: str
    request: EvidenceRef | None = None
    response: EvidenceRef | None = None
    error: EvidenceRef | None = None
    others: list[Part] = field(default_factory=list)
    """Earlier responses and repeated requests of the same call."""
    chunks: int = 0
    start_ns: int | None = None
    end_ns: int | None = None
    started_at: str | None = None
    ended_at: str | None = None
    path: str = ""
    agent_id: str | None = None
    run_id: str | None = None
    case_id: str | None = None
    input_id: str | None = None
    session: str | None = None
    framework_span_id: str | None = None
    traceparent: str | None = None
    source_model: str | None = None
    """The model that the agent asked for, where the interceptor put another in its place."""
    http_status: int | None = None
    error_code: str | None = None
    truncated: bool = False
    # set by the glance
    response_id: str | None = None
    emitted: Sequence[EmittedCall] = ()
    reported: Sequence[Reported] = ()
    said: Said | None = None

    def order(self) -> tuple[int, int, str, int]:
        """Sort key: the start as the step will state it; one that is no time stands last, whatever the end says."""
        ref = self.request or self.error or self.response
        known = self.start_ns if self.started_at is not None else self.end_ns
        return (
            0 if known is not None else 1,
            known or 0,
            self.source,
            0 if ref is None else ref.offset,
        )

    def succeeded(self) -> bool:
        return self.response is not None and self.error is None and (self.http_status is None or self.http_status < 400)


@dataclass(slots=True, eq=False)
class ModelCall:
    """One model step to be: the wire side, the span side, or both, joined by one rule."""

    wire: WireHead | None = None
    span: SpanHead | None = None
    join: JoinRule | None = None
    witness: Witness | None = None
    """What the joined recordings say of each other."""
    owns_span_output: bool = True
    """False for the failed attempts of a retried call: the span's output belongs to the last successful one."""
    anchor: SpanHead | None = None
    """The recorded span that the wire call was made under, where it is no model span: names Input and actor."""
    lenders: list[SpanHead] = field(default_factory=list)
    """Wrappers that lend what the call's own span lacks."""
    around: list[SpanHead] = field(default_factory=list)
    """Wrappers that lend nothing: their own word is of several calls, or contradicts this one."""
    ordinal: str | None = None
    step_id: int = 0

    def heads(self) -> list[SpanHead]:
        """Every recording of the span side, in the order in which they are asked."""
        return [] if self.span is None else [self.span, *self.span.twins, *self.lenders]

    def span_speaks(self) -> bool:
        """Whether the answer of the step is the span side's: the wire has none, and a recording that is this call's
        own has."""
        if self.wire is not None and (self.wire.succeeded() or not self.owns_span_output):
            return False
        return any(head.has_output or head.emitted for head in self.heads())

    def emitted(self) -> Sequence[EmittedCall]:
        """The tool calls of the answer, of the recording whose calls stand in the step."""
        if self.span_speaks():
            return next((head.emitted for head in self.heads() if head.emitted), ())
        return () if self.wire is None else self.wire.emitted

    def reported(self) -> Sequence[Reported]:
        if self.wire is not None and self.wire.request is not None:
            return self.wire.reported
        return self.span.reported if self.span is not None else ()

    def order(self) -> tuple[int, int, str, int]:
        if self.wire is not None:
            return self.wire.order()
        assert self.span is not None
        return self.span.order()

    def interaction_key(self) -> str:
        if self.wire is not None:
            return f"network:{self.wire.call_id}"
        assert self.span is not None
        return self.span.interaction_key()


@dataclass(slots=True, eq=False)
class Execution:
    """One tool execution to be, with every recording of it. `head` is the innermost observed one."""

    head: SpanHead
    wrappers: list[SpanHead] = field(default_factory=list)
    ordinal: str | None = None
    step_id: int = 0
    """Set when it becomes a step of its own."""

    def heads(self) -> list[SpanHead]:
        return [self.head, *self.head.twins, *self.wrappers]

    def tool_call_id(self) -> str | None:
        if self.head.tool_call_id is not None:
            return self.head.tool_call_id
        return next((h.tool_call_id for h in self.heads() if h.tool_call_id is not None), None)

    def id_rule(self) -> str:
        if self.head.tool_call_id is not None:
            return self.head.id_rule
        return next((h.id_rule for h in self.heads() if h.tool_call_id is not None), "tool_call_id")

    def tool_name(self) -> str | None:
        return next((h.tool_name for h in self.heads() if h.tool_name is not None), None)

    def arguments(self) -> Arguments | None:
        return next((h.arguments for h in self.heads() if h.arguments is not None), None)

    def order(self) -> tuple[int, int, str, int]:
        return self.head.order()

    def interaction_key(self) -> str:
        return self.head.interaction_key()


@dataclass(slots=True, eq=False)
class ToolLink:
    """What became of one emitted tool call: `execution` only where the link is exact."""

    call: ModelCall
    position: int
    emitted: EmittedCall
    status: LinkStatus = LinkStatus.NONE
    execution: Execution | None = None
    candidates: list[Execution] = field(default_factory=list)
    witnesses: list[Witness] = field(default_factory=list)
    """What the call and each of the candidates say of each other."""
    emitters: int = 1
    lost_emitters: bool = False
    """A request shows that the id was emitted more often than any recorded answer does."""
    in_scope: Execution | None = None
    """Among several candidates, the one whose recorded parents lead to this call and to no other emitter."""
    rule: str | None = None
    inferred: Execution | None = None
    inferred_rule: InferenceRule | None = None
    reported_by: ModelCall | None = None
    reported_position: int = 0
    reported_sha256: str | None = None
