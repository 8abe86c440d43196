"""The evidence of a step or a tool log into pointers, and into the names of those who recorded it."""

from __future__ import annotations

from typing import Final

from ..canonical import JsonObject
from ..model.trajectory import ToolLog
from .records import Record, listed

_IDENTIFIERS: Final = ("interaction_id", "call_id", "framework_span_id", "trace_id", "otel_span_id", "response_id")
_DIGESTS: Final = ("request_sha256", "response_sha256")
_POINTER: Final = ("path", "line", "offset", "length", "sha256", "what")


def pointers(evidence: JsonObject) -> list[JsonObject]:
    """`{"path", "offset", "length", "sha256", "line"?, "what"?}` for each record behind the object, in order."""
    out = []
    for record in evidence.get("records") or ():
        out.append({key: record[key] for key in _POINTER if record.get(key) is not None})
    return out


_ANSWERS: Final = frozenset({"response", "error", "span_end", "span_error"})
_ASKS: Final = frozenset({"request", "span_start"})


def requested(source: list[JsonObject]) -> list[JsonObject]:
    """The pointers that a request may be cited from: never a response. What a recorder says at the end of a call may
    repeat the request, and is cited where no request was recorded as such."""
    asked = any(one.get("what") == "request" for one in source)
    left = [one for one in source if one.get("what") not in (_ANSWERS if asked else {"response", "error"})]
    return left or source


def answered(source: list[JsonObject]) -> list[JsonObject]:
    """The pointers that a response may be cited from: never a request, nor the start of a call."""
    return [one for one in source if one.get("what") not in _ASKS] or source


def producer(log: ToolLog) -> str | None:
    """The code that wrote down which call the execution belongs to: a dialect's name, `acp` or `framework`."""
    said_by = log.evidence.get("said_by")
    name = said_by.get("tool_call_id") if isinstance(said_by, dict) else None
    if isinstance(name, str):
        return name.partition(":")[0]
    for record in log.evidence.get("records") or ():
        what = str(record.get("what"))
        if what.startswith("acp"):
            return "acp"
        if what.startswith(("span_", "tool_outcome")):
            return "framework"
    return None


def identify(record: Record, evidence: JsonObject) -> None:
    """The identifiers and digests that stand in an `evidence` object, as fields of a record."""
    for name in _IDENTIFIERS:
        if evidence.get(name) is not None:
            if name == "interaction_id":
                record.derive(name, evidence[name], "interaction_identity")
            else:
                record.say(name, evidence[name])
    for name in _DIGESTS:
        if evidence.get(name) is not None:
            record.derive(name, evidence[name], "payload_digest")
    if evidence.get("join") is not None:
        rule = f"join_{evidence['join']}"
        record.derive("join", str(evidence["join"]), rule if listed(rule) else "join_unlisted")
    if isinstance(evidence.get("said_by"), dict):
        record.derive("said_by", evidence["said_by"], "dialect_reading")
