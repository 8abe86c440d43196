"""Recorded metrics and tables as samples: units, states that add up, points sent twice, nothing that was not said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel2traj.model.evidence import Source, SourceKind
from otel2traj.readers.telemetry import Telemetry, read_telemetry, telemetry_files

NS = 1_618_224_000_000_000_000


def source(file: Path) -> Source:
    return Source(file.name, SourceKind.DOCUMENT, file)


def point(value: Any, ns: int = NS, **attributes: str) -> dict[str, Any]:
    pairs = [{"key": key, "value": {"stringValue": text}} for key, text in attributes.items()]
    number = {"asDouble": value} if isinstance(value, (float, str)) else {"asInt": str(value)}
    return {"timeUnixNano": str(ns), "attributes": pairs, **number}


def metric(name: str, unit: str, *points: dict[str, Any], kind: str = "gauge", **more: Any) -> dict[str, Any]:
    return {"name": name, "unit": unit, kind: {"dataPoints": list(points), **more}}


def export(*metrics: dict[str, Any], scope: str = "", service: str = "s") -> str:
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": service}}]}
    group = {"resource": resource, "scopeMetrics": [{"scope": {"name": scope}, "metrics": list(metrics)}]}
    return json.dumps({"resourceMetrics": [group]})


@pytest.fixture
def read(tmp_path: Path) -> Any:
    def run(*lines: str) -> Telemetry:
        file = tmp_path / "otel-metrics.jsonl"
        file.write_text("".join(line + "\n" for line in lines))
        return read_telemetry([source(file)])

    return run


def test_recorded_metrics(fixtures: Path) -> None:
    found = read_telemetry([source(fixtures / "forensic/telemetry/otel-metrics.jsonl")])
    assert found.samples[0] == {
        "timestamp": 1796048317.285325,
        "cpu_percent": 16.6,
        "rss_mb": 35.011719,
        "vms_mb": 41.136719,
    }
    assert [sample["cpu_percent"] for sample in found.samples] == [16.6, 15.4, 14.85]
    assert found.notices == []
    assert len(found.sources[0]["sha256"]) == 64


def test_the_table_of_the_schema(fixtures: Path) -> None:
    found = read_telemetry([source(fixtures / "forensic/telemetry/telemetry.csv")])
    assert found.samples == [
        {"timestamp": 1618224000.0, "cpu_percent": 12.5, "rss_mb": 450.2, "vms_mb": 900.5},
        {
            "timestamp": 1618224001.5,
            "cpu_percent": 97.25,
            "rss_mb": 451.0,
            "vms_mb": 900.5,
            "disk_usage_percent": 3.5,
        },
        {"timestamp": 1618224002.0, "cpu_percent": None, "rss_mb": None, "vms_mb": 900.5},
    ]
    assert [(notice.code, notice.line) for notice in found.notices] == [("unreadable_line", 4), ("unreadable_value", 5)]


def test_states_add_up_and_a_point_sent_twice_counts_once(read: Any) -> None:
    line = export(
        metric("process.cpu.utilization", "1", point(0.25, **{"cpu.mode": "user"}), point(0.5, state="system"))
    )
    assert read(line, line).samples == [
        {"timestamp": 1618224000.0, "cpu_percent": 75.0, "rss_mb": None, "vms_mb": None}
    ]


@pytest.mark.parametrize(
    ("name", "unit", "scope", "value", "percent"),
    [
        ("process.cpu.utilization", "1", "", 0.5, 50.0),
        ("process.cpu.utilization", "%", "", 50.0, 50.0),
        ("container.cpu.utilization", "1", "github.com/x/receiver/dockerstatsreceiver", 50.0, 50.0),
        ("container.cpu.utilization", "1", "", 0.5, 50.0),
        ("process.runtime.cpython.cpu.utilization", "1", "", 0.0, 0.0),
    ],
)
def test_cpu_is_percent(read: Any, name: str, unit: str, scope: str, value: float, percent: float) -> None:
    (sample,) = read(export(metric(name, unit, point(value)), scope=scope)).samples
    assert sample["cpu_percent"] == percent


@pytest.mark.parametrize(
    ("name", "unit", "value", "rss"),
    [
        ("process.memory.usage", "By", 1 << 20, 1.0),
        ("process.memory.physical_usage", "By", 3 << 19, 1.5),
        ("container.memory.usage.total", "By", 1 << 20, 1.0),
        ("container.memory.rss", "MiBy", 7, 7.0),
        ("process.memory.usage", "By", 0, 0.0),
    ],
)
def test_memory_is_mebibytes(read: Any, name: str, unit: str, value: int, rss: float) -> None:
    (sample,) = read(export(metric(name, unit, point(value), kind="sum", aggregationTemporality=2))).samples
    assert sample["rss_mb"] == rss


def test_the_process_is_heard_before_its_container(read: Any) -> None:
    both = [
        metric(name, "By", point(size << 20))
        for name, size in (("container.memory.rss", 9), ("process.memory.usage", 4))
    ]
    (sample,) = read(export(*both)).samples
    assert sample["rss_mb"] == 4.0


@pytest.mark.parametrize(
    "line",
    [
        export(metric("process.cpu.utilization", "{cpu}", point(0.5))),
        export(metric("process.memory.usage", "By", point(1), kind="sum", aggregationTemporality=1)),
        export(metric("process.memory.usage", "By", point(1), kind="histogram")),
    ],
)
def test_what_cannot_be_told_is_left_out_and_said(read: Any, line: str) -> None:
    found = read(line)
    assert found.samples == []
    assert [notice.code for notice in found.notices] == ["metric_left_out"]


def test_other_metrics_and_values_that_are_no_numbers_make_no_sample(read: Any) -> None:
    found = read(
        export(metric("gen_ai.client.token.usage", "{token}", point(3))),
        export(metric("process.memory.usage", "By", point("NaN"), {"asInt": "4"}, {"timeUnixNano": "0", "asInt": "4"})),
    )
    assert found.samples == []
    assert found.notices == []


def test_several_processes_stay_apart(read: Any) -> None:
    lines = [export(metric("process.memory.usage", "By", point(size << 20)), service=f"s{size}") for size in (2, 1)]
    found = read(*lines)
    assert [(sample["rss_mb"], sample["resource"]) for sample in found.samples] == [
        (1.0, {"service.name": "s1"}),
        (2.0, {"service.name": "s2"}),
    ]
    assert read(*reversed(lines)).samples == found.samples


def test_broken_lines_are_passed_over(read: Any) -> None:
    found = read(
        "{broken",
        "",
        '{"resource_metrics": [{"scope_metrics": 4}]}',
        export(metric("process.memory.usage", "By", point(1 << 20))),
    )
    assert len(found.samples) == 1
    assert [(notice.code, notice.line) for notice in found.notices] == [("unreadable_line", 1)]


def test_a_cell_beyond_what_the_csv_reader_takes_ends_the_table(tmp_path: Path) -> None:
    file = tmp_path / "telemetry.csv"
    file.write_text("timestamp,rss_mb\n1,2\n2," + "9" * 200_000 + "\n3,4\n")
    found = read_telemetry([source(file)])
    assert [sample["timestamp"] for sample in found.samples] == [1.0]
    assert [notice.code for notice in found.notices] == ["unreadable_line"]


def test_proto_names_are_read(read: Any) -> None:
    sample = {"time_unix_nano": NS, "as_double": 0.5}
    metrics = [{"name": "process.cpu.utilization", "unit": "1", "gauge": {"data_points": [sample]}}]
    found = read(json.dumps({"resource_metrics": [{"scope_metrics": [{"metrics": metrics}]}]}))
    assert found.samples[0]["cpu_percent"] == 50.0


def test_files_of_an_attempt(tmp_path: Path) -> None:
    (tmp_path / "steps/0001").mkdir(parents=True)
    for name in ("steps/0001/otel-metrics.jsonl", "otel-metrics.jsonl", "otel.jsonl", "steps/0001/otel-logs.jsonl"):
        (tmp_path / name).write_text("")
    (tmp_path / "steps/otel-metrics-2.jsonl").symlink_to(tmp_path / "otel-metrics.jsonl")
    assert [item.path for item in telemetry_files(tmp_path)] == ["otel-metrics.jsonl", "steps/0001/otel-metrics.jsonl"]
    (tmp_path / "telemetry.csv").write_text("timestamp\n1\n")
    assert [item.path for item in telemetry_files(tmp_path)] == ["telemetry.csv"]
    assert read_telemetry(telemetry_files(tmp_path)).samples == [
        {"timestamp": 1.0, "cpu_percent": None, "rss_mb": None, "vms_mb": None}
    ]


@given(st.binary(max_size=300))
def test_readers_never_raise_anything(data: bytes) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        for name in ("otel-metrics.jsonl", "telemetry.csv"):
            file = Path(folder) / name
            file.write_bytes(data)
            for sample in read_telemetry([source(file)]).samples:
                assert isinstance(sample["timestamp"], float)
