"""A receiver's HTTP side in a thread, and a client that says exactly what is sent."""

from __future__ import annotations

import asyncio
import http.client
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from otel2traj.capture.asgi import App
from otel2traj.capture.intake import Intake
from otel2traj.capture.layout import LOG
from otel2traj.capture.page import Facts, pages
from otel2traj.capture.receiver import serve_app
from otel2traj.capture.spool import Spool


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes


@dataclass
class Served:
    port: int
    intake: Intake
    root: Path

    def send(self, method: str, path: str, body: bytes | None = None, **headers: str) -> Answer:
        """One request on a connection of its own; `content_type` becomes `content-type`."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, body=body, headers=named)
            answer = connection.getresponse()
            return Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def post(self, body: bytes, kind: str = "json", path: str = "/v1/traces", **headers: str) -> Answer:
        media = {"json": "application/json", "protobuf": "application/x-protobuf"}[kind]
        return self.send("POST", path, body, content_type=media, **headers)


@contextmanager
def serving(
    root: Path, *, app_options: dict[str, Any] | None = None, spool: Spool | None = None, **intake: Any
) -> Iterator[Served]:
    spool = Spool(root / LOG, min_free=0) if spool is None else spool
    taken = Intake(spool, **intake)
    app = App(taken, pages=pages(Facts(root, taken, "test")), **(app_options or {}))
    sock = socket.create_server(("127.0.0.1", 0))
    port = sock.getsockname()[1]
    stop = threading.Event()
    thread = threading.Thread(target=lambda: asyncio.run(serve_app(app, sock, stop)), daemon=True)
    thread.start()
    end = time.monotonic() + 60
    while time.monotonic() < end:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.01)
    try:
        yield Served(port, taken, root)
    finally:
        stop.set()
        thread.join(10)
        spool.close()
        sock.close()
