"""Reading against parsing everything: ratios of processor time within one run, so that a busy machine matters less.

The reading thread alone is compared, since digests are taken beside it; `all threads` is printed as well.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from otel2traj.model.evidence import Source, SourceKind, SpanRecord
from otel2traj.readers import open_records
from tests.factory_otlp import framed, json_lines, to_protobuf

pytestmark = pytest.mark.bench

ROUNDS = 9

SHAPES = {
    "batches of 100 spans of 10 KB": (20, 100, 7_000, True),
    "batches of 100 spans of 10 KB, ASCII": (20, 100, 7_000, False),
    "batches of 50 spans of 2 KB": (100, 50, 1_000, True),
    "one span of 2 KB a line": (3_000, 1, 1_000, True),
}
AT_LEAST = {
    "batches of 100 spans of 10 KB": 1.1,
    "batches of 100 spans of 10 KB, ASCII": 0.6,
    "batches of 50 spans of 2 KB": 0.5,
    "one span of 2 KB a line": 0.25,
}
"""Floors that a busy machine still reaches; the ratios themselves are printed."""


def measure(**tasks: Callable[[], Any]) -> dict[str, tuple[float, float]]:
    """Least seconds of this thread and of all threads, rounds interleaved."""
    best = dict.fromkeys(tasks, (9e9, 9e9))
    for _ in range(ROUNDS):
        for name, task in tasks.items():
            mine, every = time.thread_time(), time.process_time()
            task()
            mine, every = time.thread_time() - mine, time.process_time() - every
            best[name] = min(best[name][0], mine), min(best[name][1], every)
    return best


def first_pass(path: Path, look: bool = False) -> int:
    file = open_records(Source(path.name, SourceKind.OTLP_TRACES, path))
    count = 0
    for record in file.records():
        if isinstance(record, SpanRecord):
            count += 1
            if look:
                assert "gen_ai.operation.name" in record.attributes
    file.close()
    return count


@pytest.mark.parametrize("shape", list(SHAPES))
def test_json_lines_against_orjson(shape: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines, spans, size, foreign = SHAPES[shape]
    path = tmp_path / "x.jsonl"
    path.write_bytes(json_lines(lines, spans, size, foreign=foreign))

    def parse() -> None:
        for line in path.read_bytes().split(b"\n"):
            if line:
                orjson.loads(line)

    assert first_pass(path) == lines * spans
    found = measure(orjson=parse, heads=lambda: first_pass(path), keys=lambda: first_pass(path, look=True))
    report(capsys, f"JSON, {shape}", path, found, "orjson")
    assert found["orjson"][0] / found["heads"][0] > AT_LEAST[shape]


def test_protobuf_against_decoding_and_walking(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    messages = [to_protobuf(line) for line in json_lines(20, 100, 7_000).splitlines()]
    path = tmp_path / "x.binpb"
    path.write_bytes(framed(messages))

    def value(any_value: Any) -> Any:
        kind = any_value.WhichOneof("value")
        return None if kind is None else getattr(any_value, kind)

    def walk() -> int:
        count = 0
        for message in messages:
            for resource in ExportTraceServiceRequest.FromString(message).resource_spans:
                for scope in resource.scope_spans:
                    for span in scope.spans:
                        {pair.key: value(pair.value) for pair in span.attributes}
                        _ = (span.trace_id.hex(), span.span_id.hex(), span.name, span.start_time_unix_nano)
                        count += 1
        return count

    assert first_pass(path) == walk() == 2_000
    found = measure(walk=walk, heads=lambda: first_pass(path), keys=lambda: first_pass(path, look=True))
    report(capsys, "protobuf", path, found, "walk")
    assert found["walk"][0] / found["heads"][0] > 0.8


def report(
    capsys: pytest.CaptureFixture[str], name: str, path: Path, found: dict[str, tuple[float, float]], base: str
) -> None:
    size = path.stat().st_size / 1e6
    with capsys.disabled():
        print(f"\n{name}, {size:.1f} MB")
        for task, (mine, every) in found.items():
            ratio, whole = found[base][0] / mine, found[base][1] / every
            print(f"  {task:8s} {size / mine:6.0f} MB/s  {ratio:.2f}x  (all threads {whole:.2f}x)")
