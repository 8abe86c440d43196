"""One span or log record in clean OTLP JSON into a record, fast: attribute values stay bytes until they are asked for.

None where anything is unusual; the tolerant path (`otlp_dict`) then decides. Both give the same record for what both
read.
"""

from __future__ import annotations

import re
from typing import Final

import msgspec
from msgspec import Raw, Struct

from ..canonical import JsonError, JsonObject, loads
from ..model.evidence import EvidenceRef, LogRecord, SpanEvent, SpanRecord
from .anyvalue import NOTHING, Attributes, KeyValue, decode_raw
from .context import Context
from .otlp_dict import link, severity

_TRACE: Final = re.compile("[0-9a-f]{32}").fullmatch
_SPAN: Final = re.compile("[0-9a-f]{16}").fullmatch
_NO_TRACE: Final = "0" * 32
_NO_SPAN: Final = "0" * 16
_NO_ATTRIBUTES: Final = Attributes(())


class _Status(Struct, gc=False):
    code: int | None = 0
    message: str | None = None


class _Event(Struct, gc=False):
    name: str | None = None
    timeUnixNano: str | int | None = None
    attributes: list[KeyValue] | None = None
    droppedAttributesCount: int | None = 0


class _Span(Struct, gc=False):
    traceId: str
    spanId: str
    parentSpanId: str | None = None
    name: str | None = None
    kind: int | None = 0
    startTimeUnixNano: str | int | None = None
    endTimeUnixNano: str | int | None = None
    attributes: list[KeyValue] | None = None
    events: list[_Event] | None = None
    links: list[Raw] | None = None
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
    attributes: list[KeyValue] | None = None
    droppedAttributesCount: int | None = 0


_decode_span = msgspec.json.Decoder(_Span).decode
_decode_log = msgspec.json.Decoder(_Log).decode

_UNUSUAL: Final = (msgspec.DecodeError, RecursionError, ValueError, JsonError)


def _time(value: str | int | None) -> int | None:
    if value is None:
        return None
    number = int(value)
    return number if number > 0 else None


def _attributes(pairs: list[KeyValue] | None) -> Attributes:
    return Attributes(pairs) if pairs else _NO_ATTRIBUTES


def _link(raw: Raw) -> JsonObject:
    return link(loads(memoryview(raw)))


def decode_span(raw: Raw | bytes | memoryview, context: Context, ref: EvidenceRef) -> SpanRecord | None:
    try:
        head = _decode_span(raw)
        parent = head.parentSpanId
        if (
            _TRACE(head.traceId) is None
            or _SPAN(head.spanId) is None
            or head.traceId == _NO_TRACE
            or head.spanId == _NO_SPAN
            or (parent and (_SPAN(parent) is None or parent == _NO_SPAN))
        ):
            return None
        events = head.events
        status = head.status
        return SpanRecord(
            head.traceId,
            head.spanId,
            parent or None,
            head.name or "",
            _attributes(head.attributes),
            ref,
            head.kind or 0,
            _time(head.startTimeUnixNano),
            _time(head.endTimeUnixNano),
            [_event(event) for event in events] if events else [],
            [_link(item) for item in head.links] if head.links else [],
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


def _event(event: _Event) -> SpanEvent:
    return SpanEvent(
        event.name or "", _time(event.timeUnixNano), _attributes(event.attributes), event.droppedAttributesCount or 0
    )


def decode_log(raw: Raw | bytes | memoryview, context: Context, ref: EvidenceRef) -> LogRecord | None:
    try:
        head = _decode_log(raw)
        trace, span = head.traceId or None, head.spanId or None
        if (trace is not None and (_TRACE(trace) is None or trace == _NO_TRACE)) or (
            span is not None and (_SPAN(span) is None or span == _NO_SPAN)
        ):
            return None
        attributes = _attributes(head.attributes)
        name = head.eventName or ""
        if name == "":
            named = attributes.get("event.name")
            name = named if isinstance(named, str) else "" if named is None else str(named)
        when = _time(head.timeUnixNano)
        return LogRecord(
            trace,
            span,
            name or None,
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
