"""Lines in the `abb.observe.event.v1` envelope to records.

The envelope wraps interceptor records, framework events, OpenTelemetry spans and ACP events alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from ..canonical import JsonError, JsonObject, loads_tolerant
from ..model.evidence import AbbRecord, EvidenceRef, Notice, Source
from ..timestamps import parse_ns
from .lines import Line, LineFile

ENVELOPE = "abb.observe.event.v1"


class _Envelope(msgspec.Struct):
    event: str
    timestamp: str | None = None
    source: str = ""
    run_id: str | None = None
    data: dict[str, Any] = {}


_decoder = msgspec.json.Decoder(_Envelope)


class AbbFile:
    """One file of enveloped lines: every record in order, and any record again by its address."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._lines = LineFile(source)

    def records(self) -> Iterator[AbbRecord | Notice]:
        """Broken lines come as notices with path and line; nothing else is raised."""
        path = self.source.path
        for line in self._lines.lines():
            if isinstance(line, Notice):
                yield line
            elif line.data.strip():
                yield from _read(line, path)

    def fetch(self, ref: EvidenceRef) -> AbbRecord:
        """The record at an address that `records` gave."""
        for item in _read(Line(ref.line or 0, ref.offset, self.raw(ref), True), self.source.path):
            if isinstance(item, AbbRecord):
                return item
        raise AssertionError("an address that gave a record gives it again")

    def raw(self, ref: EvidenceRef) -> bytes:
        return self._lines.read(ref)

    def close(self) -> None:
        self._lines.close()


def _read(line: Line, path: str) -> Iterator[AbbRecord | Notice]:
    ref = EvidenceRef(path, line.offset, len(line.data), line.number)
    try:
        found = _decoder.decode(line.data)
        yield AbbRecord(
            found.event, parse_ns(found.timestamp), found.timestamp, found.data, ref, found.source, found.run_id
        )
        return
    except (msgspec.DecodeError, msgspec.ValidationError, RecursionError):
        pass
    try:
        value, repairs = loads_tolerant(line.data)
    except JsonError as err:
        cut = "" if line.ended else "; the line has no end, it was cut or is still being written"
        yield Notice("unreadable_line", f"skipped a line that is not JSON: {err}{cut}", path, line.number)
        return
    record = _loose(value, ref)
    if record is None:
        yield Notice("unreadable_line", "skipped a line that is not an event record", path, line.number)
        return
    for repair in repairs:
        yield Notice(
            "repaired_record", f"read with a repair: {repair}", path, line.number, lossy=repair == "invalid-utf-8"
        )
    yield record


def _loose(value: Any, ref: EvidenceRef) -> AbbRecord | None:
    if not isinstance(value, dict) or not isinstance(value.get("event"), str):
        return None
    data = value.get("data")
    timestamp = value.get("timestamp")
    timestamp = timestamp if isinstance(timestamp, str) else None
    source, run_id = value.get("source"), value.get("run_id")
    body: JsonObject = data if isinstance(data, dict) else {}
    return AbbRecord(
        value["event"],
        parse_ns(timestamp),
        timestamp,
        body,
        ref,
        source if isinstance(source, str) else "",
        run_id if isinstance(run_id, str) else None,
    )
