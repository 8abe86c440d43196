"""Jaeger's JSON (UI download, query API, Elasticsearch documents) into spans.

Tags that only carry what OTLP has fields for (kind, status, scope, trace state) become those fields again.
https://github.com/jaegertracing/jaeger/blob/v1.62.0/model/json/model.go and
https://github.com/jaegertracing/jaeger/blob/v1.62.0/plugin/storage/es/spanstore/dbmodel/model.go
"""

from __future__ import annotations

from typing import Any, Final

from ..anyvalue import real, whole
from ..canonical import JsonObject
from ..model.evidence import EvidenceRef, SpanEvent, SpanRecord
from .documents import Context, DocumentForm, Place, as_dict, as_list
from .otlp_dict import SPAN_KINDS, STATUS_CODES, Repaired, enum, text
from .outline import Head

_SOURCE: Final = ("_source",)
_HITS: Final = ("hits", "hits", "_source")
_CARRIERS: Final = (
    "span.kind",
    "otel.status_code",
    "otel.status_description",
    "otel.scope.name",
    "otel.scope.version",
    "otel.library.name",
    "otel.library.version",
    "w3c.tracestate",
    "internal.span.format",
)


class Jaeger(DocumentForm):
    name = "jaeger"
    writer = "Jaeger"
    obtain = "download in its page, `GET /api/traces/<id>`, documents of Elasticsearch"
    tried = "built from Jaeger's JSON model"
    loses = "times end at microseconds; lists are text"
    places = (
        Place(("data",), ("data", "spans")),
        Place((), ("spans",)),
        Place(_SOURCE, _SOURCE),
        Place(_HITS, _HITS),
        Place((), ()),
    )

    def recognises(self, head: Head) -> bool:
        return any(head.has("traceID", "spanID", "operationName", under=place.record) for place in self.places)

    def context(self, container: JsonObject) -> Context:
        return {"processes": as_dict(container.get("processes"))}

    def read(self, data: JsonObject, context: Context, ref: EvidenceRef, repairs: Repaired) -> Any:
        if "spanID" not in data:
            return None
        process = as_dict(data.get("process"))
        if not process:
            process = as_dict(as_dict(context.get("processes")).get(text(data.get("processID"))))
        tags = _tags(data)
        carried = {name: tags.pop(name) for name in _CARRIERS if name in tags}
        trace = padded(data.get("traceID"), 32)
        parent, links = _references(data, trace)
        start = whole(data.get("startTime"))
        duration = whole(data.get("duration"))
        start_ns = start * 1000 if isinstance(start, int) and start > 0 else None
        code = enum(carried.get("otel.status_code"), STATUS_CODES, "STATUS_CODE_")
        if tags.get("error") in (True, "true"):
            if "otel.status_code" in carried:
                del tags["error"]
            code = 2
        message = carried.get("otel.status_description")
        resource = _tags(process)
        if process.get("serviceName"):
            resource.setdefault("service.name", process["serviceName"])
        return SpanRecord(
            trace_id=trace,
            span_id=padded(data["spanID"], 16),
            parent_span_id=parent,
            name=text(data.get("operationName")),
            attributes=tags,
            ref=ref,
            kind=enum(carried.get("span.kind"), SPAN_KINDS, ""),
            start_ns=start_ns,
            end_ns=start_ns + duration * 1000 if start_ns is not None and isinstance(duration, int) else None,
            events=[_event(log) for log in map(as_dict, as_list(data.get("logs")))],
            links=links,
            status_code=code,
            status_message=None if message is None else str(message),
            scope_name=text(carried.get("otel.scope.name", carried.get("otel.library.name"))),
            scope_version=text(carried.get("otel.scope.version", carried.get("otel.library.version"))),
            resource=resource,
            trace_state=text(carried.get("w3c.tracestate")),
        )


def padded(value: Any, digits: int) -> str:
    """Ids of 64 bits and ids that lost their leading zeros, at full length."""
    found = text(value).lower()
    return found.rjust(digits, "0") if found.strip("0") else ""


def _tags(data: JsonObject) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for key, value in as_dict(data.get("tag")).items():
        out[key.replace("@", ".")] = value
    for tag in map(as_dict, as_list(data.get("tags"))):
        if "key" in tag:
            out[text(tag["key"])] = _value(tag)
    return out


def _value(tag: JsonObject) -> Any:
    kind, value = text(tag.get("type")).lower(), tag.get("value")
    if kind == "int64":
        return whole(value)
    if kind == "float64":
        return real(value)
    if kind == "bool" and isinstance(value, str):
        return value == "true"
    if kind == "binary":
        return {"base64": value}
    return value


def _references(data: JsonObject, trace: str) -> tuple[str | None, list[JsonObject]]:
    """The parent, which is the first CHILD_OF in the same trace, else the first FOLLOWS_FROM; the rest are links."""
    found = [
        (text(one.get("refType")), padded(one.get("traceID"), 32), padded(one.get("spanID"), 16))
        for one in map(as_dict, as_list(data.get("references")))
    ]
    parent: str | None = None
    for kind in ("CHILD_OF", "FOLLOWS_FROM"):
        place = next((n for n, one in enumerate(found) if one[0] == kind and one[1] == trace), None)
        if place is not None:
            parent = found.pop(place)[2] or None
            break
    if parent is None and data.get("parentSpanID"):
        parent = padded(data["parentSpanID"], 16) or None
    return parent, [{"trace_id": one[1], "span_id": one[2]} for one in found]


def _event(log: JsonObject) -> SpanEvent:
    fields = {text(one.get("key")): _value(one) for one in map(as_dict, as_list(log.get("fields")))}
    when = whole(log.get("timestamp"))
    name = fields.pop("event", None)
    return SpanEvent(
        "" if name is None else str(name), when * 1000 if isinstance(when, int) and when > 0 else None, fields
    )


JAEGER = Jaeger()
