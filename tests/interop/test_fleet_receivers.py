"""Two receivers, each with traces of its own, become one data set."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.unit.fleet.made import ask

pytestmark = pytest.mark.interop


def _port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _trace(number: int) -> bytes:
    told = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.provider.name": "openai"}
    span = {
        "traceId": f"{number:032x}",
        "spanId": f"{number:016x}",
        "name": "chat m",
        "kind": 3,
        "startTimeUnixNano": str(1_780_000_000_000_000_000 + number),
        "endTimeUnixNano": str(1_780_000_001_000_000_000 + number),
        "attributes": [{"key": key, "value": {"stringValue": value}} for key, value in told.items()],
    }
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}).encode()


def _receive(out: Path, numbers: range) -> None:
    port = _port()
    command = [sys.executable, "-m", "otel2traj", "receive", "--out", str(out), "--http-port", str(port)]
    server = subprocess.Popen(
        [*command, "--grpc-port", str(_port())], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        for _ in range(200):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=5).close()
                break
            except (urllib.error.URLError, ConnectionError):
                time.sleep(0.1)
        for number in numbers:
            request = urllib.request.Request(
                f"http://127.0.0.1:{port}/v1/traces", _trace(number), {"Content-Type": "application/json"}
            )
            urllib.request.urlopen(request, timeout=20).close()
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(30)


def test_two_receivers(tmp_path: Path) -> None:
    for name, numbers in (("recv-1", range(1, 4)), ("recv-2", range(4, 6))):
        _receive(tmp_path / name, numbers)
        command = [sys.executable, "-m", "otel2traj", "build", str(tmp_path / name / "attempts"), "--dataset"]
        run = subprocess.run(
            [*command, str(tmp_path / "set"), "--as", name], capture_output=True, text=True, check=False
        )
        assert run.returncode == 0, run.stderr
    told = ask(tmp_path / "set", "SELECT root, count(*), sum(model_calls)::INT FROM runs GROUP BY 1 ORDER BY 1")
    assert told == [("recv-1", 3, 3), ("recv-2", 2, 2)]
    assert ask(tmp_path / "set", "SELECT count(DISTINCT trace_id) FROM steps") == [(5,)]
