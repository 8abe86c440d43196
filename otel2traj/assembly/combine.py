"""Several readings of one call or execution to one: the first that says a thing is believed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from operator import attrgetter
from typing import Final

from ..canonical import JsonObject
from ..messages import Usage, all_tool_calls
from ..model.reading import Reading

_OUTPUT: Final = frozenset({"text", "reasoning", "refusal", "tool_calls", "choices", "other_parts"})
_ASIDE: Final = ("role", "said_by", "truncated", "extra", "notices", "shared")
_FIELDS: Final = tuple(field.name for field in fields(Reading) if field.name not in _ASIDE)
_VALUES: Final = attrgetter(*_FIELDS)


def exception_json(reading: Reading) -> JsonObject | None:
    """`{"type"?, "message"?, "stacktrace"?}` under the names of OpenTelemetry's exception event, or None where neither
    a type nor a stack was recorded."""
    if reading.error_type is None and reading.stack is None:
        return None
    told = {"type": reading.error_type, "message": reading.error, "stacktrace": reading.stack}
    return {key: value for key, value in told.items() if value is not None}


def _is_settled(reading: Reading) -> bool:
    """Whether a reading names nobody for a field that it does not have: combining it with nothing gives the same."""
    return not reading.truncated and None not in map(vars(reading).get, reading.said_by)


def combine(readings: Iterable[Reading]) -> Reading:
    """Fill what an earlier reading left open from the later ones.

    The parts of an output belong together: they are all taken from the first reading that has any of them, but for
    tool calls where that has none; so do the counts of a usage, which are taken from the first of those that say most.
    The result is read only: it may be the reading that was given.
    """
    readings = tuple(readings)
    if len(readings) == 1 and _is_settled(readings[0]):
        return readings[0]
    out = Reading()
    for reading in readings:
        had_output = out.has_output()
        said_by, truncated = reading.said_by, reading.truncated
        for name, value in zip(_FIELDS, _VALUES(reading), strict=True):
            if value is None or (had_output and name in _OUTPUT):
                continue
            if getattr(out, name) is None:
                setattr(out, name, value)
                if name in said_by:
                    out.said_by[name] = said_by[name]
                if name in truncated:
                    out.truncated.add(name)
        out.role = out.role or reading.role
        for key, extra in reading.extra.items():
            out.extra.setdefault(key, extra)
        out.notices.extend(reading.notices)
    if not all_tool_calls(out.tool_calls or [], out.choices):
        other = next((one for one in readings if all_tool_calls(one.tool_calls or [], one.choices)), None)
        if other is not None:
            out.tool_calls = all_tool_calls(other.tool_calls or [], other.choices)
            out.said_by["tool_calls"] = other.said_by.get("tool_calls", "?")
            out.truncated |= other.truncated & {"tool_calls"}
    fullest = max(readings, key=lambda reading: _counts(reading.usage), default=out)
    if out.usage is not None and _counts(fullest.usage) > _counts(out.usage):
        out.usage = fullest.usage
        out.said_by["usage"] = fullest.said_by.get("usage", "?")
    return out


def _counts(usage: Usage | None) -> int:
    """How many counts are recorded."""
    return 0 if usage is None else sum(getattr(usage, name) is not None for name in Usage.__slots__ if name != "raw")
