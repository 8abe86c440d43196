"""Heads to the `evidence` objects of steps and tool logs: identifiers, and the recorded bytes behind them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence

from ..canonical import JsonObject
from ..model.evidence import EvidenceRef
from ..model.heads import Execution, ModelCall, Part, SpanHead, WireHead
from ..timestamps import format_ns
from .archive import Archive


def interaction_id(key: str) -> str:
    """The interaction index's id: the first 24 hex digits of SHA-256 over the group key."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:24]


def record(archive: Archive, part: Part) -> JsonObject:
    out = pointer(part.ref)
    out["sha256"] = archive.digest(part.ref) if part.sha256 is None else part.sha256
    out["what"] = part.what
    return out


def pointer(ref: EvidenceRef) -> JsonObject:
    out: JsonObject = {"path": ref.source}
    if ref.line is not None:
        out["line"] = ref.line
    out["offset"] = ref.offset
    out["length"] = ref.length
    return out


def wire_parts(wire: WireHead) -> list[Part]:
    named = [("request", wire.request), ("response", wire.response), ("error", wire.error)]
    return [*wire.others, *(Part(what, ref) for what, ref in named if ref is not None)]


def records_of(archive: Archive, parts: Sequence[Part]) -> list[JsonObject]:
    """The records behind a step or log, each once, in the order they were recorded."""
    if len(parts) == 1:
        return [record(archive, parts[0])]
    seen: dict[EvidenceRef, JsonObject] = {}
    for part in parts:
        if part.ref not in seen:
            seen[part.ref] = record(archive, part)
    return list(seen.values())


def step_evidence(archive: Archive, call: ModelCall, logs_of: Callable[[SpanHead], list[Part]]) -> JsonObject:
    """The contract's keys first, then what this project adds. `logs_of` tells the log records of a span."""
    wire, span = call.wire, call.span
    heads = call.heads()
    out: JsonObject = {
        "interaction_id": interaction_id(call.interaction_key()),
        "call_id": None if wire is None else wire.call_id,
        "framework_span_id": _first(
            [None if wire is None else wire.framework_span_id, *(head.framework_span_id for head in heads)]
        ),
        "request_sha256": None,
        "response_sha256": None,
    }
    trace_id = _first([*(head.trace_id for head in heads), None if call.anchor is None else call.anchor.trace_id])
    if trace_id is not None:
        out["trace_id"] = trace_id
    otel_span_id = _first([head.otel_span_id for head in heads])
    if otel_span_id is not None:
        out["otel_span_id"] = otel_span_id
    if call.join is not None:
        out["join"] = call.join
        if call.witness is not None:
            out["witness"] = call.witness.to_json()
    if wire is not None and wire.response_id is not None:
        out["response_id"] = wire.response_id
    elif span is not None and span.response_id is not None:
        out["response_id"] = span.response_id
    parts = [] if wire is None else wire_parts(wire)
    for head in heads:
        parts.extend(head.parts)
    for head in heads:
        parts.extend(logs_of(head))
    out["records"] = records_of(archive, parts)
    if call.around:
        out["wrappers"] = [span_evidence(archive, head, logs_of(head)) for head in dict.fromkeys(call.around)]
    return out


def span_evidence(archive: Archive, head: SpanHead, logs: Iterable[Part]) -> JsonObject:
    """A span that is no step: its identifiers and its bytes."""
    out: JsonObject = {"interaction_id": interaction_id(head.interaction_key())}
    if head.trace_id is not None:
        out["trace_id"] = head.trace_id
    if head.otel_span_id is not None:
        out["otel_span_id"] = head.otel_span_id
    out["records"] = records_of(archive, [*head.parts, *logs])
    return out


def execution_evidence(
    archive: Archive, execution: Execution, logs_of: Callable[[SpanHead], list[Part]], more: Iterable[Part]
) -> JsonObject:
    """An execution with all that was recorded of it, by whoever."""
    out = identity(execution)
    out["started_at"], out["ended_at"] = format_ns(execution.head.start_ns), format_ns(execution.head.end_ns)
    heads = execution.heads()
    parts = [part for head in heads for part in head.parts]
    parts.extend(part for head in heads for part in logs_of(head))
    parts.extend(more)
    out["records"] = records_of(archive, parts)
    if execution.wrappers:
        out["wrappers"] = [interaction_id(head.interaction_key()) for head in execution.wrappers]
    return out


def identity(execution: Execution) -> JsonObject:
    """The identifiers of an execution, without its bytes."""
    heads: list[SpanHead] = execution.heads()
    out: JsonObject = {
        "interaction_id": interaction_id(execution.interaction_key()),
        "framework_span_id": _first([head.framework_span_id for head in heads]),
    }
    trace_id, span_id = _first([head.trace_id for head in heads]), _first([head.otel_span_id for head in heads])
    if trace_id is not None:
        out["trace_id"] = trace_id
    if span_id is not None:
        out["otel_span_id"] = span_id
    return out


def _first(values: Iterable[str | None]) -> str | None:
    for value in values:
        if value is not None:
            return value
    return None
