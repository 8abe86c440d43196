"""Spans as flat rows: ids, times and an object of attributes beside each other, as exporters of one's own and table
dumps write them; one list, a list under a name, or a row a line.

Names may be in snake or camel case. A time is ISO 8601 or a number; of a number the size tells the unit (seconds,
milliseconds, microseconds, nanoseconds since 1970 are each a thousand times the other).
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final

from ..canonical import JsonObject
from ..model.evidence import EvidenceRef, SpanEvent, SpanRecord
from ..timestamps import parse_ns
from .documents import Context, DocumentForm, Place, as_dict, as_list, parsed
from .ids import plain_id
from .otlp_dict import SPAN_KINDS, STATUS_CODES, Repaired, attributes, enum, field, link, text
from .outline import Head

_START: Final = ("startTime", "startTimeUnixNano", "start", "startTimestamp")
_END: Final = ("endTime", "endTimeUnixNano", "end", "endTimestamp")
_PARENT: Final = ("parentSpanId", "parentId")
_EVENTS: Final = ("events", "spanEvents")
_LISTS: Final = ("spans", "data", "rows", "results", "trace")


class SpanRows(DocumentForm):
    name = "span-rows"
    writer = "exporters of one's own, dumps of tables"
    obtain = "flat rows of spans with ids, times and an object of attributes, snake or camel case"
    tried = "built by hand"
    loses = "what the writer of the rows left out: often scope, resource and dropped counts"
    places = (Place((), ()), *(Place((), (name,)) for name in _LISTS))

    def recognises(self, head: Head) -> bool:
        return any(
            (head.has("trace_id", "span_id", "attributes", under=at) and _timed(head, at, snake=True))
            or (head.has("traceId", "spanId", "attributes", under=at) and _timed(head, at, snake=False))
            for at in (place.record for place in self.places)
        )

    def read(self, data: JsonObject, context: Context, ref: EvidenceRef, repairs: Repaired) -> Any:
        if not (field(data, "traceId") or field(data, "spanId")) or not ("attributes" in data or "name" in data):
            return None
        return row(data, ref, repairs)


def _timed(head: Head, at: tuple[str, ...], *, snake: bool) -> bool:
    names = ("start_time", "start_time_unix_nano", "start") if snake else _START
    return any(head.has(name, under=at) for name in names)


def row(data: JsonObject, ref: EvidenceRef, repairs: Repaired) -> SpanRecord:
    """The span of one row."""
    status = data.get("status")
    told = as_dict(status)
    code = field(told, "code") if told else status
    code = field(told, "statusCode") if code is None and told else code
    code = field(data, "statusCode") if code is None else code
    message = field(told, "message") or field(told, "description") or field(data, "statusMessage")
    scope = as_dict(data.get("scope") or field(data, "instrumentationScope"))
    resource = as_dict(parsed(data.get("resource")))
    own = resource.get("attributes")
    return SpanRecord(
        trace_id=_id(field(data, "traceId"), 32, repairs),
        span_id=_id(field(data, "spanId"), 16, repairs),
        parent_span_id=_id(_first(data, _PARENT), 16, repairs) or None,
        name=text(data.get("name")),
        attributes=attributes(parsed(data.get("attributes"))),
        ref=ref,
        kind=enum(text(data.get("kind")).rpartition(".")[2] or data.get("kind"), SPAN_KINDS, "SPAN_KIND_"),
        start_ns=when(_first(data, _START)),
        end_ns=when(_first(data, _END)),
        events=[_event(one) for one in map(as_dict, as_list(parsed(_first(data, _EVENTS)))) if one],
        links=[link(one) for one in map(as_dict, as_list(parsed(data.get("links")))) if one],
        status_code=enum(text(code).rpartition(".")[2] or code, STATUS_CODES, "STATUS_CODE_"),
        status_message=text(message) or None,
        scope_name=text(scope.get("name") or field(data, "scopeName")),
        scope_version=text(scope.get("version") or field(data, "scopeVersion")),
        resource=attributes(own if own is not None else resource),
    )


def _first(data: JsonObject, names: tuple[str, ...]) -> Any:
    return next((value for value in (field(data, name) for name in names) if value is not None), None)


def _id(value: Any, digits: int, repairs: Repaired) -> str:
    found, repair = plain_id(value, digits)
    if repair is not None and repair != "identifier in upper case or with prefix":
        repairs.append(repair)
    return found


def when(value: Any) -> int | None:
    """Nanoseconds of a time in ISO 8601, or of a number since 1970 in the unit that its size tells."""
    if isinstance(value, str):
        number: Any = int(value) if value.isascii() and value.isdigit() else None
        if number is None:
            return parse_ns(value)
        value = number
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < 2**63:
        return None
    exact = Decimal(repr(value))  # the digits that were written
    for limit, factor in ((10**11, 10**9), (10**14, 10**6), (10**17, 10**3)):
        if value < limit:
            return int(exact * factor)
    return int(exact)


def _event(data: JsonObject) -> SpanEvent:
    stamp = _first(data, ("timestamp", "timeUnixNano", "time"))
    return SpanEvent(text(data.get("name")), when(stamp), attributes(parsed(data.get("attributes"))))


SPAN_ROWS = SpanRows()
