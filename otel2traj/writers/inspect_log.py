"""An Inspect evaluation log (`.json`, version 2, inspect_ai 0.3.285): one sample whose events are the steps.

https://inspect.aisi.org.uk/eval-logs.html"""

from __future__ import annotations

from shutil import copyfileobj
from tempfile import SpooledTemporaryFile
from typing import BinaryIO, Final, cast

from ..canonical import JsonObject, JsonValue, dumps
from ..model.codec import coverage_to_json, sdk_input_to_json
from ..model.link import ExecutionStatus
from ..model.trajectory import Header, Step, StepKind, StepSink, StepStatus, Summary, ToolLog
from ..outcome import EndStatus, Outcome, OutcomeReader
from .chat_messages import answer_of, arguments_object, chat_of, tools_of
from .jsonstream import ListDocument, text_of

_EPOCH = "1970-01-01T00:00:00+00:00"
_STOP = {
    "stop": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "STOP": "stop",
    "completed": "stop",
    "tool_calls": "tool_calls",
    "tool_use": "tool_calls",
    "function_call": "tool_calls",
    "length": "max_tokens",
    "max_tokens": "max_tokens",
    "MAX_TOKENS": "max_tokens",
    "max_output_tokens": "max_tokens",
    "content_filter": "content_filter",
    "refusal": "content_filter",
    "SAFETY": "content_filter",
}
_CONFIG = ("temperature", "top_p", "max_tokens", "seed", "frequency_penalty", "presence_penalty")
_STATUS: Final = {
    EndStatus.SUCCEEDED: "success",
    EndStatus.CANCELLED: "cancelled",
    EndStatus.NOT_RECORDED: "started",
}
"""How the run ended, in Inspect's words; any other end is `error`. Of a run without a recorded end only its start is
known."""
_HELD: Final = 16 << 20
"""Bytes of events held in memory before they go to a temporary file: the head, which comes first, tells the end."""
_SIMPLE = ("string", "integer", "number", "boolean", "array", "object", "null")


class InspectLog:
    name = "inspect"
    title = "Inspect evaluation log, for `inspect view`, Scout scanners and Docent; the request as sent is in `call`."
    suffix = ".json"
    losses = (
        "`call` holds request and answer as the step has them, with `call.response` rebuilt from the output: the "
        "recorded body stays in the evidence, under the digests in the event's metadata.",
        "Nested schemas of tool parameters: they are whole in `call.request.tools` alone.",
        "Finish reasons outside Inspect's list become `unknown`; the recorded word is in the event's metadata.",
        "An execution that was not observed is an `info` event, never a tool event.",
        "A step without a time carries the last time before it, else 1970-01-01; the metadata says null.",
        "No score and no target: a trajectory has none.",
        "Pictures and other non-text parts become data parts.",
    )

    def sink(self, out: BinaryIO) -> StepSink:
        return _Sink(out)


class _Sink:
    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self._spool = cast(BinaryIO, SpooledTemporaryFile(max_size=_HELD))  # noqa: SIM115
        self._document = ListDocument(self._spool, "events")
        self._outcome = OutcomeReader()
        self._created = _EPOCH
        self._model = "unknown"
        self._opened = False
        self._time = _EPOCH
        self._messages: list[JsonObject] = []
        self._output: JsonObject = {}
        self._usage: dict[str, dict[str, int]] = {}

    def begin(self, header: Header) -> None:
        self._header = header
        self._outcome.begin(header)

    def step(self, step: Step) -> None:
        self._outcome.step(step)
        if step.started_at is not None:
            self._time = step.started_at
        self._open(step.model)
        if step.kind is StepKind.MODEL:
            self._document.item(self._model_event(step))
        for n, log in enumerate(step.tool_logs, 1):
            self._document.item(self._tool_event(step, log, n))

    def end(self, summary: Summary) -> None:
        self._outcome.end(summary)
        outcome = self._outcome.outcome
        self._open(None)
        told = {
            "status": summary.status,
            "coverage": coverage_to_json(summary.coverage),
            "inputs": [sdk_input_to_json(item) for item in summary.inputs],
            "sources": summary.sources,
            "warnings": summary.warnings,
        }
        sample: JsonObject = {
            "messages": self._messages,
            "output": self._output,
            "model_usage": self._usage,
            "metadata": {"otel2traj": told},
        }
        error = _error(outcome)
        if error is not None:
            sample["error"] = error
        self._document.close(sample)
        self._out.write(dumps(self._head(outcome, error))[:-1] + b',"samples":[\n')
        self._spool.seek(0)
        copyfileobj(self._spool, self._out)
        self._spool.close()
        self._out.write(b"]}\n")

    def _head(self, outcome: Outcome, error: JsonObject | None) -> JsonObject:
        """What stands before the samples, in the order of Inspect's own logs, so that a header can be read alone."""
        header = self._header
        name = text_of(header.case_id) or "trajectory"
        spec: JsonObject = {
            "created": self._created,
            "task": name,
            "dataset": {"name": name, "samples": 1},
            "model": self._model,
            "config": {},
            "metadata": {"otel2traj": {"schema": header.schema, "framework": header.framework, **header.metadata}},
        }
        for key, value in (("run_id", header.run_id), ("task_id", header.case_id)):
            if value is not None:
                spec[key] = value
        head: JsonObject = {
            "version": 2,
            "status": _STATUS.get(outcome.ended.status, "error"),
            "eval": spec,
            "plan": {"name": "plan", "steps": [], "config": {}},
            "stats": {"started_at": self._created, "completed_at": self._time, "model_usage": self._usage},
        }
        return head if error is None else {**head, "error": error}

    def _open(self, model: str | None) -> None:
        """The sample's begin, written with the first step, which knows the model and the time."""
        if self._opened:
            return
        self._opened = True
        self._created, self._model = self._time, model if model is not None else "unknown"
        header = self._header
        task = header.metadata.get("task_instruction")
        self._document.open({"id": text_of(header.run_id) or "1", "epoch": 1, "input": text_of(task), "target": ""})

    def _model_event(self, step: Step) -> JsonObject:
        messages = [_message(message) for message in chat_of(step.input).messages]
        answer = _message(answer_of(step.output))
        reasoning, text = step.output.get("reasoning"), answer["content"]
        if isinstance(reasoning, str):
            spoken = text if isinstance(text, list) else [{"type": "text", "text": text}] if text else []
            answer["content"] = [{"type": "reasoning", "reasoning": reasoning}, *spoken]
        model = step.model if step.model is not None else "unknown"
        recorded = step.output.get("finish_reason")
        stop = _STOP.get(recorded, "unknown") if isinstance(recorded, str) else "unknown"
        output: JsonObject = {"model": model, "choices": [{"message": answer, "stop_reason": stop}]}
        usage = _usage(step.output.get("usage"))
        if usage:
            output["usage"] = usage
            total = self._usage.setdefault(model, {})
            for key, value in usage.items():
                total[key] = total.get(key, 0) + value
        if step.status is StepStatus.COMPLETE or not self._messages:
            self._messages, self._output = [*messages, answer], output
        parameters = step.input.get("parameters")
        parameters = parameters if isinstance(parameters, dict) else {}
        request = {key: step.input[key] for key in ("model", "system", "messages", "tools") if key in step.input}
        event: JsonObject = {
            "event": "model",
            "uuid": f"step-{step.step_id}",
            "timestamp": self._time,
            "model": model,
            "input": messages,
            "tools": [_tool(tool) for tool in tools_of(step.input.get("tools"))[0]],
            "tool_choice": "auto",
            "config": {key: parameters[key] for key in _CONFIG if isinstance(parameters.get(key), (int, float))},
            "output": output,
            "call": {"request": {**request, **parameters}, "response": step.output},
            "metadata": _told(step),
        }
        if step.ended_at is not None:
            event["completed"] = step.ended_at
        if step.status is not StepStatus.COMPLETE:
            event["error"] = text_of(step.output.get("wire_error")) or str(step.status)
        return event

    def _tool_event(self, step: Step, log: ToolLog, n: int) -> JsonObject:
        told = {
            "otel2traj": {
                "step_id": step.step_id,
                "tool_call_id": log.tool_call_id,
                "link": log.link,
                "execution_status": log.execution_status,
                "exit_status": log.exit_status,
                "evidence": log.evidence,
            }
        }
        uuid = f"step-{step.step_id}-tool-{n}"
        if log.execution_status is ExecutionStatus.NOT_OBSERVED:
            data = {"tool_call_id": log.tool_call_id, "tool_name": log.tool_name, "execution_status": "not_observed"}
            event: JsonObject = {"event": "info", "source": "otel2traj", "data": data}
            return {**event, "uuid": uuid, "timestamp": self._time, "metadata": told}
        failed = log.execution_status is ExecutionStatus.ERROR
        arguments = arguments_object(log.input_arguments)
        raw: JsonObject = {} if log.input_arguments is None else {"value": log.input_arguments}
        return {
            "event": "tool",
            "uuid": uuid,
            "timestamp": text_of(log.extra.get("started_at")) or self._time,
            "id": text_of(log.tool_call_id) or uuid,
            "function": text_of(log.tool_name),
            "arguments": raw if arguments is None else arguments,
            "result": text_of(log.outputs),
            "failed": failed,
            "agent": step.agent_name,
            "metadata": told,
        }


def _error(outcome: Outcome) -> JsonObject | None:
    """The recorded reason of a run that did not end well."""
    ended = outcome.ended
    if _STATUS.get(ended.status, "error") != "error":
        return None
    reason = ended.reason
    message = str(ended.status) if reason is None or not reason.reason else reason.reason
    stack = "" if reason is None or reason.stack is None else reason.stack
    return {"message": message, "traceback": stack, "traceback_ansi": stack}


def _told(step: Step) -> JsonObject:
    keys = ("step_id", "input_ordinal", "agent_name", "source", "started_at", "ended_at", "purpose", "status")
    told: JsonObject = {key: getattr(step, key) for key in keys}
    told |= {"finish_reason": step.output.get("finish_reason"), "evidence": step.evidence}
    return {"otel2traj": told}


def _message(message: JsonObject) -> JsonObject:
    role, content = message["role"], message.get("content")
    parts: JsonValue = text_of(content)
    if isinstance(content, list):
        parts = [part if part.get("type") == "text" else {"type": "data", "data": part} for part in content]
    known = role if role in ("system", "user", "assistant", "tool") else "system" if role == "developer" else "user"
    out: JsonObject = {"role": known, "content": parts}
    if known == "tool" and message.get("tool_call_id") is not None:
        out["tool_call_id"] = text_of(message["tool_call_id"])
    calls = message.get("tool_calls")
    if calls:
        out["tool_calls"] = [_call(call, n) for n, call in enumerate(calls, 1)]
    return out


def _call(call: JsonObject, n: int) -> JsonObject:
    function = call["function"]
    arguments = arguments_object(function["arguments"])
    out: JsonObject = {
        "id": text_of(call.get("id")) or f"call-{n}",
        "function": text_of(function.get("name")),
        "arguments": arguments if arguments is not None else {},
        "type": "function",
    }
    if arguments is None:
        out["parse_error"] = f"not a JSON object: {text_of(function['arguments'])}"
    return out


def _tool(tool: JsonObject) -> JsonObject:
    function = tool["function"]
    schema = function.get("parameters")
    schema = schema if isinstance(schema, dict) else {}
    properties = schema.get("properties")
    kept: JsonObject = {}
    for name, value in (properties if isinstance(properties, dict) else {}).items():
        value = value if isinstance(value, dict) else {}
        kept[name] = {key: value[key] for key in ("description",) if isinstance(value.get(key), str)}
        if value.get("type") in _SIMPLE:
            kept[name]["type"] = value["type"]
    required = schema.get("required")
    listed = [name for name in required if isinstance(name, str)] if isinstance(required, list) else []
    parameters = {"type": "object", "properties": kept, "required": listed}
    return {
        "name": text_of(function.get("name")),
        "description": text_of(function.get("description")),
        "parameters": parameters,
    }


def _usage(usage: JsonValue) -> dict[str, int]:
    if not isinstance(usage, dict):
        return {}
    names = (
        ("input_tokens", "input_tokens"),
        ("output_tokens", "output_tokens"),
        ("input_tokens_cache_read", "cache_read_input_tokens"),
        ("input_tokens_cache_write", "cache_creation_input_tokens"),
        ("reasoning_tokens", "reasoning_output_tokens"),
    )
    out = {theirs: usage[ours] for theirs, ours in names if isinstance(usage.get(ours), int)}
    if "input_tokens" in out and "output_tokens" in out:
        out["total_tokens"] = out["input_tokens"] + out["output_tokens"]
    return out
