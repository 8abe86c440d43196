"""What acceptance costs: against the same receiver with nothing behind it, and against the disk. Ratios of one run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .receiver_load import append_limit, bodies, measure

pytestmark = pytest.mark.bench
SECONDS = float(os.environ.get("OTEL2TRAJ_BENCH_SECONDS", "3"))


@pytest.mark.parametrize("kind", ["protobuf", "json", "gzip-protobuf", "gzip-json"])
@pytest.mark.parametrize(("name", "spans", "kib", "clients"), [("large", 300, 10.0, 4), ("small", 100, 1.5, 8)])
def test_throughput(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str, name: str, spans: int, kib: float, clients: int
) -> None:
    sent = bodies(kind, spans, kib)
    found = {}
    for mode in ("transport", "checked", "durable"):
        found[mode] = measure(tmp_path / mode, mode, kind, sent, spans, SECONDS, clients)
        shutil.rmtree(tmp_path / mode, ignore_errors=True)
    limit = append_limit(tmp_path / "raw", sent, SECONDS)
    durable, transport, checked = found["durable"], found["transport"], found["checked"]
    rate = durable.bytes / durable.seconds
    with capsys.disabled():
        print(
            f"\n{name:5} {kind:13} {len(sent[0]) / 1e6:5.2f} MB  spans/s: transport {transport.spans_s:8.0f}"
            f"  checked {checked.spans_s:8.0f}  durable {durable.spans_s:8.0f}"
            f"  ({durable.spans_s / transport.spans_s:.2f} of transport, {rate / limit:.2f} of the append limit"
            f" {limit / 1e6:.0f} MB/s)  CPU ms a batch:"
            f" {transport.cpu_ms:.2f} {checked.cpu_ms:.2f} {durable.cpu_ms:.2f}"
            f" ({durable.cpu_ms / transport.cpu_ms:.1f}x)  peak {durable.peak_mib:.0f} MiB"
        )
    if kind == "protobuf" and name == "large":
        assert durable.cpu_ms <= 4 * transport.cpu_ms
    assert durable.peak_mib < 700


ROUTE = """
import json, resource, sys, time
from pathlib import Path
from otel2traj.capture.layout import LOG
from otel2traj.capture.router import Router
from otel2traj.capture.segments import Content, Encoding, Signal
from otel2traj.capture.spool import Spool
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

root, total = Path(sys.argv[1]), int(sys.argv[2])
spool = Spool(root / LOG, min_free=0, sync=False)
for first in range(0, total, 500):
    request = ExportTraceServiceRequest()
    spans = request.resource_spans.add().scope_spans.add().spans
    for n in range(first, first + 500):
        trace = n // 1000 * 25 + n % 25 + 1  # 40 spans each, over two bodies
        span = spans.add(trace_id=trace.to_bytes(16, "big"), span_id=(n + 1).to_bytes(8, "big"), name="chat")
        span.attributes.add(key="text").value.string_value = "x" * 300
        if n % 1000 >= 975:  # only the last span of a trace knows its session, so every trace moves once
            span.attributes.add(key="session.id").value.string_value = f"s-{n // 4000}"
    body = request.SerializeToString()
    spool.append_and_wait(Signal.TRACES, Content.PROTOBUF, Encoding.IDENTITY, 500, body)
spool.close()
begin = time.process_time()
router = Router(root)
router.drain()
took = time.process_time() - begin
assert router.state.totals()["spans"] == total, router.state.totals()
router.close()
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps({"cpu": took, "peak_mib": peak / 1024}))
"""


def _route(root: Path, spans: int) -> dict[str, float]:
    import json

    env = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    command = [sys.executable, "-c", ROUTE, str(root), str(spans)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1200, env=env)
    assert done.returncode == 0, done.stderr
    shutil.rmtree(root, ignore_errors=True)
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def test_a_million_spans_are_routed_in_bounded_memory_and_linear_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spans = int(os.environ.get("OTEL2TRAJ_BENCH_SPANS", "1000000"))
    small = _route(tmp_path / "small", spans // 10)
    large = _route(tmp_path / "large", spans)
    with capsys.disabled():
        print(
            f"\nrouting {spans // 10} spans: {small['cpu']:.1f} s CPU, {small['peak_mib']:.0f} MiB;"
            f" {spans}: {large['cpu']:.1f} s CPU, {large['peak_mib']:.0f} MiB;"
            f" {large['cpu'] / small['cpu'] / 10:.2f} of linear"
        )
    assert large["cpu"] < 15 * small["cpu"]
    assert large["peak_mib"] < 2 * small["peak_mib"]
