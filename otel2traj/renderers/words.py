"""Small facts of a step into words: times, counts, addresses, requests that are too long."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

from .. import prices
from ..canonical import JsonObject, JsonValue, ascii_text
from ..messages import fold
from ..model.ledger_cost import decimal_text
from ..model.trajectory import Step, StepKind
from ..timestamps import parse_ns

LIMIT = 3000
KEEP = 1500


def truncate_middle(text: str) -> tuple[str, int]:
    """The first and last 1500 characters of a request text over 3000 around a marker, and how many are gone."""
    gone = len(text) - 2 * KEEP
    if len(text) <= LIMIT:
        return text, 0
    return f"{text[:KEEP]}\n[... truncated middle: {gone} of {len(text)} characters ...]\n{text[-KEEP:]}", gone


def request_text(step: Step) -> str:
    """The request as the contract's render rules count it: ASCII JSON. Base64 in it is a line."""
    return ascii_text(fold(step.input))


def clock(time: str) -> str:
    """The time of day of an ISO time, in the zone in which it was recorded; the whole text where it is none."""
    _, t, rest = time.partition("T")
    return rest if t else time


def seconds(started: str | None, ended: str | None) -> str | None:
    """`0.104 s` between two ISO times, or None where one is missing or unreadable."""
    if started is None or ended is None:
        return None
    try:
        took = datetime.fromisoformat(ended) - datetime.fromisoformat(started)
    except (ValueError, TypeError):
        return None
    return f"{took.total_seconds():.3f} s"


def usage_words(usage: JsonValue) -> str | None:
    if not isinstance(usage, dict):
        return None
    names = (
        ("input_tokens", "in"),
        ("cache_read_input_tokens", "cached"),
        ("output_tokens", "out"),
        ("reasoning_output_tokens", "reasoning"),
    )
    said = [f"{usage[key]} {word}" for key, word in names if usage.get(key) is not None]
    return "tokens " + ", ".join(said) if said else None


def cost_of(step: Step) -> tuple[Decimal | None, str | None]:
    """US dollars of a model call by the pinned price table, or None and why it is not known; (None, None) for a step
    that is no call."""
    if step.kind is not StepKind.MODEL:
        return None, None
    usage = step.output.get("usage")
    if not isinstance(usage, dict):
        return None, "usage not recorded"
    return prices.priced(step.model, usage, parse_ns(step.started_at))


def cost_words(cost: Decimal) -> str:
    """`$0.00255`: every digit, since a rounded sum is no sum."""
    return f"${decimal_text(cost)}"


def place_words(records: JsonValue) -> list[str]:
    """Where the bytes are: `path:line @offset+length (what)` and the beginning of the digest, without the line in forms
    that have none. Several records of one sort in one file are one entry with their lines: `path:5–109 (105 chunk)`.
    """
    groups: dict[tuple[str, str], list[JsonObject]] = {}
    for record in records if isinstance(records, list) else []:
        if isinstance(record, dict):
            groups.setdefault((str(record.get("path")), str(record.get("what"))), []).append(record)
    said: list[str] = []
    for (path, what), group in groups.items():
        lines = [record["line"] for record in group if isinstance(record.get("line"), int)]
        if len(group) > 1 and len(set(lines)) == len(group):
            said.append(f"{path}:{ranges(sorted(lines))} ({len(group)} {what})")
        else:
            said += [_place(record) for record in group]
    return said


def _place(record: JsonObject) -> str:
    line = "" if record.get("line") is None else f":{record['line']}"
    what = "" if record.get("what") is None else f" ({record['what']})"
    digest = record.get("sha256")
    end = f" sha256 {digest[:12]}" if isinstance(digest, str) else ""
    return f"{record.get('path')}{line} @{record.get('offset')}+{record.get('length')}{what}{end}"


def ranges(ids: list[int], most: int = 12) -> str:
    """Ascending numbers as `1–3, 7`, with a count of the stretches beyond `most`."""
    spans: list[tuple[int, int]] = []
    for one in ids:
        if spans and spans[-1][1] == one - 1:
            spans[-1] = (spans[-1][0], one)
        else:
            spans.append((one, one))
    said = [str(a) if a == b else f"{a}–{b}" for a, b in spans[:most]]
    return ", ".join([*said, f"and {len(spans) - most} more stretches"] if len(spans) > most else said)
