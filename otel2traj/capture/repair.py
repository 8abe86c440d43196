"""OTLP/JSON as clients really write it, into the names and ids of the specification; every change is counted."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from .. import canonical
from ..canonical import JsonError, JsonObject
from .ids import SPAN_BYTES, TRACE_BYTES, id_from_text
from .segments import Signal

ROOT: Final = {
    Signal.TRACES: ("resourceSpans", "scopeSpans", "spans"),
    Signal.LOGS: ("resourceLogs", "scopeLogs", "logRecords"),
    Signal.METRICS: ("resourceMetrics", "scopeMetrics", "metrics"),
}
"""The three list fields of each signal, from the outside in."""

_OLD: Final = {
    "instrumentationLibrarySpans": "scopeSpans",
    "instrumentationLibraryLogs": "scopeLogs",
    "instrumentationLibraryMetrics": "scopeMetrics",
    "instrumentationLibrary": "scope",
}
_IDS: Final = {"traceId": TRACE_BYTES, "spanId": SPAN_BYTES, "parentSpanId": SPAN_BYTES}
_INT64: Final = 1 << 63
_ODD: Final = (b'Value":null', b'Value": null')


def parse(body: bytes, signal: Signal, notes: Counter[str]) -> JsonObject:
    """The request object of any body that can be read at all, repaired. Raises `JsonError`."""
    value, repairs = canonical.loads_tolerant(body)
    for name in repairs:
        notes[name] += 1
    if not isinstance(value, dict):
        raise JsonError("an OTLP request is a JSON object")
    repaired = _walk(value, notes)
    assert isinstance(repaired, dict)
    _check_shape(repaired, signal)
    return repaired


def has_nulls(body: bytes) -> bool:
    """Whether a value that is `null` may be in the body (`{"doubleValue":null}`, the NaN of JavaScript)."""
    return any(word in body for word in _ODD)


def _walk(value: Any, notes: Counter[str]) -> Any:
    """A copy in which every name of the schema is lowerCamelCase and every id hexadecimal.

    Attribute names are values of `key`, so no word of the evidence is a name here and none is touched.
    """
    if isinstance(value, list):
        return [_walk(item, notes) for item in value]
    if not isinstance(value, dict):
        return value
    out: JsonObject = {}
    for key, item in value.items():
        name = key
        if "_" in name:
            name = _camel(name)
            notes["snake-case-keys"] += 1
        old = _OLD.get(name)
        if old is not None:
            name = old
            notes["old-scope-names"] += 1
        if item is None:
            if name.endswith("Value"):
                notes["null-values"] += 1
            continue
        size = _IDS.get(name)
        if size is not None and isinstance(item, str):
            found = id_from_text(item, size, notes)
            out[name] = item if found is None else found
            continue
        if name == "intValue":
            _note_integer(item, notes)
        walked = _walk(item, notes)
        if name in out and isinstance(out[name], list) and isinstance(walked, list):
            out[name] = out[name] + walked
        else:
            out[name] = walked
    return out


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word[:1].upper() + word[1:] for word in rest)


def _note_integer(value: Any, notes: Counter[str]) -> None:
    if isinstance(value, float):
        notes["fractional-integers"] += 1
        return
    try:
        number = int(value)
    except (TypeError, ValueError):
        notes["unreadable-integers"] += 1
        return
    if not -_INT64 <= number < _INT64:
        notes["integers-over-64-bits"] += 1


def _check_shape(request: JsonObject, signal: Signal) -> None:
    """That the lists down to the items are lists; what is inside an item is evidence, however odd."""
    outer, middle, inner = ROOT[signal]
    for resource in _objects(request, outer):
        for scope in _objects(resource, middle):
            _objects(scope, inner)


def _objects(holder: JsonObject, name: str) -> list[JsonObject]:
    items = holder.get(name, [])
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise JsonError(f"`{name}` is a list of objects")
    return items
