"""A page that follows attempts while they grow: served to this machine alone, read again when their files change."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import blake2b
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from ipaddress import ip_address
from pathlib import Path
from typing import Final
from urllib.parse import parse_qs, urlsplit

from ..api.runs import find_attempts
from ..api.view import bundles_of, places_of
from ..canonical import JsonObject, dumps
from ..errors import EvidenceError, RefusedError, UsageError
from ..renderers.bundle import Bundle
from ..renderers.page import packed_json, policy, write_live_page

_OWN: Final = ("trajectory.json", ".tmp")
_KEPT: Final = 2
"""Versions of a run that are kept, so that a page in the middle of reading one can go on."""


def fingerprint(path: Path) -> str:
    """Changes when a file below `path` is added, removed, grows or is written; reads no file."""
    files = [path] if path.is_file() else sorted(path.rglob("*"))
    seen = blake2b(digest_size=12)
    for file in files:
        if file.name.endswith(_OWN) or file.is_symlink():
            continue
        try:
            found = file.stat()
        except OSError:
            continue
        seen.update(f"{file}\0{found.st_size}\0{found.st_mtime_ns}\0".encode("utf-8", "surrogateescape"))
    return seen.hexdigest()


@dataclass(slots=True)
class _Place:
    """One run on disk, and the bundles it gave at its last fingerprints, newest last."""

    path: Path
    versions: dict[str, list[Bundle]] = field(default_factory=dict)

    @property
    def newest(self) -> tuple[str, list[Bundle]]:
        return next(reversed(self.versions.items()), ("", []))


class LiveRuns:
    """The runs below some paths, read again by `refresh` when their files change. Safe to ask from many threads."""

    def __init__(self, paths: list[Path], *, raw: bool = True, inference: bool = True) -> None:
        self._paths, self._raw, self._inference = paths, raw, inference
        self._places: dict[Path, _Place] = {}
        self._lock = threading.Lock()
        self.building = False

    def refresh(self) -> bool:
        """Look for changes and read what changed; whether anything did."""
        changed = False
        for path in self._paths:
            for _, place in places_of(path):
                changed |= self._refresh_one(place)
        return changed

    def _refresh_one(self, path: Path) -> bool:
        version = fingerprint(path)
        known = self._places.get(path)
        if known is not None and version in known.versions:
            return False
        self.building = True
        try:
            bundles = list(bundles_of(path, raw=self._raw, inference=self._inference))
        finally:
            self.building = False
        with self._lock:
            place = self._places.setdefault(path, _Place(path))
            place.versions[version] = bundles
            while len(place.versions) > _KEPT:
                del place.versions[next(iter(place.versions))]
        return True

    def state(self) -> JsonObject:
        with self._lock:
            runs = [{**b.row, "version": v} for v, bundles in self._newest() for b in bundles]
        return {"runs": runs, "building": self.building}

    def _newest(self) -> list[tuple[str, list[Bundle]]]:
        return [self._places[path].newest for path in sorted(self._places)]

    def data(self, name: str, version: str | None) -> bytes | None:
        """The compressed bytes of `a0-index`, `a0-c3` or `a0-r1`; None where there are none of that name."""
        run, _, part = name.partition("-")
        if not (run[:1] == "a" and run[1:].isdecimal()):
            return None
        with self._lock:
            bundle = self._bundle(int(run[1:]), version)
            if bundle is None:
                return None
            if part == "index":
                return packed_json(bundle.index)
            kind, number = part[:1], part[1:]
            if kind not in bundle.places or not number.isdecimal() or int(number) >= len(bundle.places[kind]):
                return None
            return bundle.part(kind, int(number))

    def _bundle(self, number: int, version: str | None) -> Bundle | None:
        for path in sorted(self._places):
            place = self._places[path]
            newest = place.newest[1]
            if number < len(newest):
                bundles = newest if version is None else place.versions.get(version, [])
                return bundles[number] if number < len(bundles) else None
            number -= len(newest)
        return None


class _Handler(BaseHTTPRequestHandler):
    runs: LiveRuns
    hosts: frozenset[str]
    server_version = "otel2traj"
    sys_version = ""
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if self.headers.get("Host", "").lower() not in self.hosts:
            return self._answer(421, b"this server answers to its own address only\n", "text/plain")
        if self.headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin"):
            return self._answer(403, b"other pages may not read this\n", "text/plain")
        url = urlsplit(self.path)
        if url.path == "/":
            page = BytesIO()
            write_live_page(page)
            return self._answer(200, page.getvalue(), "text/html; charset=utf-8")
        if url.path == "/state":
            return self._answer(200, dumps(self.runs.state()), "application/json")
        if url.path.startswith("/data/"):
            data = self.runs.data(url.path[len("/data/") :], parse_qs(url.query).get("v", [None])[0])
            if data is not None:
                return self._answer(200, data, "application/octet-stream")
        self._answer(404, b"nothing here\n", "text/plain")

    def _answer(self, status: int, body: bytes, kind: str) -> None:
        self.send_response(status)
        for name, value in (
            ("Content-Type", kind),
            ("Content-Length", str(len(body))),
            ("Content-Security-Policy", policy(live=True) + "; frame-ancestors 'none'"),
            ("X-Content-Type-Options", "nosniff"),
            ("Cross-Origin-Resource-Policy", "same-origin"),
            ("Cross-Origin-Opener-Policy", "same-origin"),
            ("Referrer-Policy", "no-referrer"),
            ("Cache-Control", "no-store"),
        ):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def handle(self) -> None:
        try:
            super().handle()
        except (ConnectionError, TimeoutError):
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        """Silent: what a page asks for is nobody's business."""


class ViewServer:
    """Binds at once, serves after `start`. `url` is the address to open."""

    def __init__(self, runs: LiveRuns, *, host: str = "127.0.0.1", port: int = 0, every: float = 1.0) -> None:
        """Raises `RefusedError` for an address that other machines can reach."""
        try:
            loopback = host == "localhost" or ip_address(host).is_loopback
        except ValueError as err:
            raise UsageError(f"{host!r} is no address", hint="use 127.0.0.1 or localhost") from err
        if not loopback:
            raise RefusedError(
                f"{host} can be reached by others",
                hint="recorded prompts are private: serve on 127.0.0.1 and use a tunnel",
            )
        handler = type("_Bound", (_Handler,), {"runs": runs})
        try:
            self._server = ThreadingHTTPServer((host, port), handler)
        except OSError as err:
            raise UsageError(f"cannot listen on {host}:{port}: {err.strerror}", hint="choose another --port") from err
        self._server.daemon_threads = True
        bound = self._server.server_address[1]
        handler.hosts = frozenset(f"{name}:{bound}" for name in ("127.0.0.1", "localhost", host))  # type: ignore[attr-defined]
        self.url = f"http://{host}:{bound}/"
        self._runs, self._every = runs, every
        self._stop = threading.Event()

    def run(self, say: Callable[[str], None]) -> None:
        """Serve until `stop` or an interrupt; files are looked at every `every` seconds."""
        serving = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)
        serving.start()
        try:
            while not self._stop.is_set():
                try:
                    self._runs.refresh()
                except Exception as err:  # one bad look must not end the service
                    say(f"could not read: {err}")
                self._stop.wait(self._every)
        except KeyboardInterrupt:
            pass
        finally:
            self._server.shutdown()
            serving.join(5)
            self._server.server_close()

    def stop(self) -> None:
        self._stop.set()


def _expect(path: Path, inference: bool) -> None:
    """Attempts and the folder of a receiver may have nothing in them yet; anything else must be readable."""
    if not path.exists():
        raise EvidenceError(f"there is no {path}", hint="give attempts, folders of them, traces or saved files")
    if path.is_dir() and (find_attempts(path) or not places_of(path)):
        return
    bundles = list(bundles_of(path, raw=False, inference=inference))
    if all(bundle.index["error"] is not None for bundle in bundles):
        reason = bundles[0].index["error"]["message"] if bundles else f"nothing was recorded in {path}"
        raise EvidenceError(reason, hint="start `otel2traj receive --out DIR` first, or give what was recorded")


def serve(paths: list[Path], *, host: str, port: int, inference: bool, say: Callable[[str], None]) -> None:
    """Serve the runs below `paths` until interrupted. Raises `EvidenceError` where nothing is there that is a run or
    may become one."""
    for path in paths:
        _expect(path, inference)
    server = ViewServer(LiveRuns(paths, inference=inference), host=host, port=port)
    say(f"open {server.url} (Ctrl-C ends it)")
    server.run(say)
