"""What the tests of this room share: open bytes or a file, and look at everything that comes out."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from otel2traj.model.evidence import EvidenceRef, LogRecord, Notice, Source, SourceKind, SpanEvent, SpanRecord
from otel2traj.model.session import SessionRecord
from otel2traj.readers import RecordFile, open_records

FIXTURES = Path(__file__).parents[3] / "fixtures"
NOWHERE = EvidenceRef("", 0, 0)


def opened(path: Path, **limits: int) -> RecordFile:
    return open_records(Source(path.name, SourceKind.OTLP_TRACES, path), **limits)


def written(folder: Path, data: bytes, name: str = "t.bin") -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def read(path: Path, **limits: int) -> tuple[list[SpanRecord | LogRecord], list[Notice], RecordFile]:
    """All records, all notices and the file, which stays open."""
    file = opened(path, **limits)
    records: list[SpanRecord | LogRecord] = []
    notices: list[Notice] = []
    for item in file.records():
        if isinstance(item, Notice):
            notices.append(item)
        else:
            records.append(item)
    return records, notices, file


def plain(record: SpanRecord | LogRecord | SessionRecord, ref: bool = False) -> dict[str, Any]:
    """A record as plain data, without its bytes, and without its address unless that is wanted."""
    out: dict[str, Any] = {}
    for one in dataclasses.fields(record):
        value = getattr(record, one.name)
        if (one.name == "ref" and not ref) or one.name == "raw":
            continue
        if one.name == "events":
            value = [event(item) for item in value]
        if one.name == "told":
            value = [{**dataclasses.asdict(item), "inputs": [list(ref[1:]) for ref in item.inputs]} for item in value]
        out[one.name] = dict(value) if one.name in ("attributes", "resource") else value
    return out


def event(item: SpanEvent) -> dict[str, Any]:
    return {
        "name": item.name,
        "time_ns": item.time_ns,
        "attributes": dict(item.attributes),
        "dropped_attributes": item.dropped_attributes,
    }


def check_addresses(path: Path, records: list[SpanRecord | LogRecord], file: RecordFile, inflated: bytes) -> None:
    """Every address gives its record and its bytes again."""
    for record in records:
        ref = record.ref
        assert ref.source == path.name
        assert file.raw(ref) == inflated[ref.offset : ref.offset + ref.length]
        assert plain(file.fetch(ref), ref=True) == plain(record, ref=True)
