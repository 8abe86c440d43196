"""A receiver whose sink can be turned off, in a process of its own, and a load that leaves it most of the machine."""

from __future__ import annotations

import gzip
import json
import os
import random
import socket
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from tests.unit.capture.requests import as_json, as_protobuf, attribute, span, traces

SERVER = """
import asyncio, json, os, resource, signal, socket, sys, threading
from pathlib import Path
from otel2traj.capture.asgi import App
from otel2traj.capture.intake import Intake
from otel2traj.capture.receiver import _loop_factory, _raise_malloc_thresholds, serve_app
from otel2traj.capture.spool import Spool

mode, root = sys.argv[1], Path(sys.argv[2])
spool = Spool(root / "log", min_free=0)
if mode == "transport":  # nothing is looked at and nothing is kept
    class Nothing(Intake):
        def check_quickly(self, signal, content, plain):
            from otel2traj.capture.check import Checked
            return Checked()
        def plain(self, encoding, body):
            return body
    intake = Nothing(spool)
else:
    intake = Intake(spool)
if mode != "durable":
    spool.append = lambda signal, content, encoding, items, body, done: done(None)
_raise_malloc_thresholds()
sock = socket.create_server(("127.0.0.1", 0))
stop = threading.Event()
signal.signal(signal.SIGTERM, lambda *_: stop.set())
print(sock.getsockname()[1], flush=True)
with asyncio.Runner(loop_factory=_loop_factory()) as runner:
    runner.run(serve_app(App(intake), sock, stop))
spool.close()
usage = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps({"cpu": usage.ru_utime + usage.ru_stime, "peak_mib": usage.ru_maxrss / 1024}), flush=True)
"""


@dataclass
class Measured:
    requests: int
    spans: int
    bytes: int
    seconds: float
    cpu: float
    peak_mib: float

    @property
    def spans_s(self) -> float:
        return self.spans / self.seconds

    @property
    def cpu_ms(self) -> float:
        """CPU milliseconds of the receiver per request."""
        return self.cpu / self.requests * 1000


def batch(spans: int, kib: float, seed: int) -> dict[str, object]:
    """One request like an agent's: most of its bytes in message text, some of it not ASCII."""
    rng = random.Random(seed)
    words = ["plan", "step", "tool", "call", "result", "über", "検索", "file", "error", "retry", "search", "open"]
    made = []
    for _ in range(spans):
        size = int(kib * 1024 * rng.uniform(0.3, 1.7))
        text = " ".join(rng.choices(words, k=size // 6))
        one = span(f"{rng.getrandbits(128):032x}", f"{rng.getrandbits(64):016x}", name="chat", messages=text)
        one["attributes"] += [attribute(f"gen_ai.request.option_{n}", f"value {n}") for n in range(8)]
        made.append(one)
    return traces(*made)


def bodies(kind: str, spans: int, kib: float, count: int = 4) -> list[bytes]:
    made = [batch(spans, kib, seed) for seed in range(count)]
    plain = [as_json(one) if "json" in kind else as_protobuf(one) for one in made]
    return [gzip.compress(body, 6) for body in plain] if "gzip" in kind else plain


def measure(root: Path, mode: str, kind: str, sent: list[bytes], spans: int, seconds: float, clients: int) -> Measured:
    """Run one receiver (`transport`, `checked` or `durable`) under a closed loop of `clients` connections."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    process = subprocess.Popen(
        [sys.executable, "-c", SERVER, mode, str(root)], stdout=subprocess.PIPE, text=True, env=env
    )
    assert process.stdout is not None
    try:
        port = int(process.stdout.readline())
        lines = ["POST /v1/traces HTTP/1.1", "Host: 127.0.0.1"]
        lines.append(f"Content-Type: application/{'json' if 'json' in kind else 'x-protobuf'}")
        if "gzip" in kind:
            lines.append("Content-Encoding: gzip")
        head = "\r\n".join(lines)
        end = b"\r\n\r\n{}" if "json" in kind else b"\r\n\r\n"
        counts = [0] * clients
        stop = threading.Event()

        def run(number: int) -> None:
            with socket.create_connection(("127.0.0.1", port), 30) as sock:
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                at = number
                while not stop.is_set():
                    body = sent[at % len(sent)]
                    sock.sendall(f"{head}\r\nContent-Length: {len(body)}\r\n\r\n".encode())
                    sock.sendall(body)
                    answer = sock.recv(4096)
                    while not answer.endswith(end):
                        more = sock.recv(4096)
                        assert more, "the connection was closed"
                        answer += more
                    assert answer.startswith(b"HTTP/1.1 200"), answer
                    counts[number] += 1
                    at += 1

        threads = [threading.Thread(target=run, args=(n,)) for n in range(clients)]
        begin = time.perf_counter()
        for thread in threads:
            thread.start()
        time.sleep(seconds)
        stop.set()
        for thread in threads:
            thread.join(30)
        took = time.perf_counter() - begin
        process.terminate()
        usage = json.loads(process.stdout.readline())
        process.wait(30)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        process.stdout.close()
    total = sum(counts)
    size = sum(map(len, sent)) / len(sent)
    return Measured(total, total * spans, int(total * size), took, usage["cpu"], usage["peak_mib"])


def append_limit(root: Path, sent: list[bytes], seconds: float) -> float:
    """Bytes per second that one writer appends and syncs with nothing else around it."""
    root.mkdir(parents=True, exist_ok=True)
    fd = os.open(root / "limit", os.O_WRONLY | os.O_CREAT)
    begin = time.perf_counter()
    written = at = 0
    try:
        while time.perf_counter() - begin < seconds:
            written += os.writev(fd, [sent[(at + n) % len(sent)] for n in range(4)])  # four clients share a sync
            os.fdatasync(fd)
            at += 4
    finally:
        os.close(fd)
        os.unlink(root / "limit")
    return written / (time.perf_counter() - begin)
