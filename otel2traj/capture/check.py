"""A plain body to what may be answered: structure and ids checked, no text built.

The fast path reads ids and skips the rest. What it refuses, or finds odd, goes to the tolerant path once; only a body
that neither can read is bad.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec
from google.protobuf.message import DecodeError

from ..canonical import MAX_DEPTH, JsonError
from . import repair
from .ids import SPAN_BYTES, TRACE_BYTES, id_from_bytes, id_from_text
from .schema import schema
from .segments import Content, Signal

_ITEMS: Final = {
    Signal.TRACES: ("resource_spans", "scope_spans", "instrumentation_library_spans", "spans"),
    Signal.LOGS: ("resource_logs", "scope_logs", "instrumentation_library_logs", "log_records"),
    Signal.METRICS: ("resource_metrics", "scope_metrics", "instrumentation_library_metrics", "metrics"),
}


class BadBody(ValueError):
    """Nothing in the body can be read as an OTLP request of this signal. The message says where and why."""


@dataclass(slots=True)
class Checked:
    """What a readable body holds. Rejected items are those with no usable identity; `notes` counts repairs."""

    items: int = 0
    rejected: int = 0
    message: str = ""
    notes: Counter[str] = field(default_factory=Counter)


def check(signal: Signal, content: Content, body: bytes) -> Checked:
    """Raises `BadBody` when the body is no request of that signal."""
    done = check_quickly(signal, content, body)
    return check_tolerantly(signal, content, body) if done is None else done


def check_quickly(signal: Signal, content: Content, body: bytes) -> Checked | None:
    """The fast path alone; None where the tolerant one has to look. Raises `BadBody`."""
    if content is Content.JSON:
        return _check_json_quickly(signal, body)
    try:
        return _check_protobuf(signal, schema().requests[signal].FromString(body), Counter())
    except DecodeError:
        return None


def check_tolerantly(signal: Signal, content: Content, body: bytes) -> Checked:
    """The tolerant path alone, which may take seconds for a large body. Raises `BadBody`."""
    if content is Content.JSON:
        return _check_json_tolerantly(signal, body)
    notes: Counter[str] = Counter()
    return _check_protobuf(signal, parse_protobuf(signal, body, notes), notes)


# --- protobuf -----------------------------------------------------------------


def parse_protobuf(signal: Signal, body: bytes, notes: Counter[str]) -> Any:
    """The message in the retyped schema; deep nesting goes through the lazy one (`deep-nesting`). Raises `BadBody`."""
    try:
        return schema().requests[signal].FromString(body)
    except DecodeError as err:
        cause = str(err)
    try:
        request = schema(lazy=True).requests[signal].FromString(body)
        _check_nested(request)
    except DecodeError as err:
        raise BadBody(f"not an OTLP protobuf request: {cause}") from err
    notes["deep-nesting"] += 1
    return request


def proto_items(signal: Signal, request: Any, notes: Counter[str]) -> Iterable[tuple[Any, Any, Any]]:
    """Every (resource part, scope part, item) of a request, those of retired scope fields included."""
    outer, middle, old, inner = _ITEMS[signal]
    for resource in getattr(request, outer):
        for scope in getattr(resource, middle):
            for item in getattr(scope, inner):
                yield resource, scope, item
        for scope in getattr(resource, old):
            notes["old-scope-names"] += 1
            for item in getattr(scope, inner):
                yield resource, scope, item


def _check_protobuf(signal: Signal, request: Any, notes: Counter[str]) -> Checked:
    done = Checked(notes=notes)
    if signal is not Signal.TRACES:
        done.items = sum(1 for _ in proto_items(signal, request, done.notes))
        if signal is Signal.LOGS and done.items and _no_log_says_anything(request):
            raise BadBody("no log record in this body says anything; was another signal sent to the logs path?")
        return done
    strangers = 0
    for _, _, span in proto_items(signal, request, notes):
        done.items += 1
        trace, own = span.trace_id, span.span_id
        if len(trace) == TRACE_BYTES and len(own) == SPAN_BYTES and trace.strip(b"\0") and own.strip(b"\0"):
            continue
        if not trace and not own:
            strangers += 1
        if id_from_bytes(trace, TRACE_BYTES, notes) is None or id_from_bytes(own, SPAN_BYTES, notes) is None:
            done.rejected += 1
    return _judge(done, strangers)


def _no_log_says_anything(request: Any) -> bool:
    return all(
        not (log.time_unix_nano or log.observed_time_unix_nano or log.attributes or log.severity_number)
        and not log.HasField("body")
        for resource in request.resource_logs
        for scope in resource.scope_logs
        for log in scope.log_records
    )


def _check_nested(message: Any) -> None:
    """Read the nested values of a lazily read message level by level. Raises `DecodeError`."""
    array, kvlist = schema(lazy=True).array, schema(lazy=True).kvlist
    waiting = [(message, 0)]
    while waiting:
        current, depth = waiting.pop()
        if depth > MAX_DEPTH:
            raise DecodeError(f"nesting deeper than {MAX_DEPTH}")
        for descriptor, value in current.ListFields():
            if descriptor.name == "array_value":
                waiting.append((array.FromString(value), depth + 1))
            elif descriptor.name == "kvlist_value":
                waiting.append((kvlist.FromString(value), depth + 1))
            elif descriptor.message_type is not None:
                items = value if descriptor.is_repeated else (value,)
                waiting.extend((item, depth) for item in items)


# --- JSON ---------------------------------------------------------------------


class _Span(msgspec.Struct):
    traceId: str = ""
    spanId: str = ""


class _ScopeSpans(msgspec.Struct):
    spans: list[_Span] | None = None


class _ResourceSpans(msgspec.Struct):
    scopeSpans: list[_ScopeSpans] | None = None
    instrumentationLibrarySpans: msgspec.Raw | None = None


class _Traces(msgspec.Struct):
    resourceSpans: list[_ResourceSpans] | None = None


class _Any(msgspec.Struct):
    pass


class _ScopeLogs(msgspec.Struct):
    logRecords: list[_Any] | None = None


class _ResourceLogs(msgspec.Struct):
    scopeLogs: list[_ScopeLogs] | None = None
    instrumentationLibraryLogs: msgspec.Raw | None = None


class _Logs(msgspec.Struct):
    resourceLogs: list[_ResourceLogs] | None = None


class _ScopeMetrics(msgspec.Struct):
    metrics: list[_Any] | None = None


class _ResourceMetrics(msgspec.Struct):
    scopeMetrics: list[_ScopeMetrics] | None = None
    instrumentationLibraryMetrics: msgspec.Raw | None = None


class _Metrics(msgspec.Struct):
    resourceMetrics: list[_ResourceMetrics] | None = None


_DECODERS: Final[dict[Signal, Any]] = {
    Signal.TRACES: msgspec.json.Decoder(_Traces),
    Signal.LOGS: msgspec.json.Decoder(_Logs),
    Signal.METRICS: msgspec.json.Decoder(_Metrics),
}


def _check_json_quickly(signal: Signal, body: bytes) -> Checked | None:
    try:
        request = _DECODERS[signal].decode(body)
        done = _count_json(signal, request)
    except (msgspec.DecodeError, msgspec.ValidationError, RecursionError, UnicodeDecodeError):
        return None
    if done is not None and done.items > 0 and done.rejected == 0 and not done.notes:
        return done
    return None


def _count_json(signal: Signal, request: Any) -> Checked | None:
    """Counts of a body in which everything is as the specification says; None where something is odd."""
    done = Checked()
    outer, middle, inner = repair.ROOT[signal]
    for resource in getattr(request, outer) or ():
        if getattr(resource, "instrumentationLibrary" + middle.removeprefix("scope"), None) is not None:
            return None
        for scope in getattr(resource, middle) or ():
            items = getattr(scope, inner) or ()
            done.items += len(items)
            if signal is Signal.TRACES:
                for span in items:
                    trace = id_from_text(span.traceId, TRACE_BYTES, done.notes)
                    if trace is None or id_from_text(span.spanId, SPAN_BYTES, done.notes) is None:
                        done.rejected += 1
    return done


def _check_json_tolerantly(signal: Signal, body: bytes) -> Checked:
    done = Checked()
    if not body.strip():
        raise BadBody("the body is empty; an empty JSON request is `{}`")
    try:
        request = repair.parse(body, signal, done.notes)
    except JsonError as err:
        raise BadBody(f"not an OTLP/JSON request: {err}") from err
    outer, middle, inner = repair.ROOT[signal]
    wrong = [
        name for other in Signal if other in repair.ROOT and other is not signal for name in repair.ROOT[other][:1]
    ]
    if outer not in request and any(name in request for name in wrong):
        raise BadBody(f"no `{outer}` in this body; was another signal sent to this path?")
    strangers = 0
    for resource in request.get(outer, ()):
        for scope in resource.get(middle, ()):
            items = scope.get(inner, ())
            done.items += len(items)
            if signal is not Signal.TRACES:
                continue
            for span in items:
                ids = span.get("traceId", ""), span.get("spanId", "")
                strangers += ids == ("", "")
                if not _usable(*ids):
                    done.rejected += 1
    return _judge(done, strangers)


def _usable(trace: Any, own: Any) -> bool:
    if not isinstance(trace, str) or not isinstance(own, str):
        return False
    spare: Counter[str] = Counter()
    return id_from_text(trace, TRACE_BYTES, spare) is not None and id_from_text(own, SPAN_BYTES, spare) is not None


def _judge(done: Checked, strangers: int) -> Checked:
    if done.items and strangers == done.items:
        raise BadBody("no span in this body has an id; was another signal sent to the traces path?")
    if done.rejected:
        done.message = (
            f"{done.rejected} of {done.items} spans have no usable identity: a trace id is 16 bytes, a span id 8, "
            "and neither is all zero"
        )
    return done
