"""OTLP/JSON traces in the GenAI conventions, a line a step, so that a trajectory can be read back as a trace.

https://github.com/open-telemetry/semantic-conventions/blob/v1.38.0/docs/gen-ai/gen-ai-spans.md"""

from __future__ import annotations

import hashlib
from typing import BinaryIO

from ..canonical import JsonObject, JsonValue, dumps
from ..messages import Message, text_part
from ..model.link import ExecutionStatus
from ..model.trajectory import Header, Step, StepKind, StepSink, StepStatus, Summary, ToolLog
from ..outcome import EndStatus, Failure, FailureKind, input_end, step_failures
from ..timestamps import parse_ns
from .jsonstream import text_of

SCOPE = "otel2traj"
_SPAN_KIND_INTERNAL, _SPAN_KIND_CLIENT = 1, 3
_STATUS_OK, _STATUS_ERROR = 1, 2


class OtlpJson:
    name = "otlp-json"
    title = "OTLP/JSON spans in the GenAI conventions, a line a step: for any OTLP tool, and for round trips."
    suffix = ".otlp.jsonl"
    losses = (
        "The wire side: a step read back is of source `framework`, with the recorded source as an attribute.",
        "That a step was incomplete: read back, it is complete.",
        "Calls that were not observed and links that are ambiguous have no span; read back, both are not observed.",
        "Spans are given new ids, made from the run and the step; the recorded ids stand as attributes.",
        "Messages in the conventions' parts form, with parts the conventions lack under their recorded type.",
        "A step without times starts where the step before it did, so that the order stays.",
        "The provider's own usage object, several choices, hosted tool parts.",
        "Inputs' file changes, the status of the run itself, coverage, sources and warnings.",
        "A step that is of no Input: read back, it is of an Input of its own.",
    )

    def sink(self, out: BinaryIO) -> StepSink:
        return _Sink(out)


class _Sink:
    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self._time = 0
        self._bounds: dict[str | None, tuple[int, int]] = {}

    def begin(self, header: Header) -> None:
        self._header = header
        self._seed = text_of(header.run_id) or text_of(header.case_id) or "trajectory"

    def step(self, step: Step) -> None:
        started = parse_ns(step.started_at)
        ended = parse_ns(step.ended_at)
        start = started if started is not None else self._time
        end = max(ended if ended is not None else start, start)
        self._time = start
        low, high = self._bounds.get(step.input_ordinal, (start, end))
        self._bounds[step.input_ordinal] = (min(low, start), max(high, end))
        root = self._id(16, "input", step.input_ordinal)
        spans: list[JsonObject] = []
        if step.kind is StepKind.MODEL:
            own = self._id(16, "step", step.step_id)
            failed = step.status is StepStatus.FAILED
            name = f"chat {step.model}" if step.model is not None else "chat"
            spans.append(
                self._span(step, own, root, name, _SPAN_KIND_CLIENT, (start, end), _model(step), failed, _failure(step))
            )
        for n, log in enumerate(step.tool_logs, 1):
            if log.execution_status is ExecutionStatus.NOT_OBSERVED:
                continue
            begun = parse_ns(text_of(log.extra.get("started_at"))) or (
                start if step.kind is not StepKind.MODEL else end
            )
            done = parse_ns(text_of(log.extra.get("ended_at"))) or max(begun, end)
            high = max(self._bounds[step.input_ordinal][1], done)
            self._bounds[step.input_ordinal] = (self._bounds[step.input_ordinal][0], high)
            own = self._id(16, "tool", step.step_id, n)
            failed = log.execution_status is ExecutionStatus.ERROR
            name = f"execute_tool {log.tool_name}" if log.tool_name is not None else "execute_tool"
            spans.append(
                self._span(
                    step, own, root, name, _SPAN_KIND_INTERNAL, (begun, done), _tool(step, log), failed, _broken(log)
                )
            )
        if spans:
            self._write(spans)

    def end(self, summary: Summary) -> None:
        prompts = {item.ordinal: item.prompt for item in summary.inputs}
        results: dict[str | None, JsonObject | None] = {item.ordinal: item.result for item in summary.inputs}
        ends = {item.ordinal: input_end(item, number) for number, item in enumerate(summary.inputs)}
        for ordinal in results:
            self._bounds.setdefault(ordinal, (self._time, self._time))  # an Input without a step has an end too
        for ordinal, bounds in self._bounds.items():
            attributes: JsonObject = {"gen_ai.operation.name": "invoke_agent"}
            if self._header.agent_id is not None:
                attributes["gen_ai.agent.id"] = self._header.agent_id
            prompt = prompts.get(ordinal) if ordinal is not None else None
            if prompt is not None:
                asked = [Message("user", [text_part(text_of(prompt))]).to_json()]
                attributes["gen_ai.input.messages"] = dumps(asked).decode("utf-8")
            if ordinal is not None:
                attributes["otel2traj.input_ordinal"] = ordinal
            name = f"invoke_agent {self._header.agent_id}" if self._header.agent_id is not None else "invoke_agent"
            told = results.get(ordinal)
            if told is not None:
                attributes["otel2traj.failure"] = dumps({"result": told}).decode("utf-8")
            own = self._id(16, "input", ordinal)
            span = self._raw_span(ordinal, own, "", name, _SPAN_KIND_INTERNAL, bounds, attributes)
            end = ends.get(ordinal) if ordinal is not None else None
            if end is not None and end.status is EndStatus.SUCCEEDED:
                span["status"] = {"code": _STATUS_OK}
            if end is not None and end.status not in (EndStatus.SUCCEEDED, EndStatus.NOT_RECORDED):
                _fail(span, end.error, bounds[1])
            self._write([span])

    def _span(
        self,
        step: Step,
        own: str,
        parent: str,
        name: str,
        kind: int,
        bounds: tuple[int, int],
        attributes: JsonObject,
        failed: bool,
        failure: JsonObject,
    ) -> JsonObject:
        if step.agent_name is not None:
            attributes["gen_ai.agent.name"] = step.agent_name
        attributes["otel2traj.step_id"] = step.step_id
        if failure:
            attributes["otel2traj.failure"] = dumps(failure).decode("utf-8")
        found = [one for one in step_failures(step) if one.tool_call_id == attributes.get("gen_ai.tool.call.id")]
        wanted = _OF_CALL if kind == _SPAN_KIND_CLIENT else _OF_RUN
        told = next((one for one in found if one.kind in wanted), None)
        if failed and told is not None and told.http_status is not None:
            attributes["http.response.status_code"] = told.http_status
        span = self._raw_span(step.input_ordinal, own, parent, name, kind, bounds, attributes)
        if failed:
            _fail(span, told, bounds[1])
        return span

    def _raw_span(
        self,
        ordinal: str | None,
        own: str,
        parent: str,
        name: str,
        kind: int,
        bounds: tuple[int, int],
        attrs: JsonObject,
    ) -> JsonObject:
        span: JsonObject = {"traceId": self._id(32, "trace", ordinal), "spanId": own}
        if parent:
            span["parentSpanId"] = parent
        return {
            **span,
            "name": name,
            "kind": kind,
            "startTimeUnixNano": str(bounds[0]),
            "endTimeUnixNano": str(bounds[1]),
            "attributes": [{"key": key, "value": _any_value(value)} for key, value in attrs.items()],
            "status": {},
        }

    def _write(self, spans: list[JsonObject]) -> None:
        service = {"key": "service.name", "value": _any_value(text_of(self._header.agent_id) or "agent")}
        conversation = self._header.run_id
        if conversation is not None:
            for span in spans:
                span["attributes"].append({"key": "gen_ai.conversation.id", "value": _any_value(conversation)})
        scope = {"scope": {"name": SCOPE}, "spans": spans}
        resource = {"resource": {"attributes": [service]}, "scopeSpans": [scope]}
        self._out.write(dumps({"resourceSpans": [resource]}) + b"\n")

    def _id(self, digits: int, *parts: JsonValue) -> str:
        key = dumps([self._seed, *parts])
        return hashlib.sha256(key).hexdigest()[:digits]


_OF_CALL = (FailureKind.WIRE, FailureKind.PROVIDER, FailureKind.MODEL)
_OF_RUN = (FailureKind.TOOL, FailureKind.EXIT, FailureKind.SIGNAL)
"""Failures that an error of a span tells of; what an answer itself says stands in its finish reason and its parts."""


def _fail(span: JsonObject, told: Failure | None, at: int) -> None:
    """An error status and an exception event, as the conventions have them."""
    span["status"] = {"code": _STATUS_ERROR}
    if told is None or told.kind in (FailureKind.EXIT, FailureKind.SIGNAL) or told.pointer.endswith("/outputs"):
        return  # no error said anything: exit status and output stand in attributes of their own
    if told.message:
        span["status"]["message"] = told.message
    code = (told.code or "").removeprefix(f"{told.http_status} ")
    said = {"exception.type": code, "exception.message": told.message, "exception.stacktrace": told.stack}
    event = [{"key": key, "value": _any_value(value)} for key, value in said.items() if value]
    if event:
        span["events"] = [{"timeUnixNano": str(at), "name": "exception", "attributes": event}]
    if code:
        span["attributes"].append({"key": "error.type", "value": _any_value(code)})


def _failure(step: Step) -> JsonObject:
    """All that the step records of its failure, as it records it."""
    out = {key: step.output.get(key) for key in ("wire_error", "error", "http_status")}
    return {
        key: value for key, value in (*out.items(), ("exception", step.evidence.get("exception"))) if value is not None
    }


def _broken(log: ToolLog) -> JsonObject:
    said = (
        ("error", log.evidence.get("error")),
        ("exception", log.evidence.get("exception")),
        ("exit_status", log.exit_status),
    )
    return {key: value for key, value in said if value is not None}


def _any_value(value: JsonValue) -> JsonObject:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return {"arrayValue": {"values": [{"stringValue": item} for item in value]}}
    return {"stringValue": text_of(value)}


def _model(step: Step) -> JsonObject:
    out: JsonObject = {"gen_ai.operation.name": "chat"}
    given, output, said = step.input, step.output, step.conversation()
    asked = given.get("model") if given.get("model") is not None or output.get("model") is not None else step.model
    pairs = (
        ("gen_ai.request.model", asked),
        ("gen_ai.response.model", output.get("model")),
        ("otel2traj.source", step.source),
    )
    out |= {key: value for key, value in pairs if value is not None}
    if given.get("tools") is not None:
        out["gen_ai.tool.definitions"] = text_of(given["tools"])
    parameters = given.get("parameters")
    for key in ("temperature", "top_p", "max_tokens", "seed", "frequency_penalty", "presence_penalty"):
        value = parameters.get(key) if isinstance(parameters, dict) else None
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            out[f"gen_ai.request.{key}"] = value
    if given.get("messages") is not None or given.get("system") is not None:
        told = ([Message("system", said.system)] if said.system else []) + said.messages
        out["gen_ai.input.messages"] = dumps([message.to_json() for message in told]).decode("utf-8")
    if output.get("finish_reason") is not None:
        out["gen_ai.response.finish_reasons"] = [output["finish_reason"]]
    if said.answer is not None and said.answer.parts:
        out["gen_ai.output.messages"] = dumps([said.answer.to_json()]).decode("utf-8")
    usage = output.get("usage")
    for name, key in (
        ("input_tokens", "gen_ai.usage.input_tokens"),
        ("output_tokens", "gen_ai.usage.output_tokens"),
        ("cache_read_input_tokens", "gen_ai.usage.cache_read.input_tokens"),
        ("cache_creation_input_tokens", "gen_ai.usage.cache_creation.input_tokens"),
        ("reasoning_output_tokens", "gen_ai.usage.reasoning.output_tokens"),
    ):
        value = usage.get(name) if isinstance(usage, dict) else None
        if isinstance(value, int):
            out[key] = value
    for key, value in step.evidence.items():
        if isinstance(value, str):
            out[f"otel2traj.evidence.{key}"] = value
    return out


def _tool(step: Step, log: ToolLog) -> JsonObject:
    out: JsonObject = {"gen_ai.operation.name": "execute_tool"}
    pairs = (
        ("gen_ai.tool.name", log.tool_name),
        ("gen_ai.tool.call.id", log.tool_call_id),
        ("gen_ai.tool.call.arguments", log.input_arguments),
        ("gen_ai.tool.call.result", log.outputs),
    )
    out |= {key: text_of(value) for key, value in pairs if value is not None}
    out["otel2traj.link"] = log.link
    return out
