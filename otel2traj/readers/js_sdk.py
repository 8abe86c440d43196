"""What the JavaScript SDK's spans and log records look like where somebody wrote them with `JSON.stringify`, one object
after another: Gemini CLI's telemetry file, file exporters of one's own.

Times are `[seconds, nanoseconds]`. Values that the writer met before are `"[Circular]"`.
https://github.com/open-telemetry/opentelemetry-js/blob/v2.0.1/packages/opentelemetry-sdk-trace-base/src/Span.ts and
https://github.com/google-gemini/gemini-cli/blob/v0.61.0/packages/core/src/telemetry/file-exporters.ts
"""

from __future__ import annotations

from typing import Any

from ..canonical import JsonObject
from ..model.evidence import EvidenceRef, LogRecord, SpanEvent, SpanRecord
from .context import event_name
from .documents import Context, DocumentForm, Place, as_dict, as_list
from .ids import plain_id
from .otlp_dict import Repaired, count, severity, text
from .outline import Head


class JsSdk(DocumentForm):
    name = "js-sdk-json"
    writer = "file exporters of the JavaScript SDK, among them Gemini CLI's"
    obtain = '`"telemetry": {"enabled": true, "target": "local", "outfile": …}` in the settings of Gemini CLI'
    tried = "Gemini CLI 0.61.0; JavaScript SDK 2.0 built by hand"
    loses = "values that stood in an object before are the text [Circular]"
    places = (Place((), ()), Place((), ("spans",)))

    def recognises(self, head: Head) -> bool:
        return any(
            head.has("hrTime", "attributes", under=at)
            or (head.has("startTime", "endTime", "attributes", under=at) and _context_in(head, at))
            for at in ((), ("spans",))
        ) or ("scopeMetrics" in {path[0] for path in head.paths} and head.has("instrumentationScope"))

    def read(self, data: JsonObject, context: Context, ref: EvidenceRef, repairs: Repaired) -> Any:
        if "hrTime" in data:
            return _log(data, ref)
        own = as_dict(data.get("_spanContext") or data.get("spanContext"))
        return _span(data, own, ref) if own and "startTime" in data else None

    def passes_over(self, data: JsonObject) -> bool:
        return "scopeMetrics" in data


def _context_in(head: Head, at: tuple[str, ...]) -> bool:
    return any((*at, name, "spanId") in head.paths for name in ("_spanContext", "spanContext"))


def _time(value: Any) -> int | None:
    """Nanoseconds of an `HrTime`."""
    if isinstance(value, list) and len(value) == 2 and all(type(one) is int and one >= 0 for one in value):
        return int(value[0]) * 10**9 + int(value[1]) or None
    return None


def _attributes(value: Any) -> dict[str, Any]:
    return as_dict(value)


def _resource(value: Any) -> dict[str, Any]:
    """A resource keeps its attributes as pairs, and as an object in older versions."""
    resource = as_dict(value)
    for name in ("attributes", "_attributes", "_syncAttributes", "_memoizedAttributes"):
        if isinstance(resource.get(name), dict):
            return dict(resource[name])
    pairs = as_list(resource.get("_rawAttributes"))
    return {text(one[0]): one[1] for one in pairs if isinstance(one, list) and len(one) == 2}


def _scope(data: JsonObject) -> JsonObject:
    return as_dict(data.get("instrumentationScope") or data.get("instrumentationLibrary"))


def _span(data: JsonObject, own: JsonObject, ref: EvidenceRef) -> SpanRecord:
    parent = as_dict(data.get("parentSpanContext")).get("spanId", data.get("parentSpanId"))
    status = as_dict(data.get("status"))
    kind = data.get("kind")
    ended = data.get("_ended", data.get("ended", True)) is not False
    return SpanRecord(
        trace_id=plain_id(own.get("traceId"), 32)[0],
        span_id=plain_id(own.get("spanId"), 16)[0],
        parent_span_id=plain_id(parent, 16)[0] or None,
        name=text(data.get("name")),
        attributes=_attributes(data.get("attributes")),
        ref=ref,
        kind=kind + 1 if type(kind) is int and 0 <= kind <= 4 else 0,
        start_ns=_time(data.get("startTime")),
        end_ns=_time(data.get("endTime")) if ended else None,
        events=[
            SpanEvent(text(one.get("name")), _time(one.get("time")), _attributes(one.get("attributes")))
            for one in map(as_dict, as_list(data.get("events")))
            if one
        ],
        links=[_link(one) for one in map(as_dict, as_list(data.get("links"))) if one],
        status_code=status["code"] if status.get("code") in (0, 1, 2) else 0,
        status_message=text(status.get("message")) or None,
        scope_name=text(_scope(data).get("name")),
        scope_version=text(_scope(data).get("version")),
        resource=_resource(data.get("resource")),
        dropped_attributes=count(data.get("_droppedAttributesCount", data.get("droppedAttributesCount"))),
        dropped_events=count(data.get("_droppedEventsCount", data.get("droppedEventsCount"))),
        dropped_links=count(data.get("_droppedLinksCount", data.get("droppedLinksCount"))),
    )


def _link(data: JsonObject) -> JsonObject:
    target = as_dict(data.get("context"))
    out: JsonObject = {"trace_id": plain_id(target.get("traceId"), 32)[0]}
    out["span_id"] = plain_id(target.get("spanId"), 16)[0]
    if as_dict(data.get("attributes")):
        out["attributes"] = data["attributes"]
    return out


def _log(data: JsonObject, ref: EvidenceRef) -> LogRecord:
    attributes = _attributes(data.get("attributes"))
    own = as_dict(data.get("spanContext"))
    when = _time(data.get("hrTime"))
    return LogRecord(
        trace_id=plain_id(own.get("traceId"), 32)[0] or None,
        span_id=plain_id(own.get("spanId"), 16)[0] or None,
        event_name=event_name(data.get("_eventName") or data.get("eventName"), attributes),
        body=data.get("_body", data.get("body")),
        attributes=attributes,
        ref=ref,
        time_ns=when if when is not None else _time(data.get("hrTimeObserved")),
        severity=severity(
            data.get("_severityText", data.get("severityText")), data.get("_severityNumber", data.get("severityNumber"))
        ),
        scope_name=text(_scope(data).get("name")),
        scope_version=text(_scope(data).get("version")),
        resource=_resource(data.get("resource")),
        dropped_attributes=count(data.get("_droppedAttributesCount")),
    )


JS_SDK = JsSdk()
