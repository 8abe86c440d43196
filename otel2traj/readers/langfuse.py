"""Langfuse exports (a trace with its observations, observations alone, JSON or lines) into spans with the attributes
that Langfuse's own SDK sends.

What came to Langfuse by OTLP keeps its own attributes in `metadata.attributes`; they are put back. Ids that are not hex
stay as they are.
https://api.reference.langfuse.com/#tag/trace and https://langfuse.com/integrations/native/opentelemetry#property-mapping
"""

from __future__ import annotations

import ast
import re
from typing import Any, Final

from ..canonical import JsonObject
from ..model.evidence import EvidenceRef, SpanRecord
from ..timestamps import parse_ns
from .documents import Context, DocumentForm, Place, as_dict, parsed, put
from .ids import plain_id
from .otlp_dict import Repaired, field, text
from .outline import Head

_TYPES: Final = frozenset(
    ("SPAN", "GENERATION", "EVENT", "AGENT", "TOOL", "CHAIN", "RETRIEVER", "EVALUATOR", "EMBEDDING", "GUARDRAIL")
)


class Langfuse(DocumentForm):
    name = "langfuse"
    writer = "Langfuse"
    obtain = "`GET /api/public/traces/<id>`, observations as JSON or lines, blob exports"
    tried = "built from Langfuse's API reference and blob export"
    loses = "only the fields that the export chose; times end at milliseconds"
    places = (
        Place((), ("observations",)),
        Place(("data",), ("data", "observations")),
        Place(("trace",), ("trace", "observations")),
        Place(("data",), ("data",)),
        Place((), ()),
    )

    def recognises(self, head: Head) -> bool:
        for place in self.places:
            at = place.record
            camel = head.has("traceId", "type", "startTime", under=at)
            if camel or head.has("trace_id", "type", "start_time", "parent_observation_id", under=at):
                return True
        return head.has("observations", "sessionId", "timestamp") or head.has("userId", "sessionId", "timestamp")

    def context(self, container: JsonObject) -> Context:
        shared: dict[str, Any] = {}
        root: dict[str, Any] = {}
        if "observations" in container or ("timestamp" in container and not _is_observation(container)):
            put(shared, "session.id", field(container, "sessionId"))
            put(shared, "user.id", field(container, "userId"))
            put(root, "langfuse.trace.name", container.get("name"))
            put(root, "langfuse.trace.input", container.get("input"))
            put(root, "langfuse.trace.output", container.get("output"))
            put(root, "langfuse.trace.tags", container.get("tags"))
            put(root, "langfuse.release", container.get("release"))
            put(root, "langfuse.version", container.get("version"))
            for key, value in as_dict(parsed(container.get("metadata"))).items():
                put(root, f"langfuse.trace.metadata.{key}", value)
        return {"shared": shared, "root": root, "trace": container.get("id")}

    def read(self, data: JsonObject, context: Context, ref: EvidenceRef, repairs: Repaired) -> Any:
        if _is_observation(data):
            return _observation(data, context, ref)
        if "timestamp" in data and "observations" not in data and field(data, "sessionId", None) is not None:
            return _trace(data, context, ref)
        return None


def _is_observation(data: JsonObject) -> bool:
    return text(data.get("type")).upper() in _TYPES and field(data, "startTime") is not None


def _id(value: Any, digits: int) -> str:
    found = text(value)
    hexed, repair = plain_id(found, digits)
    return hexed if repair is None or "upper case" in repair else found


def _single(key: str, value: Any) -> Any:
    """An id or a name that the export made a list of one."""
    if isinstance(value, list) and len(value) == 1 and key.endswith((".id", ".name", ".kind")):
        return value[0]
    return value


def _readable(value: Any) -> Any:
    """Messages that are the text of a Python object (`role='user' content='…'`) as objects."""
    given = parsed(value)
    if isinstance(given, dict) and isinstance(given.get("messages"), list):
        return {**given, "messages": [_from_repr(one) for one in given["messages"]]}
    return [_from_repr(one) for one in given] if isinstance(given, list) else value


def _from_repr(value: Any) -> Any:
    """The members of a model's text; what is no literal of Python stays text. Anything else as it stands."""
    if not isinstance(value, str) or not value.startswith("role=") or len(value) > _LONGEST_REPR:
        return value
    out: dict[str, Any] = {}
    starts = [match.start() for match in _MEMBER.finditer(value)]
    at = 0
    while at < len(starts):
        name, _, rest = value[starts[at] :].lstrip().partition("=")
        for end in range(at + 1, len(starts) + 1):
            piece = rest if end == len(starts) else rest[: starts[end] - len(value)]
            try:
                out[name] = ast.literal_eval(piece.strip())
            except (ValueError, SyntaxError, MemoryError, RecursionError):
                if end == len(starts):
                    return value
                continue
            at = end
            break
    return {key: member for key, member in out.items() if member is not None}


_LONGEST_REPR: Final = 1 << 16
_MEMBER: Final = re.compile(r"(?:^| )[a-z_]{1,40}=")


def _observation(data: JsonObject, context: Context, ref: EvidenceRef) -> SpanRecord:
    metadata = as_dict(parsed(data.get("metadata")))
    attributes: dict[str, Any] = {
        key: _single(key, value) for key, value in as_dict(parsed(metadata.get("attributes"))).items()
    }
    resource = as_dict(parsed(metadata.get("resourceAttributes")))
    scope = as_dict(parsed(metadata.get("scope")))
    attributes["langfuse.observation.type"] = text(data.get("type")).lower()
    for name, member in (
        ("input", "input"),
        ("output", "output"),
        ("model.name", "model"),
        ("model.name", "providedModelName"),
        ("model.parameters", "modelParameters"),
        ("usage_details", "usageDetails"),
        ("cost_details", "costDetails"),
        ("level", "level"),
        ("status_message", "statusMessage"),
        ("prompt.name", "promptName"),
        ("prompt.version", "promptVersion"),
        ("completion_start_time", "completionStartTime"),
    ):
        value = field(data, member)
        if member == "input":
            value = _readable(value)
        if value not in ({}, []):
            put(attributes, f"langfuse.observation.{name}", value)
    if "langfuse.observation.usage_details" not in attributes:
        usage = as_dict(data.get("usage"))
        put(attributes, "langfuse.observation.usage_details", {k: v for k, v in usage.items() if v is not None} or None)
    for key, value in metadata.items():
        if key not in ("attributes", "resourceAttributes", "scope"):
            put(attributes, f"langfuse.observation.metadata.{key}", value)
    put(attributes, "langfuse.environment", data.get("environment"))
    put(attributes, "langfuse.version", data.get("version"))
    put(attributes, "session.id", field(data, "sessionId"))
    put(attributes, "user.id", field(data, "userId"))
    parent = _id(field(data, "parentObservationId"), 16) or None
    for key, value in context.get("shared", {}).items():
        attributes.setdefault(key, value)
    if parent is None:
        for key, value in context.get("root", {}).items():
            attributes.setdefault(key, value)
    level = text(data.get("level"))
    start = parse_ns(field(data, "startTime"))
    return SpanRecord(
        trace_id=_id(field(data, "traceId") or context.get("trace"), 32),
        span_id=_id(data.get("id"), 16),
        parent_span_id=parent,
        name=text(data.get("name")),
        attributes=attributes,
        ref=ref,
        start_ns=start,
        end_ns=start if text(data.get("type")).upper() == "EVENT" else parse_ns(field(data, "endTime")),
        status_code=2 if level == "ERROR" else 0,
        status_message=text(field(data, "statusMessage")) or None if level == "ERROR" else None,
        scope_name=text(scope.get("name")),
        scope_version=text(scope.get("version")),
        resource=resource,
    )


def _trace(data: JsonObject, context: Context, ref: EvidenceRef) -> SpanRecord:
    """A trace that was exported without its observations: all that is left of its root."""
    attributes = {**context.get("root", {}), **context.get("shared", {})}
    trace = _id(data.get("id"), 32)
    return SpanRecord(
        trace_id=trace,
        span_id=trace,
        parent_span_id=None,
        name=text(data.get("name")),
        attributes=attributes,
        ref=ref,
        start_ns=parse_ns(data.get("timestamp")),
    )


LANGFUSE = Langfuse()
