"""What every HTTP connection is held to before there is a request: how many, how long a head may be, and how slow."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any, Final

from uvicorn.protocols.http.auto import AutoHTTPProtocol

from .asgi import MAX_HEAD

HEAD_SECONDS: Final = 10.0
"""How long a head may take from its first byte, or from the connection on."""
_TOO_LONG: Final = b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
_TOO_SLOW: Final = b"HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
_TOO_MANY: Final = (
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nretry-after: 1\r\nconnection: close\r\n\r\n"
)

_Base: Any = AutoHTTPProtocol


class BoundedProtocol(_Base):  # type: ignore[misc]
    """uvicorn's own protocol, whichever is installed, within bounds."""

    max_connections: int = 1000

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        self._head_size = 0
        self._head_timer: asyncio.TimerHandle | None = None
        if len(self.connections) > self.max_connections:
            self._end(_TOO_MANY)
        else:
            self._start_timer()

    def data_received(self, data: bytes) -> None:
        before = self.cycle
        between = before is None or before.response_complete
        if between:
            self._head_size += len(data)
            if self._head_timer is None:
                self._start_timer()
        super().data_received(data)
        if self.cycle is not before:
            self._head_size = 0
            self._stop_timer()
        elif between and self._head_size > MAX_HEAD:
            self._end(_TOO_LONG)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    def _start_timer(self) -> None:
        self._head_timer = asyncio.get_running_loop().call_later(HEAD_SECONDS, self._end, _TOO_SLOW)

    def _stop_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _end(self, answer: bytes) -> None:
        self._stop_timer()
        if self.transport is not None and not self.transport.is_closing():
            with contextlib.suppress(OSError):
                self.transport.write(answer)
            self.transport.close()
