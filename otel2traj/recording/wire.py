"""Exchanges with a model API to interceptor records, one JSON line each, in the envelope `abb.observe.event.v1`."""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from ..canonical import JsonError, JsonObject, JsonValue, dumps, loads
from ..capture.inflate import InflateError, TooLarge, inflate
from ..readers.http import body_value, is_model_call
from ..timestamps import format_ns
from .secrets import Masker

ENVELOPE: Final = "abb.observe.event.v1"
_SPAN_HEADERS: Final = (("framework_span_id", "x-abb-framework-span"), ("traceparent", "traceparent"))
_SESSIONS: Final = ("x-session-id", "session-id", "session_id", "x-claude-code-session-id")
_INFLATED: Final = 8


class Body:
    """The bytes of one side, up to `limit`; what is over is counted and left out."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._kept = 0
        self.size = 0

    def add(self, data: bytes) -> None:
        self.size += len(data)
        room = self._limit - self._kept
        if room > 0 and data:
            self._parts.append(data[:room])
            self._kept += min(room, len(data))

    @property
    def truncated(self) -> bool:
        return self.size > self._kept

    def bytes(self) -> bytes:
        return b"".join(self._parts)


@dataclass(slots=True)
class Exchange:
    """One call on its way. `headers` have lower-case names; of them only correlation is ever written."""

    call_id: str
    provider: str
    host: str
    method: str
    path: str
    headers: dict[str, str]
    request: Body
    response: Body
    started: float = field(default_factory=time.perf_counter)
    models_only: bool = False
    """Whether this is kept only where it is a model call, or goes where one went before."""
    model_call: bool | None = None
    passed: bool = False
    ended_ns: int | None = None
    """When the request was whole, as long as its record waits."""
    chunks: list[tuple[int, float]] = field(default_factory=list)

    @property
    def session(self) -> str | None:
        """The agent's own id of its session."""
        return next((self.headers[name] for name in _SESSIONS if self.headers.get(name)), None)

    def elapsed_ms(self) -> float:
        return round((time.perf_counter() - self.started) * 1000, 3)


class WireLog:
    """Writes records from a thread of its own, so that no call waits for the disk. A disk that is full loses records,
    never calls; `lost` counts them."""

    def __init__(self, file: Path, run_id: str, agent_id: str, masker: Masker, limit: int) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        self._out = file.open("ab", buffering=0)
        self._run_id = run_id
        self._agent_id = agent_id
        self._masker = masker
        self._limit = limit
        self._queue: queue.SimpleQueue[tuple[str, int, Exchange, JsonObject, bytes | None] | None] = queue.SimpleQueue()
        self.lost = 0
        self.calls = 0
        self.sessions: dict[str, None] = {}
        """The sessions that calls named, in order."""
        self.passed: Counter[str] = Counter()
        """Exchanges that were not kept, by host."""
        self._hosts: set[str] = set()
        self._thread = threading.Thread(target=self._run, name="otel2traj-wire", daemon=True)
        self._thread.start()
        self._put("ready", None, {"agent_id": agent_id, "mode": "observe"})

    def hold(self, exchange: Exchange) -> None:
        """The request is whole. Its record waits for `release`, so that writing it costs no call its first byte."""
        exchange.ended_ns = time.time_ns()

    def release(self, exchange: Exchange) -> None:
        """Write the record of a request that waits."""
        if exchange.ended_ns is None:
            return
        at, exchange.ended_ns = exchange.ended_ns, None
        if exchange.session is not None:
            self.sessions[exchange.session] = None
        self._put("request", exchange, {}, exchange.request.bytes(), at)

    def response(self, exchange: Exchange, status: int, content_type: str, encoding: str) -> None:
        self.release(exchange)
        data: JsonObject = {
            "status": status,
            "latency_ms": exchange.elapsed_ms(),
            "content_type": content_type,
            "encoding": encoding,
        }
        self._put("response", exchange, data, exchange.response.bytes())

    def error(self, exchange: Exchange, code: str, message: str, **more: Any) -> None:
        self.release(exchange)
        data: JsonObject = {"error_code": code, "error_stage": code.removesuffix("_error"), "error": message, **more}
        self._put("error", exchange, data)

    def close(self) -> None:
        self._queue.put(None)
        self._thread.join()
        self._out.close()

    def _put(
        self, what: str, exchange: Exchange | None, data: JsonObject, body: bytes | None = None, at: int | None = None
    ) -> None:
        self._queue.put((what, at or time.time_ns(), exchange, data, body))  # type: ignore[arg-type]

    def _run(self) -> None:
        while (item := self._queue.get()) is not None:
            what, now, exchange, data, body = item
            try:
                if exchange is None:
                    self._write("interceptor_ready", now, data)
                    continue
                if what == "response":
                    self._chunks(exchange, now)
                self._one(what, now, exchange, data, body)
            except OSError:
                self.lost += 1

    def _one(self, what: str, now: int, exchange: Exchange, data: JsonObject, body: bytes | None) -> None:
        if exchange.passed:
            return
        if what == "request":
            plain = self._plain(body or b"", exchange.headers.get("content-encoding", ""))
            url = f"http://{exchange.host}{exchange.path}"
            exchange.model_call = is_model_call(exchange.method, url, plain)
            self.calls += exchange.model_call
            if exchange.model_call:
                self._hosts.add(exchange.host)
            elif exchange.models_only and exchange.host not in self._hosts:
                exchange.passed = True
                self.passed[exchange.host] += 1
                return
            data = self._body(plain, exchange.headers.get("content-type", ""), exchange.request, False)
        elif what == "response":
            plain = self._plain(body or b"", data.pop("encoding"))
            content_type = data.pop("content_type")
            streaming = "event-stream" in content_type or "x-ndjson" in content_type
            data |= {"streaming": streaming, **self._body(plain, content_type, exchange.response, streaming)}
        kind = "llm" if exchange.model_call else "model_auxiliary"
        self._write(f"{kind}_{what}", now, {**self._common(exchange), **data})

    def _chunks(self, exchange: Exchange, now: int) -> None:
        if not exchange.model_call:
            return
        for number, (size, elapsed) in enumerate(exchange.chunks, 1):
            data = {
                "agent_id": self._agent_id,
                "call_id": exchange.call_id,
                "sequence": number,
                "upstream_bytes": size,
                "client_bytes": size,
                "elapsed_ms": elapsed,
            }
            self._write("llm_chunk", now, data)

    def _common(self, exchange: Exchange) -> JsonObject:
        data: JsonObject = {
            "agent_id": self._agent_id,
            "call_id": exchange.call_id,
            "mode": "observe",
            "route_id": exchange.provider,
            "method": exchange.method,
            "source_host": exchange.host,
            "source_path": exchange.path,
            "host": exchange.host,
            "path": exchange.path,
            "provider": exchange.provider,
            "source": "native",
        }
        for name, header in _SPAN_HEADERS:
            value = exchange.headers.get(header)
            if value is not None and len(value) <= 64:
                data[name] = value
        session = exchange.session
        if session is not None:
            data["native_session_id"] = session
        return data

    def _plain(self, body: bytes, encoding: str) -> bytes:
        """The body without its transfer compression; as it came where that cannot be undone."""
        name = encoding.strip().lower().removeprefix("x-")
        if name in ("", "identity") or not body:
            return body
        try:
            return inflate(name, body, self._limit * _INFLATED)
        except (InflateError, TooLarge, KeyError):
            return body

    def _body(self, plain: bytes, content_type: str, body: Body, streaming: bool) -> JsonObject:
        masked = self._masker.data(plain)
        value: JsonValue = {"events": _events(masked)} if streaming else body_value(masked)
        data: JsonObject = {"payload": value}
        with contextlib.suppress(UnicodeDecodeError):
            data["raw_body"] = masked.decode("utf-8")
        data |= {"content_type": content_type, "body_bytes": body.size, "truncated": body.truncated}
        if masked != plain:
            data["redacted"] = True
        return data

    def _write(self, event: str, now: int, data: JsonObject) -> None:
        line = {
            "schema": ENVELOPE,
            "run_id": self._run_id,
            "source": "interceptor",
            "event": event,
            "timestamp": format_ns(now),
            "data": data,
        }
        at = self._out.tell()
        rest = memoryview(self._masker.data(dumps(line)) + b"\n")
        try:
            while rest:
                rest = rest[self._out.write(rest) or 0 :]
        except OSError:
            self._out.truncate(at)  # the file has whole lines only
            self._out.seek(at)
            raise


def _events(stream: bytes) -> list[JsonValue]:
    """Every frame of an event stream, or line of JSON Lines, decoded in order; `[DONE]` is dropped."""
    out: list[JsonValue] = []
    for frame in stream.replace(b"\r\n", b"\n").split(b"\n\n"):
        lines = frame.split(b"\n")
        data = [line[5:].removeprefix(b" ") for line in lines if line.startswith(b"data:")]
        for text in [b"\n".join(data)] if data else [line for line in lines if line[:1] == b"{"]:
            if text.strip() in (b"", b"[DONE]"):
                continue
            try:
                out.append(loads(text))
            except JsonError:
                out.append(text.decode("utf-8", "replace"))
    return out
