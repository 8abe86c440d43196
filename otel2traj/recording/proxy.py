"""A local reverse proxy in front of model APIs: passes every byte on as it comes, and keeps a copy for the log."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

import httpx

from .secrets import Masker
from .upstreams import Route
from .wire import Body, Exchange, WireLog

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

_HOP: Final = frozenset(
    b"connection keep-alive proxy-authenticate proxy-authorization te trailer transfer-encoding upgrade".split()
)
_UPSTREAM: Final = b"x-otel2traj-upstream"
_OWN: Final = _HOP | {b"host", b"x-abb-framework-span", b"accept-encoding", _UPSTREAM}
_CREDENTIALS: Final = (b"authorization", b"x-api-key", b"api-key", b"x-goog-api-key", b"cookie", b"proxy-authorization")
_QUERY_CREDENTIALS: Final = ("key", "api_key", "api-key", "access_token", "token")
_HOLD: Final = 0.25
_READABLE: Final = ("gzip", "deflate", "zstd", "identity")


class Proxy:
    """The ASGI application. The port a request came in by says which API it is for; at a port without a route the
    request says so itself, in a header that begins with `token`."""

    def __init__(self, routes: dict[int, Route], log: WireLog, masker: Masker, *, limit: int, token: str) -> None:
        self._routes = routes
        self._token = token
        self._log = log
        self._masker = masker
        self._limit = limit
        self._client = httpx.AsyncClient(
            timeout=httpx.Timeout(None, connect=30.0),
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=64),
            follow_redirects=False,
        )

    async def close(self) -> None:
        await self._client.aclose()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        known = self._routes.get(scope["server"][1])
        route = self._named(scope) if known is None else known
        if route is None:
            await _plain(send, 403, b'{"error":{"message":"otel2traj record: no upstream is named"}}')
            return
        self._learn(scope)
        exchange = Exchange(
            call_id=f"call_{secrets.token_hex(16)}",
            provider=route.name,
            host=urlsplit(route.base).netloc.rpartition("@")[2],
            method=scope["method"],
            path=scope["raw_path"].decode("latin-1").partition("?")[0],
            headers={name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]},
            request=Body(self._limit),
            response=Body(self._limit),
            models_only=known is None,
        )
        if b"upgrade" in dict(scope["headers"]).get(b"connection", b"").lower():
            self._log.hold(exchange)
            await _plain(send, 426, b'{"error":{"message":"otel2traj record carries HTTP only"}}')
            self._log.response(exchange, 426, "application/json", "")
            return
        await self._forward(scope, route, exchange, receive, send)

    def _named(self, scope: Scope) -> Route | None:
        token, _, origin = dict(scope["headers"]).get(_UPSTREAM, b"").decode("latin-1").partition(" ")
        if not secrets.compare_digest(token, self._token):
            return None
        api = next((route.name for route in self._routes.values() if route.origin == origin.removesuffix(":443")), "")
        return Route(api or urlsplit(origin).netloc, origin, ())

    def _learn(self, scope: Scope) -> None:
        for name, value in scope["headers"]:
            if name in _CREDENTIALS:
                text = value.decode("latin-1")
                self._masker.learn(text)
                self._masker.learn(text.partition(" ")[2])
        for name, text in parse_qsl(scope["query_string"].decode("latin-1")):
            if name in _QUERY_CREDENTIALS:
                self._masker.learn(text)

    async def _forward(self, scope: Scope, route: Route, exchange: Exchange, receive: Receive, send: Send) -> None:
        url = route.origin + exchange.path
        if scope["query_string"]:
            url += "?" + scope["query_string"].decode("latin-1")
        headers = [(name, value) for name, value in scope["headers"] if name not in _OWN]
        headers.append((b"accept-encoding", _readable(exchange.headers.get("accept-encoding", "identity"))))
        sized = {b"content-length", b"transfer-encoding"} & {name for name, _ in scope["headers"]}
        content = self._incoming(exchange, receive)
        request = self._client.build_request(scope["method"], url, headers=headers, content=content if sized else None)
        try:
            answer = await self._client.send(request, stream=True)
        except _Gone:
            self._log.error(exchange, "transport_error", "the client went away before its request was whole")
            return
        except httpx.HTTPError as err:
            with contextlib.suppress(_Gone, RuntimeError):  # what the upstream did not take is part of the request
                async for _ in content:
                    pass
            text = f"{type(err).__name__}: {err}" if str(err) else type(err).__name__
            self._log.error(exchange, "upstream_error", text, local_status=502)
            await _plain(send, 502, b'{"error":{"message":"otel2traj record: the upstream cannot be reached"}}')
            return
        if not sized:
            self._log.hold(exchange)
        await self._answer(exchange, answer, receive, send)

    async def _incoming(self, exchange: Exchange, receive: Receive) -> AsyncIterator[bytes]:
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                self._log.hold(exchange)
                raise _Gone
            data = message.get("body", b"")
            exchange.request.add(data)
            if data:
                yield data
            if not message.get("more_body", False):
                self._log.hold(exchange)
                asyncio.get_running_loop().call_later(_HOLD, self._log.release, exchange)
                return

    async def _answer(self, exchange: Exchange, answer: httpx.Response, receive: Receive, send: Send) -> None:
        headers = [(name.lower(), value) for name, value in answer.headers.raw if name.lower() not in _HOP]
        gone = asyncio.ensure_future(_disconnected(receive))
        error: str | None = None
        try:
            await send({"type": "http.response.start", "status": answer.status_code, "headers": headers})
            async for data in answer.aiter_raw():
                exchange.response.add(data)
                exchange.chunks.append((len(data), exchange.elapsed_ms()))
                if gone.done():
                    error = "the client went away before the answer was whole"
                    break
                await send({"type": "http.response.body", "body": data, "more_body": True})
                self._log.release(exchange)
            if error is None:
                await send({"type": "http.response.body", "body": b"", "more_body": False})
        except httpx.HTTPError as err:
            error = f"the upstream broke off: {type(err).__name__}"
            raise _Broken from err
        finally:
            gone.cancel()
            await answer.aclose()
            if error is None or exchange.response.size:
                self._log.response(
                    exchange,
                    answer.status_code,
                    answer.headers.get("content-type", ""),
                    answer.headers.get("content-encoding", ""),
                )
            if error is not None:
                self._log.error(exchange, "transport_error", error, upstream_status=answer.status_code)


class _Gone(Exception):
    """The client closed its connection."""


class _Broken(Exception):
    """The upstream broke off: leaving without an end makes the server close the client's connection as well."""


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _readable(wanted: str) -> bytes:
    """Of what the client accepts, what can be undone for the record."""
    parts = [part.strip() for part in wanted.split(",")]
    kept = [part for part in parts if part.split(";")[0].strip().lower() in _READABLE]
    return ", ".join(kept or ["identity"]).encode("latin-1")


async def _plain(send: Send, status: int, body: bytes) -> None:
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
