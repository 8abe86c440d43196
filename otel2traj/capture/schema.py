"""The official OTLP schema to message classes of a private pool, in which text stays bytes.

Same wire format, `string` retyped as `bytes`: nothing is built as text on acceptance, and one invalid byte of UTF-8
does not refuse a batch. The retired field of old scopes (number 1000, `InstrumentationLibrarySpans`, same layout as
`ScopeSpans`) is put back, so that old exporters lose nothing.
Schema: https://github.com/open-telemetry/opentelemetry-proto/tree/v1.11.0/opentelemetry/proto
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final, NamedTuple

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from .segments import Signal

_STRING: Final = descriptor_pb2.FieldDescriptorProto.TYPE_STRING
_BYTES: Final = descriptor_pb2.FieldDescriptorProto.TYPE_BYTES
_PACKAGE: Final = "opentelemetry.proto."
_NESTED: Final = {"array_value", "kvlist_value"}
_OLD_SCOPES: Final = {"ResourceSpans": "scope_spans", "ResourceLogs": "scope_logs", "ResourceMetrics": "scope_metrics"}
OLD_SCOPE_FIELD: Final = 1000


class Schema(NamedTuple):
    """Request classes by signal, the classes of nested values, and which fields were text, by full name."""

    requests: dict[Signal, Any]
    array: Any
    kvlist: Any
    text_fields: frozenset[str]


@lru_cache(maxsize=2)
def schema(lazy: bool = False) -> Schema:
    """The retyped classes. `lazy` leaves array and kvlist values as bytes too, so that deep nesting (the protobuf
    runtime refuses more than 100 messages in each other) can be read one level at a time."""
    pool = descriptor_pool.DescriptorPool()
    text: set[str] = set()
    for file in _official_files():
        for message in file.message_type:
            _retype(message, f"{file.package}.{message.name}", text, lazy)
        pool.Add(file)

    def cls(name: str) -> Any:
        return message_factory.GetMessageClass(pool.FindMessageTypeByName(_PACKAGE + name))

    return Schema(
        {
            Signal.TRACES: cls("collector.trace.v1.ExportTraceServiceRequest"),
            Signal.LOGS: cls("collector.logs.v1.ExportLogsServiceRequest"),
            Signal.METRICS: cls("collector.metrics.v1.ExportMetricsServiceRequest"),
        },
        cls("common.v1.ArrayValue"),
        cls("common.v1.KeyValueList"),
        frozenset(text),
    )


def _official_files() -> list[descriptor_pb2.FileDescriptorProto]:
    from opentelemetry.proto.collector.logs.v1 import logs_service_pb2
    from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2
    from opentelemetry.proto.collector.trace.v1 import trace_service_pb2
    from opentelemetry.proto.common.v1 import common_pb2
    from opentelemetry.proto.logs.v1 import logs_pb2
    from opentelemetry.proto.metrics.v1 import metrics_pb2
    from opentelemetry.proto.resource.v1 import resource_pb2
    from opentelemetry.proto.trace.v1 import trace_pb2

    modules = (common_pb2, resource_pb2, trace_pb2, logs_pb2, metrics_pb2)
    services = (trace_service_pb2, logs_service_pb2, metrics_service_pb2)
    files = []
    for module in modules + services:
        file = descriptor_pb2.FileDescriptorProto()
        module.DESCRIPTOR.CopyToProto(file)
        files.append(file)
    return files


def _retype(message: descriptor_pb2.DescriptorProto, name: str, text: set[str], lazy: bool) -> None:
    for field in message.field:
        if field.type == _STRING:
            field.type = _BYTES
            text.add(f"{name}.{field.name}")
        elif lazy and field.name in _NESTED:
            field.type = _BYTES
            field.ClearField("type_name")
    scopes = _OLD_SCOPES.get(message.name)
    if scopes is not None:
        kept = [span for span in message.reserved_range if not span.start <= OLD_SCOPE_FIELD < span.end]
        del message.reserved_range[:]
        message.reserved_range.extend(kept)
        old = message.field.add()
        old.CopyFrom(next(field for field in message.field if field.name == scopes))
        old.name = "instrumentation_library_" + scopes.removeprefix("scope_")
        old.number = OLD_SCOPE_FIELD
        old.ClearField("json_name")
    for inner in message.nested_type:
        _retype(inner, f"{name}.{inner.name}", text, lazy)
