"""The exporters in an SDK: settings, forks, several processes in one directory, and the same log as the receiver's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from opentelemetry._logs import SeverityNumber
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor, SpanExportResult

from otel2traj.capture.layout import ATTEMPTS, LOG, STATE
from otel2traj.capture.sdk import ExporterSettings, read_settings
from otel2traj.capture.segments import segment_files
from otel2traj.errors import EvidenceError, UsageError
from otel2traj.exporter import Otel2TrajLogExporter, Otel2TrajSpanExporter

from .requests import items

CHAT = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.conversation.id": "run"}


def names(path: Path) -> list[str]:
    return sorted(s["name"] for s in items(path))


def test_an_sdk_finds_the_exporters_by_name() -> None:
    for group, cls in (("traces", Otel2TrajSpanExporter), ("logs", Otel2TrajLogExporter)):
        (found,) = entry_points(group=f"opentelemetry_{group}_exporter", name="otel2traj")
        assert found.load() is cls


def test_spans_become_an_attempt_and_a_trajectory(tmp_path: Path) -> None:
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(Otel2TrajSpanExporter(out=tmp_path, build=True)))
    tracer = provider.get_tracer("lib", "1.0")
    with tracer.start_as_current_span("agent"), tracer.start_as_current_span("chat m", attributes=CHAT):
        pass
    provider.shutdown()
    attempt = tmp_path / ATTEMPTS / "run"
    assert names(attempt / "otel.jsonl") == ["agent", "chat m"]
    assert json.loads((attempt / "trajectory.json").read_bytes())["steps"]


def test_logs_and_spans_of_a_process_share_an_attempt(tmp_path: Path) -> None:
    traces, logs = TracerProvider(), LoggerProvider()
    traces.add_span_processor(SimpleSpanProcessor(Otel2TrajSpanExporter(out=tmp_path, attempt_id="mine")))
    logs.add_log_record_processor(BatchLogRecordProcessor(Otel2TrajLogExporter(out=tmp_path, attempt_id="mine")))
    traces.get_tracer("t").start_span("alone").end()
    logs.get_logger("l").emit(
        body="hello", severity_number=SeverityNumber.INFO, event_name="an.event", timestamp=1_700_000_000_000_000_000
    )
    traces.shutdown()
    logs.shutdown()
    assert names(tmp_path / ATTEMPTS / "mine" / "otel.jsonl") == ["alone"]
    (record,) = items(tmp_path / ATTEMPTS / "mine" / "otel-logs.jsonl")
    assert (record["body"], record["eventName"]) == ({"stringValue": "hello"}, "an.event")


def test_a_build_that_fails_is_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise EvidenceError("no room")

    monkeypatch.setattr("otel2traj.api.receive.build_attempt", fails)
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(Otel2TrajSpanExporter(out=tmp_path, build=True)))
    provider.get_tracer("lib").start_span("chat m", attributes=CHAT).end()
    provider.shutdown()
    assert [record.getMessage() for record in caplog.records] == ["attempts/run: build failed: no room"]


def test_a_state_that_cannot_be_read_is_derived_again_and_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / STATE).write_bytes(b"not a database at all" * 100)
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(Otel2TrajSpanExporter(out=tmp_path, build=True)))
    provider.get_tracer("lib").start_span("chat m", attributes=CHAT).end()
    provider.shutdown()
    assert names(tmp_path / ATTEMPTS / "run" / "otel.jsonl") == ["chat m"]
    assert "set aside" in caplog.text


def test_an_export_is_stored_when_it_returns(tmp_path: Path) -> None:
    exporter = Otel2TrajSpanExporter(out=tmp_path)
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    provider.get_tracer("t").start_span("one").end()
    (path,) = segment_files(tmp_path / LOG)
    assert b"one" in path.read_bytes()
    provider.shutdown()
    assert exporter.export([]) is SpanExportResult.SUCCESS


def test_a_directory_that_cannot_be_written_fails_the_export_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    exporter = Otel2TrajSpanExporter(out=tmp_path / "file")
    provider = TracerProvider()
    span = provider.get_tracer("t").start_span("one")
    span.end()
    assert exporter.export([span]) is SpanExportResult.FAILURE  # type: ignore[list-item]
    exporter.shutdown()


_FORKING = """
import os, sys
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from otel2traj.exporter import Otel2TrajSpanExporter

provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(Otel2TrajSpanExporter()))
tracer = provider.get_tracer("t")
tracer.start_span("before").end()
provider.force_flush()
for number in range(4):
    if os.fork() == 0:
        for part in range(20):
            tracer.start_span(f"child-{number}-{part:02d}").end()
        provider.force_flush()
        if number % 2:
            os._exit(0)
        provider.shutdown()
        os._exit(0)
for part in range(20):
    tracer.start_span(f"parent-{part:02d}").end()
for _ in range(4):
    os.wait()
provider.shutdown()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_forked_children_lose_nothing_and_break_nothing(tmp_path: Path) -> None:
    env = {**os.environ, "OTEL2TRAJ_OUT": str(tmp_path), "OTEL2TRAJ_ATTEMPT_ID": "job"}
    done = subprocess.run([sys.executable, "-c", _FORKING], env=env, capture_output=True, text=True, timeout=90)
    assert (done.returncode, done.stderr) == (0, "")
    expected = ["before", *(f"parent-{n:02d}" for n in range(20))]
    expected += [f"child-{n}-{part:02d}" for n in range(4) for part in range(20)]
    assert names(tmp_path / ATTEMPTS / "job" / "otel.jsonl") == sorted(expected)
    assert len(segment_files(tmp_path / LOG)) == 5


def test_settings_come_from_the_configuration_then_the_environment(tmp_path: Path) -> None:
    environ = {"OTEL2TRAJ_OUT": str(tmp_path), "OTEL2TRAJ_BUILD": "true", "OTEL2TRAJ_SYNC": "off"}
    assert read_settings({}, environ) == ExporterSettings(tmp_path, sync=False, build=True)
    assert read_settings({"build": False, "attempt_id": "a"}, environ) == ExporterSettings(
        tmp_path, sync=False, build=False, attempt_id="a"
    )
    assert read_settings({}, {}).out == Path("otel2traj-out").absolute()


@pytest.mark.parametrize("given", [{"path": "x"}, {"sync": "maybe"}, {"build": 7}])
def test_settings_it_does_not_know_are_refused(given: dict[str, object]) -> None:
    with pytest.raises(UsageError) as caught:
        read_settings(given, {})
    assert caught.value.hint
