"""One request's bytes to a checked body, or a refusal: what both servers share, and the figures about it."""

from __future__ import annotations

import hmac
import threading
from collections import Counter
from typing import Final

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
    """Bytes of bodies that are being received at this moment, bounded."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self.used = 0

    def take(self, count: int) -> None:
        """Raises `Refusal` (429) when more is on its way than memory is set aside for."""
        if self.used + count > self._limit:
            raise Refusal(Outcome.TOO_MANY, "too many bodies are being received at once")
        self.used += count

    def give_back(self, count: int) -> None:
        self.used -= count


class Intake:
    """Checks bodies and says where they go. `limit` bounds a body in bytes, on the wire and inflated."""

    def __init__(self, spool: Spool, *, limit: int = 64 * _MIB, token: str | None = None) -> None:
        self.spool = spool
        self.limit = limit
        self.figures = Figures()
        self.budget = Budget(max(8 * limit, 64 * _MIB))
        self._expected = None if token is None else f"Bearer {token}".encode()

    def allow(self, authorization: bytes) -> None:
        """Raises `Refusal` (401) when a token is asked for and the header does not hold it."""
        if self._expected is None:
            return
        scheme, _, rest = authorization.partition(b" ")
        given = scheme.capitalize() + b" " + rest.strip()
        if not hmac.compare_digest(given, self._expected):
            raise Refusal(Outcome.NO_TOKEN, "a bearer token is needed: Authorization: Bearer <token>")

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

    def plain(self, encoding: Encoding, body: bytes) -> bytes:
        """The inflated body. Raises `Refusal` (400, 413)."""
        try:
            return inflate(encoding.name.lower(), body, self.limit)
        except TooLarge:
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
