"""The span fixtures: one folder a producer, its OTLP files read into records, its readings as plain JSON."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

from otel2traj import dialects
from otel2traj.dialects.base import LogDialect
from otel2traj.model.evidence import LogRecord, Notice, Source, SourceKind, SpanRecord
from otel2traj.model.reading import Classified, Reading
from otel2traj.readers import open_records

ROOT = Path(__file__).parents[3] / "fixtures" / "dialects"


def find(*names: str) -> list[Path]:
    """The case folders of the dialects named."""
    return [case for name in names for case in sorted((ROOT / name).iterdir()) if case.is_dir()]


def records(case: Path) -> tuple[list[SpanRecord], list[LogRecord]]:
    """Spans and log records of a case, in the order of its files."""
    spans: list[SpanRecord] = []
    logs: list[LogRecord] = []
    for file in sorted(case.glob("otel*.jsonl")):
        kind = SourceKind.OTLP_LOGS if "logs" in file.name else SourceKind.OTLP_TRACES
        opened = open_records(Source(file.name, kind, file))
        for record in opened.records():
            if isinstance(record, Notice):
                assert not record.lossy, record
                continue
            (spans if isinstance(record, SpanRecord) else logs).append(record)  # type: ignore[arg-type]
        opened.close()
    return spans, logs


def groups(logs: list[LogRecord]) -> list[tuple[LogDialect, set[str], list[LogRecord]]]:
    """Log records that tell of calls, grouped by the keys they share."""
    out: list[tuple[LogDialect, set[str], list[LogRecord]]] = []
    for log in logs:
        dialect = next((d for d in dialects.LOG_DIALECTS if d.recognises(log)), None)
        found = None if dialect is None else dialect.classify(log)
        if dialect is None or found is None:
            continue
        keys, members = {found.key, *found.also}, [log]
        for group in [g for g in out if g[0] is dialect and g[1] & keys]:
            out.remove(group)
            keys |= group[1]
            members = [*group[2], *members]
        out.append((dialect, keys, members))
    return out


def read_case(case: Path) -> list[dict[str, Any]]:
    """Every span with its own logs, then every group of logs that names no span's call."""
    spans, logs = records(case)
    told = groups(logs)
    called = {id(log) for _, _, members in told for log in members}
    out: list[dict[str, Any]] = []
    for span in spans:
        found = dialects.classify(span)
        own = [log for log in logs if log.span_id == span.span_id and id(log) not in called]
        named = next((group for group in told if found.log_key is not None and found.log_key in group[1]), None)
        if named is not None:
            told.remove(named)
            own += named[2]
        told_of = {"span": span.name, **plain_classified(found), "reading": plain(dialects.read(span, own))}
        unmapped = dialects.unmapped_keys(span)
        out.append({**told_of, "unmapped": list(unmapped)} if unmapped else told_of)
    for dialect, keys, members in told:
        out.append({"logs": dialect.name, "keys": sorted(keys), "reading": plain(dialect.read(members))})
    return out


def plain_classified(found: Classified) -> dict[str, Any]:
    out: dict[str, Any] = {"role": None if found.role is None else found.role.value, "dialects": list(found.dialects)}
    for name in ("agent_name", "agent_path", "conversation_id", "framework_span_id", "log_key"):
        value = getattr(found, name)
        if value is not None:
            out[name] = value
    return out


def plain(reading: Reading) -> dict[str, Any]:
    """A reading without the fields that say nothing."""
    out: dict[str, Any] = {}
    for field in fields(reading):
        if not field.compare:
            continue
        value = getattr(reading, field.name)
        if value is None or (field.name in ("said_by", "truncated", "extra", "notices") and not value):
            continue
        if field.name == "role":
            value = value.value
        elif field.name in ("messages", "tool_calls"):
            value = [item.to_json() for item in value]
        elif field.name == "usage":
            value = value.to_json()
        elif field.name == "truncated":
            value = sorted(value)
        elif field.name == "notices":
            value = [notice.code for notice in value]
        out[field.name] = value
    return out


def only(case: Path, span_name: str) -> dict[str, Any]:
    """The reading of the one span of that name."""
    found = [told for told in read_case(case) if told.get("span") == span_name]
    assert len(found) == 1, [told.get("span") for told in read_case(case)]
    reading: dict[str, Any] = found[0]["reading"]
    return reading
