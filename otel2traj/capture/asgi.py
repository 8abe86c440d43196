"""OTLP over HTTP: a plain ASGI application, requests into the log and answers by the table of `outcome`."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, NamedTuple

from .check import Checked
from .inflate import ACCEPTED, TooLarge
from .intake import Intake
from .outcome import MEDIA_TYPES, Outcome, Refusal, error_body, success_body
from .segments import Content, Encoding, Signal
from .spool import Busy

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Headers = list[tuple[bytes, bytes]]
Page = Callable[[str], "Shown | None"]
"""Makes a page about the receiver from what follows its path (`?query` or the rest); None where there is none. May
block."""


class Shown(NamedTuple):
    """A page: its media type and body, its status, and whether it brings a Content-Security-Policy of its own."""

    media: bytes
    body: bytes
    status: int = 200
    own_policy: bool = False


PATHS: Final = {"/v1/traces": Signal.TRACES, "/v1/logs": Signal.LOGS, "/v1/metrics": Signal.METRICS}
_MEDIA: Final = {
    "application/x-protobuf": Content.PROTOBUF,
    "application/protobuf": Content.PROTOBUF,
    "application/json": Content.JSON,
}
_OFFLOAD: Final = 64 << 10
"""Bodies from this size (bytes), as they come or inflated, are inflated and looked at by the tolerant path off the
event loop."""
_LARGE: Final = 8 << 20
"""Plain bodies over this size (bytes) are checked off the event loop altogether."""
MAX_HEAD: Final = 64 << 10
"""Bytes of a request line and its headers."""
_METHODS: Final = ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "CONNECT", "TRACE")
_DRAIN: Final = 4
"""How many limits' worth of a too large body is read and thrown away, so that the client sees the answer."""
_ENDPOINTS: Final = "A signal's own endpoint is used as it is, the general one gets the path appended"
_log = logging.getLogger("otel2traj.receiver")


class App:
    """The ASGI application. `pages` are GET paths (one that ends in `/` stands for all below it); those in `open_pages`
    need no token. `body_seconds` bounds how long a body may take to arrive. `cors` lists origins browsers may send from
    (`*` for all). `hosts`, where given, are the only names in `Host` that are answered: a web page that had its own
    name lead to this machine is not."""

    def __init__(
        self,
        intake: Intake,
        *,
        pages: dict[str, Page] | None = None,
        open_pages: Iterable[str] = ("/healthz", "/readyz"),
        cors: tuple[str, ...] = (),
        hosts: Iterable[str] | None = None,
        body_seconds: float = 60.0,
    ) -> None:
        self._intake = intake
        self._pages = {} if pages is None else pages
        self._open_pages = frozenset(open_pages)
        self._cors = frozenset(origin.encode("latin-1") for origin in cors)
        self._hosts = None if hosts is None else frozenset(host.lower() for host in hosts)
        self._body_seconds = body_seconds
        self._side = ThreadPoolExecutor(2, thread_name_prefix="otel2traj-check")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _lifespan(receive, send)
            return
        if scope["type"] != "http":
            return
        headers: dict[bytes, bytes] = dict(scope["headers"])
        signal = PATHS.get(scope["path"])
        content = _content_type(headers)
        shown = Content.JSON if content is None else content
        extra = self._cors_headers(headers)
        begin = time.perf_counter()
        route = scope["path"] if signal is not None or scope["path"] in self._pages else "other"

        async def timed(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                method = scope["method"] if scope["method"] in _METHODS else "_OTHER"
                spent = time.perf_counter() - begin
                self._intake.figures.durations.add(method, message["status"], route, spent)
            await send_on(message)

        send_on, send = send, timed
        try:
            if sum(len(name) + len(value) for name, value in scope["headers"]) > MAX_HEAD:
                raise Refusal(Outcome.LARGE_HEAD, "the head of the request is over 64 KiB")
            self._check_host(headers)
            if signal is None or scope["method"] != "POST":
                await self._page(scope, signal, headers, extra, send)
                return
            body = await self._export(signal, content, headers, receive)
            self._intake.figures.request("http", signal, Outcome.OK)
            await _answer(send, 200, MEDIA_TYPES[shown], body, extra)
        except Refusal as refusal:
            await self._refuse(send, signal, shown, refusal, extra)
        except asyncio.CancelledError:
            raise
        except _Gone:
            return
        except Exception:
            _log.exception("a request could not be handled")
            await self._refuse(send, signal, shown, Refusal(Outcome.BUG, "the receiver failed"), extra)

    async def _export(
        self, signal: Signal, content: Content | None, headers: dict[bytes, bytes], receive: Receive
    ) -> bytes:
        intake = self._intake
        intake.tokens.allow(headers.get(b"authorization", b""))
        if content is None:
            given = headers.get(b"content-type", b"").decode("latin-1")
            raise Refusal(
                Outcome.UNKNOWN_TYPE,
                f"content type {given[:80]!r} is not supported; send application/x-protobuf or application/json",
            )
        encoding = intake.encoding(headers.get(b"content-encoding", b"").decode("latin-1"))
        held = [0]
        try:
            body = await self._read(headers, receive, held)
            checked = await self._check(signal, content, encoding, body, held)
            await self._store(signal, content, encoding, checked.items, body)
        finally:
            intake.budget.give_back(held[0])
        intake.figures.accepted(signal, checked, len(body))
        return success_body(signal, content, checked)

    async def _check(
        self, signal: Signal, content: Content, encoding: Encoding, body: bytes, held: list[int]
    ) -> Checked:
        """What is quick is done here; what may take long goes to the side, so that others are answered meanwhile.

        What is long is decided by the inflated size: a body that inflates beyond `_OFFLOAD` is inflated aside, and a
        whole limit's worth of memory is set aside for it before, so that many small bodies cannot become large at once.
        """
        intake, loop = self._intake, asyncio.get_running_loop()
        plain = body
        if encoding is not Encoding.IDENTITY:
            try:
                if len(body) >= _OFFLOAD:
                    raise TooLarge
                plain = intake.plain(encoding, body, _OFFLOAD)
            except TooLarge:
                intake.budget.take(intake.limit)
                held[0] += intake.limit
                plain = await loop.run_in_executor(self._side, intake.plain, encoding, body)
                held[0] -= intake.limit - len(plain)
                intake.budget.give_back(intake.limit - len(plain))
        if len(plain) > _LARGE:
            return await loop.run_in_executor(self._side, intake.check, signal, content, plain)
        checked = intake.check_quickly(signal, content, plain)
        if checked is not None:
            return checked
        if len(plain) < _OFFLOAD:
            return intake.check_tolerantly(signal, content, plain)
        return await loop.run_in_executor(self._side, intake.check_tolerantly, signal, content, plain)

    async def _read(self, headers: dict[bytes, bytes], receive: Receive, held: list[int]) -> bytes:
        limit = self._intake.limit
        declared = headers.get(b"content-length", b"0")
        over = declared.isdigit() and int(declared) > limit
        refusal: Refusal | None = self._intake.too_large() if over else None
        chunks: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout(self._body_seconds):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise _Gone
                    chunk = message.get("body", b"")
                    size += len(chunk)
                    if refusal is None and size > limit:
                        refusal = self._intake.too_large()
                    if refusal is None and chunk:
                        try:
                            self._intake.budget.take(len(chunk))
                        except Refusal as busy:
                            refusal = busy
                        else:
                            held[0] += len(chunk)
                            chunks.append(chunk)
                    if refusal is not None:
                        chunks.clear()
                    if not message.get("more_body", False) or size > _DRAIN * limit:
                        break
        except TimeoutError:
            raise Refusal(Outcome.TOO_SLOW, "the body did not arrive in time") from None
        if refusal is not None:
            raise refusal
        return chunks[0] if len(chunks) == 1 else b"".join(chunks)

    async def _store(self, signal: Signal, content: Content, encoding: Encoding, items: int, body: bytes) -> None:
        loop = asyncio.get_running_loop()
        waiting: asyncio.Future[None] = loop.create_future()

        def resolve(reason: Exception | None) -> None:
            if waiting.done():
                return
            if reason is None:
                waiting.set_result(None)
            else:
                waiting.set_exception(reason)

        def done(reason: Exception | None) -> None:
            loop.call_soon_threadsafe(resolve, reason)

        try:
            self._intake.spool.append(signal, content, encoding, items, body, done)
            await waiting
        except Busy as busy:
            raise Refusal(Outcome.BUSY, str(busy), retry_after=busy.retry_after) from busy

    async def _page(
        self,
        scope: Scope,
        signal: Signal | None,
        headers: dict[bytes, bytes],
        extra: Headers,
        send: Send,
    ) -> None:
        path, method = scope["path"], scope["method"]
        if method == "OPTIONS" and signal is not None and extra:
            self._intake.figures.request("http", signal, Outcome.OK)
            allowed = [
                (b"access-control-allow-methods", b"POST"),
                (b"access-control-allow-headers", headers.get(b"access-control-request-headers", b"content-type")),
                (b"access-control-max-age", b"600"),
            ]
            await _answer(send, 204, None, b"", extra + allowed)
            return
        if signal is not None:
            raise Refusal(Outcome.NOT_ALLOWED, f"{path} takes POST")
        name, page = self._page_of(path)
        if page is None:
            raise Refusal(Outcome.NO_SUCH_PATH, _where(path))
        if method not in ("GET", "HEAD"):
            raise Refusal(Outcome.NOT_ALLOWED, f"{path} takes GET; exports go to {', '.join(PATHS)}")
        if name not in self._open_pages:
            self._intake.tokens.allow(headers.get(b"authorization", b""))
        rest = path[len(name) :] if name.endswith("/") and path != "/" else scope["query_string"].decode("latin-1")
        shown = await asyncio.get_running_loop().run_in_executor(None, page, rest)
        if shown is None:
            raise Refusal(Outcome.NO_SUCH_PATH, "there is no such attempt, or it is not built yet")
        self._intake.figures.request("http", None, Outcome.OK)
        headers_out = _PAGE_HEADERS if not shown.own_policy else _PAGE_HEADERS[:2]
        await _answer(send, shown.status, shown.media, shown.body if method == "GET" else b"", headers_out)

    def _page_of(self, path: str) -> tuple[str, Page | None]:
        if path in self._pages:
            return path, self._pages[path]
        below = [name for name in self._pages if name.endswith("/") and name != "/" and path.startswith(name)]
        return (below[0], self._pages[below[0]]) if below else (path, None)

    def _check_host(self, headers: dict[bytes, bytes]) -> None:
        """Raises `Refusal` (403) for a name in `Host` that this receiver is not asked by."""
        if self._hosts is None:
            return
        given = headers.get(b"host", b"").decode("latin-1").lower()
        name = given.rpartition("]")[0] + "]" if given.startswith("[") else given.partition(":")[0]
        if name and name not in self._hosts:
            raise Refusal(
                Outcome.WRONG_HOST, f"this receiver is not asked as {name[:80]!r}; --allow-host lets further names in"
            )

    async def _refuse(
        self, send: Send, signal: Signal | None, content: Content, refusal: Refusal, extra: Headers
    ) -> None:
        outcome = refusal.outcome
        self._intake.figures.request("http", signal, outcome)
        extra = list(extra)
        if refusal.retry_after is not None:
            extra.append((b"retry-after", str(refusal.retry_after).encode()))
        if outcome is Outcome.NOT_ALLOWED:
            extra.append((b"allow", b"POST" if signal is not None else b"GET, HEAD"))
        if outcome is Outcome.NO_TOKEN:
            extra.append((b"www-authenticate", b"Bearer"))
        if outcome is Outcome.UNKNOWN_TYPE:
            extra.append((b"accept-encoding", ACCEPTED.encode()))
        if outcome in (Outcome.TOO_LARGE, Outcome.TOO_SLOW, Outcome.LARGE_HEAD):
            extra.append((b"connection", b"close"))
        await _answer(send, outcome.value.http, MEDIA_TYPES[content], error_body(content, refusal), extra)

    def _cors_headers(self, headers: dict[bytes, bytes]) -> list[tuple[bytes, bytes]]:
        origin = headers.get(b"origin")
        if origin is None or not (origin in self._cors or b"*" in self._cors):
            return []
        return [(b"access-control-allow-origin", origin), (b"vary", b"origin")]


class _Gone(Exception):
    """The client went away before its body was here: nobody waits for an answer."""


_PAGE_HEADERS: Final = [
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"content-security-policy", b"default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"),
]


def _content_type(headers: dict[bytes, bytes]) -> Content | None:
    media = headers.get(b"content-type", b"").decode("latin-1")
    return _MEDIA.get(media.partition(";")[0].strip().lower())


def _where(path: str) -> str:
    for known in PATHS:
        if path.rstrip("/").endswith(known) or path.replace("//", "/") == known:
            return f"no such path; did you mean {known}? {_ENDPOINTS}"
    return f"no such path; exports go to {', '.join(PATHS)}"


async def _lifespan(receive: Receive, send: Send) -> None:
    while True:
        message = await receive()
        if message["type"] == "lifespan.startup":
            await send({"type": "lifespan.startup.complete"})
        else:
            await send({"type": "lifespan.shutdown.complete"})
            return


async def _answer(send: Send, status: int, media: bytes | None, body: bytes, extra: Headers) -> None:
    headers = [(b"content-length", str(len(body)).encode())] if status != 204 else []
    if media is not None:
        headers.append((b"content-type", media))
    await send({"type": "http.response.start", "status": status, "headers": headers + extra})
    await send({"type": "http.response.body", "body": body})
