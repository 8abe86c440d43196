"""One span or log record in clean OTLP JSON into a record, fast: attribute values stay bytes until they are asked for.

None where anything is unusual; the tolerant path (`otlp_dict`) then decides. Both give the same record for what both
read.
"""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec import Raw, Struct

from ..anyvalue import NOTHING, Attributes, decode_raw
from ..canonical import JsonError, JsonObject, loads_evidence
from ..model.evidence import EvidenceRef, LogRecord, SpanEvent, SpanRecord
from .context import Context, event_name
from .otlp_dict import link, severity

_HEX: Final = "0123456789abcdef"
_NO_TRACE: Final = "0" * 32
_NO_SPAN: Final = "0" * 16
_LIST: Final = Raw(b"[]")
_NULL: Final = b"null"


class _Status(Struct, gc=False):
    code: int | None = 0
    message: str | None = None


class _Event(Struct, gc=False):
    name: str | None = None
    timeUnixNano: str | int | None = None
    attributes: Raw = _LIST
    droppedAttributesCount: int | None = 0


class SpanHead(Struct, gc=False):
    """A span whose attributes, events and links are still bytes."""

    traceId: str
    spanId: str
    parentSpanId: str | None = None
    name: str | None = None
    kind: int | None = 0
    startTimeUnixNano: str | int | None = None
    endTimeUnixNano: str | int | None = None
    attributes: Raw = _LIST
    events: Raw = _LIST
    links: Raw = _LIST
    status: _Status | None = None
    traceState: str | None = None
    droppedAttributesCount: int | None = 0
    droppedEventsCount: int | None = 0
    droppedLinksCount: int | None = 0


class _Log(Struct, gc=False):
    traceId: str | None = None
    spanId: str | None = None
    eventName: str | None = None
    timeUnixNano: str | int | None = None
    observedTimeUnixNano: str | int | None = None
    severityText: str | None = None
    severityNumber: int | None = None
    body: Raw = NOTHING
    attributes: Raw = _LIST
    droppedAttributesCount: int | None = 0


_decode_head = msgspec.json.Decoder(SpanHead).decode
_decode_events = msgspec.json.Decoder(list[_Event]).decode
_decode_links = msgspec.json.Decoder(list[Raw]).decode
_decode_log = msgspec.json.Decoder(_Log).decode

_UNUSUAL: Final = (msgspec.DecodeError, RecursionError, ValueError, JsonError)


def _time(value: str | int | None) -> int | None:
    if value is None:
        return None
    number = int(value)
    return number if number > 0 else None


def decode_span(raw: Raw | bytes | memoryview, context: Context, ref: EvidenceRef) -> SpanRecord | None:
    try:
        head = _decode_head(raw)
    except _UNUSUAL:
        return None
    return span_record(head, context, ref)


def span_record(head: SpanHead, context: Context, ref: EvidenceRef) -> SpanRecord | None:
    trace, span, parent = head.traceId, head.spanId, head.parentSpanId
    if (
        len(trace) != 32
        or len(span) != 16
        or trace.strip(_HEX)
        or span.strip(_HEX)
        or trace == _NO_TRACE
        or span == _NO_SPAN
        or (parent and (len(parent) != 16 or parent.strip(_HEX) or parent == _NO_SPAN))
    ):
        return None
    status = head.status
    try:
        return SpanRecord(
            trace,
            span,
            parent or None,
            head.name or "",
            Attributes(head.attributes),
            ref,
            head.kind or 0,
            _time(head.startTimeUnixNano),
            _time(head.endTimeUnixNano),
            _events(head.events),
            _links(head.links),
            0 if status is None else status.code or 0,
            None if status is None else status.message or None,
            context.scope_name,
            context.scope_version,
            context.resource,
            head.traceState or "",
            head.droppedAttributesCount or 0,
            head.droppedEventsCount or 0,
            head.droppedLinksCount or 0,
        )
    except _UNUSUAL:
        return None


def _events(raw: Raw) -> list[SpanEvent]:
    if len(raw) == 2 or bytes(raw) == _NULL:
        return []
    return [
        SpanEvent(
            event.name or "",
            _time(event.timeUnixNano),
            Attributes(event.attributes),
            event.droppedAttributesCount or 0,
        )
        for event in _decode_events(raw)
    ]


def _links(raw: Raw) -> list[JsonObject]:
    if len(raw) == 2 or bytes(raw) == _NULL:
        return []
    return [link(loads_evidence(memoryview(one))) for one in _decode_links(raw)]


def decode_log(raw: Raw | bytes | memoryview, context: Context, ref: EvidenceRef) -> LogRecord | None:
    try:
        head = _decode_log(raw)
        trace, span = head.traceId or None, head.spanId or None
        if (trace is not None and (len(trace) != 32 or trace.strip(_HEX) or trace == _NO_TRACE)) or (
            span is not None and (len(span) != 16 or span.strip(_HEX) or span == _NO_SPAN)
        ):
            return None
        attributes = Attributes(head.attributes)
        when = _time(head.timeUnixNano)
        return LogRecord(
            trace,
            span,
            event_name(head.eventName, attributes),
            decode_raw(head.body),
            attributes,
            ref,
            when if when is not None else _time(head.observedTimeUnixNano),
            severity(head.severityText, head.severityNumber),
            context.scope_name,
            context.scope_version,
            context.resource,
            head.droppedAttributesCount or 0,
        )
    except _UNUSUAL:
        return None
