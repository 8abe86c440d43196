"""Zipkin v2 JSON into spans. Every value is a string there, and stays one.

What OpenTelemetry's Zipkin exporters fold into tags (scope, status, SDK and service) is taken out again.
https://zipkin.io/zipkin-api/zipkin2-api.yaml and
https://github.com/open-telemetry/opentelemetry-specification/blob/v1.40.0/specification/trace/sdk_exporters/zipkin.md
"""

from __future__ import annotations

from typing import Any, Final

from ..anyvalue import whole
from ..canonical import JsonObject
from ..model.evidence import EvidenceRef, SpanEvent, SpanRecord
from .documents import Context, DocumentForm, Place, as_dict, as_list, parsed
from .jaeger import padded
from .otlp_dict import SPAN_KINDS, STATUS_CODES, Repaired, enum, text
from .outline import Head

_RESOURCE: Final = ("telemetry.sdk.", "service.")
_CARRIERS: Final = (
    "otel.status_code",
    "otel.scope.name",
    "otel.scope.version",
    "otel.library.name",
    "otel.library.version",
)


class Zipkin(DocumentForm):
    name = "zipkin"
    writer = "Zipkin exporters and servers"
    obtain = "`GET /api/v2/trace/<id>`, saved request bodies"
    tried = "Python Zipkin exporter; shared ids built from the v2 API description"
    loses = "values are strings; kind, events and resource attributes are folded"
    places = (Place((), ()),)

    def recognises(self, head: Head) -> bool:
        return head.has("traceId", "id") and (
            head.has("localEndpoint") or head.has("remoteEndpoint") or (head.has("timestamp") and head.has("tags"))
        )

    def read(self, data: JsonObject, context: Context, ref: EvidenceRef, repairs: Repaired) -> Any:
        if "traceId" not in data or "id" not in data:
            return None
        tags = {text(key): value for key, value in as_dict(data.get("tags")).items()}
        carried = {name: tags.pop(name) for name in _CARRIERS if name in tags}
        resource = {name: tags.pop(name) for name in list(tags) if name.startswith(_RESOURCE)}
        service = as_dict(data.get("localEndpoint")).get("serviceName")
        if service:
            resource.setdefault("service.name", service)
        code = enum(carried.get("otel.status_code"), STATUS_CODES, "STATUS_CODE_")
        message: Any = None
        if "error" in tags:
            message = tags.pop("error") if "otel.status_code" in carried else tags["error"]
            code = 2
        start = whole(data.get("timestamp"))
        duration = whole(data.get("duration"))
        start_ns = start * 1000 if isinstance(start, int) and start > 0 else None
        if data.get("shared") is True:
            repairs.append("span id shared by client and server")
        return SpanRecord(
            trace_id=padded(data["traceId"], 32),
            span_id=padded(data["id"], 16),
            parent_span_id=padded(data.get("parentId"), 16) or None,
            name=text(data.get("name")),
            attributes=tags,
            ref=ref,
            kind=enum(data.get("kind"), SPAN_KINDS, ""),
            start_ns=start_ns,
            end_ns=start_ns + duration * 1000 if start_ns is not None and isinstance(duration, int) else None,
            events=[_event(one) for one in map(as_dict, as_list(data.get("annotations")))],
            status_code=code,
            status_message=None if message in (None, "", "true") else str(message),
            scope_name=text(carried.get("otel.scope.name", carried.get("otel.library.name"))),
            scope_version=text(carried.get("otel.scope.version", carried.get("otel.library.version"))),
            resource=resource,
        )


def _event(annotation: JsonObject) -> SpanEvent:
    """An annotation; exporters write events as `{"name": {attributes}}` or `"name": {attributes}` in its text."""
    when = whole(annotation.get("timestamp"))
    time_ns = when * 1000 if isinstance(when, int) and when > 0 else None
    value = text(annotation.get("value"))
    for candidate in (value, "{" + value + "}"):
        found = parsed(candidate)
        if isinstance(found, dict) and len(found) == 1:
            name, attributes = next(iter(found.items()))
            attributes = parsed(attributes)
            if isinstance(attributes, dict):
                return SpanEvent(name, time_ns, attributes)
    return SpanEvent(value, time_ns, {})


ZIPKIN = Zipkin()
