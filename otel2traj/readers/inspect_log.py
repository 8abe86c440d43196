"""Inspect's eval logs (JSON, or the samples of an `.eval` archive) into spans in the words of the GenAI conventions:
each sample is a trace and a span, its model and tool events are spans.

What a log keeps apart is put back where it stood: `attachment://…`, and messages by ranges of a sample's own list.
https://github.com/UKGovernmentBEIS/inspect_ai/blob/0.3.285/src/inspect_ai/event/_model.py and `_tool.py` beside it
"""

from __future__ import annotations

import hashlib
from typing import Any, Final

from ..canonical import JsonObject, JsonValue
from ..model.evidence import EvidenceRef, SpanEvent, SpanRecord
from ..timestamps import parse_ns
from .documents import Context, DocumentForm, Place, as_dict, as_list, as_text, put
from .otlp_dict import Repaired, text
from .outline import Head

_SAMPLE: Final = ("samples",)
_ATTACHED: Final = "attachment://"
_SCOPE: Final = "inspect_ai"
_PARAMETERS: Final = ("temperature", "top_p", "top_k", "max_tokens", "seed", "frequency_penalty", "presence_penalty")


class InspectLog(DocumentForm):
    name = "inspect-log"
    writer = "Inspect"
    obtain = "the `.eval` file of a run, `inspect eval --log-format json`, `inspect log dump`"
    tried = "inspect_ai 0.3.285; older logs built by hand"
    loses = "messages that the log was told not to keep; when a tool began and ended apart from its event"
    places = (
        Place(_SAMPLE, _SAMPLE),
        Place((), ()),
        Place(_SAMPLE, ("samples", "events")),
        Place(_SAMPLE, ("samples", "events", "events")),
        Place((), ("events",)),
        Place((), ("events", "events")),
    )

    def recognises(self, head: Head) -> bool:
        if head.has("version", "status", "eval") and head.has("task", "model", under=("eval",)):
            return True
        return head.has("id", "epoch", "input", "target") and (head.has("messages") or head.has("events"))

    def context(self, container: JsonObject) -> Context:
        sample = (
            text(container.get("uuid")) or f"sample {text(container.get('id'))} epoch {text(container.get('epoch'))}"
        )
        pool = as_list(as_dict(container.get("events_data")).get("messages"))
        events = [as_dict(one) for one in as_list(container.get("events"))]
        ends = {one.get("id"): one.get("timestamp") for one in events if one.get("event") == "span_end"}
        attached = as_dict(container.get("attachments"))
        return {"trace": sample, "attachments": attached, "messages": pool, "ends": ends}

    def read(self, data: JsonObject, context: Context, ref: EvidenceRef, repairs: Repaired) -> Any:
        kind = data.get("event")
        if kind is None and "epoch" in data:
            return _sample(data, text(context.get("trace")), ref)
        if kind not in ("model", "tool", "span_begin"):
            return None
        attached = context.get("attachments", {})
        if data.get("input_refs"):
            data = {**data, "input": _referred(data["input_refs"], context.get("messages", []))}
        attributes = {"model": _model, "tool": _tool, "span_begin": _span}[kind](_put_back(data, attached))
        error = data.get("error")
        message = as_dict(error).get("message") if isinstance(error, dict) else error
        begins = kind == "span_begin"
        own = text(data.get("id") if begins else data.get("uuid"))
        trace = text(context.get("trace"))
        ended = context.get("ends", {}).get(own) if begins else data.get("completed") or data.get("timestamp")
        made = f"{trace}:{kind}:{data.get('timestamp')}:{data.get('id')}"
        return SpanRecord(
            trace_id=trace,
            span_id=own or hashlib.sha256(made.encode("utf-8", "surrogatepass")).hexdigest()[:16],
            parent_span_id=text(data.get("parent_id") if begins else data.get("span_id")) or _root(trace),
            name=text(data.get("name") or data.get("function") or data.get("model")),
            attributes=attributes,
            ref=ref,
            start_ns=parse_ns(data.get("timestamp")),
            end_ns=None if data.get("pending") is True else parse_ns(ended),
            status_code=2 if error or data.get("failed") is True else 0,
            status_message=text(message) or None,
            scope_name=_SCOPE,
        )


def _root(trace: str) -> str:
    """The id of the span that a sample is; no id in a log is like it."""
    return f"sample:{trace}"


def _sample(data: JsonObject, trace: str, ref: EvidenceRef) -> SpanRecord:
    """The sample itself: what was asked, what came out, how it ended, how it was scored."""
    attributes: dict[str, Any] = {"gen_ai.operation.name": "invoke_workflow"}
    asked, attached = data.get("input"), as_dict(data.get("attachments"))
    given = [{"role": "user", "content": asked}] if isinstance(asked, str) else asked
    put(attributes, "gen_ai.input.messages", _put_back(given, attached))
    answer = as_dict(data.get("output")).get("completion")
    if answer:
        told = [{"role": "assistant", "content": _put_back(answer, attached)}]
        attributes["gen_ai.output.messages"] = as_text(told)
    for name in ("scores", "target", "limit"):
        put(attributes, f"inspect.{name}", data.get(name) or None)
    error = as_dict(data.get("error"))
    events = []
    if error:
        names = (("exception.message", "message"), ("exception.stacktrace", "traceback"))
        events = [SpanEvent("exception", None, {name: text(error.get(key)) for name, key in names if error.get(key)})]
    return SpanRecord(
        trace_id=trace,
        span_id=_root(trace),
        parent_span_id=None,
        name=f"sample {text(data.get('id'))}",
        attributes=attributes,
        ref=ref,
        start_ns=parse_ns(data.get("started_at")),
        end_ns=parse_ns(data.get("completed_at")),
        events=events,
        status_code=2 if error else 0,
        status_message=text(error.get("message")) or None,
        scope_name=_SCOPE,
    )


def _referred(refs: JsonValue, messages: list[Any]) -> list[Any]:
    """Messages by ranges of the sample's own list. Raises `ValueError` for a range that is not in it."""
    out: list[Any] = []
    for ref in as_list(refs):
        start, end = ref
        if not 0 <= start <= end <= len(messages):
            raise ValueError(f"messages {start} to {end} of {len(messages)}")
        out.extend(messages[start:end])
    return out


def _put_back(value: JsonValue, attached: JsonObject) -> Any:
    if not attached:
        return value
    if isinstance(value, str) and value.startswith(_ATTACHED):
        return attached.get(value.removeprefix(_ATTACHED), value)
    if isinstance(value, dict):
        return {key: _put_back(item, attached) for key, item in value.items()}
    if isinstance(value, list):
        return [_put_back(item, attached) for item in value]
    return value


def _span(data: JsonObject) -> dict[str, Any]:
    if data.get("type") == "agent":
        return {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": text(data.get("name"))}
    return {"gen_ai.operation.name": "invoke_workflow"}


def _model(data: JsonObject) -> dict[str, Any]:
    output = as_dict(data.get("output"))
    out: dict[str, Any] = {"gen_ai.operation.name": "chat"}
    put(out, "gen_ai.request.model", data.get("model"))
    put(out, "gen_ai.response.model", output.get("model"))
    provider, slash, _ = text(data.get("model")).partition("/")
    put(out, "gen_ai.provider.name", provider if slash else None)
    put(out, "gen_ai.input.messages", as_text([_message(one) for one in map(as_dict, as_list(data.get("input")))]))
    choices = [as_dict(one) for one in as_list(output.get("choices"))]
    if choices:
        told = [{**_message(as_dict(one.get("message"))), "finish_reason": one.get("stop_reason")} for one in choices]
        out["gen_ai.output.messages"] = as_text(told)
        out["gen_ai.response.finish_reasons"] = [text(one.get("stop_reason")) for one in choices]
    put(out, "gen_ai.tool.definitions", data.get("tools") or None)
    config = as_dict(data.get("config"))
    for name in _PARAMETERS:
        put(out, f"gen_ai.request.{name}", config.get(name))
    _usage(out, as_dict(output.get("usage")))
    put(out, "inspect.cache", data.get("cache"))
    return out


def _usage(out: dict[str, Any], usage: JsonObject) -> None:
    """Where the recorded total shows that the input leaves cached tokens out, they are put back."""
    given, made = usage.get("input_tokens"), usage.get("output_tokens")
    read, write = usage.get("input_tokens_cache_read"), usage.get("input_tokens_cache_write")
    cached = sum(one for one in (read, write) if isinstance(one, int))
    if (
        isinstance(given, int)
        and isinstance(made, int)
        and cached
        and usage.get("total_tokens") == given + made + cached
    ):
        given += cached
    for name, value in (
        ("input_tokens", given),
        ("output_tokens", made),
        ("cache_read.input_tokens", read),
        ("cache_creation.input_tokens", write),
        ("reasoning.output_tokens", usage.get("reasoning_tokens")),
    ):
        put(out, f"gen_ai.usage.{name}", value)


def _message(message: JsonObject) -> JsonObject:
    """A chat message with its tool calls as the chat API writes them."""
    out: JsonObject = {"role": message.get("role"), "content": message.get("content")}
    calls = [as_dict(one) for one in as_list(message.get("tool_calls"))]
    if calls:
        out["tool_calls"] = [
            {
                "id": one.get("id"),
                "type": "function",
                "function": {"name": one.get("function"), "arguments": one.get("arguments")},
            }
            for one in calls
        ]
    if message.get("tool_call_id") is not None:
        out["tool_call_id"] = message["tool_call_id"]
        out["name"] = message.get("function")
    return out


def _tool(data: JsonObject) -> dict[str, Any]:
    out: dict[str, Any] = {"gen_ai.operation.name": "execute_tool"}
    put(out, "gen_ai.tool.name", data.get("function"))
    put(out, "gen_ai.tool.call.id", data.get("id"))
    put(out, "gen_ai.tool.call.arguments", data.get("arguments"))
    put(out, "gen_ai.tool.call.result", data.get("result"))
    return out


INSPECT_LOG = InspectLog()
