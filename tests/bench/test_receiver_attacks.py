"""What each attack costs in memory: the peak of a receiver of its own, against its budget of bodies on their way."""

from __future__ import annotations

import contextlib
import gzip
import http.client
import re
import socket
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import grpc  # type: ignore[import-untyped]
import pytest
import zstandard

from tests.unit.capture.requests import as_json, as_protobuf, span, traces
from tests.unit.capture.running import Running

pytestmark = [pytest.mark.bench, pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")]
LIMIT = 16
"""MiB of the largest body; bodies on their way may take eight times that together."""
BUDGET = 8 * LIMIT
EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"


def peak(receiver: Running) -> float:
    """Highest resident memory so far, MiB."""
    status = Path(f"/proc/{receiver.process.pid}/status").read_text()
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    assert found is not None
    return int(found.group(1)) / 1024


def post(port: int, body: bytes, encoding: str = "identity", kind: str = "application/x-protobuf") -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    with contextlib.closing(connection):
        connection.request("POST", "/v1/traces", body, {"Content-Type": kind, "Content-Encoding": encoding})
        return connection.getresponse().status


def at_once(count: int, run: Callable[[], None]) -> None:
    threads = [threading.Thread(target=run) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)


def bombs(receiver: Running, encoding: str) -> None:
    plain = bytes((LIMIT << 20) - 100)
    packed = zstandard.compress(plain) if encoding == "zstd" else gzip.compress(plain, 6)
    at_once(60, lambda: [post(receiver.http, packed, encoding) for _ in range(2)])


def large_json(receiver: Running) -> None:
    """Bodies at the limit that are right, so that all that is done to a body is done to them."""
    body = as_json(traces(*(span(own=f"{n:016x}", text="ü" * 40_000) for n in range(1, (LIMIT << 20) // 90_000))))
    at_once(24, lambda: [post(receiver.http, body, kind="application/json")])


def grpc_large(receiver: Running, token: str | None) -> None:
    body = as_protobuf(traces(*(span(own=f"{n:016x}", text="x" * 40_000) for n in range(1, (LIMIT << 20) // 45_000))))
    headers = () if token is None else (("authorization", f"Bearer {token}"),)

    def send() -> None:
        options = [("grpc.use_local_subchannel_pool", 1)]
        with (
            grpc.insecure_channel(f"127.0.0.1:{receiver.grpc}", options) as channel,
            contextlib.suppress(grpc.RpcError),
        ):
            channel.unary_unary(EXPORT)(body, timeout=60, metadata=headers)

    at_once(24, send)


def half_heads(receiver: Running) -> None:
    with contextlib.ExitStack() as open_ones:
        for _ in range(400):
            with contextlib.suppress(OSError):
                one = open_ones.enter_context(socket.create_connection(("127.0.0.1", receiver.http), 10))
                one.sendall(b"POST /v1/traces HTTP/1.1\r\nx-a: " + b"y" * 60_000)
        time.sleep(1)


def half_bodies(receiver: Running) -> None:
    """Bodies of which all but the end has come."""
    head = f"POST /v1/traces HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {LIMIT << 20}\r\n"
    with contextlib.ExitStack() as open_ones:
        for _ in range(24):
            with contextlib.suppress(OSError):
                one = open_ones.enter_context(socket.create_connection(("127.0.0.1", receiver.http), 10))
                one.sendall(head.encode() + b"Content-Type: application/x-protobuf\r\n\r\n")
                one.sendall(bytes((LIMIT << 20) - 10))
        time.sleep(1)


ATTACKS: dict[str, Callable[[Running], None]] = {
    "zstd bombs": lambda receiver: bombs(receiver, "zstd"),
    "gzip bombs": lambda receiver: bombs(receiver, "gzip"),
    "24 JSON bodies at the limit": large_json,
    "24 gRPC messages without the token": lambda receiver: grpc_large(receiver, None),
    "24 gRPC messages at the limit": lambda receiver: grpc_large(receiver, "s3cret"),
    "400 half heads of 60 kB": half_heads,
    "24 bodies without their end": half_bodies,
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_memory_under_attack(attack: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--max-body", str(LIMIT), "--build-after", "-1"]
    options += ["--token", "s3cret"] if "gRPC" in attack else []
    receiver = Running(tmp_path / "out", *options)
    try:
        if "gRPC" not in attack:
            receiver.post(as_json(traces(span())))
        idle = peak(receiver)
        ATTACKS[attack](receiver)
        found = peak(receiver) - idle
        assert receiver.process.poll() is None
    finally:
        receiver.process.terminate()
        receiver.process.wait(60)
    with capsys.disabled():
        print(f"\n{attack:36} {found:6.0f} MiB over {idle:.0f} idle, {found / BUDGET:.2f} of the budget")
    assert found < (4 if "gRPC" in attack else 3) * BUDGET
