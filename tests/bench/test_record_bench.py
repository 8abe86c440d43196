"""What recording costs a call: its first byte through the recording's proxy, through a bare one, and without."""

from __future__ import annotations

import http.client
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

pytestmark = pytest.mark.bench
ROUNDS = 100
BUDGET_MS = 5.0

RECORDED = """
import sys
from pathlib import Path
from otel2traj.recording.otlp import OtlpLog
from otel2traj.recording.secrets import Masker
from otel2traj.recording.servers import Servers
from otel2traj.recording.upstreams import Route
from otel2traj.recording.wire import WireLog
root, url = Path(sys.argv[1]), sys.argv[2]
masker = Masker(["sk-test-0123456789abcdef"])
log = WireLog(root / "network.jsonl", "run", "agent", masker, 64 << 20)
servers = Servers(OtlpLog(root), [Route("openai", url, ())], log, masker, limit=64 << 20)
print(servers.ports["openai"], flush=True)
sys.stdin.read()
servers.close()
log.close()
assert log.lost == 0
"""

BARE = """
import asyncio, socket, sys, httpx, uvicorn
url = sys.argv[2]
client = httpx.AsyncClient(timeout=None)
async def app(scope, receive, send):
    async def body():
        while True:
            message = await receive()
            yield message.get("body", b"")
            if not message.get("more_body"):
                return
    kept = [(name, value) for name, value in scope["headers"] if name not in (b"host", b"connection")]
    request = client.build_request(scope["method"], url + scope["path"], headers=kept, content=body())
    answer = await client.send(request, stream=True)
    headers = [(name.lower(), value) for name, value in answer.headers.raw if name.lower() != b"transfer-encoding"]
    await send({"type": "http.response.start", "status": answer.status_code, "headers": headers})
    async for data in answer.aiter_raw():
        await send({"type": "http.response.body", "body": data, "more_body": True})
    await send({"type": "http.response.body", "body": b""})
    await answer.aclose()
sock = socket.socket()
sock.bind(("127.0.0.1", 0))
sock.listen()
print(sock.getsockname()[1], flush=True)
config = uvicorn.Config(app, log_config=None, access_log=False, lifespan="off", ws="none")
uvicorn.Server(config).run(sockets=[sock])
"""

UPSTREAM = """
import sys
from tests.model_server import ModelServer
with ModelServer() as server:
    print(server.url.removesuffix("/v1").rpartition(":")[2], flush=True)
    sys.stdin.read()
"""


@contextmanager
def running(code: str, *arguments: str) -> Iterator[int]:
    """A process that says its port first and ends with its standard input."""
    command = [sys.executable, "-c", code, *arguments]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=Path.cwd())
    assert process.stdout is not None
    assert process.stdin is not None
    try:
        yield int(process.stdout.readline())
    finally:
        process.stdin.close()
        if code is BARE:
            process.terminate()
        process.wait(30)
    assert code is BARE or process.returncode == 0


def first_byte(connection: http.client.HTTPConnection, body: bytes) -> float:
    """Milliseconds from the call to its first byte of the answer."""
    headers = {"Content-Type": "application/json", "Authorization": "Bearer sk-test-0123456789abcdef"}
    begin = time.perf_counter()
    connection.request("POST", "/v1/chat/completions", body, headers)
    answer = connection.getresponse()
    answer.read(1)
    took = (time.perf_counter() - begin) * 1000
    answer.read()
    assert answer.status == 200
    return took


@pytest.mark.parametrize("kib", [4, 400])
def test_a_call_s_first_byte_comes_within_the_budget(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kib: int
) -> None:
    said = [{"role": "user", "content": "words " * (kib * 1024 // 6)}]
    body = json.dumps({"model": "m", "messages": said, "stream": True}).encode()
    with running(UPSTREAM) as upstream:
        url = f"http://127.0.0.1:{upstream}"
        with running(RECORDED, str(tmp_path), url) as recorded, running(BARE, str(tmp_path), url) as bare:
            ports = {"direct": upstream, "bare": bare, "recorded": recorded}
            connections = {name: http.client.HTTPConnection("127.0.0.1", port) for name, port in ports.items()}
            took: dict[str, list[float]] = {name: [] for name in ports}
            for _ in range(ROUNDS + 20):  # in turn, so that a busy machine is busy for all of them
                for name, connection in connections.items():
                    took[name].append(first_byte(connection, body))
            for connection in connections.values():
                connection.close()
    median = {name: statistics.median(values[20:]) for name, values in took.items()}
    high = {name: statistics.quantiles(values[20:], n=20)[-1] for name, values in took.items()}
    with capsys.disabled():
        print(
            f"\nfirst byte, request of {kib} KiB, median (95 %): "
            + ", ".join(f"{name} {median[name]:.2f} ({high[name]:.2f}) ms" for name in ports)
            + f"; recorded {median['recorded'] / median['bare']:.2f} of bare,"
            f" {median['recorded'] - median['direct']:.2f} ms more than without"
        )
    assert median["recorded"] - median["direct"] <= BUDGET_MS
    assert median["recorded"] <= 1.6 * median["bare"]
