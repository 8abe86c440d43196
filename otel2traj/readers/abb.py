"""Lines in the `abb.observe.event.v1` envelope to records.

The envelope wraps interceptor records, framework events, OpenTelemetry spans and ACP events alike.
"""

from __future__ import annotations

import os
from codecs import utf_8_decode
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

import msgspec

from ..canonical import JsonError, JsonObject, beyond_limits, key_ends, loads_evidence, loads_tolerant, repeated_key_of
from ..model.evidence import AbbRecord, EvidenceRef, Notice, Source
from ..timestamps import parse_ns
from .histories import Body, Histories
from .inflate import Stream
from .lines import Line, LineFile, View, is_packed

ENVELOPE = "abb.observe.event.v1"

Members = tuple[str, ...]


class _Envelope(msgspec.Struct):
    event: str
    timestamp: str | None = None
    source: str = ""
    run_id: str | None = None
    data: dict[str, Any] = {}


_whole: Final[msgspec.json.Decoder[Any]] = msgspec.json.Decoder(_Envelope)
_PIECE: Final = 1 << 15
_LONG: Final = 1 << 16
"""Lines up to this are held to the limits when their bodies are passed over; longer ones when their bodies are read."""
_RECENT: Final = 4
_RECENT_BYTES: Final = 4 << 20
_DAMAGE: Final = (msgspec.DecodeError, msgspec.ValidationError, RecursionError)


CARRIED: Final = frozenset(
    (
        "agent_id", "case_id", "input_id", "attempt_id", "run_id", "call_id", "mode", "event",
        "route_id", "method", "provider", "framework_span_id", "traceparent", "url", "host", "path", "source",
        "source_host", "source_port", "source_path", "source_transport", "target_host", "target_port", "target_path",
        "request_kind",
        "source_payload", "source_raw_body", "client_payload", "raw_body", "content_type", "encoding", "body_bytes",
        "status", "latency_ms", "streaming", "truncated", "redacted", "decode_status", "purpose_evidence",
        "native_session_id", "native_call_id", "native_response_id", "native_turn_id",
    )
)  # fmt: skip
"""Members by which the record of a model call says whose call it is, how it was carried, and the bodies once more."""


@lru_cache(maxsize=64)
def _whole_but(members: Members, payload: Any) -> msgspec.json.Decoder[Any]:
    """`_partial`, which refuses a record with a member that is neither named nor one of those that are `CARRIED`."""
    fields: list[Any] = [(name, Any, msgspec.UNSET) for name in members]
    fields.append(("payload", payload, msgspec.UNSET))
    fields += [(name, msgspec.Raw, msgspec.UNSET) for name in sorted(CARRIED.difference(members))]
    data = msgspec.defstruct("Data", fields, forbid_unknown_fields=True)
    envelope = msgspec.defstruct("Envelope", [("data", data, msgspec.field(default_factory=data))], bases=(_Envelope,))
    return msgspec.json.Decoder(envelope)


@lru_cache(maxsize=64)
def _partial(members: Members, payload: Any = None) -> msgspec.json.Decoder[Any]:
    """Decodes only these members of `data`, and `payload` in the form that is given."""
    fields: list[Any] = [(name, Any, msgspec.UNSET) for name in members]
    if payload is not None:
        fields.append(("payload", payload, msgspec.UNSET))
    data = msgspec.defstruct("Data", fields)
    envelope = msgspec.defstruct("Envelope", [("data", data, msgspec.field(default_factory=data))], bases=(_Envelope,))
    return msgspec.json.Decoder(envelope)


class _Data(msgspec.Struct):
    data: msgspec.Raw


class _Every(msgspec.Struct):
    data: dict[str, msgspec.Raw] = {}


class _Payload(msgspec.Struct):
    payload: msgspec.Raw


class _PayloadOf(msgspec.Struct):
    data: _Payload


_EVERY: Final = msgspec.json.Decoder(_Every)
_WITH_DATA: Final = msgspec.json.Decoder(_Data)
_MEMBERS: Final = msgspec.json.Decoder(dict[str, msgspec.Raw] | None)
_WITH_PAYLOAD: Final = msgspec.json.Decoder(_PayloadOf)


class AbbFile:
    """One file of enveloped lines: every record in order, and any record again by its address."""

    def __init__(self, source: Source, members: Members | None = None) -> None:
        """`members` names those of `data` that `records` gives; what else a record holds is passed over unread."""
        self.source = source
        self._inflated = Stream(source.file, source.path) if is_packed(source.file) else None
        self._lines = LineFile(source, None if self._inflated is None else os.dup(self._inflated.file.fileno()))
        self._members = members
        self._histories = Histories()
        self._recent: dict[EvidenceRef, bytes] = {}

    def records(self) -> Iterator[AbbRecord | Notice]:
        """Broken lines come as notices with path and line; nothing else is raised."""
        path = self.source.path
        if self._inflated is not None:
            yield from self._inflated.notices
            self.source.sha256, self.source.size = self._inflated.finish()
        for line in self._lines.views():
            if isinstance(line, Notice):
                yield line
                continue
            for item in _read(line, path, self._members):
                yield item
                if self._members is None and isinstance(item, AbbRecord):
                    try:
                        data = _WITH_DATA.decode(line.data).data
                    except _DAMAGE:  # read with a repair
                        continue
                    yield from self._twice(data, key_ends(item.data), item.ref)

    def repeated(self, ref: EvidenceRef, payload: Body) -> Iterator[Notice]:
        """A notice where an object of the record's payload, which was read as this body, names a member twice."""
        try:
            recorded, payload.recorded = payload.recorded, None
            found = _WITH_PAYLOAD.decode(self.raw(ref)).data.payload if recorded is None else recorded
        except _DAMAGE:  # read with a repair, or without such a member
            return
        yield from self._twice(found, payload.key_ends(), ref)

    def _twice(self, raw: msgspec.Raw, keys: int, ref: EvidenceRef) -> Iterator[Notice]:
        try:
            key = repeated_key_of(bytes(raw), keys)
        except (*_DAMAGE, ValueError):  # read with a repair, or without such a member
            return
        if key is not None:
            yield Notice("repeated_key", f"a member {key!r} stands twice in one object", ref.source, ref.line)

    def fetch(self, ref: EvidenceRef) -> AbbRecord:
        """The record at an address that `records` gave, whole."""
        return self._again(ref, None, None)[0]

    def fetch_request(self, ref: EvidenceRef, members: Members = ()) -> tuple[AbbRecord, Body, list[Notice]]:
        """The members of a record's `data` that are named, those that nobody knows, and its `payload` apart, whose
        history shares its entries with those read before. With the repairs that the record needed."""
        raw = self.raw(ref)
        try:
            found, more = _told(raw, members, msgspec.Raw)
            body = Body()
            if found.data.payload is not msgspec.UNSET:
                payload = _MEMBERS.decode(found.data.payload)
                body = Body() if payload is None else self._histories.body(payload)
                body.recorded = found.data.payload
        except (*_DAMAGE, JsonError):
            record, notices = self._again(ref, None, None)
            return record, Body(record.data.get("payload")), notices
        return _record(found, ref, members, more), body, []

    def fetch_response(self, ref: EvidenceRef, members: Members = ()) -> tuple[AbbRecord, Body, list[Notice]]:
        """The same of a body that has no history."""
        record, notices = self._again(ref, members, Any)
        return record, Body(record.data.get("payload")), notices

    def _again(self, ref: EvidenceRef, members: Members | None, payload: Any) -> tuple[AbbRecord, list[Notice]]:
        raw = self.raw(ref)
        if members is not None:
            try:
                found, more = _told(raw, members, payload)
                return _record(found, ref, (*members, "payload"), more), []
            except (*_DAMAGE, JsonError):
                pass
        items = list(_read(Line(ref.line or 0, ref.offset, raw, True), self.source.path))
        notices = [item for item in items if isinstance(item, Notice)]
        record = items[-1]
        if isinstance(record, Notice):  # a long line whose body, passed over until now, is beyond a limit
            record = AbbRecord("", None, None, {}, ref)
        return record, notices

    def raw(self, ref: EvidenceRef) -> bytes:
        """The bytes of a record. The last few are kept: they are asked for to be read, and again for their digest."""
        found = self._recent.get(ref)
        if found is None:
            found = self._lines.read(ref)
            if len(self._recent) >= _RECENT:
                self._recent.clear()
            if len(found) <= _RECENT_BYTES:
                self._recent[ref] = found
        return found

    def close(self) -> None:
        self._lines.close()
        if self._inflated is not None:
            self._inflated.close()


def _told(raw: bytes, members: Members, payload: Any) -> tuple[Any, JsonObject]:
    """A record with these members of its `data`, and those members that nobody knows."""
    try:
        return _whole_but(members, payload).decode(raw), {}
    except msgspec.ValidationError:
        found = _partial(members, payload).decode(raw)
    more = _EVERY.decode(raw).data
    return found, {
        name: loads_evidence(bytes(value))
        for name, value in more.items()
        if name not in (*members, "payload", *CARRIED)
    }


def _record(found: Any, ref: EvidenceRef, members: Members | None, more: JsonObject | None = None) -> AbbRecord:
    if members is None:
        data = found.data
    else:
        data = {name: value for name in members if (value := getattr(found.data, name)) is not msgspec.UNSET}
        data.update(more or {})
    return AbbRecord(found.event, parse_ns(found.timestamp), found.timestamp, data, ref, found.source, found.run_id)


def _is_text(data: memoryview | bytes) -> bool:
    """Whether the bytes are UTF-8, piece by piece; members that are passed over are checked for everything else."""
    at, size = 0, len(data)
    try:
        while at < size:
            piece = bytes(data[at : at + _PIECE])
            at += len(piece) if piece.isascii() else utf_8_decode(piece, "strict", at + _PIECE >= size)[1]
    except UnicodeDecodeError:
        return False
    return True


def _read(line: Line | View, path: str, members: Members | None = None) -> Iterator[AbbRecord | Notice]:
    ref = EvidenceRef(path, line.offset, len(line.data), line.number)
    try:
        passed_over = members is not None and len(line.data) > _LONG
        if not passed_over and beyond_limits(line.data) is not None:
            pass
        elif members is None:
            yield _record(_whole.decode(line.data), ref, None)
            return
        elif _is_text(line.data):
            yield _record(_partial(members).decode(line.data), ref, members)
            return
    except _DAMAGE:
        pass
    raw = bytes(line.data)
    if not raw.strip():
        return
    try:
        value, repairs = loads_tolerant(raw)
    except JsonError as err:
        cut = "" if line.ended else "; the line has no end, it was cut or is still being written"
        yield Notice("unreadable_line", f"skipped a line that is not JSON: {err}{cut}", path, line.number)
        return
    record = _loose(value, ref)
    if record is None:
        yield Notice("unreadable_line", "skipped a line that is not an event record", path, line.number)
        return
    for repair in repairs:
        yield Notice(
            "repaired_record", f"read with a repair: {repair}", path, line.number, lossy=repair == "invalid-utf-8"
        )
    yield record


def _loose(value: Any, ref: EvidenceRef) -> AbbRecord | None:
    if not isinstance(value, dict) or not isinstance(value.get("event"), str):
        return None
    data = value.get("data")
    timestamp = value.get("timestamp")
    timestamp = timestamp if isinstance(timestamp, str) else None
    source, run_id = value.get("source"), value.get("run_id")
    body: JsonObject = data if isinstance(data, dict) else {}
    return AbbRecord(
        value["event"],
        parse_ns(timestamp),
        timestamp,
        body,
        ref,
        source if isinstance(source, str) else "",
        run_id if isinstance(run_id, str) else None,
    )
