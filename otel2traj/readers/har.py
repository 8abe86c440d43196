"""HAR 1.2, as browsers and proxies export it, into wire records of its model calls.

http://www.softwareishard.com/blog/har-12-spec/
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from typing import Any, Final

from ..canonical import JsonError, JsonObject, loads_tolerant
from ..errors import EvidenceError
from ..model.evidence import EvidenceRef, Notice, Source
from ..timestamps import parse_ns
from .documents import as_dict, as_list
from .framing import Doc, documents
from .http import Half, HttpFile, call_id_of, error_half, request_half, response_half
from .inflate import Stream
from .otlp_dict import text
from .outline import Head, extents

_ENTRY: Final = ("log", "entries")
_REQUEST: Final = (*_ENTRY, "request")
_RESPONSE: Final = (*_ENTRY, "response")


class HarFile:
    """The exchanges of one HAR file: request and response of each have the address of their own object."""

    def __init__(self, source: Source, stream: Stream) -> None:
        self.source = source
        self._stream = stream
        self._entry_of: dict[int, tuple[int, int]] = {}
        """Where the entry of a request or response stands, by the offset of that."""

    def halves(self) -> Iterator[tuple[Half, EvidenceRef] | Notice]:
        self._stream.rewind()
        yield from self._stream.notices
        for doc in documents(self._stream, _no_line):
            if isinstance(doc, Notice):
                yield doc
            else:
                yield from self._document(doc)
        seen = len(self._stream.notices)
        self.source.sha256, self.source.size = self._stream.finish()
        yield from self._stream.notices[seen:]

    def _document(self, doc: Doc) -> Iterator[tuple[Half, EvidenceRef] | Notice]:
        entry: tuple[int, int] = (doc.start, doc.start)
        line, counted, found = doc.line, doc.start, False
        for start, end, path in extents(doc.buffer, doc.start, doc.end, frozenset((_ENTRY, _REQUEST, _RESPONSE))):
            if path == _ENTRY:
                entry = (start, end)
                continue
            if not entry[0] <= start < entry[1]:
                continue
            found = True
            line, counted = line + doc.lines(counted, start), start
            ref = EvidenceRef(self.source.path, doc.base + start, end - start, line)
            self._entry_of[ref.offset] = (doc.base + entry[0], entry[1] - entry[0])
            try:
                half = _half(bytes(doc.buffer[entry[0] : entry[1]]), path == _REQUEST)
            except (JsonError, ValueError, TypeError) as err:
                yield Notice("unreadable_record", f"har: {err}", self.source.path, line)
                continue
            yield half, ref
        if not found:
            yield Notice("unreadable_line", "no HAR document with entries", self.source.path, doc.line)

    def half(self, ref: EvidenceRef) -> Half:
        offset, length = self._entry_of[ref.offset]
        entry = self._stream.pread(offset, length)
        value, _ = loads_tolerant(self._stream.pread(ref.offset, ref.length))
        return _half(entry, isinstance(value, dict) and "method" in value)

    def raw(self, ref: EvidenceRef) -> bytes:
        return self._stream.pread(ref.offset, ref.length)

    def close(self) -> None:
        self._stream.close()


def _no_line(doc: Doc) -> bool:
    return False


def _half(entry: bytes, asked: bool) -> Half:
    value, _ = loads_tolerant(entry)
    if not isinstance(value, dict):
        raise ValueError("an entry that is no object")
    asking, answer = as_dict(value.get("request")), as_dict(value.get("response"))
    started = parse_ns(value.get("startedDateTime"))
    call_id = call_id_of("har", value.get("_request_id") or value.get("_requestId"), entry)
    given, lossy = _posted(as_dict(asking.get("postData")))
    request = request_half(
        call_id, text(asking.get("method")), text(asking.get("url")), _headers(asking), given, started
    )
    if asked:
        request.lossy = lossy if request.event == "llm_request" else []
        return request
    taken = value.get("time")
    ended = None if started is None else started
    if started is not None and isinstance(taken, (int, float)) and not isinstance(taken, bool) and taken >= 0:
        ended = started + round(taken * 1000) * 1000
    status = answer.get("status")
    broken = value.get("_error") or answer.get("_error")
    if not isinstance(status, int) or isinstance(status, bool) or status <= 0:
        return error_half(request, text(broken) or "no response was recorded", ended)
    body, left_out = _content(as_dict(answer.get("content")))
    half = response_half(request, status, body, ended)
    if left_out and half.event == "llm_response":
        half.lossy = [left_out]
    return half


def _headers(message: JsonObject) -> dict[str, str]:
    found = map(as_dict, as_list(message.get("headers")))
    return {text(one.get("name")).lower(): text(one.get("value")) for one in found}


def _posted(posted: JsonObject) -> tuple[bytes | None, list[str]]:
    body = posted.get("text")
    if not isinstance(body, str):
        return None, ["the body of a request was not recorded"]
    return _bytes(body, posted.get("encoding") or posted.get("_encoding")), []


def _content(content: JsonObject) -> tuple[bytes | None, str]:
    body = content.get("text")
    if not isinstance(body, str):
        size = content.get("size")
        return None, "the body of a response was not recorded" if size not in (0, None, -1) else ""
    return _bytes(body, content.get("encoding")), ""


def _bytes(body: str, encoding: Any) -> bytes:
    if encoding == "base64":
        try:
            return base64.b64decode(body, validate=False)
        except (binascii.Error, ValueError):
            pass
    return body.encode("utf-8", "surrogatepass")


class Har:
    name = "har"
    writer = "browsers and proxies"
    obtain = "`mitmdump --set hardump=FILE`, a browser's network page"
    tried = "mitmproxy 11.0.2"
    loses: str | None = "who asked: the agent, its Input and what its tools did"

    def recognises(self, head: Head) -> bool:
        return head.has("log") and (
            head.has("entries", under=("log",)) or head.has("creator", "version", under=("log",))
        )

    def open(self, source: Source, stream: Stream) -> HttpFile:
        if stream.size == 0:
            raise EvidenceError(f"{source.path} is empty", hint="export the exchanges again")
        return HttpFile(source, self.name, HarFile(source, stream))


HAR = Har()
