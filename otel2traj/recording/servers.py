"""The servers of one recording, on free loopback ports, in a thread of their own."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
import socket
import threading
from collections.abc import Iterator
from typing import Any

import uvicorn

from .otlp import OtlpLog
from .proxy import Proxy
from .secrets import Masker
from .upstreams import Route
from .wire import WireLog

_GRACE = 5


class _Server(uvicorn.Server):
    """uvicorn without its own signal handling: a signal is for the command."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class Servers:
    """Started when it is made. `otlp` is the endpoint, `ports` those of the routes by name, `any_port` takes requests
    that name their upstream themselves, with `token`."""

    def __init__(self, otlp: OtlpLog, routes: list[Route], log: WireLog, masker: Masker, *, limit: int) -> None:
        self._otlp = otlp
        self._sockets = {route.name: _bind() for route in routes}
        self._otlp_socket = _bind()
        self.ports = {name: sock.getsockname()[1] for name, sock in self._sockets.items()}
        self.otlp = f"http://127.0.0.1:{self._otlp_socket.getsockname()[1]}"
        self._by_port = {self.ports[route.name]: route for route in routes}
        self._any_socket = _bind()
        self.any_port: int = self._any_socket.getsockname()[1]
        self.token = secrets.token_hex(16)
        self._log, self._masker, self._limit = log, masker, limit
        self._servers: list[_Server] = []
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._main()), name="otel2traj-serve", daemon=True)
        self._thread.start()
        self._ready.wait(10)

    def close(self) -> None:
        """Let what is on its way end, within seconds."""
        for server in self._servers:
            server.should_exit = True
        self._thread.join(2 * _GRACE + 2)

    async def _main(self) -> None:
        proxy = Proxy(self._by_port, self._log, self._masker, limit=self._limit, token=self.token)
        self._servers = [_server(self._otlp.app), _server(proxy)]
        tasks = [
            asyncio.create_task(self._servers[0].serve(sockets=[self._otlp_socket])),
            asyncio.create_task(self._servers[1].serve(sockets=[*self._sockets.values(), self._any_socket])),
        ]
        while not all(server.started for server in self._servers) and not any(task.done() for task in tasks):
            await asyncio.sleep(0.005)
        self._ready.set()
        await asyncio.gather(*tasks)
        await proxy.close()


def _server(app: Any) -> _Server:
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # its remarks would stand among the command's
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        lifespan="off",
        ws="none",
        timeout_graceful_shutdown=_GRACE,
    )
    return _Server(config)


def _bind() -> socket.socket:
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # named, else asyncio leaves Nagle on
    sock.bind(("127.0.0.1", 0))
    sock.listen(512)
    sock.setblocking(False)
    return sock
