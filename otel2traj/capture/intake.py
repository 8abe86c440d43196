"""One request's bytes to a checked body, or a refusal: what both servers share, and the figures about it."""

from __future__ import annotations

import hmac
import threading
from bisect import bisect_left
from collections import Counter
from pathlib import Path
from typing import Final

from ..errors import UsageError
from .check import BadBody, Checked, check_quickly, check_tolerantly
from .inflate import ACCEPTED, INFLATERS, InflateError, TooLarge, inflate
from .outcome import Outcome, Refusal
from .segments import Content, Encoding, Signal
from .spool import Spool

ENCODINGS: Final = {
    "": Encoding.IDENTITY,
    **{name: Encoding[name.upper()] for name in INFLATERS},
    "x-gzip": Encoding.GZIP,
}
_MIB: Final = 1 << 20


class Durations:
    """How long requests took: a histogram in seconds, by method, status and route. Safe from any thread."""

    BOUNDS: Final = (0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0)
    """The boundaries that the convention advises."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._cells: dict[tuple[str, int, str], list[float]] = {}

    def add(self, method: str, status: int, route: str, seconds: float) -> None:
        with self._lock:
            cell = self._cells.setdefault((method, status, route), [0.0] * (len(self.BOUNDS) + 2))
            cell[bisect_left(self.BOUNDS, seconds)] += 1
            cell[-1] += seconds

    def text(self) -> str:
        """The family `http_server_request_duration_seconds` in Prometheus text."""
        name = "http_server_request_duration_seconds"
        out = [f"# HELP {name} Duration of HTTP server requests.\n# TYPE {name} histogram\n"]
        with self._lock:
            cells = {key: list(cell) for key, cell in sorted(self._cells.items())}
        for (method, status, route), cell in cells.items():
            labels = f'http_request_method="{method}",http_response_status_code="{status}",http_route="{route}"'
            total = 0
            for bound, count in zip((*map(str, self.BOUNDS), "+Inf"), cell, strict=False):
                total += int(count)
                out.append(f'{name}_bucket{{{labels},le="{bound}"}} {total}\n')
            out.append(f"{name}_sum{{{labels}}} {cell[-1]:.6f}\n{name}_count{{{labels}}} {total}\n")
        return "".join(out)


class Figures:
    """What the receiver counts about itself. Safe from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.requests: Counter[tuple[str, str, int]] = Counter()
        """By transport, signal (or `-`) and HTTP status."""
        self.items: Counter[str] = Counter()
        self.rejected: Counter[str] = Counter()
        self.repairs: Counter[str] = Counter()
        self.wire_bytes = 0
        self.durations = Durations()

    def request(self, transport: str, signal: Signal | None, outcome: Outcome) -> None:
        name = "-" if signal is None else signal.name.lower()
        with self._lock:
            self.requests[transport, name, outcome.value.http] += 1

    def accepted(self, signal: Signal, checked: Checked, wire_bytes: int) -> None:
        name = signal.name.lower()
        with self._lock:
            self.items[name] += checked.items
            self.wire_bytes += wire_bytes
            if checked.rejected:
                self.rejected[name] += checked.rejected
            if checked.notes:
                self.repairs.update(checked.notes)


class Budget:
    """Bytes of bodies that are held at this moment, on the wire and inflated, bounded. Safe from any thread."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self.used = 0
        self.peak = 0

    def take(self, count: int) -> None:
        """Raises `Refusal` (429) when more is on its way than memory is set aside for."""
        with self._lock:
            if self.used + count > self._limit:
                raise Refusal(Outcome.TOO_MANY, "too many bodies are being received at once")
            self.used += count
            self.peak = max(self.peak, self.used)

    def give_back(self, count: int) -> None:
        with self._lock:
            self.used -= count


class Tokens:
    """The bearer tokens that may send. `reload` reads the file of them again, where there is one."""

    def __init__(self, token: str | None = None, file: Path | None = None) -> None:
        """Raises `UsageError` for a token that is empty, and for a file that cannot be read or holds none."""
        if token is not None and not token.strip():
            raise UsageError(
                "the token is empty", hint="give one that is not, or leave --token and OTEL2TRAJ_TOKEN out"
            )
        self._own = [] if token is None else [token]
        self._file = file
        self._expected: tuple[bytes, ...] = ()
        self.reload()

    @property
    def wanted(self) -> bool:
        return bool(self._expected)

    def reload(self) -> int:
        """How many tokens there are now. On `UsageError` the ones that stood stay in force."""
        tokens = list(self._own)
        if self._file is not None:
            try:
                lines = self._file.read_text("utf-8").splitlines()
            except (OSError, UnicodeDecodeError) as err:
                raise UsageError(f"the tokens of {self._file.name} cannot be read: {err}") from err
            found = [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
            if not found:
                raise UsageError(
                    f"{self._file.name} holds no token", hint="one a line; lines that begin with # are not"
                )
            tokens += found
        self._expected = tuple(f"Bearer {token}".encode() for token in tokens)
        return len(tokens)

    def allow(self, authorization: bytes) -> None:
        """Raises `Refusal` (401) when a token is asked for and the header holds none of them."""
        if not self._expected:
            return
        scheme, _, rest = authorization.partition(b" ")
        given = scheme.capitalize() + b" " + rest.strip()
        matches = [hmac.compare_digest(given, one) for one in self._expected]  # all of them: time tells nothing
        if not any(matches):
            raise Refusal(Outcome.NO_TOKEN, "a bearer token is needed: Authorization: Bearer <token>")


class Intake:
    """Checks bodies and says where they go. `limit` bounds a body in bytes, on the wire and inflated."""

    def __init__(self, spool: Spool, *, limit: int = 64 * _MIB, tokens: Tokens | None = None) -> None:
        self.spool = spool
        self.limit = limit
        self.figures = Figures()
        self.budget = Budget(max(8 * limit, 64 * _MIB))
        self.tokens = Tokens() if tokens is None else tokens

    def encoding(self, name: str) -> Encoding:
        """The encoding of that Content-Encoding. Raises `Refusal` (415)."""
        found = ENCODINGS.get(name.strip().lower())
        if found is None:
            raise Refusal(
                Outcome.UNKNOWN_TYPE, f"content encoding {name[:40]!r} is not supported; send one of: {ACCEPTED}"
            )
        return found

    def too_large(self) -> Refusal:
        size = f"{self.limit // _MIB} MiB" if self.limit >= _MIB else f"{self.limit} bytes"
        return Refusal(Outcome.TOO_LARGE, f"the body is over {size}, on the wire or inflated")

    def plain(self, encoding: Encoding, body: bytes, limit: int | None = None) -> bytes:
        """The inflated body. Raises `Refusal` (400, 413), or `TooLarge` over a `limit` smaller than the body limit."""
        try:
            return inflate(encoding.name.lower(), body, self.limit if limit is None else min(limit, self.limit))
        except TooLarge:
            if limit is not None and limit < self.limit:
                raise
            raise self.too_large() from None
        except InflateError as err:
            raise Refusal(Outcome.BAD_BODY, f"the body is not valid {encoding.name.lower()}: {err}") from err

    def check(self, signal: Signal, content: Content, plain: bytes) -> Checked:
        """The whole check. Raises `Refusal` (400)."""
        done = self.check_quickly(signal, content, plain)
        return self.check_tolerantly(signal, content, plain) if done is None else done

    def check_quickly(self, signal: Signal, content: Content, plain: bytes) -> Checked | None:
        """The fast path; None where the tolerant one has to look. Raises `Refusal` (400)."""
        try:
            return check_quickly(signal, content, plain)
        except BadBody as err:
            raise Refusal(Outcome.BAD_BODY, str(err)) from err

    def check_tolerantly(self, signal: Signal, content: Content, plain: bytes) -> Checked:
        """The tolerant path, which may take seconds. Raises `Refusal` (400)."""
        try:
            return check_tolerantly(signal, content, plain)
        except BadBody as err:
            raise Refusal(Outcome.BAD_BODY, str(err)) from err
