"""The second reading: the bodies of one call or one execution, and what they mean."""

from __future__ import annotations

from collections.abc import Iterable

from .. import dialects
from ..canonical import JsonObject, JsonValue
from ..dialects.repeated import tell_repeated
from ..dialects.session_file import read_session
from ..evidence import Index
from ..messages.nested import RepeatedKeys
from ..model.evidence import LogRecord, Notice, SpanRecord
from ..model.heads import Part, Recorder, SpanHead, WireHead
from ..model.reading import ModelRequest, ModelResponse, Reading
from ..model.session import SessionRecord
from ..providers import provider_for
from ..readers.abb import CARRIED
from ..readers.histories import Body
from .acp import read_acp
from .archive import Archive
from .combine import combine
from .framework import read_dump, read_framework
from .unsaid import beside

_BESIDE_BODIES = ("model", "source_model", "purpose", "native_purpose")
"""What a step takes of a wire record beside its body."""
_OF_A_CALL = (*_BESIDE_BODIES, "error", "error_code", "error_stage", "local_status", "upstream_status")


class WireBodies:
    """Request and response of one wire call, decoded once."""

    def __init__(self, archive: Archive, head: WireHead) -> None:
        self.notices: list[Notice] = []
        """Remarks on members that stand twice."""
        self.request_data: JsonObject = {}
        self.response_data: JsonObject = {}
        self.error_data: JsonObject | None = None
        self.request_body, self.response_body = Body(), Body()
        if head.request is not None:
            record, self.request_body = archive.fetch_request(head.request, _BESIDE_BODIES)
            self.request_data = record.data
            self.notices += archive.repeated(head.request, self.request_body)
        if head.response is not None:
            if any(part.what == "response" for part in head.others):
                stand_by_what_speaks(archive, head, self.request_body)
            record, self.response_body = archive.fetch_response(head.response, _BESIDE_BODIES)
            self.response_data = record.data
            self.notices += archive.repeated(head.response, self.response_body)
        if head.error is not None:
            self.error_data = archive.fetch_abb(head.error).data
        self.provider = provider_for(head.path, self.request_body.value, self.response_body.value)

    def unnamed(self) -> JsonObject:
        """What the wire records hold under names that nobody knows, by side."""
        sides = {"request": self.request_data, "response": self.response_data, "error": self.error_data or {}}
        left = {side: beside(data, "payload", *_OF_A_CALL, *CARRIED) for side, data in sides.items()}
        return {side: members for side, members in left.items() if members}

    def size(self, head: WireHead) -> int:
        """Recorded bytes that it holds and no other does, about."""
        told = [(head.request, self.request_body), (head.response, self.response_body)]
        sizes = [ref.length if body.read_anew is None else body.read_anew for ref, body in told if ref is not None]
        return sum(sizes) + (0 if head.error is None else head.error.length)

    def request(self) -> ModelRequest:
        if self.provider is None or self.request_body.value is None:
            return ModelRequest()
        return self.provider.request(self.request_body.value)

    def response(self) -> ModelResponse:
        if self.provider is None or self.response_body.value is None:
            return ModelResponse(complete=False)
        found = self.provider.response(self.response_body.value)
        asked = self.request_body.value
        if isinstance(asked, dict):  # what a response repeats of its request stands in the input
            extra = found.output.extra
            found.output.extra = {key: extra[key] for key in extra if not _echoes(asked, key[1:], extra[key])}
        return found


def stand_by_what_speaks(archive: Archive, head: WireHead, request: Body) -> None:
    """Of several responses of one call the last one that says anything stands: an empty one takes nothing away."""
    assert head.response is not None
    earlier = [part for part in head.others if part.what == "response"]
    for ref in [head.response, *(part.ref for part in reversed(earlier))]:
        record, body = archive.fetch_response(ref, ("status",))
        if not _speaks(head.path, request, body):
            continue
        if ref is not head.response:
            at = next(number for number, part in enumerate(head.others) if part.ref is ref)
            head.others[at] = Part("response", head.response)
            status = record.data.get("status")
            head.response, head.http_status = ref, status if type(status) is int else None
            head.ended_at, head.end_ns = record.timestamp, record.time_ns
        return


def _speaks(path: str, request: Body, body: Body) -> bool:
    provider = provider_for(path, request.value, body.value)
    if provider is None or body.value is None:
        return bool(body.value)
    found = provider.response(body.value)
    if found.error is not None or found.unread:
        return bool(body.value)
    out = found.output
    return bool(out.text or out.reasoning or out.refusal or out.all_tool_calls() or out.other_parts)


def _echoes(request: JsonObject, key: str, value: JsonValue) -> bool:
    return key in request and bool(request[key] == value) and type(request[key]) is type(value)


def read_head(archive: Archive, index: Index, head: SpanHead) -> Reading:
    """What one recorder says of one call or execution."""
    with RepeatedKeys() as repeated:
        reading = _read_head(archive, index, head)
    tell_repeated(reading, repeated, head.parts[0].ref, head.span_id)
    return reading


def _read_head(archive: Archive, index: Index, head: SpanHead) -> Reading:
    if head.recorder is Recorder.FRAMEWORK:
        return read_framework(archive, head)
    if head.recorder is Recorder.ACP:
        return read_acp(archive, index, head)
    if head.recorder is Recorder.LOGS:
        return dialects.known().logs.get(head.dialects[0]).read(_logs(archive, head.parts))
    if head.recorder is Recorder.SESSION:
        return read_session(head.span_id, [(part.what, _session(archive, part)) for part in head.parts])
    return _otel(archive, index, head)


def _session(archive: Archive, part: Part) -> SessionRecord:
    record = archive.fetch(part.ref)
    assert isinstance(record, SessionRecord)
    return record


def _logs(archive: Archive, parts: Iterable[Part]) -> list[LogRecord]:
    """Log records in the order of their time, whatever the order in which they were exported or received."""
    logs = []
    for part in parts:
        record = archive.fetch(part.ref)
        assert isinstance(record, LogRecord)
        logs.append(record)
    return sorted(logs, key=lambda log: (log.time_ns or 0, log.ref.source, log.ref.offset))


def _otel(archive: Archive, index: Index, head: SpanHead) -> Reading:
    span = archive.fetch(head.parts[0].ref)
    assert isinstance(span, SpanRecord)
    references = {key: span.attributes.get(f"abb.{key}_ref") for key in ("input", "output", "metadata", "error")}
    if "abb.kind" in span.attributes and any(references.values()):
        folder = head.source.rpartition("/")[0]
        bodies = {key: archive.payload(folder, ref) for key, ref in references.items() if isinstance(ref, str)}
        told = read_dump(head, bodies, None, None, span.name)
        return combine([told, dialects.read(span, _logs(archive, index.logs_of(head)))])
    return dialects.read(span, _logs(archive, index.logs_of(head)))


def node_output(archive: Archive, head: SpanHead) -> JsonValue:
    """The recorded output of a chain span."""
    for part in head.parts:
        if part.what == "span_end":
            output: JsonValue = archive.fetch_abb(part.ref).data.get("output")
            return output
    for part in head.parts:
        if part.what == "span":
            span = archive.fetch(part.ref)
            if isinstance(span, SpanRecord) and isinstance(span.attributes.get("abb.output_ref"), str):
                return archive.payload(head.source.rpartition("/")[0], span.attributes["abb.output_ref"])
    return None


def namespace(archive: Archive, head: SpanHead) -> str | None:
    """The checkpoint namespace of a chain span, also out of the file in which its recorder put the metadata."""
    if head.agent_path is None and "abb_framework" in head.dialects and head.parts[0].what == "span":
        span = archive.fetch(head.parts[0].ref)
        ref = span.attributes.get("abb.metadata_ref") if isinstance(span, SpanRecord) else None
        metadata = archive.payload(head.source.rpartition("/")[0], ref) if isinstance(ref, str) else None
        found = metadata.get("langgraph_checkpoint_ns") if isinstance(metadata, dict) else None
        head.agent_path = found if isinstance(found, str) else None
    return head.agent_path
