"""Recorded times: ISO-8601 text to nanoseconds since the Unix epoch, and back. No clock is read here."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

_ISO: Final = re.compile(
    r"(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}:\d{2})(?:[.,](\d{1,9})\d*)?\s*(Z|z|UTC|[+-]\d{2}:?\d{2})?"
)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@lru_cache(maxsize=1024)
def parse_ns(text: str | None) -> int | None:
    """Nanoseconds of an ISO-8601 time; a time without a zone is UTC. None for what cannot be read."""
    if text is None:
        return None
    match = _ISO.fullmatch(text.strip())
    if match is None:
        return None
    day, clock, fraction, zone = match.groups()
    offset = "+00:00" if zone is None or zone in ("Z", "z", "UTC") else zone
    try:
        moment = datetime.fromisoformat(f"{day}T{clock}{offset}")
    except ValueError:
        return None
    delta = moment - _EPOCH
    seconds = delta.days * 86_400 + delta.seconds
    return seconds * 1_000_000_000 + int((fraction or "").ljust(9, "0"))


@lru_cache(maxsize=64)
def _day(days: int) -> str | None:
    """The text of a day since the epoch; the many spans of one day share it."""
    try:
        return datetime.fromtimestamp(days * 86_400, UTC).strftime("%Y-%m-%dT")
    except (OverflowError, ValueError, OSError):
        return None


def format_ns(value: int | None) -> str | None:
    """ISO-8601 in UTC with as many fraction digits as are needed (3, 6 or 9), or None."""
    if value is None:
        return None
    seconds, fraction = divmod(value, 1_000_000_000)
    days, seconds = divmod(seconds, 86_400)
    day = _day(days)
    if day is None:
        return None
    minutes, seconds = divmod(seconds, 60)
    head = f"{day}{minutes // 60:02d}:{minutes % 60:02d}:{seconds:02d}"
    if fraction % 1_000:
        return f"{head}.{fraction:09d}Z"
    if fraction % 1_000_000:
        return f"{head}.{fraction // 1_000:06d}Z"
    return f"{head}.{fraction // 1_000_000:03d}Z" if fraction else f"{head}Z"
