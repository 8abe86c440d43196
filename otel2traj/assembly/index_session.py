"""Records of session files to heads: by the keys that the file itself uses."""

from __future__ import annotations

from ..evidence import Index
from ..model.evidence import Source
from ..model.heads import Part, Recorder, SpanHead
from ..model.reading import Role
from ..model.session import SessionRecord, Told

INPUT = "input"
"""What a record that a call was sent is among the parts of its head."""


def add_session(index: Index, record: SessionRecord, source: Source) -> None:
    """One record: each call, execution or prompt that it tells of gets it as a part."""
    index.counts["session_records"] += 1
    for told in record.told:
        key = (record.conversation_id or source.path, f"{record.form} {told.key}")
        head = index.sessions.get(key)
        if head is None:
            head = index.sessions[key] = _head(record, told, source)
            head.parts.extend(Part(INPUT, ref) for ref in told.inputs)
        head.parts.append(Part("session", record.ref))
        head.failed = head.failed or told.facts.get("is_error") is True
        began = record.time_ns if told.start_ns is None else told.start_ns
        head.start_ns = min((ns for ns in (head.start_ns, began) if ns is not None), default=None)
        head.end_ns = max((ns for ns in (head.end_ns, told.end_ns) if ns is not None), default=None)


def _head(record: SessionRecord, told: Told, source: Source) -> SpanHead:
    call_id = told.facts.get("tool_call_id") if told.role is Role.TOOL_EXECUTION else None
    return SpanHead(
        recorder=Recorder.SESSION,
        source=source.path,
        ordinal=source.ordinal,
        trace_id=record.trace_id,
        span_id=told.key,
        parent_id=None,
        role=told.role,
        start_ns=None,
        end_ns=None,
        dialects=(record.form,),
        scope=record.form,
        agent_name=record.agent_name,
        conversation_id=record.conversation_id,
        turn=record.turn,
        tool_call_id=call_id if isinstance(call_id, str) else None,
    )
