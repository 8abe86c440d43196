"""Recorded OTLP metrics and `telemetry.csv` into samples of CPU and memory, never anything measured here.

Names of metrics: https://github.com/open-telemetry/semantic-conventions/blob/v1.38.0/docs/system/process-metrics.md and
`container-metrics.md` beside it; the names that the Collector's host and Docker receivers and the Python
instrumentation write are read too.
"""

from __future__ import annotations

import csv
import io
import math
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from ..anyvalue import decode_any
from ..canonical import JsonError, JsonObject, JsonValue, canonical_bytes, loads_tolerant
from ..model.evidence import Notice, Source, SourceKind
from ..model.forensic import epoch, seconds
from .lines import LineFile, read_document

_METRICS: Final = re.compile(r"otel.*metrics?.*\.jsonl")
_CSV: Final = "telemetry.csv"
_MEBI: Final = 1 << 20
_BYTES: Final = {"By": 1, "bytes": 1, "byte": 1, "KiBy": 1 << 10, "MiBy": 1 << 20, "GiBy": 1 << 30}
_CPU: Final = (
    "process.cpu.utilization",
    "process.runtime.cpython.cpu.utilization",
    "container.cpu.utilization",
)
_MEMORY: Final = {
    "rss_mb": (
        "process.memory.usage",
        "process.memory.physical_usage",
        "process.runtime.cpython.memory",
        "container.memory.rss",
        "container.memory.usage",
        "container.memory.usage.total",
    ),
    "vms_mb": ("process.memory.virtual", "process.memory.virtual_usage", "process.runtime.cpython.memory"),
}
"""In order of preference; a name that carries both has them apart in the attribute `type`."""
_NAMED: Final = frozenset((*_CPU, *(name for names in _MEMORY.values() for name in names)))
_PERCENT_ALREADY: Final = "dockerstatsreceiver"
_WHOSE: Final = ("service.name", "service.instance.id", "process.pid", "container.id", "container.name", "host.name")
FIELDS: Final = ("cpu_percent", "rss_mb", "vms_mb", "disk_usage_percent")


@dataclass(slots=True)
class Telemetry:
    """`samples` in order of time: `timestamp` in Unix seconds and the fields of the schema, None where not recorded."""

    samples: list[JsonObject] = field(default_factory=list)
    sources: list[JsonObject] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)


def telemetry_files(root: Path) -> list[Source]:
    """The files of an attempt that can hold telemetry, sorted by path: `telemetry.csv` where there is one, else files
    of OTLP metrics. Links are not followed."""
    tables, metrics = [], []
    for folder, names, files in os.walk(root, followlinks=False):
        names.sort()
        for name in sorted(files):
            file = Path(folder) / name
            if file.is_symlink():
                continue
            source = Source(file.relative_to(root).as_posix(), SourceKind.DOCUMENT, file)
            if name == _CSV:
                tables.append(source)
            elif _METRICS.fullmatch(name):
                metrics.append(source)
    return sorted(tables or metrics, key=lambda source: source.path)


def read_telemetry(sources: list[Source]) -> Telemetry:
    """Samples of all files, in order of time. A row or point that cannot be read is a notice. Raises `EvidenceError`
    where a file cannot be opened."""
    out = Telemetry()
    batches: dict[tuple[bytes, int], _Batch] = {}
    tables: list[JsonObject] = []
    for source in sources:
        if source.file.name.endswith(".csv"):
            tables += _table(source, out)
        else:
            _points(source, out, batches)
        out.sources.append({"path": source.path, "sha256": source.sha256})
    several = len({resource for resource, _ in batches}) > 1
    if several:
        out.notices.append(Notice("several_resources", "samples of several processes or containers", lossy=False))
    found = [(time_ns, batch.sample(time_ns, several)) for (_, time_ns), batch in batches.items()]
    found.sort(key=lambda item: (item[0], canonical_bytes(item[1])))
    out.samples = sorted((*tables, *(sample for _, sample in found)), key=lambda sample: float(sample["timestamp"]))
    return out


def _table(source: Source, out: Telemetry) -> Iterator[JsonObject]:
    text = read_document(source).decode("utf-8-sig", "replace")
    reader = csv.DictReader(io.StringIO(text, newline=""))
    try:
        if "timestamp" not in (reader.fieldnames or ()):
            out.notices.append(Notice("unreadable_line", "no column `timestamp`", source.path, 1))
            return
        yield from _rows(reader, source, out)
    except csv.Error as err:
        out.notices.append(Notice("unreadable_line", f"the table ends here: {err}", source.path, reader.line_num + 1))


def _rows(reader: csv.DictReader[str], source: Source, out: Telemetry) -> Iterator[JsonObject]:
    for row in reader:
        when = _time(row.get("timestamp"))
        if when is None:
            out.notices.append(Notice("unreadable_line", "a row without a readable time", source.path, reader.line_num))
            continue
        sample: JsonObject = {"timestamp": when}
        for name in FIELDS:
            value = row.get(name)
            number = None if value is None or value.strip() == "" else _finite(value)
            if number is None and value is not None and value.strip() != "":
                message = f"{name} is no number: {value[:40]!r}"
                out.notices.append(Notice("unreadable_value", message, source.path, reader.line_num))
            if number is not None or name != "disk_usage_percent":
                sample[name] = number
        yield sample


def _time(text: str | None) -> float | None:
    number = _finite(text)
    return epoch(text) if number is None else number


@dataclass(slots=True)
class _Batch:
    """The points of one resource at one time."""

    whose: JsonObject
    values: dict[str, dict[bytes, float]] = field(default_factory=dict)
    """Metric name, with `|type` where the metric has one, to the values of its points by their attributes: a point that
    was sent twice counts once, and states of one CPU add up."""

    def sample(self, time_ns: int, several: bool) -> JsonObject:
        out: JsonObject = {"timestamp": seconds(time_ns), "cpu_percent": self._first(_CPU, "")}
        for name, metrics in _MEMORY.items():
            out[name] = self._first(metrics, name.removesuffix("_mb"))
        return {**out, "resource": self.whose} if several else out

    def _first(self, names: tuple[str, ...], kind: str) -> float | None:
        for name in names:
            for key in (f"{name}|{kind}", name):
                if key in self.values:
                    return round(math.fsum(self.values[key].values()), 6)
        return None


def _points(source: Source, out: Telemetry, batches: dict[tuple[bytes, int], _Batch]) -> None:
    file = LineFile(source)
    try:
        for line in file.lines():
            if isinstance(line, Notice):
                out.notices.append(line)
            elif line.data.strip():
                try:
                    document, _ = loads_tolerant(line.data)
                except JsonError as err:
                    out.notices.append(Notice("unreadable_line", f"skipped: {err}", source.path, line.number))
                    continue
                for resource in _list(document, "resourceMetrics"):
                    _resource(resource, batches, out, source.path, line.number)
    finally:
        file.close()


def _resource(
    group: JsonObject, batches: dict[tuple[bytes, int], _Batch], out: Telemetry, path: str, number: int
) -> None:
    told = _attributes(_get(group, "resource"))
    whose: JsonObject = {name: told[name] for name in _WHOSE if name in told}
    key = canonical_bytes(told)
    for scope in _list(group, "scopeMetrics"):
        library = _get(scope, "scope")
        scope_name = str(library.get("name") or "") if isinstance(library, dict) else ""
        for metric in _list(scope, "metrics"):
            name = metric.get("name")
            if name not in _NAMED:
                continue
            factor = _factor(str(name), str(metric.get("unit") or ""), scope_name)
            shape = metric.get("gauge") or metric.get("sum")
            if factor is None or not isinstance(shape, dict) or _is_delta(shape):
                message = f"{name} is left out: unit {metric.get('unit')!r} or kind has no such value"
                out.notices.append(Notice("metric_left_out", message, path, number, lossy=False))
                continue
            for point in _list(shape, "dataPoints"):
                time_ns, value = _whole(_get(point, "timeUnixNano")), _value(point)
                if time_ns is None or value is None:
                    continue
                attributes = _attributes(point)
                kind = attributes.get("type")
                field_name = f"{name}|{kind}" if isinstance(kind, str) and kind in ("rss", "vms") else str(name)
                batch = batches.setdefault((key, time_ns), _Batch(whose))
                batch.values.setdefault(field_name, {})[canonical_bytes(attributes)] = value * factor


def _factor(name: str, unit: str, scope: str) -> float | None:
    """What a value is multiplied with to be percent or MiB, or None where the unit is another."""
    if name in _CPU:
        if unit == "%" or _PERCENT_ALREADY in scope:
            return 1.0
        return 100.0 if unit in ("", "1") else None
    size = 1 if unit == "" else _BYTES.get(unit)
    return None if size is None else size / _MEBI


def _is_delta(shape: JsonObject) -> bool:
    return _get(shape, "aggregationTemporality") in (1, "AGGREGATION_TEMPORALITY_DELTA")


def _get(value: JsonValue, name: str) -> Any:
    """A member under its ProtoJSON name or its proto name."""
    if not isinstance(value, dict):
        return None
    return value[name] if name in value else value.get(re.sub("[A-Z]", lambda found: f"_{found.group().lower()}", name))


def _list(value: JsonValue, name: str) -> list[JsonObject]:
    items = _get(value, name)
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def _attributes(holder: JsonValue) -> JsonObject:
    return {str(item.get("key")): decode_any(item.get("value")) for item in _list(holder, "attributes")}


def _value(point: JsonObject) -> float | None:
    for name in ("asDouble", "asInt"):
        value = _get(point, name)
        if value is not None:
            return _finite(value)
    return None


def _whole(value: Any) -> int | None:
    text = str(value)
    return int(text) if text.isascii() and text.isdigit() and int(text) > 0 else None


def _finite(value: Any) -> float | None:
    if isinstance(value, bool) or value is None:
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None
