"""Several readings of one call or execution to one: the first that says a thing is believed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields

from ..model.reading import Reading

_OUTPUT = ("text", "reasoning", "refusal", "tool_calls", "choices", "other_parts")
_ASIDE = ("role", "said_by", "truncated", "extra", "notices")


def combine(readings: Iterable[Reading]) -> Reading:
    """Fill what an earlier reading left open from the later ones.

    The parts of an output belong together: they are all taken from the first reading that has any of them.
    """
    out = Reading()
    for reading in readings:
        had_output = out.has_output()
        for field in fields(Reading):
            name = field.name
            if name in _ASIDE or (name in _OUTPUT and had_output):
                continue
            value = getattr(reading, name)
            if value is not None and getattr(out, name) is None:
                setattr(out, name, value)
                if name in reading.said_by:
                    out.said_by[name] = reading.said_by[name]
                if name in reading.truncated:
                    out.truncated.add(name)
        out.role = out.role or reading.role
        for key, extra in reading.extra.items():
            out.extra.setdefault(key, extra)
        out.notices.extend(reading.notices)
    return out
