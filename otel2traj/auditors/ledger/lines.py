"""Lines to events: what is not a line of JSON with one object in it is told and passed over."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from ...canonical import JsonError, JsonObject, canonical_bytes, loads, repeated_key
from .base import Report, Rule

EMPTY: Final = Rule("ledger.empty", "The ledger holds at least one event.")
JSON: Final = Rule("ledger.json", "Every line is valid JSON in UTF-8, without a byte order mark, NaN or Infinity.")
OBJECT: Final = Rule("ledger.object", "Every line is a JSON object.")
REPEATED: Final = Rule("ledger.repeated-key", "No object names a key twice: readers would disagree on its value.")
RULES: Final = (EMPTY, JSON, OBJECT, REPEATED)

_BOM: Final = b"\xef\xbb\xbf"


def events(lines: Iterable[bytes], report: Report) -> Iterator[JsonObject | None]:
    """The event of each line that is not blank, or None where the line holds none. Sets the report's place."""
    report.index = -1
    for number, raw in enumerate(lines, 1):
        text = raw.strip(b" \t\r\n")
        if not text:
            continue
        report.index += 1
        report.line = number
        event = _event(text, report)
        yield event
        report.gap = event is None
        report.passed_over += event is None
    if report.index < 0:
        report.line = 0
        report.fail_plainly(EMPTY, "the ledger is empty")


def _event(text: bytes, report: Report) -> JsonObject | None:
    try:
        event = loads(text)
        plain = isinstance(event, dict) and canonical_bytes(event) == text
    except JsonError as err:
        why = "it begins with a byte order mark" if text.startswith(_BOM) else str(err)
        report.fail_plainly(JSON, f"line {report.line} is not valid JSON: {why}")
        return None
    if not isinstance(event, dict):
        report.fail_plainly(OBJECT, f"line {report.line} is not a JSON object")
        return None
    report.text = text if plain else None
    if not plain:
        key = repeated_key(text)
        if key is not None:
            report.fail_plainly(REPEATED, f"line {report.line} names the key {key!r} twice")
            return None
    return event
