"""What a span, a log record or a body means: facts with the name of whoever said them."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from ..canonical import JsonObject, JsonValue
from ..messages import Message, Output, ToolCall, Usage
from .evidence import Notice


class Role(StrEnum):
    """What a span stands for in a trajectory."""

    MODEL_CALL = "model_call"
    TOOL_EXECUTION = "tool_execution"
    AGENT = "agent"
    CHAIN = "chain"
    NONE = "none"
    """Recognised, and deliberately not part of a trajectory (transport, embeddings, synthetic spans)."""


@dataclass(slots=True)
class Classified:
    """All the first pass needs of a span: cheap to make, small to keep."""

    role: Role | None = None
    """None: no dialect recognised the span."""
    dialects: tuple[str, ...] = ()
    agent_name: str | None = None
    """The acting component as this very span names it (own attribute, or the checkpoint namespace path)."""
    agent_path: str | None = None
    """Raw `langgraph_checkpoint_ns` where one is recorded on the span."""
    conversation_id: str | None = None
    turn: str | None = None
    """The producer's own id of the prompt that the span belongs to, where its traces are no Inputs."""
    purpose: str | None = None
    """What the calls below the span are for, where that is beside the conversation: a title, a summary."""
    encloses: bool | None = None
    """The producer runs below this span every tool that the one model call below it asked for."""
    framework_span_id: str | None = None
    """`abb.framework_span_id`, the id that the interceptor header carries."""
    log_key: str | None = None
    """The key under which log records tell of this very call (a request id, a tool call id); see `LogClassified`."""


@dataclass(init=False)
class Reading:
    """Everything the dialects say of one span with its log records. None means nothing said.

    Most of its fields say nothing of most spans, so an object holds those alone that were set (`vars`)."""

    role: Role | None = None
    # model call
    request_model: str | None = None
    response_model: str | None = None
    provider: str | None = None
    response_id: str | None = None
    """The provider's own response id only; framework message and run ids are something else."""
    system: JsonValue = None
    messages: list[Message] | None = None
    tools: list[JsonObject] | None = None
    """Tool definitions as recorded; `{"name", "description"?, "parameters"?}` where built from flat attributes."""
    parameters: JsonObject | None = None
    text: str | None = None
    reasoning: str | None = None
    refusal: str | None = None
    tool_calls: list[ToolCall] | None = None
    finish_reason: str | None = None
    choices: list[JsonObject] | None = None
    other_parts: list[JsonObject] | None = None
    usage: Usage | None = None
    purpose: str | None = None
    # tool execution
    tool_name: str | None = None
    tool_call_id: str | None = None
    arguments: JsonValue = None
    result: JsonValue = None
    is_error: bool | None = None
    error: str | None = None
    error_type: str | None = None
    """The class of the exception, or the `error.type` of the span."""
    stack: str | None = None
    http_status: int | None = None
    """Of a call that failed."""
    failure: JsonObject | None = None
    """What a trajectory that was exported as OTLP said of a failure, whole: any of `wire_error`, `error`,
    `http_status`, `exit_status`, `exception`."""
    no_outcome: bool | None = None
    """The record tells that the tool ran and what came back, and not whether it succeeded."""
    exit_code: int | None = None
    """Only from a structured field the dialect defines; never parsed from prose."""
    # who and where
    agent_name: str | None = None
    agent_path: str | None = None
    """Raw `langgraph_checkpoint_ns`, where it stands beside the record and not on it."""
    conversation_id: str | None = None
    # the whole
    input_text: str | None = None
    """What a root, agent or chain span was asked, where the dialect records it as such."""
    output_text: str | None = None
    said_by: dict[str, str] = field(default_factory=dict)
    """Field name -> dialect that gave it (`dialect` or `dialect:carrier`)."""
    truncated: set[str] = field(default_factory=set)
    """Fields whose recorded value was cut by an attribute limit or marker."""
    extra: JsonObject = field(default_factory=dict)
    """Identifiers worth keeping that have no field, e.g. `mcp.session.id`."""
    notices: list[Notice] = field(default_factory=list)
    shared: int = field(default=0, compare=False, repr=False)
    """Recorded bytes of content that it shares with readings before it: what memory holds once."""

    def __init__(self, role: Role | None = None, **told: Any) -> None:
        self.role = role
        self.said_by = {}
        self.truncated = set()
        self.extra = {}
        self.notices = []
        if told:
            vars(self).update(told)

    def has_output(self) -> bool:
        return (
            self.text is not None
            or self.reasoning is not None
            or self.refusal is not None
            or self.tool_calls is not None
            or self.other_parts is not None
        )


@dataclass(slots=True)
class ModelRequest:
    """What a model received. `messages` as sent; `system` only where the provider keeps it apart."""

    messages: list[JsonValue] | None = None
    system: JsonValue = None
    tools: JsonValue = None
    model: str | None = None
    parameters: JsonObject = field(default_factory=dict)


@dataclass(slots=True)
class ModelResponse:
    """What a model answered, merged where it was streamed."""

    output: Output = field(default_factory=Output)
    response_id: str | None = None
    complete: bool = True
    """False when a stream broke off before its end marker."""
    error: JsonObject | None = None
    """The provider's error object, where the body is one."""
    unread: bool = False
    """Nothing was read of the body: it stands whole in `other_parts`."""


@dataclass(slots=True)
class RequestGlance:
    """What the first pass needs of a request body."""

    model: str | None = None
    reported: list[tuple[str, str]] = field(default_factory=list)
    """(tool call id, SHA-256 of the canonical content) for each tool result in the history, in order."""
    emitted_history: list[str] = field(default_factory=list)
    """Ids of tool calls in the history; never emissions of this call."""


@dataclass(slots=True)
class ResponseGlance:
    """What the first pass needs of a response body."""

    response_id: str | None = None
    model: str | None = None
    tool_calls: list[ToolCall] = field(default_factory=list)
    """Of every choice."""
    text: str | None = None
