"""OpenTelemetry spans in the event envelope (`otel.jsonl`, `otel-live.jsonl`) to span records.

`data` is the SDK's span JSON with `trace_id`, `span_id`, `parent_span_id` and times added; payloads stand in files
beside it that `abb.*_ref` attributes name.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from ..model.evidence import AbbRecord, EvidenceRef, Notice, Source, SpanEvent, SpanRecord
from ..timestamps import parse_ns
from .abb import ENVELOPE, AbbFile
from .inflate import Stream
from .lines import is_packed, open_source

_STATUS = {"UNSET": 0, "OK": 1, "ERROR": 2}
_KINDS = {"INTERNAL": 1, "SERVER": 2, "CLIENT": 3, "PRODUCER": 4, "CONSUMER": 5}


def is_enveloped(source: Source) -> bool:
    """Whether the first bytes are a line in the envelope. Raises `EvidenceError` for a file that cannot be read."""
    if is_packed(source.file):
        stream = Stream(source.file, source.path)
        try:
            return ENVELOPE.encode() in stream.peek(4096).split(b"\n", 1)[0]
        finally:
            stream.close()
    descriptor = open_source(source.file)
    try:
        return ENVELOPE.encode() in os.read(descriptor, 4096).split(b"\n", 1)[0]
    finally:
        os.close(descriptor)


class AbbOtelFile:
    """A `RecordFile` of enveloped spans."""

    form = "abb-otel"

    def __init__(self, source: Source) -> None:
        self.source = source
        self._file = AbbFile(source)

    def records(self) -> Iterator[SpanRecord | Notice]:
        for item in self._file.records():
            if isinstance(item, Notice):
                yield item
            elif item.event == "span":
                span = _span(item)
                yield (
                    span
                    if span is not None
                    else Notice("unreadable_record", "a span without ids", item.ref.source, item.ref.line)
                )

    def fetch(self, ref: EvidenceRef) -> SpanRecord:
        span = _span(self._file.fetch(ref))
        assert span is not None, "an address that gave a span gives it again"
        return span

    def raw(self, ref: EvidenceRef) -> bytes:
        return self._file.raw(ref)

    def close(self) -> None:
        self._file.close()


def _hex(value: Any) -> str | None:
    return value.removeprefix("0x").lower() if isinstance(value, str) and value else None


def _nanos(exact: Any, text: Any) -> int | None:
    if isinstance(exact, str) and exact.isdigit():
        return int(exact)
    if isinstance(exact, int) and not isinstance(exact, bool):
        return exact
    return parse_ns(text) if isinstance(text, str) else None


def _count(value: Any) -> int:
    return value if isinstance(value, int) else 0


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _span(record: AbbRecord) -> SpanRecord | None:
    data = record.data
    context = _dict(data.get("context"))
    trace_id = _hex(data.get("trace_id")) or _hex(context.get("trace_id"))
    span_id = _hex(data.get("span_id")) or _hex(context.get("span_id"))
    if trace_id is None or span_id is None:
        return None
    status = _dict(data.get("status"))
    events = [_event(item) for item in _list(data.get("events")) if isinstance(item, dict)]
    scope = _dict(data.get("instrumentation_scope") or data.get("scope"))
    return SpanRecord(
        trace_id=trace_id,
        span_id=span_id,
        parent_span_id=_hex(data.get("parent_span_id")) or _hex(data.get("parent_id")),
        name=data["name"] if isinstance(data.get("name"), str) else "",
        attributes=_dict(data.get("attributes")),
        ref=record.ref,
        kind=_KINDS.get(str(data.get("kind")).rsplit(".", 1)[-1], 0),
        start_ns=_nanos(data.get("start_time_unix_nano"), data.get("start_time")),
        end_ns=_nanos(data.get("end_time_unix_nano"), data.get("end_time")),
        events=events,
        links=[item for item in _list(data.get("links")) if isinstance(item, dict)],
        status_code=_STATUS.get(str(status.get("status_code")).rsplit(".", 1)[-1], 0),
        status_message=status.get("description") if isinstance(status.get("description"), str) else None,
        scope_name=str(scope.get("name") or ""),
        scope_version=str(scope.get("version") or ""),
        resource=_dict(_dict(data.get("resource")).get("attributes")),
        dropped_attributes=_count(data.get("dropped_attributes")),
        dropped_events=_count(data.get("dropped_events")),
        dropped_links=_count(data.get("dropped_links")),
        live=data.get("live") is True,
    )


def _event(item: dict[str, Any]) -> SpanEvent:
    timestamp = item.get("timestamp")
    return SpanEvent(
        name=str(item.get("name") or ""),
        time_ns=parse_ns(timestamp) if isinstance(timestamp, str) else None,
        attributes=_dict(item.get("attributes")),
    )
