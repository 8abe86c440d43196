"""OTLP records as plain JSON objects, under any spelling, into records: the tolerant path of every OTLP-like form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ..anyvalue import attributes_of, decode_any, pairs_in, whole
from ..canonical import JsonObject
from ..model.evidence import EvidenceRef, LogRecord, SpanEvent, SpanRecord
from .context import Context, event_name
from .ids import plain_id

SPAN_KINDS: Final = {
    "UNSPECIFIED": 0,
    "INTERNAL": 1,
    "SERVER": 2,
    "CLIENT": 3,
    "PRODUCER": 4,
    "CONSUMER": 5,
}
STATUS_CODES: Final = {"UNSET": 0, "OK": 1, "ERROR": 2}


class Repaired(list[str]):
    """Names of the repairs that one record took; those in `lost` cost content."""

    def __init__(self) -> None:
        super().__init__()
        self.lost: list[str] = []


def field(data: Mapping[str, Any], name: str, repairs: Repaired | None = None) -> Any:
    """`data[name]`, also under its snake_case spelling; None where it is missing."""
    value = data.get(name)
    if value is None:
        snake = _snake(name)
        value = data.get(snake) if snake != name else None
        if value is not None and repairs is not None and "snake_case keys" not in repairs:
            repairs.append("snake_case keys")
    return value


_SNAKES: dict[str, str] = {}


def _snake(name: str) -> str:
    known = _SNAKES.get(name)
    if known is None:
        known = _SNAKES[name] = "".join("_" + char.lower() if char.isupper() else char for char in name)
    return known


def enum(value: Any, names: Mapping[str, int], prefix: str) -> int:
    """An enum given as number, digits or name; 0 for what the list does not know."""
    if isinstance(value, bool) or value is None:
        return 0
    if isinstance(value, (int, float)):
        return int(value)
    if isinstance(value, str):
        text = value.upper().removeprefix(prefix)
        return names[text] if text in names else int(text) if text.isdigit() else 0
    return 0


def time_ns(value: Any) -> int | None:
    """Nanoseconds from a string or number; None for nothing, zero and what is not a number."""
    number = whole(value)
    if isinstance(number, float):
        number = int(number) if number == number and abs(number) != float("inf") else None
    if isinstance(number, bool) or not isinstance(number, int) or number <= 0:
        return None
    return number


def count(value: Any) -> int:
    number = whole(value)
    return number if isinstance(number, int) else 0


def text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)


def attributes(value: Any) -> dict[str, Any]:
    """Attributes from a list of pairs, or from a plain object whose values are values."""
    if isinstance(value, dict):
        return {str(key): decode_any(item) if _is_any(item) else item for key, item in value.items()}
    return attributes_of(pairs_in(value)) if isinstance(value, list) else {}


def _is_any(item: Any) -> bool:
    return isinstance(item, dict) and len(item) == 1 and next(iter(item)).endswith("Value")


def _identifier(value: Any, digits: int, what: str, repairs: Repaired) -> str:
    found, repair = plain_id(value, digits)
    if repair is not None:
        repairs.append(f"{what}: {repair}")
    return found


def link(data: Any) -> JsonObject:
    """A span link: `trace_id`, `span_id`, and where recorded `attributes`, `trace_state`, `dropped_attributes`."""
    if not isinstance(data, dict):
        return {}
    out: JsonObject = {
        "trace_id": plain_id(field(data, "traceId"), 32)[0],
        "span_id": plain_id(field(data, "spanId"), 16)[0],
    }
    found = attributes(data.get("attributes"))
    if found:
        out["attributes"] = found
    if field(data, "traceState"):
        out["trace_state"] = field(data, "traceState")
    if count(field(data, "droppedAttributesCount")):
        out["dropped_attributes"] = count(field(data, "droppedAttributesCount"))
    return out


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def event(data: JsonObject, repairs: Repaired) -> SpanEvent:
    return SpanEvent(
        text(data.get("name")),
        time_ns(field(data, "timeUnixNano", repairs)),
        attributes(data.get("attributes")),
        count(field(data, "droppedAttributesCount", repairs)),
    )


def span(data: JsonObject, context: Context, ref: EvidenceRef, repairs: Repaired) -> SpanRecord:
    """The record of one span object; what had to be repaired is added to `repairs`."""
    status = data.get("status")
    status = status if isinstance(status, dict) else {}
    message = text(field(status, "message"))
    return SpanRecord(
        trace_id=_identifier(field(data, "traceId", repairs), 32, "traceId", repairs),
        span_id=_identifier(field(data, "spanId", repairs), 16, "spanId", repairs),
        parent_span_id=_identifier(field(data, "parentSpanId", repairs), 16, "parentSpanId", repairs) or None,
        name=text(data.get("name")),
        attributes=attributes(data.get("attributes")),
        ref=ref,
        kind=enum(data.get("kind"), SPAN_KINDS, "SPAN_KIND_"),
        start_ns=time_ns(field(data, "startTimeUnixNano", repairs)),
        end_ns=time_ns(field(data, "endTimeUnixNano", repairs)),
        events=[event(item, repairs) for item in _items(data.get("events")) if isinstance(item, dict)],
        links=[link(item) for item in _items(data.get("links"))],
        status_code=enum(status.get("code"), STATUS_CODES, "STATUS_CODE_"),
        status_message=message if message != "" else None,
        scope_name=context.scope_name,
        scope_version=context.scope_version,
        resource=context.resource,
        trace_state=text(field(data, "traceState", repairs)),
        dropped_attributes=count(field(data, "droppedAttributesCount", repairs)),
        dropped_events=count(field(data, "droppedEventsCount", repairs)),
        dropped_links=count(field(data, "droppedLinksCount", repairs)),
    )


def log(data: JsonObject, context: Context, ref: EvidenceRef, repairs: Repaired) -> LogRecord:
    """The record of one log record object."""
    found = attributes(data.get("attributes"))
    when = time_ns(field(data, "timeUnixNano", repairs))
    return LogRecord(
        trace_id=_identifier(field(data, "traceId", repairs), 32, "traceId", repairs) or None,
        span_id=_identifier(field(data, "spanId", repairs), 16, "spanId", repairs) or None,
        event_name=event_name(text(field(data, "eventName", repairs)), found),
        body=decode_any(data.get("body")),
        attributes=found,
        ref=ref,
        time_ns=when if when is not None else time_ns(field(data, "observedTimeUnixNano", repairs)),
        severity=severity(field(data, "severityText", repairs), field(data, "severityNumber", repairs)),
        scope_name=context.scope_name,
        scope_version=context.scope_version,
        resource=context.resource,
        dropped_attributes=count(field(data, "droppedAttributesCount", repairs)),
    )


_SEVERITIES: Final = ("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL")


def severity(label: Any, number: Any) -> str | None:
    """The recorded text, else the OpenTelemetry name of the number (`INFO`, `INFO2`, …), else None."""
    if text(label) != "":
        return text(label)
    if isinstance(number, str) and not number.isdigit():
        name = number.removeprefix("SEVERITY_NUMBER_")
        return None if name in ("", "UNSPECIFIED") else name
    value = count(number)
    if not 1 <= value <= 24:
        return None
    step = (value - 1) % 4
    return _SEVERITIES[(value - 1) // 4] + ("" if step == 0 else str(step + 1))


def context(resource: Any, scope: Any, logs: bool = False) -> Context:
    """Resource and scope objects into what their records share."""
    resource = resource if isinstance(resource, dict) else {}
    scope = scope if isinstance(scope, dict) else {}
    return Context(attributes(resource.get("attributes")), text(scope.get("name")), text(scope.get("version")), logs)
