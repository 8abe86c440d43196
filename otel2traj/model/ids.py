"""Forms of ids: which of them may be counted anew, and so identify nothing outside the place that counts."""

from __future__ import annotations

import re
from typing import Final

_NUMBERED: Final = re.compile(r"(?:.{0,64}[_.:/ -])?(?:[a-z]{0,12}|[A-Za-z]{0,2})[0-9]{1,4}", re.DOTALL)
_COUNTED: Final = re.compile(r"(?:0{16})?0{8}[0-9a-f]{8}")
"""Span ids are 8 random bytes, trace ids 16 (https://www.w3.org/TR/trace-context/#parent-id): with all but the last 4
of them zero, nobody drew them."""


def is_numbered(call_id: str) -> bool:
    """Whether an id has the form of those that some servers count anew for each answer (`call_0`, `c1`, `3`)."""
    return _NUMBERED.fullmatch(call_id) is not None


def is_counted(id_: str) -> bool:
    """Whether the id of a span or trace has the form of those that a recorder counts: each Input may count anew."""
    return _COUNTED.fullmatch(id_) is not None
