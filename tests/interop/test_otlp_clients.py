"""Real exporters deliver a recorded run to `otel2traj receive`; its trajectory is the one of the file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter
from opentelemetry.sdk.trace.export import SpanExportResult

from otel2traj.api.build import build_path
from otel2traj.capture.layout import ATTEMPTS, LOG
from otel2traj.capture.segments import Content, Encoding, records_from, segment_files

from ..unit.api.test_api_receive import trajectory, without_digests
from ..unit.capture.requests import as_json, items, span, traces
from ..unit.capture.running import Running, running
from .otlp_clients import export_from_node, install_node_exporters, sdk_spans

pytestmark = pytest.mark.interop


def built_from_file(tmp_path: Path, file: Path) -> Any:
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / "otel.jsonl").write_bytes(file.read_bytes())
    build_path(copy, write=True)
    return without_digests(trajectory(copy))


def received(out: Path) -> Any:
    (attempt,) = (out / ATTEMPTS).iterdir()
    return without_digests(trajectory(attempt))


def first_record(out: Path) -> tuple[Content, Encoding]:
    with segment_files(out / LOG)[0].open("rb") as log:
        record = next(records_from(log, 0))
    return record.content, record.encoding


def _python_http(receiver: Running, compression: Compression) -> Any:
    return HttpExporter(endpoint=f"http://127.0.0.1:{receiver.http}/v1/traces", compression=compression)


def _python_grpc(receiver: Running, compression: Any) -> Any:
    return GrpcExporter(endpoint=f"127.0.0.1:{receiver.grpc}", insecure=True, compression=compression)


PYTHON = {
    "http": lambda receiver: _python_http(receiver, Compression.NoCompression),
    "http-gzip": lambda receiver: _python_http(receiver, Compression.Gzip),
    "http-deflate": lambda receiver: _python_http(receiver, Compression.Deflate),
    "grpc": lambda receiver: _python_grpc(receiver, None),
    "grpc-gzip": lambda receiver: _python_grpc(receiver, __import__("grpc").Compression.Gzip),
}


@pytest.mark.parametrize("kind", PYTHON)
@pytest.mark.parametrize("case", ["langgraph_og", "adk_v1"])
def test_python_exporters_deliver_a_run(tmp_path: Path, fixtures: Path, case: str, kind: str) -> None:
    file = fixtures / "capture" / case / "otel.jsonl"
    out = tmp_path / "out"
    with running(out, "--build-after", "60") as receiver:
        exporter = PYTHON[kind](receiver)
        for batch in sdk_spans(file):
            assert exporter.export(batch) is SpanExportResult.SUCCESS
        exporter.shutdown()
        assert receiver.stop() == 0
    assert first_record(out)[0] is Content.PROTOBUF
    assert received(out) == built_from_file(tmp_path, file)


def test_python_sends_again_after_a_refusal(tmp_path: Path, fixtures: Path) -> None:
    """The exporter's own retries bridge a receiver that is not there yet."""
    import socket
    import threading

    file = fixtures / "capture" / "langgraph_og" / "otel.jsonl"
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    out = tmp_path / "out"
    results: list[object] = []
    exporter = HttpExporter(endpoint=f"http://127.0.0.1:{port}/v1/traces")
    (batch, *_) = sdk_spans(file)
    sender = threading.Thread(target=lambda: results.append(exporter.export(batch)))
    sender.start()
    with running(out, "--http-port", str(port), "--build-after", "-1") as receiver:
        sender.join(20)
        assert receiver.stop() == 0
    assert results == [SpanExportResult.SUCCESS]
    assert len(list((out / ATTEMPTS).iterdir())) == 1


@pytest.fixture(scope="session")
def node(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("node")
    reason = install_node_exporters(folder)
    if reason is not None:
        pytest.skip(reason)
    return folder


@pytest.mark.parametrize(
    ("kind", "compression", "seen"),
    [
        ("json", "none", (Content.JSON, Encoding.IDENTITY)),
        ("json", "gzip", (Content.JSON, Encoding.GZIP)),
        ("proto", "none", (Content.PROTOBUF, Encoding.IDENTITY)),
        ("proto", "gzip", (Content.PROTOBUF, Encoding.GZIP)),
    ],
)
def test_node_exporters_deliver_a_run(
    tmp_path: Path, fixtures: Path, node: Path, kind: str, compression: str, seen: tuple[Content, Encoding]
) -> None:
    file = fixtures / "capture" / "vercel_v5_generate" / "otel.jsonl"
    out = tmp_path / "out"
    with running(out, "--build-after", "60") as receiver:
        export_from_node(node, f"http://127.0.0.1:{receiver.http}/v1/traces", kind, file, compression)
        assert receiver.stop() == 0
    assert first_record(out) == seen
    assert received(out) == built_from_file(tmp_path, file)


@pytest.mark.parametrize("kind", ["json", "proto"])
def test_numbers_that_node_cannot_write_cost_no_span(tmp_path: Path, node: Path, kind: str) -> None:
    """NaN and infinity become `null`, 1e20 overflows int64: the exporter sends them all the same."""
    odd = traces(span(nan="@nan", infinity="@infinity", huge="@huge", session__id="odd"))
    file = tmp_path / "odd.jsonl"
    file.write_bytes(as_json(odd) + b"\n")
    out = tmp_path / "out"
    with running(out, "--build-after", "-1") as receiver:
        export_from_node(node, f"http://127.0.0.1:{receiver.http}/v1/traces", kind, file)
        assert receiver.stop() == 0
    (found,) = items(out / ATTEMPTS / "odd" / "otel.jsonl")
    values = {pair["key"]: pair["value"] for pair in found["attributes"]}
    assert set(values) == {"nan", "infinity", "huge", "session.id"}
    if kind == "json":
        repairs = [json.loads(line)["repair"] for line in (out / "repairs.jsonl").read_bytes().splitlines()]
        assert "null-values" in repairs
