"""The evidence of a step or a tool log into pointers, and into the names of those who recorded it."""

from __future__ import annotations

from typing import Final

from ..canonical import JsonObject
from ..model.trajectory import Step, StepSource, ToolLog

_POINTER: Final = ("path", "line", "offset", "length", "sha256", "what")
_BY_WHAT: Final = {
    "request": "interceptor",
    "response": "interceptor",
    "error": "interceptor",
    "acp": "client",
    "terminal": "client",
}


def pointers(evidence: JsonObject) -> list[JsonObject]:
    """`{"path", "offset", "length", "sha256", "line"?, "what"?}` for each record behind the object, in order."""
    out = []
    for record in evidence.get("records") or ():
        out.append({key: record[key] for key in _POINTER if record.get(key) is not None})
    return out


def by_of(step: Step) -> str:
    """Who recorded a model call: the wire where it was seen there, else the agent's own telemetry."""
    return "source" if step.source is StepSource.FRAMEWORK else "interceptor"


def log_by(log: ToolLog) -> str:
    """Who recorded a tool execution: the protocol client, or the agent's own telemetry."""
    for record in log.evidence.get("records") or ():
        by = _BY_WHAT.get(str(record.get("what")).partition("_")[0])
        if by is not None:
            return by
    return "source"


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
