"""A real `otel2traj receive` process, and clients that keep it busy."""

from __future__ import annotations

import contextlib
import http.client
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from .requests import as_json, span, traces


class Running:
    """A started receiver; `http` and `grpc` are the ports it took."""

    def __init__(self, out: Path, *options: str, program: str = "from otel2traj.cli import main; main()") -> None:
        with_grpc = "--grpc-port" not in options
        command = [sys.executable, "-c", program, "receive", "--out", str(out)]
        command += [] if "--http-port" in options else ["--http-port", "0"]
        command += ["--grpc-port", "0"] if with_grpc else []
        self.out = out
        self.process = subprocess.Popen([*command, *options], stderr=subprocess.PIPE, text=True)
        self.lines: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.http = self._port(r"OTLP/HTTP on https?://[^ ]*?:(\d+)")
        self.grpc = self._port(r"OTLP/gRPC on [^ ]*:(\d+)") if with_grpc else 0

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.lines.append(line.rstrip("\n"))

    def _port(self, pattern: str) -> int:
        end = time.monotonic() + 60
        while time.monotonic() < end:
            for line in list(self.lines):
                if found := re.search(pattern, line):
                    return int(found.group(1))
            if self.process.poll() is not None:
                self._reader.join(2)
                break
            time.sleep(0.01)
        raise AssertionError(f"the receiver did not start: {self.lines}")

    def post(self, body: bytes, path: str = "/v1/traces", kind: str = "application/json") -> int:
        connection = http.client.HTTPConnection("127.0.0.1", self.http, timeout=10)
        try:
            connection.request("POST", path, body, {"Content-Type": kind})
            return connection.getresponse().status
        finally:
            connection.close()

    def get(self, path: str) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.http, timeout=10)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def wait_for(self, path: Path, seconds: float = 20) -> Path:
        end = time.monotonic() + seconds
        while not path.exists():
            assert time.monotonic() < end, f"no {path.name} after {seconds} s: {self.lines}"
            time.sleep(0.02)
        return path

    def stop(self, number: signal.Signals = signal.SIGTERM, seconds: float = 30) -> int:
        self.process.send_signal(number)
        code = self.process.wait(seconds)
        self._reader.join(2)
        return code

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(10)
        self._reader.join(5)
        if self.process.stderr is not None:
            self.process.stderr.close()


@contextlib.contextmanager
def running(out: Path, *options: str) -> Iterator[Running]:
    started = Running(out, *options)
    try:
        yield started
    finally:
        started.close()


class Load:
    """Threads that post bodies of fresh spans until told to stop. `acknowledged`: ids of those answered 200."""

    def __init__(self, port: int, threads: int = 4, spans: int = 20, first: int = 0) -> None:
        self.acknowledged: list[str] = []
        self.sent: list[str] = []
        self.refused = 0
        self._port = port
        self._stop = threading.Event()
        self._spans = spans
        self._threads = [threading.Thread(target=self._run, args=(first + n,)) for n in range(threads)]
        for thread in self._threads:
            thread.start()

    def _run(self, worker: int) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=10)
        number = 0
        while not self._stop.is_set():
            number += 1
            base = (worker << 40) + number * 1000
            ids = [f"{base + n + 1:016x}" for n in range(self._spans)]
            trace = f"{worker + 1:016x}{number:016x}"
            body = as_json(traces(*(span(trace, own, session__id="load", text="x" * 500) for own in ids)))
            self.sent += ids
            try:
                connection.request("POST", "/v1/traces", body, {"Content-Type": "application/json"})
                answer = connection.getresponse()
                answer.read()
            except (OSError, http.client.HTTPException):
                break
            if answer.status == 200:
                self.acknowledged += ids
            else:
                self.refused += 1
        connection.close()

    def stop(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(15)


def alive(pid: int) -> bool:
    """Whether a process exists and is no zombie."""
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    state = Path(f"/proc/{pid}/stat")
    return not state.exists() or state.read_text().rpartition(")")[2].split()[0] != "Z"


def children(pid: int) -> list[int]:
    """Process ids of the children of a process (Linux)."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            if int(entry.read_text().rpartition(")")[2].split()[1]) == pid:
                found.append(int(entry.parent.name))
    return found
