"""What was recorded: sources, records and the address of each record's bytes.

Times are integers of nanoseconds since the Unix epoch, or None where nothing readable was recorded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

from ..canonical import JsonObject, JsonValue


class SourceKind(StrEnum):
    """What a file of an attempt holds."""

    WIRE = "wire"
    FRAMEWORK = "framework"
    OTLP_TRACES = "otlp-traces"
    OTLP_LOGS = "otlp-logs"
    ABB_OTEL = "abb-otel"
    ABB_OTEL_LIVE = "abb-otel-live"
    PAYLOAD = "payload"
    ACP = "acp"
    DOCUMENT = "document"
    REPLAY = "replay"


@dataclass(slots=True)
class Source:
    """One file that was read. `path` is relative to the attempt, POSIX; `sha256` and `size` once it has been read."""

    path: str
    kind: SourceKind
    file: Path
    ordinal: str | None = None
    """The SDK Input whose folder holds the file, e.g. "0001"."""
    sha256: str | None = None
    size: int | None = None


class EvidenceRef(NamedTuple):
    """The address of one record: `length` bytes at `offset` of the (inflated) source. `line` counts from 1 and is None
    in forms without lines. Positions: re-ordering a source changes references and must change no link."""

    source: str
    offset: int
    length: int
    line: int | None = None


@dataclass(slots=True)
class SpanEvent:
    name: str
    time_ns: int | None
    attributes: Mapping[str, Any]
    dropped_attributes: int = 0


@dataclass(slots=True)
class SpanRecord:
    """One OpenTelemetry span. `attributes` may decode lazily: `in`, `get` and iteration over keys are cheap."""

    trace_id: str
    span_id: str
    parent_span_id: str | None
    name: str
    attributes: Mapping[str, Any]
    ref: EvidenceRef
    kind: int = 0
    start_ns: int | None = None
    end_ns: int | None = None
    events: list[SpanEvent] = field(default_factory=list)
    links: list[JsonObject] = field(default_factory=list)
    status_code: int = 0
    """0 unset, 1 ok, 2 error, as OTLP numbers them."""
    status_message: str | None = None
    scope_name: str = ""
    scope_version: str = ""
    resource: Mapping[str, Any] = field(default_factory=dict)
    trace_state: str = ""
    dropped_attributes: int = 0
    dropped_events: int = 0
    dropped_links: int = 0
    live: bool = False
    """A snapshot of a span that had not ended."""
    raw: memoryview | bytes | None = None
    """The recorded bytes, where the reader has them at hand. They belong to a block: keep a digest, not them."""


@dataclass(slots=True)
class LogRecord:
    """One OpenTelemetry log record. `event_name` is the field of that name, else the attribute `event.name`."""

    trace_id: str | None
    span_id: str | None
    event_name: str | None
    body: JsonValue
    attributes: Mapping[str, Any]
    ref: EvidenceRef
    time_ns: int | None = None
    """timeUnixNano, else observedTimeUnixNano where that is zero or missing."""
    severity: str | None = None
    scope_name: str = ""
    scope_version: str = ""
    resource: Mapping[str, Any] = field(default_factory=dict)
    dropped_attributes: int = 0


@dataclass(slots=True)
class AbbRecord:
    """One line in the `abb.observe.event.v1` envelope: interceptor, framework recorder, ACP client, SDK."""

    event: str
    time_ns: int | None
    timestamp: str | None
    data: JsonObject
    ref: EvidenceRef
    source: str = ""
    run_id: str | None = None


@dataclass(frozen=True, slots=True)
class Notice:
    """A remark on the evidence: `code` is from the closed list of docs/reference/warnings.md."""

    code: str
    message: str
    path: str | None = None
    line: int | None = None
    lossy: bool = True
    """Whether evidence was lost or is ambiguous, so that the trajectory can only be `partial`."""

    def render(self) -> str:
        where = "" if self.path is None else f" ({self.path})" if self.line is None else f" ({self.path}:{self.line})"
        return f"{self.code}: {self.message}{where}"
