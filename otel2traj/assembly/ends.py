"""What agent spans, frameworks and ACP clients record of the end of an Input, where its own result does not say it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from ..canonical import JsonObject, JsonValue
from ..dialects.exceptions import exception_event, is_control_flow
from ..evidence import Index
from ..model.evidence import AbbRecord, SpanRecord
from ..model.heads import Part, Recorder, SpanHead
from ..model.reading import Role
from .archive import Archive
from .documents import InputRecord
from .evidence import interaction_id, record

_SUCCESS: Final = frozenset({"succeeded", "success", "completed", "ok", "passed"})
_ENDED: Final = "end_turn"
_FAILURES: Final = {"failure": "acp", "execution_error": "framework"}
"""Events that tell of a failure of the Input, and whose they are."""


@dataclass(slots=True)
class Ends:
    """The errors of agent spans by Input, innermost first, and what a recorder said of the end of the Input itself."""

    errors: dict[str | None, list[JsonObject]] = field(default_factory=dict)
    root: dict[str | None, JsonObject] = field(default_factory=dict)
    """The error in which the outermost span of an Input ended."""
    told: dict[str | None, list[tuple[str, AbbRecord, JsonObject]]] = field(default_factory=dict)
    """(event, record, its address) of ACP and framework records, in their order."""

    def close(self, item: InputRecord) -> tuple[JsonObject | None, JsonObject]:
        """The result of an Input with what it did not say itself, and the `evidence` of it."""
        result = dict(item.result) if item.result is not None else {}
        evidence: JsonObject = {}
        if item.ordinal in self.errors:
            evidence["errors"] = self.errors[item.ordinal]
        told = self.told.get(item.ordinal, [])
        stop = next(((data, where) for event, data, where in reversed(told) if event == "prompt_completed"), None)
        if stop is not None and "stop_reason" not in result and "stopReason" not in result:
            word = stop[0].data.get("stopReason")
            if isinstance(word, str) and (not result or word != _ENDED):
                result["stop_reason"] = word
                evidence["records"] = [stop[1]]
        failures = [(event, data, where) for event, data, where in told if event != "prompt_completed"]
        if failures and not result.get("error") and str(result.get("status")).lower() in _SUCCESS:
            beside = [{**_told_error(event, data), "records": [where]} for event, data, where in failures]
            evidence["errors"] = [*evidence.get("errors", []), *beside]
        if not result.get("error") and str(result.get("status")).lower() not in _SUCCESS:
            found = self._error(item.ordinal, told)
            if found is not None:
                source, error, records = found
                result.setdefault("status", "failed")
                result["error"], result["error_source"] = error, source
                evidence["records"] = records
        return result or None, evidence

    def _error(
        self, ordinal: str, told: list[tuple[str, AbbRecord, JsonObject]]
    ) -> tuple[str, JsonObject, list[JsonObject]] | None:
        for event, data, where in reversed(told):
            if event in _FAILURES:
                return _FAILURES[event], _told_error(event, data), [where]
        root = self.root.get(ordinal)
        if root is None:
            return None
        error: JsonObject = {key: root[key] for key in ("type", "message", "stacktrace") if key in root}
        return "span", error, root["records"]


def _told_error(event: str, told: AbbRecord) -> JsonObject:
    """What a recorder said of a failure of the Input."""
    if event == "failure":
        keys = ("type", "message", "code", "data")
        return {key: told.data[key] for key in keys if told.data.get(key) is not None}
    error: JsonValue = told.data.get("error")
    return dict(error) if isinstance(error, dict) else {"message": str(error)}


def read_ends(archive: Archive, index: Index, heads: Iterable[SpanHead]) -> Ends:
    """Everything that is recorded of how the Inputs of some heads ended."""
    ends = Ends()
    failed = [head for head in heads if head.failed and _tells(head)]
    for head in sorted(failed, key=lambda head: (head.end_ns or 0, *head.order())):
        error = _error(archive, head)
        if error is None:
            continue
        ends.errors.setdefault(head.ordinal, []).append(error)
        if head.parent is None:
            ends.root[head.ordinal] = error
    for ordinal, parts in index.ends.items():
        told = [(part.what, archive.fetch_abb(part.ref), record(archive, part)) for part in parts]
        ends.told[ordinal] = told
    return ends


def _tells(head: SpanHead) -> bool:
    """Agents, and whatever stands outermost; tool and model spans are steps, and tell for themselves."""
    if head.recorder not in (Recorder.OTEL, Recorder.FRAMEWORK):
        return False
    if head.role is Role.AGENT:
        return True
    return head.parent is None and (head.role is Role.CHAIN or (head.role is Role.NONE and not head.dialects))


def _error(archive: Archive, head: SpanHead) -> JsonObject | None:
    out: JsonObject = {"agent_name": head.agent_name}
    parts: list[Part] = head.parts
    if head.recorder is Recorder.FRAMEWORK:
        parts = [part for part in head.parts if part.what == "span_error"]
        texts = [archive.fetch_abb(part.ref).data.get("error") for part in parts]
        out["message"] = next((text for text in texts if isinstance(text, str)), None)
    else:
        span = archive.fetch(head.parts[0].ref)
        assert isinstance(span, SpanRecord)
        event = exception_event(span)
        told = event.attributes if event is not None else {}
        out["type"] = told.get("exception.type") or span.attributes.get("error.type")
        out["message"] = told.get("exception.message") or span.status_message or span.attributes.get("error.message")
        out["stacktrace"] = told.get("exception.stacktrace")
        if is_control_flow(out["type"] if isinstance(out["type"], str) else None):
            return None
        reference = span.attributes.get("abb.error_ref")
        if out["message"] is None and isinstance(reference, str):
            payload = archive.payload(head.source.rpartition("/")[0], reference)
            out["message"] = payload if isinstance(payload, str) else None
        out["trace_id"], out["otel_span_id"] = head.trace_id, head.otel_span_id
    out = {key: value for key, value in out.items() if value is not None}
    out["interaction_id"] = interaction_id(head.interaction_key())
    out["records"] = [record(archive, part) for part in parts]
    return out
