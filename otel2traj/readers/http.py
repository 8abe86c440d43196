"""Recorded HTTP exchanges of any proxy or browser into wire records: which are calls of a model, and their bodies."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol
from urllib.parse import urlsplit

import msgspec

from ..canonical import JsonError, JsonObject, JsonValue, loads_tolerant, repeated_key_of
from ..errors import EvidenceError
from ..model.evidence import AbbRecord, EvidenceRef, Notice, Source
from ..timestamps import format_ns
from .histories import Body, Histories

_MODEL_PATHS: Final = re.compile(
    r"/(chat/completions|completions|responses|messages|api/chat|api/generate|converse(-stream)?|invoke"
    r"|invoke-with-response-stream)/?$|:(stream)?(generateContent|generateText|rawPredict|streamRawPredict)$"
    r"|:stream(GenerateContent|RawPredict)$"
)
_OTHER_PATHS: Final = re.compile(r"/(embeddings|moderations|rerank|models|count_tokens|tokenize)\b|:(embed|count)")
_CONVERSATIONS: Final = ("messages", "contents", "input", "prompt")
_SESSIONS: Final = ("x-session-id", "session-id", "session_id", "x-claude-code-session-id")
_FORBIDDEN: Final = re.compile(rb"[^\x09\x0a\x0d\x20-\x7e\x80-\xff]")


@dataclass(slots=True)
class Half:
    """One side of an exchange: what its record holds beside the body, and the body's bytes as they were decoded."""

    event: str
    time_ns: int | None
    data: JsonObject
    body: bytes | None = None
    lossy: list[str] = field(default_factory=list)
    """What the recorder left out of this half, to be told."""

    def record(self, ref: EvidenceRef, source: str) -> AbbRecord:
        return AbbRecord(self.event, self.time_ns, format_ns(self.time_ns), dict(self.data), ref, source)


class Halves(Protocol):
    """A file of exchanges in one form."""

    def halves(self) -> Iterator[tuple[Half, EvidenceRef] | Notice]: ...

    def half(self, ref: EvidenceRef) -> Half: ...

    def raw(self, ref: EvidenceRef) -> bytes: ...

    def close(self) -> None: ...


class HttpFile:
    """The wire records of a file of exchanges, and any record again by its address: what `AbbFile` is for interceptor
    records."""

    def __init__(self, source: Source, form: str, halves: Halves) -> None:
        self.source = source
        self.form = form
        self._halves = halves
        self._histories = Histories()

    def records(self) -> Iterator[AbbRecord | Notice]:
        for item in self._halves.halves():
            if isinstance(item, Notice):
                yield item
                continue
            half, ref = item
            yield half.record(ref, self.form)
            for why in half.lossy:
                yield Notice("truncated_record", why, self.source.path, ref.line)

    def fetch(self, ref: EvidenceRef) -> AbbRecord:
        return self._half(ref)[0]

    def fetch_request(self, ref: EvidenceRef, members: tuple[str, ...] = ()) -> tuple[AbbRecord, Body, list[Notice]]:
        record, half = self._half(ref)
        try:
            decoded = msgspec.json.decode(half.body or b"", type=dict[str, msgspec.Raw])
            return record, self._histories.body(decoded), []
        except (msgspec.DecodeError, msgspec.ValidationError, JsonError, RecursionError):
            return record, Body(body_value(half.body)), []

    def fetch_response(self, ref: EvidenceRef, members: tuple[str, ...] = ()) -> tuple[AbbRecord, Body, list[Notice]]:
        record, half = self._half(ref)
        return record, Body(body_value(half.body)), []

    def repeated(self, ref: EvidenceRef, payload: Body) -> Iterator[Notice]:
        """A notice where an object of the record's body, which was read as this payload, names a member twice."""
        body = self._half(ref)[1].body or b""
        if body.lstrip()[:1] not in (b"{", b"["):
            return
        try:
            key = repeated_key_of(body, payload.key_ends())
        except (ValueError, RecursionError):  # no JSON, or read with a repair
            return
        if key is not None:
            yield Notice("repeated_key", f"a member {key!r} stands twice in one object", ref.source, ref.line)

    def _half(self, ref: EvidenceRef) -> tuple[AbbRecord, Half]:
        try:
            half = self._halves.half(ref)
        except (ValueError, TypeError, KeyError, JsonError) as err:
            raise EvidenceError(f"no record at {ref.source}:{ref.offset}", hint="has the file changed?") from err
        return half.record(ref, self.form), half

    def raw(self, ref: EvidenceRef) -> bytes:
        return self._halves.raw(ref)

    def close(self) -> None:
        self._halves.close()


def body_value(body: bytes | None) -> JsonValue:
    """A decoded JSON body; text, such as a stream of events, as `{"text": …}`; other bytes in base64."""
    if body is None or body == b"":
        return None
    try:
        return loads_tolerant(body)[0]
    except (JsonError, RecursionError):
        pass
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        return {"encoding": "base64", "data": base64.b64encode(body).decode("ascii")}
    if _FORBIDDEN.search(body):
        return {"encoding": "base64", "data": base64.b64encode(body).decode("ascii")}
    return {"text": text}


def is_model_call(method: str, url: str, body: bytes | None) -> bool:
    """Whether a request asks a model: by the path of a known API, else by a body with a model and a conversation."""
    path = urlsplit(url).path.rstrip("/")
    if method.upper() != "POST":
        return False
    if _MODEL_PATHS.search(path):  # first: Gemini's path of a call names a model below `/models/`
        return True
    if _OTHER_PATHS.search(path):
        return False
    try:
        members = msgspec.json.decode(body or b"", type=dict[str, msgspec.Raw])
    except (msgspec.DecodeError, msgspec.ValidationError, RecursionError):
        return False
    return "contents" in members or ("model" in members and any(name in members for name in _CONVERSATIONS))


def request_half(
    call_id: str, method: str, url: str, headers: Mapping[str, str], body: bytes | None, time_ns: int | None
) -> Half:
    """The request of one exchange. `headers` have their names in lower case."""
    parts = urlsplit(url)
    data: JsonObject = {
        "call_id": call_id,
        "method": method,
        "path": parts.path + (f"?{parts.query}" if parts.query else ""),
    }
    data["url"] = url
    for name, header in (("framework_span_id", "x-abb-framework-span"), ("traceparent", "traceparent")):
        if header in headers:
            data[name] = headers[header]
    session = next((headers[name] for name in _SESSIONS if headers.get(name)), None)
    if session is not None:
        data["native_session_id"] = session
    event = "llm_request" if is_model_call(method, url, body) else "http_request"
    return Half(event, time_ns, data, body)


def response_half(request: Half, status: int, body: bytes | None, time_ns: int | None) -> Half:
    event = request.event.replace("request", "response")
    data: JsonObject = {"call_id": request.data["call_id"], "path": request.data["path"], "status": status}
    return Half(event, time_ns, data, body)


def error_half(request: Half, message: str, time_ns: int | None) -> Half:
    """The exchange broke off before its response."""
    event = request.event.replace("request", "error")
    data: JsonObject = {"call_id": request.data["call_id"], "path": request.data["path"]}
    return Half(event, time_ns, {**data, "error": message, "error_code": "transport_error"})


def call_id_of(form: str, recorded: Any, record: bytes) -> str:
    """The recorder's own id of an exchange, else one made from the digest of its bytes: the file names none."""
    if isinstance(recorded, str) and recorded:
        return recorded
    return f"{form}:{hashlib.sha256(record).hexdigest()[:24]}"
