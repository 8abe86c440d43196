"""What the Python SDK prints (`ReadableSpan.to_json`, `ConsoleSpanExporter`, `ConsoleLogRecordExporter`) into records.

The form has no scope and no dropped counts, times end at microseconds, tuples are lists.
https://github.com/open-telemetry/opentelemetry-python/blob/v1.38.0/opentelemetry-sdk/src/opentelemetry/sdk/trace/__init__.py
"""

from __future__ import annotations

from typing import Any

from ..canonical import JsonObject
from ..model.evidence import EvidenceRef, LogRecord, SpanEvent, SpanRecord
from ..timestamps import parse_ns
from .context import event_name
from .documents import Context, DocumentForm, Place, as_dict, as_list
from .ids import plain_id
from .otlp_dict import SPAN_KINDS, STATUS_CODES, Repaired, count, enum, severity, text
from .outline import Head


class SdkJson(DocumentForm):
    name = "sdk-json"
    writer = "Python SDK"
    obtain = "`ConsoleSpanExporter`, `ConsoleLogExporter`, `ReadableSpan.to_json`"
    tried = "opentelemetry-sdk 1.45.2"
    loses = "no scope, no dropped counts; times end at microseconds"
    places = (Place((), ()),)

    def recognises(self, head: Head) -> bool:
        spans = head.has("context", "start_time", "parent_id") and ("context", "span_id") in head.paths
        logs = head.has("body", "severity_number", "timestamp", "trace_id")
        return spans or logs

    def read(self, data: JsonObject, context: Context, ref: EvidenceRef, repairs: Repaired) -> Any:
        if "context" in data:
            return _span(data, ref)
        if "severity_number" in data or "body" in data:
            return _log(data, ref)
        return None


def _id(value: Any, digits: int) -> str:
    return plain_id(value, digits)[0]


def _span(data: JsonObject, ref: EvidenceRef) -> SpanRecord:
    own = as_dict(data["context"])
    status = as_dict(data.get("status"))
    return SpanRecord(
        trace_id=_id(own.get("trace_id"), 32),
        span_id=_id(own.get("span_id"), 16),
        parent_span_id=_id(data.get("parent_id"), 16) or None,
        name=text(data.get("name")),
        attributes=as_dict(data.get("attributes")),
        ref=ref,
        kind=enum(text(data.get("kind")).removeprefix("SpanKind."), SPAN_KINDS, ""),
        start_ns=parse_ns(data.get("start_time")),
        end_ns=parse_ns(data.get("end_time")),
        events=[
            SpanEvent(text(event.get("name")), parse_ns(event.get("timestamp")), as_dict(event.get("attributes")))
            for event in map(as_dict, as_list(data.get("events")))
        ],
        links=[_link(link) for link in map(as_dict, as_list(data.get("links")))],
        status_code=enum(text(status.get("status_code")), STATUS_CODES, "STATUSCODE."),
        status_message=status.get("description"),
        resource=as_dict(as_dict(data.get("resource")).get("attributes")),
        trace_state=_trace_state(own.get("trace_state")),
    )


def _trace_state(value: Any) -> str:
    """`["k=v", …]` as the SDK prints it, in the W3C spelling."""
    return ",".join(part.strip(" '\"") for part in text(value).strip("[]").split(",") if part.strip(" '\""))


def _link(link: JsonObject) -> JsonObject:
    target = as_dict(link.get("context"))
    out: JsonObject = {"trace_id": _id(target.get("trace_id"), 32), "span_id": _id(target.get("span_id"), 16)}
    if as_dict(link.get("attributes")):
        out["attributes"] = link["attributes"]
    state = _trace_state(target.get("trace_state"))
    if state:
        out["trace_state"] = state
    return out


def _log(data: JsonObject, ref: EvidenceRef) -> LogRecord:
    attributes = as_dict(data.get("attributes"))
    when = parse_ns(data.get("timestamp"))
    return LogRecord(
        trace_id=_id(data.get("trace_id"), 32) or None,
        span_id=_id(data.get("span_id"), 16) or None,
        event_name=event_name(data.get("event_name"), attributes),
        body=data.get("body"),
        attributes=attributes,
        ref=ref,
        time_ns=when if when is not None else parse_ns(data.get("observed_timestamp")),
        severity=severity(data.get("severity_text"), data.get("severity_number")),
        resource=as_dict(as_dict(data.get("resource")).get("attributes")),
        dropped_attributes=count(data.get("dropped_attributes")),
    )


SDK_JSON = SdkJson()
