"""Recorded spans given back to real exporters: the Python ones as SDK objects, the Node ones through a script."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags

NODE_PACKAGES = (
    "@opentelemetry/api@1.9.0",
    "@opentelemetry/resources@2.12.1",
    "@opentelemetry/exporter-trace-otlp-http@0.223.1",
    "@opentelemetry/exporter-trace-otlp-proto@0.223.1",
)
"""The last line of the JavaScript exporters that runs on Node 20."""

NODE_SCRIPT = """
const { OTLPTraceExporter: Json } = require('@opentelemetry/exporter-trace-otlp-http');
const { OTLPTraceExporter: Proto } = require('@opentelemetry/exporter-trace-otlp-proto');
const { resourceFromAttributes } = require('@opentelemetry/resources');
const fs = require('fs');
const [url, kind, compression, file] = process.argv.slice(2);
const value = (v) => v.stringValue ?? v.boolValue ?? v.doubleValue ??
  (v.intValue !== undefined ? Number(v.intValue) : v.arrayValue ? (v.arrayValue.values ?? []).map(value) : null);
const attributes = (list) => Object.fromEntries((list ?? []).map((p) => [p.key, odd(value(p.value))]));
const odd = (v) => v === '@nan' ? NaN : v === '@infinity' ? Infinity : v === '@huge' ? 1e20 : v;
const time = (text) => [Number(BigInt(text) / 1000000000n), Number(BigInt(text) % 1000000000n)];
const spans = [];
for (const line of fs.readFileSync(file, 'utf8').split('\\n').filter(Boolean)) {
  for (const r of JSON.parse(line).resourceSpans) {
    const resource = resourceFromAttributes(attributes(r.resource.attributes));
    for (const s of r.scopeSpans) for (const span of s.spans) {
      const context = (spanId) => ({ traceId: span.traceId, spanId, traceFlags: 1 });
      spans.push({
        name: span.name, kind: (span.kind ?? 1) - 1, resource,
        spanContext: () => context(span.spanId),
        parentSpanContext: span.parentSpanId ? context(span.parentSpanId) : undefined,
        startTime: time(span.startTimeUnixNano), endTime: time(span.endTimeUnixNano), duration: [0, 0], ended: true,
        status: { code: span.status?.code ?? 0, message: span.status?.message },
        attributes: attributes(span.attributes), links: [],
        events: (span.events ?? []).map((e) => ({
          name: e.name, time: time(e.timeUnixNano), attributes: attributes(e.attributes), droppedAttributesCount: 0 })),
        instrumentationScope: { name: s.scope?.name ?? '', version: s.scope?.version },
        droppedAttributesCount: 0, droppedEventsCount: 0, droppedLinksCount: 0,
      });
    }
  }
}
const exporter = new (kind === 'json' ? Json : Proto)({ url, compression });
exporter.export(spans, async (result) => {
  await exporter.shutdown();
  if (result.code !== 0) { console.error(result.error); process.exit(1); }
});
"""


def install_node_exporters(folder: Path) -> str | None:
    """Install the exporters of the npm registry into a folder; why not, where that cannot be done."""
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        return "node and npm are not installed"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "package.json").write_text('{"private": true}')
    (folder / "export.js").write_text(NODE_SCRIPT)
    command = [npm, "install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel", "error", *NODE_PACKAGES]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=240)
    except subprocess.TimeoutExpired:
        return "npm did not finish in 240 s"
    return None if done.returncode == 0 else f"npm could not install the exporters: {done.stderr.strip()[-300:]}"


def export_from_node(folder: Path, url: str, kind: str, file: Path, compression: str = "none") -> None:
    node = shutil.which("node")
    assert node is not None
    command = [node, "export.js", url, kind, compression, str(file)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def sdk_spans(file: Path) -> Iterator[list[ReadableSpan]]:
    """The spans of each line of a recorded file, as the Python SDK holds them."""
    for line in file.read_bytes().splitlines():
        yield [
            _span(span, resource, scope)
            for resource in json.loads(line)["resourceSpans"]
            for scope in resource["scopeSpans"]
            for span in scope["spans"]
        ]


def _span(span: dict[str, Any], resource: dict[str, Any], scope: dict[str, Any]) -> ReadableSpan:
    def context(span_id: str) -> SpanContext:
        return SpanContext(int(span["traceId"], 16), int(span_id, 16), False, TraceFlags(1))

    status = span.get("status", {})
    parent = span.get("parentSpanId")
    return ReadableSpan(
        name=span["name"],
        context=context(span["spanId"]),
        parent=context(parent) if parent else None,
        resource=Resource(_attributes(resource["resource"]), resource.get("schemaUrl")),
        attributes=_attributes(span),
        events=[
            Event(event["name"], _attributes(event), int(event["timeUnixNano"])) for event in span.get("events", ())
        ],
        kind=SpanKind(span.get("kind", 1) - 1),
        status=Status(StatusCode(status.get("code", 0)), status.get("message")),
        start_time=int(span["startTimeUnixNano"]),
        end_time=int(span["endTimeUnixNano"]),
        instrumentation_scope=InstrumentationScope(
            scope["scope"]["name"], scope["scope"].get("version"), scope.get("schemaUrl")
        ),
    )


def _attributes(holder: dict[str, Any]) -> dict[str, Any]:
    return {pair["key"]: _value(pair["value"]) for pair in holder.get("attributes", ())}


def _value(value: dict[str, Any]) -> Any:
    ((kind, content),) = value.items()
    if kind == "intValue":
        return int(content)
    if kind == "arrayValue":
        return tuple(_value(item) for item in content.get("values", ()))
    return content
