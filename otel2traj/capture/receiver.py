"""The receiver as a whole: log, two servers and the deriving process, started, watched and stopped in order."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import signal
import socket
import ssl
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

import uvicorn

from ..errors import RefusedError, UsageError
from .asgi import App
from .derive import Build
from .intake import Intake, Tokens
from .layout import LOG
from .page import Facts, View, pages
from .protocol import BoundedProtocol
from .retention import Keep
from .segments import lock, recover
from .spool import Spool
from .watch import DeriveWatch

_MIB: Final = 1 << 20
_GRACE: Final = 10.0
"""Seconds that running requests get when the receiver stops."""
_LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")


@dataclass(frozen=True, slots=True)
class Settings:
    """How a receiver is set up. Ports: 0 takes any, None leaves that server out. Sizes in bytes, times in seconds."""

    out: Path
    host: str = "127.0.0.1"
    http_port: int | None = 4318
    grpc_port: int | None = 4317
    token: str | None = None
    auth_file: Path | None = None
    """Further tokens, one a line; read again on SIGHUP."""
    tls_cert: Path | None = None
    tls_key: Path | None = None
    client_ca: Path | None = None
    cors: tuple[str, ...] = ()
    allow_open: bool = False
    """Listen beyond this machine although nothing asks who sends, or what they send can be read on the way."""
    allow_hosts: tuple[str, ...] = ()
    """Names in `Host` to answer to beside those of the loopback; for receivers on the loopback alone."""
    build_after: float | None = 10.0
    max_body: int = 64 * _MIB
    keep: Keep | None = None
    drain_seconds: float = 300.0
    sync: bool = True


@dataclass(frozen=True, slots=True)
class Bound:
    """Where a started receiver listens."""

    http: str | None
    grpc: str | None


class Say(Protocol):
    """Gets a remark for people, the event it tells of, how grave it is (`info`, `warning`, `error`; `detail` for what
    only an onlooker wants), and what belongs to it."""

    def __call__(self, text: str, /, event: str = "remark", level: str = "info", **what: Any) -> None: ...


def _silent(text: str, /, event: str = "remark", level: str = "info", **what: Any) -> None:
    return None


class _Server(uvicorn.Server):
    """uvicorn without its own signal handling: the receiver decides what a signal means."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class Receiver:
    """One output directory's receiver. `run` blocks until it has stopped; `say` gets remarks for people."""

    def __init__(
        self,
        settings: Settings,
        build: Build | None,
        *,
        version: str,
        say: Say = _silent,
        view: View | None = None,
    ) -> None:
        _check_settings(settings)
        self._tokens = Tokens(settings.token, settings.auth_file)
        self._settings = settings
        self._build = build
        self._version = version
        self._say = say
        self._view = view
        self._stops = 0
        self._stop = asyncio.Event()
        self._watcher = DeriveWatch(settings, build, say)
        self._grpc: Any = None
        self._server: _Server | None = None

    def run(self, *, ready: Callable[[Bound], None] = lambda bound: None) -> int:
        """Serve until SIGINT or SIGTERM; 0 after a stop in order, 1 when something acknowledged was found damaged or is
        still owed, 130 after a second signal. Raises `UsageError` when a port cannot be bound, `RefusedError` when
        another receiver has the directory."""
        settings = self._settings
        try:
            settings.out.mkdir(mode=0o700, parents=True, exist_ok=True)
            guard = (settings.out / "receiver.lock").open("ab")
        except OSError as err:
            raise UsageError(f"{settings.out} cannot be written: {err.strerror}") from err
        with guard:
            if not lock(guard.fileno()):
                raise RefusedError(f"another receiver writes to {settings.out}", hint="give another --out")
            for found in recover(settings.out / LOG):
                self._say(
                    f"recovered {found.path.name}: {found.records} records, {found.cut} bytes of a torn tail cut, "
                    f"{found.damaged} damaged bytes kept",
                    "recovered",
                    "warning",
                    segment=found.path.name,
                    records=found.records,
                    cut=found.cut,
                    damaged=found.damaged,
                )
            _raise_malloc_thresholds()
            with asyncio.Runner(loop_factory=_loop_factory()) as runner:
                return runner.run(self._main(ready))

    async def _main(self, ready: Callable[[Bound], None]) -> int:
        settings = self._settings
        spool = Spool(settings.out / LOG, sync=settings.sync)
        intake = Intake(spool, limit=settings.max_body, tokens=self._tokens)
        sock: socket.socket | None = None
        task: asyncio.Task[None] | None = None
        try:
            sock = None if settings.http_port is None else _bind(settings.host, settings.http_port)
            grpc_url = self._start_grpc(intake)
            self._watcher.start()
            http_url = None
            if sock is not None:
                task = asyncio.create_task(self._serve(intake, sock))
                scheme = "http" if settings.tls_cert is None else "https"
                http_url = f"{scheme}://{_host(settings.host)}:{sock.getsockname()[1]}"
            self._listen_to_signals()
            if task is not None:
                await self._started(task)
            ready(Bound(http_url, grpc_url))
            await self._watch(task)
            return await self._shut(spool, task)
        finally:
            if task is not None and not task.done():
                task.cancel()
            spool.close()
            if self._grpc is not None:
                self._grpc.stop(0)
            self._watcher.kill()
            if sock is not None:
                sock.close()

    def _start_grpc(self, intake: Intake) -> str | None:
        settings = self._settings
        if settings.grpc_port is None:
            return None
        from .grpc_server import GrpcServer, Tls

        tls = None
        if settings.tls_cert is not None and settings.tls_key is not None:
            ca = None if settings.client_ca is None else settings.client_ca.read_bytes()
            tls = Tls(settings.tls_cert.read_bytes(), settings.tls_key.read_bytes(), ca)
        try:
            self._grpc = GrpcServer(intake, settings.host, settings.grpc_port, tls=tls)
        except RuntimeError as err:
            raise UsageError(
                f"gRPC port {settings.grpc_port} on {settings.host} cannot be bound", hint="give another --grpc-port"
            ) from err
        return f"{_host(settings.host)}:{self._grpc.port}"

    async def _serve(self, intake: Intake, sock: socket.socket) -> None:
        settings = self._settings
        app = App(
            intake,
            pages=pages(Facts(settings.out, intake, self._version, self._watcher, lambda: self._stops > 0, self._view)),
            cors=settings.cors,
            hosts=(*_LOOPBACK, "[::1]", *settings.allow_hosts) if settings.host in _LOOPBACK else None,
        )
        tls: dict[str, Any] = {}
        if settings.tls_cert is not None:
            tls = {"ssl_certfile": settings.tls_cert, "ssl_keyfile": settings.tls_key}
        if settings.client_ca is not None:
            tls |= {"ssl_ca_certs": str(settings.client_ca), "ssl_cert_reqs": ssl.CERT_REQUIRED}
        self._server = _server(app, **tls)
        await self._server.serve(sockets=[sock])

    async def _started(self, task: asyncio.Task[None]) -> None:
        while not task.done() and not (self._server is not None and self._server.started):
            await asyncio.sleep(0.005)
        if task.done():
            task.result()

    def _listen_to_signals(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            with contextlib.suppress(NotImplementedError):
                loop.add_signal_handler(number, self._on_stop)
        if hasattr(signal, "SIGHUP"):
            with contextlib.suppress(NotImplementedError):
                loop.add_signal_handler(signal.SIGHUP, self._on_build)

    def _on_stop(self) -> None:
        self._stops += 1
        self._stop.set()
        if self._stops == 1:
            self._say("stopping: finishing what is here (a second signal stops at once)", "stopping")

    def _on_build(self) -> None:
        self._watcher.tell("build")
        try:
            count = self._tokens.reload()
        except UsageError as err:
            self._say(f"{err}; the tokens that stood stay in force", "reload", "error")
        else:
            if self._settings.auth_file is not None:
                self._say(f"{count} tokens in force", "reload", tokens=count)

    async def _watch(self, task: asyncio.Task[None] | None) -> None:
        """Until told to stop; a deriving process that ended is started again."""
        while not self._stop.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stop.wait(), 1.0)
            if task is not None and task.done():
                task.result()
                return
            if not self._stop.is_set():
                self._watcher.revive()

    async def _shut(self, spool: Spool, task: asyncio.Task[None] | None) -> int:
        work = asyncio.create_task(self._shut_in_order(spool, task))
        while not work.done():
            await asyncio.wait({work}, timeout=0.05)
            if self._stops > 1:
                work.cancel()
                return 130
        return work.result()

    async def _shut_in_order(self, spool: Spool, task: asyncio.Task[None] | None) -> int:
        """Servers first, then the log, then what the log still owes."""
        if self._server is not None and task is not None:
            self._server.should_exit = True
            await asyncio.wait({task}, timeout=_GRACE + 5)
        if self._grpc is not None:
            await asyncio.to_thread(self._grpc.stop, _GRACE)
            self._grpc = None
        await asyncio.to_thread(spool.close)
        owed = await self._watcher.drain(self._settings.drain_seconds)
        damaged = self._watcher.damaged
        self._say(
            f"stopped; {spool.records} bodies in the log of this run" + (f"; {owed}" if owed else ""),
            "stopped",
            "info" if owed is None else "error",
            records=spool.records,
            owed=owed,
        )
        return 0 if owed is None and not damaged else 1


def _server(app: App, **tls: Any) -> _Server:
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        lifespan="off",
        ws="none",
        http=_protocol(),
        timeout_keep_alive=75,
        timeout_graceful_shutdown=int(_GRACE),
        **tls,
    )
    return _Server(config)


def _protocol() -> type[BoundedProtocol]:
    """Connections stay below the limit of open files, which is raised as far as it may be."""
    limit = 1024
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = min(hard, 65536) if hard != resource.RLIM_INFINITY else 65536
        if soft < wanted:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        limit = max(soft, wanted)
    return type("_Bounded", (BoundedProtocol,), {"max_connections": max(16, min(10_000, limit - 200))})


async def serve_app(app: App, sock: socket.socket, stop: threading.Event) -> None:
    """Serve one application on a bound socket until `stop` is set: the HTTP side alone, for other programs."""
    server = _server(app)
    task = asyncio.create_task(server.serve(sockets=[sock]))
    while not task.done():
        await asyncio.sleep(0.02)
        server.should_exit = server.should_exit or stop.is_set()
    await task


def _check_settings(settings: Settings) -> None:
    if settings.http_port is None and settings.grpc_port is None:
        raise UsageError("neither HTTP nor gRPC is to be served")
    if (settings.tls_cert is None) != (settings.tls_key is None):
        raise UsageError("a certificate and its key go together", hint="give both --tls-cert and --tls-key")
    if settings.client_ca is not None and settings.tls_cert is None:
        raise UsageError("client certificates need TLS", hint="give --tls-cert and --tls-key too")
    for path in (settings.tls_cert, settings.tls_key, settings.client_ca, settings.auth_file):
        if path is not None and not path.is_file():
            raise UsageError(f"no such file: {path}")
    if settings.max_body < 1024:
        raise UsageError("the body limit is under 1 KiB")
    if open_to_others(settings) and not settings.allow_open:
        raise UsageError(
            f"{settings.host} can be reached by other machines, and there is not both a token and TLS",
            hint="give --token or --auth-file with --tls-cert and --tls-key, or --client-ca, or else --allow-open",
        )


def open_to_others(settings: Settings) -> bool:
    """Whether other machines can reach the receiver, and it does not both ask who they are and keep what they send
    from others."""
    if settings.host in _LOOPBACK or settings.client_ca is not None:
        return False
    asks = settings.token is not None or settings.auth_file is not None
    return not asks or settings.tls_cert is None


def _bind(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # named, else asyncio leaves Nagle on
    try:
        if sys.platform != "win32":
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((host, port))
        sock.listen(512)
        sock.setblocking(False)
    except OSError as err:
        sock.close()
        raise UsageError(
            f"HTTP port {port} on {host} cannot be bound: {err.strerror}", hint="give another --http-port"
        ) from err
    return sock


def _host(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


def _raise_malloc_thresholds() -> None:
    """Let glibc keep the arenas of parsed batches: parsing is three times faster than when each is given back."""
    with contextlib.suppress(OSError, AttributeError):
        libc = ctypes.CDLL(None)
        trim_threshold, mmap_threshold = -1, -3
        libc.mallopt(trim_threshold, 256 * _MIB)
        libc.mallopt(mmap_threshold, 32 * _MIB)
