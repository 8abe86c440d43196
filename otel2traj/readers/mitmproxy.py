"""Flows as mitmproxy saves them (`-w FILE`, mitmweb's download) into wire records of its model calls.

A file is a run of typed netstrings, one a flow; each is read whole. Bodies are kept as they were sent, so that gzip,
deflate, zstd and br are taken off here where that can be done.
https://github.com/mitmproxy/mitmproxy/blob/v12.2.0/mitmproxy/io/tnetstring.py and `../flow.py`
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from typing import Any, Final

import zstandard

from ..model.evidence import EvidenceRef, Notice, Source
from .http import Half, HttpFile, call_id_of, error_half, request_half, response_half
from .inflate import INFLATE_LIMIT, Stream
from .outline import Head

_BEGIN: Final = re.compile(
    rb"\d{1,12}:\d{1,2}:(?:websocket|backup|response|request|comment|timestamp_created|type|version|mode|metadata|error|id"
    rb"|client_conn|server_conn|intercepted|is_replay|marked);"
)
_LONGEST: Final = 12
_DEEPEST: Final = 32


class Damaged(ValueError):
    """What is no typed netstring."""


def parse(data: memoryview, at: int = 0, depth: int = 0) -> tuple[Any, int]:
    """The value that begins at `at`, and where it ends. Raises `Damaged`."""
    colon = at
    while colon < len(data) and colon - at <= _LONGEST and 0x30 <= data[colon] <= 0x39:
        colon += 1
    if colon == at or colon >= len(data) or data[colon] != 0x3A or depth > _DEEPEST:
        raise Damaged("no length")
    begin = colon + 1
    end = begin + int(bytes(data[at:colon]))
    if end >= len(data):
        raise Damaged("ends early")
    kind, body = data[end : end + 1].tobytes(), data[begin:end]
    return _value(kind, body, depth), end + 1


def _value(kind: bytes, body: memoryview, depth: int) -> Any:
    try:
        if kind == b",":
            return bytes(body)
        if kind == b";":
            return bytes(body).decode("utf-8", "surrogateescape")
        if kind == b"#":
            return int(bytes(body))
        if kind == b"^":
            return float(bytes(body))
        if kind == b"!":
            return bytes(body) == b"true"
    except ValueError as err:
        raise Damaged(str(err)) from err
    if kind == b"~":
        return None
    if kind not in (b"]", b"}"):
        raise Damaged(f"unknown type {kind!r}")
    items, at = [], 0
    while at < len(body):
        item, at = parse(body, at, depth + 1)
        items.append(item)
    if kind == b"]":
        return items
    if len(items) % 2 or any(isinstance(key, (dict, list)) for key in items[::2]):
        raise Damaged("a key without a value")
    return {_name(key): value for key, value in zip(items[::2], items[1::2], strict=True)}


def _name(key: Any) -> str:
    return key.decode("utf-8", "replace") if isinstance(key, bytes) else str(key)


class Flows:
    """The flows of one file: request, response and error of each have the address of their own value."""

    def __init__(self, source: Source, stream: Stream) -> None:
        self.source = source
        self._stream = stream
        self._flow_of: dict[int, tuple[int, int, str]] = {}
        """Where the flow of a part stands and which part it is, by the offset of that."""

    def halves(self) -> Iterator[tuple[Half, EvidenceRef] | Notice]:
        self._stream.rewind()
        yield from self._stream.notices
        at, size = 0, self._stream.size
        while at < size:
            head = self._stream.pread(at, min(_LONGEST + 1, size - at))
            digits = head.split(b":", 1)[0]
            length = int(digits) + len(digits) + 2 if digits.isdigit() and b":" in head else 0
            if not 0 < length <= size - at:
                yield Notice("unreadable_record", f"{size - at} bytes from {at} on are no whole flow", self.source.path)
                break
            yield from self._one(at, self._stream.pread(at, length))
            at += length
        while self._stream.read_chunk(1 << 18):
            pass
        seen = len(self._stream.notices)
        self.source.sha256, self.source.size = self._stream.finish()
        yield from self._stream.notices[seen:]

    def _one(self, at: int, data: bytes) -> Iterator[tuple[Half, EvidenceRef] | Notice]:
        try:
            flow, places = _flow(data), _places(data)
            if flow.get("type") != "http":
                return
            for part in ("request", "response", "error"):
                if flow.get(part) is None:
                    continue
                begin, end = places[part]
                half = _half(flow, data, part)
                self._flow_of[at + begin] = (at, len(data), part)
                yield half, EvidenceRef(self.source.path, at + begin, end - begin)
        except (Damaged, ValueError, TypeError, KeyError, AttributeError) as err:
            yield Notice("unreadable_record", f"mitmproxy: {err} in the flow at {at}", self.source.path)

    def half(self, ref: EvidenceRef) -> Half:
        offset, length, part = self._flow_of[ref.offset]
        data = self._stream.pread(offset, length)
        return _half(_flow(data), data, part)

    def raw(self, ref: EvidenceRef) -> bytes:
        return self._stream.pread(ref.offset, ref.length)

    def close(self) -> None:
        self._stream.close()


def _flow(data: bytes) -> dict[str, Any]:
    value, _ = parse(memoryview(data))
    if not isinstance(value, dict):
        raise Damaged("a flow that is no dictionary")
    return value


def _places(data: bytes) -> dict[str, tuple[int, int]]:
    """Where the value of each member of a flow stands."""
    view = memoryview(data)
    at, end = data.index(b":") + 1, len(data) - 1
    out: dict[str, tuple[int, int]] = {}
    while at < end:
        name, begin = parse(view[:end], at)
        _, at = parse(view[:end], begin)
        out[_name(name)] = (begin, at)
    return out


def _half(flow: dict[str, Any], data: bytes, part: str) -> Half:
    asked = flow["request"]
    headers = _headers(asked)
    host = _text(asked.get("host"))
    port = asked.get("port")
    authority = _text(asked.get("authority")) or headers.get("host") or (f"{host}:{port}" if port else host)
    url = f"{_text(asked.get('scheme')) or 'https'}://{authority}{_text(asked.get('path'))}"
    call_id = call_id_of("mitmproxy", flow.get("id"), data)
    body, lossy = _body(asked, headers)
    request = request_half(call_id, _text(asked.get("method")), url, headers, body, _time(asked.get("timestamp_start")))
    if part == "request":
        request.lossy = lossy if request.event == "llm_request" else []
        return request
    if part == "error":
        error = flow["error"]
        return error_half(request, _text(error.get("msg")) or "unknown", _time(error.get("timestamp")))
    answer = flow["response"]
    body, lossy = _body(answer, _headers(answer))
    ended = answer.get("timestamp_end") or answer.get("timestamp_start")
    half = response_half(request, int(answer.get("status_code", 0)), body, _time(ended))
    half.lossy = lossy if half.event == "llm_response" else []
    return half


def _headers(message: dict[str, Any]) -> dict[str, str]:
    pairs = message.get("headers") or ()
    return {_text(pair[0]).lower(): _text(pair[1]) for pair in pairs if isinstance(pair, list) and len(pair) == 2}


def _body(message: dict[str, Any], headers: dict[str, str]) -> tuple[bytes | None, list[str]]:
    content = message.get("content")
    if content is None:
        return None, ["a body was not recorded"]
    data = content if isinstance(content, bytes) else str(content).encode("utf-8", "surrogateescape")
    for coding in reversed([one.strip().lower() for one in headers.get("content-encoding", "").split(",")]):
        try:
            data = _decoded(coding, data)
        except (OSError, EOFError, ValueError, zlib.error, zstandard.ZstdError) as err:
            return data, [f"a body in {coding} cannot be read: {err}"]
    return data, []


def _decoded(coding: str, data: bytes) -> bytes:
    if coding in ("", "identity") or not data:
        return data
    if coding in ("gzip", "x-gzip"):
        inflate = zlib.decompressobj(31)
    elif coding == "deflate":
        inflate = zlib.decompressobj(15 if data[0] & 0x0F == 8 else -15)
    elif coding == "zstd":
        return zstandard.ZstdDecompressor().decompressobj().decompress(data)
    else:
        raise ValueError("no decoder for it here")
    return inflate.decompress(data, INFLATE_LIMIT)


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else "" if value is None else str(value)


def _time(value: Any) -> int | None:
    ok = isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < 1e12
    return round(value * 1_000_000) * 1000 if ok else None


class Mitmproxy:
    name = "mitmproxy"
    writer = "mitmproxy"
    obtain = "`mitmdump -w FILE`"
    tried = "mitmproxy 11.0.2"
    loses: str | None = "who asked: the agent, its Input and what its tools did"

    def recognises(self, head: Head) -> bool:
        return _BEGIN.match(head.data) is not None

    def open(self, source: Source, stream: Stream) -> HttpFile:
        return HttpFile(source, self.name, Flows(source, stream))


MITMPROXY = Mitmproxy()
