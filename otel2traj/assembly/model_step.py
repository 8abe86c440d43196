"""One model call to one step: the wire's word first, field by field, then what the spans add."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field
from typing import Final

from ..canonical import JsonObject, JsonValue
from ..messages import Output, ToolCall, Usage, all_tool_calls
from ..model.evidence import Notice
from ..model.heads import ModelCall, SpanHead
from ..model.reading import ModelRequest, ModelResponse, Reading
from ..model.trajectory import StepStatus
from ..providers import model_in_path
from .combine import combine, exception_json
from .hydrate import WireBodies
from .readings import Readings

ACCEPTED_ERRORS = frozenset({"transport_error", "upstream_error"})
"""Error codes that end a call legitimately without a response; any other costs the evidence its standing."""

RECOVERED_FROM = frozenset({"enclosing_span", "graph_node"})
"""What told the tool calls of an answer that itself tells none."""


@dataclass(slots=True)
class ModelParts:
    """The parts of a model step that come from its bodies."""

    input: JsonObject = field(default_factory=dict)
    output: JsonObject = field(default_factory=dict)
    tool_calls: list[ToolCall] = field(default_factory=list)
    model: str | None = None
    purpose: str | None = None
    status: StepStatus = StepStatus.INCOMPLETE
    request_sha256: str | None = None
    response_sha256: str | None = None
    said_by: dict[str, str] = field(default_factory=dict)
    source_model: str | None = None
    elsewhere: JsonObject = field(default_factory=dict)
    """What the span says of messages that stand elsewhere: in an earlier call, or in a file."""
    response_id: str | None = None
    """As the span side read whole says it."""
    recorded: JsonObject = field(default_factory=dict)
    """What the span side tells that has no field of a step."""
    exception: JsonObject | None = None
    """What the span side records of its failure: `{"type"?, "message"?, "stacktrace"?}`."""
    cut: list[str] = field(default_factory=list)
    """Names of span fields that a limit had cut, where the span is what the step was read from."""
    notices: list[Notice] = field(default_factory=list)


class ModelStepReader:
    """Reads the bodies of one call at a time."""

    def __init__(self, readings: Readings, recovered: Mapping[SpanHead, tuple[str, list[ToolCall]]]) -> None:
        self._readings = readings
        self._recovered = recovered

    def read(self, call: ModelCall) -> ModelParts:
        parts = ModelParts()
        reading = self.span_reading(call)
        bodies = None if call.wire is None else self._readings.bodies(call.wire)
        if bodies is None:
            _from_span(parts, call, reading)
        else:
            _from_wire(parts, call, bodies, reading)
        if call.span_speaks() and reading.said_by.get("tool_calls") in RECOVERED_FROM:
            parts.output["tool_calls_source"] = parts.said_by.pop("tool_calls")
        heard = call.wire is not None and call.wire.response is not None
        extra = {key: reading.extra[key] for key in sorted(reading.extra) if key not in _ELSEWHERE}
        parts.recorded = {key: extra[key] for key in extra if not (key == "output" and heard)}
        unnamed = {} if bodies is None else bodies.unnamed()
        if unnamed:
            parts.recorded["wire"] = unnamed
        parts.notices.extend(reading.notices)
        parts.purpose = parts.purpose or reading.purpose
        parts.response_id = reading.response_id
        return parts

    def span_reading(self, call: ModelCall) -> Reading:
        """What all recordings of the span side say together."""
        heads = call.heads()
        reading = combine([self._readings.of(head) for head in heads])
        for head in heads:
            own = self._readings.of(head)
            if all_tool_calls(own.tool_calls or [], own.choices):
                break
            if head in self._recovered:
                source, calls = self._recovered[head]
                reading = copy(reading)
                reading.tool_calls, reading.said_by = calls, {**reading.said_by, "tool_calls": source}
                break
        return reading


_ELSEWHERE: Final = ("previous_response_id", "input_messages_delta", "input_messages_ref", "output_messages_ref")


def _from_span(parts: ModelParts, call: ModelCall, reading: Reading) -> None:
    assert call.span is not None
    parts.input = _span_input(reading)
    output = _span_output(reading)
    parts.output = output_json(output)
    _counts(parts, output)
    parts.tool_calls = all_tool_calls(reading.tool_calls or [], reading.choices)
    parts.model = reading.response_model or reading.request_model
    parts.said_by = dict(sorted(reading.said_by.items()))
    parts.cut = sorted(reading.truncated)
    parts.elsewhere = {key: reading.extra[key] for key in _ELSEWHERE if key in reading.extra}
    if call.span.failed:
        parts.status = StepStatus.FAILED
        if reading.http_status is not None:
            parts.output["http_status"] = reading.http_status
        error = {"type": reading.error_type, "message": reading.error}
        if any(value is not None for value in error.values()):
            parts.output["error"] = {key: value for key, value in error.items() if value is not None}
        parts.exception = exception_json(reading)
    elif call.span.finished:
        parts.status = StepStatus.COMPLETE
    if reading.failure is not None:
        for key in ("wire_error", "error", "http_status"):
            if reading.failure.get(key) is not None:
                parts.output[key] = reading.failure[key]
        parts.exception = reading.failure.get("exception", parts.exception)


def _span_input(reading: Reading) -> JsonObject:
    messages: list[JsonValue] | None = None
    if reading.messages is not None:
        messages = [message.to_json() for message in reading.messages]
    return _input_json(
        ModelRequest(messages, reading.system, reading.tools, reading.request_model, reading.parameters or {})
    )


def _span_output(reading: Reading) -> Output:
    return Output(
        text=reading.text,
        reasoning=reading.reasoning,
        tool_calls=reading.tool_calls or [],
        finish_reason=reading.finish_reason,
        usage=reading.usage,
        model=reading.response_model,
        refusal=reading.refusal,
        choices=reading.choices,
        other_parts=reading.other_parts or [],
    )


def _input_json(request: ModelRequest) -> JsonObject:
    out: JsonObject = {}
    if request.messages is not None:
        out["messages"] = request.messages
    for key in ("system", "tools", "model"):
        value = getattr(request, key)
        if value is not None:
            out[key] = value
    if request.parameters:
        out["parameters"] = request.parameters
    return out


def _counts(parts: ModelParts, output: Output) -> None:
    wrong = [] if output.usage is None else output.usage.below_zero()
    if wrong:
        message = f"{', '.join(wrong)} below zero: kept in the raw usage alone"
        parts.notices.append(Notice("unreadable_value", message))


def output_json(output: Output) -> JsonObject:
    """The contract's keys always, the rest where something was said."""
    out: JsonObject = {
        "text": output.text,
        "reasoning": output.reasoning,
        "tool_calls": [call.to_json() for call in output.all_tool_calls()],
        "finish_reason": output.finish_reason,
    }
    if output.usage is not None and not output.usage.is_empty():
        out["usage"] = output.usage.to_json()
    out["model"] = output.model
    if output.refusal is not None:
        out["refusal"] = output.refusal
    if output.choices is not None:
        out["choices"] = output.choices
    if output.other_parts:
        out["other_parts"] = output.other_parts
    if output.extra:
        out["extra"] = output.extra
    return out


def _from_wire(parts: ModelParts, call: ModelCall, bodies: WireBodies, reading: Reading) -> None:
    wire = call.wire
    assert wire is not None
    request, response = bodies.request(), bodies.response()
    model = bodies.request_data.get("model")
    request.model = request.model or (model if isinstance(model, str) else None) or model_in_path(wire.path)
    if wire.request is not None:
        parts.input = _input_json(request)
        parts.request_sha256 = bodies.request_body.sha256()
    else:
        parts.input = _span_input(reading)
    if wire.response is not None:
        parts.response_sha256 = bodies.response_body.sha256()
    source_model = bodies.request_data.get("source_model")
    parts.source_model = source_model if isinstance(source_model, str) else None
    parts.purpose = _purpose(bodies)
    refused = wire.http_status is not None and wire.http_status >= 400
    usable = wire.response is not None and wire.error is None and not refused
    spoken = call.owns_span_output and call.span is not None and call.span.finished and not call.span.failed
    if usable:
        output = response.output
        parts.status = StepStatus.COMPLETE if response.complete else StepStatus.INCOMPLETE
        parts.said_by = {"input": "wire", "output": "wire"}
        if spoken:
            _disagreements(parts, call, output, reading)
            _fill(parts, output, reading)
    else:
        failed = wire.error is not None or refused
        parts.status = StepStatus.FAILED if failed else StepStatus.INCOMPLETE
        if call.span_speaks():
            output = _span_output(reading)
            parts.status = StepStatus.COMPLETE if spoken else parts.status
            parts.said_by = {"input": "wire", **dict(sorted(reading.said_by.items()))}
        else:
            output = response.output
            parts.said_by = {"input": "wire", "output": "wire"}
    parts.output = output_json(output)
    _counts(parts, output)
    parts.tool_calls = output.all_tool_calls()
    if call.span_speaks():
        parts.output["output_source"] = "framework"
    _failures(parts, call, bodies, response, usable, refused)
    if parts.status is StepStatus.FAILED and call.span is not None and call.span.failed and call.owns_span_output:
        parts.exception = exception_json(reading)
    parts.model = output.model or request.model or reading.response_model or reading.request_model


def _failures(
    parts: ModelParts, call: ModelCall, bodies: WireBodies, response: ModelResponse, usable: bool, refused: bool
) -> None:
    wire = call.wire
    assert wire is not None
    where = wire.error or wire.response or wire.request
    path, line = (None, None) if where is None else (where.source, where.line)
    for key in response.output.repeated_keys:
        parts.notices.append(Notice("repeated_key", f"arguments of {wire.call_id} name {key!r} twice", path, line))
    if bodies.error_data is not None:
        parts.output["wire_error"] = _wire_error(bodies.error_data)
        code = wire.error_code or "unknown"
        lossy = code not in ACCEPTED_ERRORS
        parts.notices.append(Notice("wire_error", f"call {wire.call_id} ended with {code}", path, line, lossy=lossy))
    if refused:
        parts.output["http_status"] = wire.http_status
    if response.error is not None:
        parts.output["error"] = response.error
    elif refused and bodies.response_body.value is not None:  # no provider knows the form: the body as it stands
        body = bodies.response_body.value
        parts.output["error"] = body if isinstance(body, dict) else {"body": body}
        if parts.output.get("other_parts") == [parts.output["error"]]:
            del parts.output["other_parts"]
    if usable and not response.complete:
        if response.unread:
            parts.notices.append(Notice("unread_body", f"nothing was read of the body of {wire.call_id}", path, line))
        parts.notices.append(
            Notice("incomplete_response", f"the response of {wire.call_id} breaks off or cannot be read", path, line)
        )
    if wire.response is None and wire.error is None:
        parts.notices.append(
            Notice("missing_response", f"no response and no error was recorded for {wire.call_id}", path, line)
        )
    if wire.request is None:
        lossy = wire.error is None
        parts.notices.append(
            Notice("missing_request", f"no request was recorded for {wire.call_id}", path, line, lossy=lossy)
        )
    if wire.others:
        parts.notices.append(
            Notice("repeated_record", f"{len(wire.others)} other records of {wire.call_id}", path, line, lossy=False)
        )


def _wire_error(data: JsonObject) -> JsonObject:
    keys = ("error", "error_code", "error_stage", "local_status", "upstream_status")
    return {key: data[key] for key in keys if data.get(key) is not None}


def _purpose(bodies: WireBodies) -> str | None:
    for data in (bodies.request_data, bodies.response_data, bodies.error_data or {}):
        for key in ("purpose", "native_purpose"):
            value = data.get(key)
            if isinstance(value, str) and value:
                return value
    return None


def _fill(parts: ModelParts, output: Output, reading: Reading) -> None:
    """What the wire did not say and the span did."""
    if output.usage is None and reading.usage is not None:
        output.usage = reading.usage
        parts.said_by["usage"] = reading.said_by.get("usage", "framework")
    if output.finish_reason is None and reading.finish_reason is not None and not output.has_anything():
        output.finish_reason = reading.finish_reason
        parts.said_by["finish_reason"] = reading.said_by.get("finish_reason", "framework")


def _disagreements(parts: ModelParts, call: ModelCall, output: Output, reading: Reading) -> None:
    """Where wire and framework both speak and differ, the wire stands and a notice names both."""
    wire = call.wire
    assert wire is not None
    pairs: list[tuple[str, object, object]] = [
        ("model", output.model, reading.response_model),
        ("text", output.text or None, reading.text or None),
        (
            "tool calls",
            _call_keys(output.all_tool_calls()),
            _call_keys(all_tool_calls(reading.tool_calls or [], reading.choices)),
        ),
        ("input tokens", _tokens(output.usage, "input_tokens"), _tokens(reading.usage, "input_tokens")),
        ("output tokens", _tokens(output.usage, "output_tokens"), _tokens(reading.usage, "output_tokens")),
    ]
    cut = {"text": "text", "tool calls": "tool_calls"}
    for name, on_wire, on_span in pairs:
        if on_wire is None or on_span is None or on_wire == on_span or cut.get(name) in reading.truncated:
            continue
        said_by = reading.said_by.get({"tool calls": "tool_calls", "text": "text"}.get(name, "usage"), "framework")
        ref = wire.response
        parts.notices.append(
            Notice(
                "wire_framework_disagree",
                f"{name} of {wire.call_id}: the wire says {_brief(on_wire)}, {said_by} says {_brief(on_span)}",
                None if ref is None else ref.source,
                None if ref is None else ref.line,
                lossy=False,
            )
        )


def _call_keys(calls: list[ToolCall] | None) -> list[tuple[str | None, str | None]] | None:
    return None if not calls else [(call.id, call.name) for call in calls]


def _tokens(usage: Usage | None, name: str) -> int | None:
    return None if usage is None else getattr(usage, name)


def _brief(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 120 else f"{text[:117]}..."
