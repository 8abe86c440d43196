"""OTLP JSON, in any arrangement of documents, into spans and log records.

Heads are decoded at once, attribute values when somebody looks. What the typed decoder refuses is read once more,
tolerantly, and every repair is told. Export requests (`resourceSpans`, `resourceLogs`), a ResourceSpans or ResourceLogs
without its wrapper, and the `instrumentationLibrary…` names of before 2022 are all read; metrics are counted.
https://github.com/open-telemetry/opentelemetry-proto/blob/v1.9.0/docs/specification.md#json-protobuf-encoding
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec
from msgspec import Raw

from ..anyvalue import Attributes
from ..canonical import JsonError, JsonObject, beyond_limits, loads_tolerant
from ..errors import EvidenceError
from ..model.evidence import EvidenceRef, LogRecord, Notice, Source, SpanRecord
from . import otlp_dict
from .context import EMPTY, Context, OffsetTable, Repairs
from .framing import Doc, documents, is_utf8
from .inflate import Stream
from .otlp_heads import decode_log, decode_span
from .otlp_locate import locate
from .otlp_shapes import Document, decode_document, groups_of
from .outline import Head
from .repeated import repeated_member

_BETWEEN: Final = b" \t\r\n,"
_STRETCH: Final = 4 << 20
"""Bytes of a mapped document that are read before they may leave memory."""
_REFUSED: Final = (msgspec.DecodeError, RecursionError)
_WORDS: Final = (
    *(f'"resource{one}"'.encode() for one in ("Spans", "Logs", "Metrics", "_spans", "_logs", "_metrics")),
    *(f'"{one}"'.encode() for one in ("scopeSpans", "scopeLogs")),
)
_TOP: Final = frozenset(
    ("resourceSpans", "resourceLogs", "resourceMetrics", "resource_spans", "resource_logs", "resource_metrics")
)


class OtlpJson:
    """A file of OTLP JSON. See `RecordFile`."""

    def __init__(self, source: Source, stream: Stream, form: str = "otlp-json") -> None:
        self.source = source
        self.form = form if stream.container == "" else f"{form}+{stream.container}"
        self.metrics = 0
        """ResourceMetrics objects that were passed over."""
        self._stream = stream
        self._contexts = OffsetTable(EMPTY)
        self._known: dict[tuple[bytes, bytes, bool], Context] = {}
        self._last: tuple[tuple[bytes, bytes, bool], Context] = (b"", b"", False), EMPTY
        self._repairs = Repairs(source.path)
        self._decoded: Document | None = None
        self._begun = False

    def records(self) -> Iterator[SpanRecord | LogRecord | Notice]:
        self._begun = True
        self._stream.rewind()
        self._contexts, self._repairs, self.metrics = OffsetTable(EMPTY), Repairs(self.source.path), 0
        yield from self._stream.notices
        for doc in documents(self._stream, self._whole, b'{"resource'):
            if isinstance(doc, Notice):
                yield doc
                continue
            decoded = self._decoded
            if decoded is None and self._whole(doc):
                decoded = self._decoded
            self._decoded = None
            if decoded is not None:
                yield from self._document(decoded, doc)
            else:
                yield from self._located(doc)
        seen = len(self._stream.notices)
        self.source.sha256, self.source.size = self._stream.finish()
        yield from self._stream.notices[seen:]
        yield from self._repairs.notices()
        if self.metrics:
            yield Notice("skipped_records", f"{self.metrics} ResourceMetrics", self.source.path, lossy=False)

    def _whole(self, doc: Doc) -> bool:
        """Decodes a document the fast way; False where that is not possible."""
        self._decoded = None
        view = memoryview(doc.buffer)[doc.start : doc.end]
        if not (doc.utf8 or is_utf8(view)):
            return False
        try:
            decoded = decode_document(view)
        except _REFUSED:
            return False
        self._decoded = decoded if decoded.known() else None
        return self._decoded is not None

    def _document(self, decoded: Document, doc: Doc) -> Iterator[SpanRecord | LogRecord | Notice]:
        """The records of a document that the typed decoder takes: addresses are sums of the lengths of its records."""
        buffer, at, line, counted = doc.buffer, doc.start, doc.line, doc.start
        one_line = doc.one_line
        doc.release()
        released = at
        frame: list[bytes] = []
        told = at
        self.metrics += len(decoded.resourceMetrics or ())
        for resource in decoded.resources():
            for group, raws, logs in groups_of(resource):
                context = self._context(resource.resource, group.library(), logs)
                at = _find(doc, raws[0], at)
                self._contexts.put(doc.base + at, context)
                for raw in raws:
                    while buffer[at] in _BETWEEN:
                        at += 1
                    length = len(raw)
                    frame.append(buffer[told:at])
                    told = at + length
                    if not one_line:
                        line, counted = line + doc.lines(counted, at), at
                    ref = EvidenceRef(self.source.path, doc.base + at, length, line)
                    record = decode_log(raw, context, ref) if logs else decode_span(raw, context, ref)
                    if record is None or beyond_limits(memoryview(raw)) is not None:
                        yield from self._slow(raw, context, ref)
                    else:
                        if isinstance(record, SpanRecord):
                            record.raw = memoryview(raw)
                        yield from self._twice(bytes(raw), ref.line, record)
                        yield record
                    at += length
                    if at - released > _STRETCH:
                        doc.release(at)
                        released = at
        yield from self._twice(b"0".join((*frame, buffer[told : doc.end])), line)

    def _slow(
        self, raw: Raw | bytes, context: Context, ref: EvidenceRef, snake: bool = False
    ) -> Iterator[SpanRecord | LogRecord | Notice]:
        repairs = otlp_dict.Repaired()
        if snake:
            repairs.append("snake_case keys")
        try:
            record = _tolerant(raw, context, ref, repairs)
        except (JsonError, RecursionError) as err:
            yield Notice("unreadable_record", str(err), self.source.path, ref.line)
            return
        for repair in repairs:
            if repair == "invalid-utf-8":
                yield Notice("repaired_record", repair, self.source.path, ref.line)
            else:
                self._repairs.note(repair, ref.line)
        if isinstance(record, SpanRecord) and (record.trace_id == "" or record.span_id == ""):
            missing = "trace id" if record.trace_id == "" else "span id"
            yield Notice("missing_id", f"span {record.name!r} has no {missing}", self.source.path, ref.line)
        yield from self._twice(bytes(raw), ref.line, record)
        yield record

    def _twice(self, raw: bytes, line: int | None, record: SpanRecord | LogRecord | None = None) -> Iterator[Notice]:
        """A notice where an object of a record, or of a document without its records, names a member twice."""
        attributes = record.attributes if isinstance(record, SpanRecord) else None
        at_hand = attributes.recorded() if isinstance(attributes, Attributes) else b"" if record is None else None
        key = repeated_member(raw, at_hand)
        if key is not None:
            yield Notice("repeated_key", f"a member {key!r} stands twice in one object", self.source.path, line)

    def _context(self, resource: Raw, scope: Raw, logs: bool) -> Context:
        key = bytes(resource), bytes(scope), logs
        if key == self._last[0]:
            return self._last[1]
        context = self._known.get(key)
        if context is None:
            context = self._known[key] = otlp_dict.context(_object(key[0]), _object(key[1]), logs)
            self._repairs.twice(context.resource)
        self._last = key, context
        return context

    def _located(self, doc: Doc) -> Iterator[SpanRecord | LogRecord | Notice]:
        """The records of a document that the typed decoder refuses."""
        found = False
        line, counted = doc.line, doc.start
        for place in locate(doc.buffer, doc.start, doc.end):
            found = True
            resource = Raw(b"") if place.resource is None else Raw(doc.buffer[slice(*place.resource)])
            scope = Raw(b"") if place.scope is None else Raw(doc.buffer[slice(*place.scope)])
            context = self._context(resource, scope, place.logs)
            self._contexts.put(doc.base + place.start, context)
            line, counted = line + doc.lines(counted, place.start), place.start
            ref = EvidenceRef(self.source.path, doc.base + place.start, place.end - place.start, line)
            raw = doc.buffer[place.start : place.end]
            record = None
            if not place.snake and is_utf8(raw):
                record = decode_log(raw, context, ref) if place.logs else decode_span(raw, context, ref)
            if record is not None and beyond_limits(raw) is None:
                yield from self._twice(raw, ref.line, record)
                yield record
            else:
                yield from self._slow(raw, context, ref, place.snake)
        if not found:
            yield from self._nothing(doc)

    def _nothing(self, doc: Doc) -> Iterator[Notice]:
        try:
            value, _ = loads_tolerant(doc.view())
            why = "no OTLP document"
        except JsonError as err:
            value, why = None, str(err)
        groups = [value[name] for name in _TOP if name in value] if isinstance(value, dict) else []
        if groups and not all(group is None or isinstance(group, list) for group in groups):
            groups, why = [], "an OTLP document whose resources are no list"
        if not groups:
            yield Notice("unreadable_line", why, self.source.path, doc.line)

    def fetch(self, ref: EvidenceRef) -> SpanRecord | LogRecord:
        if not self._begun:
            for _ in self.records():
                pass
        raw = self.raw(ref)
        context = self._contexts.at(ref.offset)
        record = decode_log(raw, context, ref) if context.logs else decode_span(raw, context, ref)
        if record is not None:
            return record
        try:
            return _tolerant(raw, context, ref, otlp_dict.Repaired())
        except (JsonError, RecursionError) as err:
            raise EvidenceError(f"no record at {ref.source}:{ref.offset}", hint="has the file changed?") from err

    def raw(self, ref: EvidenceRef) -> bytes:
        return self._stream.pread(ref.offset, ref.length)

    def close(self) -> None:
        self._stream.close()


def _tolerant(
    raw: Raw | bytes, context: Context, ref: EvidenceRef, repairs: otlp_dict.Repaired
) -> SpanRecord | LogRecord:
    value, names = loads_tolerant(memoryview(raw))
    repairs.extend(names)
    if not isinstance(value, dict):
        raise JsonError("not an object")
    if context.logs:
        return otlp_dict.log(value, context, ref, repairs)
    return otlp_dict.span(value, context, ref, repairs)


def _find(doc: Doc, raw: Raw, at: int) -> int:
    """Where the text of `raw` stands in the document, from `at` on; from the beginning where members are in an
    unusual order."""
    text = bytes(raw)
    head = text[:48]
    for place in (at, doc.start):
        found = doc.buffer.find(head, place, doc.end)
        while found >= 0:
            if doc.buffer[found : found + len(text)] == text:
                return found
            found = doc.buffer.find(head, found + 1, doc.end)
    raise JsonError("a record was not found in its own document")


def _object(text: bytes) -> JsonObject:
    try:
        value = loads_tolerant(text)[0] if text else None
    except (JsonError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


class OtlpJsonReader:
    name = "otlp-json"
    writer = "OTLP exporters, the Collector's file exporter, Java's logging exporter, Go's structs as plain JSON"
    obtain = (
        "`exporters: file:` in the Collector, `OTEL_TRACES_EXPORTER=otlp-json-file`, `otel2traj receive`; lines, one"
        " document, indented, run together or in arrays, behind a log prefix, in the names of before 2022"
    )
    tried = "Collector 0.155.0, opentelemetry-exporter-otlp-json-file 0.66b1, JavaScript OTLP exporter 0.223"
    loses: str | None = None

    def recognises(self, head: Head) -> bool:
        """Strings in JSON cannot hold these bytes unescaped, so finding them is finding the members."""
        return any(word in head.data for word in _WORDS) or not head.data.strip()

    def open(self, source: Source, stream: Stream) -> OtlpJson:
        return OtlpJson(source, stream)


OTLP_JSON = OtlpJsonReader()
