"""OTLP protobuf into spans and log records: export requests one after another, plain or with their length before each.

The wire is scanned for extents first, so that each record has the address of its own bytes; then each record is decoded
by itself. Strings that are not UTF-8 are read through a copy of the schema whose strings are bytes.
https://github.com/open-telemetry/opentelemetry-proto/blob/v1.9.0/opentelemetry/proto/trace/v1/trace.proto
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

from ..canonical import JsonObject
from ..errors import EvidenceError
from ..model.evidence import EvidenceRef, LogRecord, Notice, Source, SpanEvent, SpanRecord
from .context import EMPTY, Context, OffsetTable, Repairs, event_name
from .ids import plain_id
from .inflate import Stream
from .otlp_dict import Repaired, severity
from .outline import Head
from .proto_framing import Block, Blocks, framing_of, signal_of
from .proto_values import ProtoAttributes, decode_any, text_of
from .wirescan import Field, WireError, fields


class _Schema(NamedTuple):
    span: Any
    log: Any
    resource: Any
    scope: Any


@cache
def _strict() -> _Schema:
    from opentelemetry.proto.common.v1 import common_pb2
    from opentelemetry.proto.logs.v1 import logs_pb2
    from opentelemetry.proto.resource.v1 import resource_pb2
    from opentelemetry.proto.trace.v1 import trace_pb2

    return _Schema(trace_pb2.Span, logs_pb2.LogRecord, resource_pb2.Resource, common_pb2.InstrumentationScope)


@cache
def _lenient() -> _Schema:
    """The same wire format with every string typed as bytes, in a pool of its own."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    pool = descriptor_pool.DescriptorPool()
    done: set[str] = set()

    def add(file: Any) -> None:
        if file.name in done:
            return
        done.add(file.name)
        for dependency in file.dependencies:
            add(dependency)
        proto = descriptor_pb2.FileDescriptorProto()
        file.CopyToProto(proto)
        for message in proto.message_type:
            _retype(message)
        pool.Add(proto)

    strict = _strict()
    for message in strict:
        add(message.DESCRIPTOR.file)
    return _Schema(
        *(message_factory.GetMessageClass(pool.FindMessageTypeByName(one.DESCRIPTOR.full_name)) for one in strict)
    )


def _retype(message: Any) -> None:
    for one in message.field:
        if one.type == one.TYPE_STRING:
            one.type = one.TYPE_BYTES
    for nested in message.nested_type:
        _retype(nested)


def _id(value: bytes, digits: int, what: str, repairs: Repaired) -> str:
    if len(value) * 2 == digits:
        text = value.hex()
        if text.count("0") != digits:
            return text
    if not value:
        return ""
    try:
        text = value.decode("ascii") if len(value) == digits else value.hex()
    except UnicodeDecodeError:
        text = value.hex()
    found, repair = plain_id(text, digits)
    repairs.append(f"{what}: {repair if repair is not None else 'identifier as hex text in a bytes field'}")
    return found


def _span(message: Any, context: Context, ref: EvidenceRef, repairs: Repaired) -> SpanRecord:
    return SpanRecord(
        _id(message.trace_id, 32, "traceId", repairs),
        _id(message.span_id, 16, "spanId", repairs),
        _id(message.parent_span_id, 16, "parentSpanId", repairs) or None,
        text_of(message.name),
        ProtoAttributes(message.attributes),
        ref,
        message.kind,
        message.start_time_unix_nano or None,
        message.end_time_unix_nano or None,
        [
            SpanEvent(
                text_of(event.name),
                event.time_unix_nano or None,
                ProtoAttributes(event.attributes),
                event.dropped_attributes_count,
            )
            for event in message.events
        ],
        [_link(link) for link in message.links],
        message.status.code,
        text_of(message.status.message) or None,
        context.scope_name,
        context.scope_version,
        context.resource,
        text_of(message.trace_state),
        message.dropped_attributes_count,
        message.dropped_events_count,
        message.dropped_links_count,
    )


def _link(link: Any) -> JsonObject:
    ignored = Repaired()
    out: JsonObject = {
        "trace_id": _id(link.trace_id, 32, "", ignored),
        "span_id": _id(link.span_id, 16, "", ignored),
    }
    if link.attributes:
        out["attributes"] = {text_of(pair.key): decode_any(pair.value) for pair in link.attributes}
    if link.trace_state:
        out["trace_state"] = text_of(link.trace_state)
    if link.dropped_attributes_count:
        out["dropped_attributes"] = link.dropped_attributes_count
    return out


def _log(message: Any, context: Context, ref: EvidenceRef, repairs: Repaired) -> LogRecord:
    attributes = ProtoAttributes(message.attributes)
    return LogRecord(
        _id(message.trace_id, 32, "traceId", repairs) or None,
        _id(message.span_id, 16, "spanId", repairs) or None,
        event_name(text_of(message.event_name), attributes),
        decode_any(message.body),
        attributes,
        ref,
        message.time_unix_nano or message.observed_time_unix_nano or None,
        severity(text_of(message.severity_text), message.severity_number),
        context.scope_name,
        context.scope_version,
        context.resource,
        message.dropped_attributes_count,
    )


class OtlpProto:
    """A file of OTLP protobuf. See `RecordFile`."""

    def __init__(self, source: Source, stream: Stream) -> None:
        self.source = source
        self.form = "otlp-proto" if stream.container == "" else f"otlp-proto+{stream.container}"
        self._stream = stream
        self._contexts = OffsetTable(EMPTY)
        self._known: dict[tuple[bytes, bytes, bool], Context] = {}
        self._repairs = Repairs(source.path)
        self._metrics = 0
        self._begun = False

    def records(self) -> Iterator[SpanRecord | LogRecord | Notice]:
        self._begun = True
        self._stream.rewind()
        self._contexts, self._repairs, self._metrics = OffsetTable(EMPTY), Repairs(self.source.path), 0
        yield from self._stream.notices
        for block in Blocks(self._stream).run():
            if isinstance(block, Notice):
                yield block
            else:
                yield from self._block(block)
        seen = len(self._stream.notices)
        self.source.sha256, self.source.size = self._stream.finish()
        yield from self._stream.notices[seen:]
        yield from self._repairs.notices()
        if self._metrics:
            yield Notice("skipped_records", f"{self._metrics} ResourceMetrics", self.source.path, lossy=False)

    def _damage(self, at: int, why: str) -> Notice:
        return Notice("unreadable_record", f"{why} (byte {at})", self.source.path)

    def _block(self, block: Block) -> Iterator[SpanRecord | LogRecord | Notice]:
        """The records of one ResourceSpans or ResourceLogs, whose members stand in any order."""
        buffer = block.buffer
        resource = b""
        scopes: list[tuple[bytes, list[Field]]] = []
        try:
            for field in fields(buffer, block.start, block.end):
                if field.wire != 2:
                    continue
                if field.number == 1:
                    resource += buffer[field.start : field.end]
                elif field.number == 2 or field.number == 1000:
                    scope, records = b"", []
                    for inner in fields(buffer, field.start, field.end):
                        if inner.number == 1 and inner.wire == 2:
                            scope += buffer[inner.start : inner.end]
                        elif inner.number == 2 and inner.wire == 2:
                            records.append(inner)
                    scopes.append((scope, records))
        except WireError as err:
            yield self._damage(block.base + block.start, str(err))
            return
        signal = signal_of(buffer, [record for _, records in scopes for record in records[:8]])
        if signal == "metrics":
            self._metrics += 1
            return
        for scope, records in scopes:
            if records:
                context = self._context(resource, scope, signal == "logs")
                self._contexts.put(block.base + records[0].start, context)
                parse, refused = _parser(context.logs), _refusal()
                make = _log if context.logs else _span
                path, base, repairs = self.source.path, block.base, Repaired()
                for _, _, start, end in records:
                    ref = EvidenceRef(path, base + start, end - start)
                    data = buffer[start:end]
                    try:
                        record = make(parse(data), context, ref, repairs)
                    except (refused, RecursionError, ValueError):
                        yield from self._odd(data, context, ref)
                        continue
                    if repairs or (not context.logs and not (record.trace_id and record.span_id)):
                        yield from self._tell(record, repairs, ref)
                        repairs = Repaired()
                    yield record

    def _odd(self, data: bytes, context: Context, ref: EvidenceRef) -> Iterator[SpanRecord | LogRecord | Notice]:
        repairs = Repaired()
        try:
            record = _decode(data, context, ref, repairs)
        except (ValueError, RecursionError, WireError) as err:
            yield Notice("unreadable_record", f"{err} (byte {ref.offset})", self.source.path)
            return
        yield from self._tell(record, repairs, ref)
        yield record

    def _tell(self, record: SpanRecord | LogRecord, repairs: Repaired, ref: EvidenceRef) -> Iterator[Notice]:
        for repair in repairs:
            if repair == "invalid-utf-8":
                yield Notice("repaired_record", f"{repair} (byte {ref.offset})", self.source.path)
            else:
                self._repairs.note(repair, None)
        if isinstance(record, SpanRecord) and (record.trace_id == "" or record.span_id == ""):
            missing = "trace id" if record.trace_id == "" else "span id"
            message = f"span {record.name!r} has no {missing} (byte {ref.offset})"
            yield Notice("missing_id", message, self.source.path)

    def _context(self, resource: bytes, scope: bytes, logs: bool) -> Context:
        key = resource, scope, logs
        context = self._known.get(key)
        if context is None:
            about = _parse("resource", resource)
            library = _parse("scope", scope)
            attributes = {} if about is None else ProtoAttributes(about.attributes).plain()
            name, version = ("", "") if library is None else (text_of(library.name), text_of(library.version))
            context = self._known[key] = Context(attributes, name, version, logs)
            self._repairs.twice(attributes)
        return context

    def fetch(self, ref: EvidenceRef) -> SpanRecord | LogRecord:
        if not self._begun:
            for _ in self.records():
                pass
        try:
            return _decode(self.raw(ref), self._contexts.at(ref.offset), ref, Repaired())
        except (ValueError, RecursionError, WireError) as err:
            raise EvidenceError(f"no record at {ref.source}:{ref.offset}", hint="has the file changed?") from err

    def raw(self, ref: EvidenceRef) -> bytes:
        return self._stream.pread(ref.offset, ref.length)

    def close(self) -> None:
        self._stream.close()


@cache
def _parser(logs: bool) -> Callable[[bytes], Any]:
    schema = _strict()
    return schema.log.FromString if logs else schema.span.FromString  # type: ignore[no-any-return]


@cache
def _refusal() -> type[Exception]:
    from google.protobuf.message import DecodeError

    return DecodeError


def _decode(data: bytes, context: Context, ref: EvidenceRef, repairs: Repaired) -> SpanRecord | LogRecord:
    try:
        message = _parser(context.logs)(data)
    except _refusal():
        message = _parse("log" if context.logs else "span", data)
        if message is None:
            raise WireError("not a message") from None
        repairs.append("invalid-utf-8")
    return _log(message, context, ref, repairs) if context.logs else _span(message, context, ref, repairs)


def _parse(kind: str, data: bytes) -> Any:
    for schema in (_strict, _lenient):
        try:
            return getattr(schema(), kind).FromString(data)
        except _refusal():
            continue
    return None


class OtlpProtoReader:
    name = "otlp-proto"
    writer = "OTLP exporters over HTTP, the Collector's file exporter"
    obtain = (
        "`exporters: file: {format: proto}` in the Collector, saved request bodies; one message, several run together,"
        " with 4-byte or varint lengths"
    )
    tried = "Collector 0.155.0"
    loses: str | None = None

    def recognises(self, head: Head) -> bool:
        return framing_of(head.data, head.size) is not None

    def open(self, source: Source, stream: Stream) -> OtlpProto:
        return OtlpProto(source, stream)


OTLP_PROTO = OtlpProtoReader()
