"""LangSmith runs (API JSON, lines, `child_runs` trees) into spans with the attributes of LangSmith's own OTLP export.

Ids are UUIDs and stay as they are; a missing trace or parent is read from `dotted_order`.
https://docs.langchain.com/langsmith/run-data-format and
https://github.com/langchain-ai/langsmith-sdk/blob/v0.4.30/python/langsmith/_internal/otel/_otel_exporter.py
"""

from __future__ import annotations

from typing import Any, Final

from ..canonical import JsonObject
from ..model.evidence import EvidenceRef, SpanEvent, SpanRecord
from ..timestamps import parse_ns
from .documents import Context, DocumentForm, Place, as_dict, as_list, as_text, parsed, put
from .otlp_dict import Repaired, text, time_ns
from .outline import Head

_OPERATIONS: Final = {"llm": "chat", "tool": "execute_tool", "retriever": "embeddings", "embedding": "embeddings"}
_PARAMETERS: Final = ("temperature", "top_p", "max_tokens", "frequency_penalty", "presence_penalty")
_TREE: Final = tuple(("child_runs",) * depth for depth in range(1, 9))


class LangSmith(DocumentForm):
    name = "langsmith"
    writer = "LangSmith"
    obtain = "runs as JSON or lines: bulk export, `Client.list_runs`, a tree of `child_runs`"
    tried = "langsmith 0.15.1, as its client writes runs; trees built from LangSmith's run format"
    loses = "no span kind, no resource; times end at microseconds"
    places = (
        Place((), ()),
        Place((), ("runs",)),
        Place((), ("data",)),
        *(Place((), path) for path in _TREE),
    )

    def recognises(self, head: Head) -> bool:
        return any(
            head.has("run_type", "id", under=path)
            and (head.has("inputs", under=path) or head.has("dotted_order", under=path))
            for path in ((), ("runs",), ("data",))
        )

    def read(self, data: JsonObject, context: Context, ref: EvidenceRef, repairs: Repaired) -> Any:
        if "run_type" not in data or "id" not in data:
            return None
        kind = text(data["run_type"])
        order = [part.partition("Z")[2] for part in text(data.get("dotted_order")).split(".")]
        parent = data.get("parent_run_id")
        if parent is None and len(order) > 1:
            parent = order[-2]
        error = data.get("error")
        status = text(data.get("status"))
        return SpanRecord(
            trace_id=text(data.get("trace_id") or order[0] or (data["id"] if parent is None else "")),
            span_id=text(data["id"]),
            parent_span_id=text(parent) or None,
            name=text(data.get("name")),
            attributes=_attributes(data, kind),
            ref=ref,
            start_ns=_time(data.get("start_time")),
            end_ns=_time(data.get("end_time")),
            events=[_event(one) for one in map(as_dict, as_list(parsed(data.get("events"))))],
            status_code=2 if error is not None or status == "error" else 1 if status == "success" else 0,
            status_message=None if error is None else text(error),
            scope_name="langsmith",
        )


def _attributes(data: JsonObject, kind: str) -> dict[str, Any]:
    extra = as_dict(parsed(data.get("extra")))
    metadata = as_dict(extra.get("metadata"))
    invocation = as_dict(extra.get("invocation_params"))
    inputs, outputs = parsed(data.get("inputs")), parsed(data.get("outputs"))
    out: dict[str, Any] = {"langsmith.span.kind": kind}
    put(out, "langsmith.trace.name", data.get("name"))
    put(out, "langsmith.trace.session_id", data.get("session_id"))
    put(out, "langsmith.trace.session_name", data.get("session_name"))
    out["gen_ai.operation.name"] = _OPERATIONS.get(kind, kind)
    put(out, "gen_ai.system", metadata.get("ls_provider"))
    if kind == "llm":
        model = metadata.get("ls_model_name")
        put(out, "gen_ai.request.model", model if model is not None else invocation.get("model"))
        for name in _PARAMETERS:
            put(out, f"gen_ai.request.{name}", invocation.get(name, metadata.get(f"ls_{name}")))
        put(out, "gen_ai.tool.definitions", invocation.get("tools"))
        _usage(out, data, as_dict(outputs), metadata)
    if kind == "tool":
        put(out, "gen_ai.tool.name", data.get("name"))
        told = extra.get("tool_call_id")  # also of a tool that failed and gave nothing
        put(out, "gen_ai.tool.call.id", told if told is not None else _tool_call_id(as_dict(outputs)))
    for key, value in metadata.items():
        put(out, f"langsmith.metadata.{key}", value)
    tags = as_list(data.get("tags"))
    if tags:
        out["langsmith.span.tags"] = ", ".join(map(str, tags))
    if inputs is not None:
        out["gen_ai.prompt"] = as_text(inputs)
    if outputs is not None and outputs != {}:
        out["gen_ai.completion"] = as_text(outputs)
    return out


def _usage(out: dict[str, Any], data: JsonObject, outputs: JsonObject, metadata: JsonObject) -> None:
    usage = as_dict(outputs.get("usage_metadata")) or as_dict(metadata.get("usage_metadata"))
    for name, old in (
        ("input_tokens", "prompt_tokens"),
        ("output_tokens", "completion_tokens"),
        ("total_tokens", "total_tokens"),
    ):
        value = usage.get(name)
        put(out, f"gen_ai.usage.{name}", value if value is not None else data.get(old))
    for details in ("input_token_details", "output_token_details"):
        put(out, f"gen_ai.usage.{details}", usage.get(details))


def _tool_call_id(outputs: JsonObject) -> Any:
    output = as_dict(outputs.get("output"))
    found = output.get("tool_call_id")
    return found if found is not None else as_dict(output.get("kwargs")).get("tool_call_id")


def _time(value: Any) -> int | None:
    """ISO text, in UTC where no zone is said, or milliseconds since the epoch."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return time_ns(int(value * 1_000_000))
    return parse_ns(value)


def _event(event: JsonObject) -> SpanEvent:
    attributes = {key: value for key, value in event.items() if key not in ("name", "time")}
    return SpanEvent(text(event.get("name")), _time(event.get("time")), attributes)


LANGSMITH = LangSmith()
