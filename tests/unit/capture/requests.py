"""OTLP requests for tests, made with the official message classes, and the same as JSON."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

from google.protobuf import json_format
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

TRACE = "0af7651916cd43dd8448eb211c80319c"
SPAN = "b7ad6b7169203331"


def attribute(key: str, value: str) -> dict[str, Any]:
    return {"key": key, "value": {"stringValue": value}}


def span(
    trace: str = TRACE, own: str = SPAN, parent: str = "", name: str = "chat", **attributes: str
) -> dict[str, Any]:
    """One span of OTLP/JSON; attribute names use `__` for a dot."""
    out: dict[str, Any] = {"traceId": trace, "spanId": own, "name": name, "kind": 3}
    if parent:
        out["parentSpanId"] = parent
    out["startTimeUnixNano"] = "1700000000000000000"
    out["endTimeUnixNano"] = "1700000001000000000"
    out["attributes"] = [attribute(key.replace("__", "."), value) for key, value in attributes.items()]
    return out


def traces(*spans: dict[str, Any], resource: dict[str, str] | None = None) -> dict[str, Any]:
    attributes = [attribute(key, value) for key, value in ({"service.name": "t"} | (resource or {})).items()]
    scope = {"scope": {"name": "scope", "version": "1"}, "spans": list(spans), "schemaUrl": "https://x/1"}
    return {"resourceSpans": [{"resource": {"attributes": attributes}, "scopeSpans": [scope]}]}


def logs(*records: dict[str, Any], resource: dict[str, str] | None = None) -> dict[str, Any]:
    attributes = [attribute(key, value) for key, value in (resource or {}).items()]
    scope = {"scope": {"name": "scope"}, "logRecords": list(records)}
    return {"resourceLogs": [{"resource": {"attributes": attributes}, "scopeLogs": [scope]}]}


def log(body: str = "hello", trace: str = "", **attributes: str) -> dict[str, Any]:
    out: dict[str, Any] = {"timeUnixNano": "1700000000000000000", "body": {"stringValue": body}}
    if trace:
        out["traceId"] = trace
    out["attributes"] = [attribute(key.replace("__", "."), value) for key, value in attributes.items()]
    return out


def metrics(session: str | None = None) -> dict[str, Any]:
    attributes = [] if session is None else [attribute("session.id", session)]
    point = {"timeUnixNano": "1700000000000000000", "asInt": "7", "attributes": attributes}
    metric = {"name": "tokens", "sum": {"dataPoints": [point], "aggregationTemporality": 2, "isMonotonic": True}}
    return {"resourceMetrics": [{"resource": {}, "scopeMetrics": [{"scope": {"name": "m"}, "metrics": [metric]}]}]}


def as_json(request: dict[str, Any]) -> bytes:
    return json.dumps(request, ensure_ascii=False, separators=(",", ":")).encode()


_CLASSES = {
    "resourceSpans": ExportTraceServiceRequest,
    "resourceLogs": ExportLogsServiceRequest,
    "resourceMetrics": ExportMetricsServiceRequest,
}


def as_protobuf(request: dict[str, Any]) -> bytes:
    """The same request in protobuf: the official JSON parser, given ids in base64 as it wants them."""
    cls = _CLASSES[next(iter(request))]
    return bytes(json_format.ParseDict(_with_base64_ids(request), cls()).SerializeToString())


def _with_base64_ids(value: Any) -> Any:
    if isinstance(value, list):
        return [_with_base64_ids(item) for item in value]
    if not isinstance(value, dict):
        return value
    out = {}
    for key, item in value.items():
        if key in ("traceId", "spanId", "parentSpanId") and isinstance(item, str):
            out[key] = base64.b64encode(bytes.fromhex(item)).decode()
        else:
            out[key] = _with_base64_ids(item)
    return out


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().split(b"\n") if line]


def items(path: Path) -> list[dict[str, Any]]:
    """Every span or log record of a file of OTLP/JSON lines."""
    out = []
    for line in lines(path):
        for resource in next(iter(line.values())):
            for key in ("scopeSpans", "scopeLogs", "scopeMetrics"):
                for scope in resource.get(key, ()):
                    out += scope.get("spans", []) + scope.get("logRecords", []) + scope.get("metrics", [])
    return out
