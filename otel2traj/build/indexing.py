"""The first pass: every record of an attempt is read once, classified, and kept as a head or counted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import dialects
from ..dialects.versions import untested
from ..errors import EvidenceError
from ..evidence import Index
from ..model.evidence import AbbRecord, LogRecord, Notice, Source, SourceKind, SpanRecord
from ..model.heads import Part, Recorder, SpanHead, WireHead
from ..model.reading import Role
from ..readers.attempt import Layout
from .archive import Archive

_MODEL_EVENTS = {"llm_request", "llm_response", "llm_chunk", "llm_error"}
_FRAMEWORK_ROLES = {"llm": Role.MODEL_CALL, "tool": Role.TOOL_EXECUTION, "chain": Role.CHAIN}

Progress = Callable[[str, int], None]
"""Called with a source path and the records read of it so far."""

_WIRE_MEMBERS = (
    "call_id",
    "path",
    "source_path",
    "agent_id",
    "case_id",
    "input_id",
    "native_session_id",
    "framework_span_id",
    "traceparent",
    "status",
    "truncated",
    "error",
    "error_code",
)
"""What `add_wire` looks at; bodies are passed over."""


def index_attempt(archive: Archive, progress: Progress | None = None) -> Index:
    """Read every source of the attempt. A source that cannot be opened is a notice, and the others are read."""
    index = Index()
    index.notices.extend(archive.attempt.notices)
    for source in archive.attempt.sources:
        try:
            _index_source(index, archive, source, progress)
        except EvidenceError as err:
            if err.error_code == "evidence.unknown_form" and archive.attempt.layout is Layout.BARE:
                message = "no spans, log records or wire records in it; passed over"
                index.notices.append(Notice("foreign_file", message, source.path, lossy=False))
            else:
                index.notices.append(Notice("unreadable_source", str(err), source.path))
    index.finish()
    for (scope, version), path in index.scopes.items():
        if untested(scope, version):
            message = f"{scope} {version}: its spans are read by their attributes, in a version not tested with"
            index.notices.append(Notice("untested_version", message, path, lossy=False))
    return index


def _index_source(index: Index, archive: Archive, source: Source, progress: Progress | None) -> None:
    count = 0
    if source.kind in (SourceKind.WIRE, SourceKind.FRAMEWORK, SourceKind.ACP):
        add = {SourceKind.WIRE: add_wire, SourceKind.FRAMEWORK: add_framework, SourceKind.ACP: add_acp}[source.kind]
        members = _WIRE_MEMBERS if source.kind is SourceKind.WIRE else None
        for item in archive.abb_records(source, members):
            count += 1
            if isinstance(item, Notice):
                index.notices.append(item)
            else:
                add(index, item, source)
            if progress is not None and count % 4096 == 0:
                progress(source.path, count)
        return
    for record in archive.otel_records(source):
        count += 1
        if isinstance(record, SpanRecord):
            add_span(index, archive, record, source)
        elif isinstance(record, LogRecord):
            add_log(index, record, source)
        else:
            index.notices.append(record)
        if progress is not None and count % 4096 == 0:
            progress(source.path, count)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def add_wire(index: Index, record: AbbRecord, source: Source) -> None:
    """Group interceptor records by `call_id`; traffic that is no model call is counted."""
    data = record.data
    if record.event not in _MODEL_EVENTS:
        index.counts[f"wire.{record.event}"] += 1
        if record.event == "observation_error":
            message = f"the interceptor could not record: {data.get('error_code') or data.get('error') or 'unknown'}"
            index.notices.append(Notice("observation_error", message, record.ref.source, record.ref.line))
        return
    call_id = _text(data.get("call_id"))
    if call_id is None:
        index.counts["wire.without_call_id"] += 1
        index.notices.append(
            Notice("wire_without_call_id", f"{record.event} without call_id", record.ref.source, record.ref.line)
        )
        return
    head = index.wires.get(call_id)
    if head is None:
        head = index.wires[call_id] = WireHead(call_id, source.path)
    if record.event == "llm_chunk":
        head.chunks += 1
        return
    _wire_identity(head, record)
    if data.get("truncated") is True:
        head.truncated = True
        index.notices.append(
            Notice("truncated_record", f"{record.event} of {call_id} is truncated", record.ref.source, record.ref.line)
        )
    if record.event == "llm_request":
        if head.request is not None:
            head.others.append(Part("request", head.request))
        head.request = record.ref
        head.started_at, head.start_ns = record.timestamp, record.time_ns
        return
    if record.event == "llm_response":
        if head.response is not None:
            head.others.append(Part("response", head.response))
        head.response = record.ref
        status = data.get("status")
        head.http_status = status if isinstance(status, int) and not isinstance(status, bool) else None
    else:
        if head.error is not None:
            head.others.append(Part("error", head.error))
        head.error = record.ref
        head.error_code = _text(data.get("error_code"))
    head.ended_at, head.end_ns = record.timestamp, record.time_ns


def _wire_identity(head: WireHead, record: AbbRecord) -> None:
    data = record.data
    head.path = head.path or _text(data.get("path")) or _text(data.get("source_path")) or ""
    head.agent_id = head.agent_id or _text(data.get("agent_id"))
    head.run_id = head.run_id or record.run_id
    head.case_id = head.case_id or _text(data.get("case_id"))
    head.input_id = head.input_id or _text(data.get("input_id"))
    head.session = head.session or _text(data.get("native_session_id"))
    if head.framework_span_id is None:
        head.framework_span_id = _text(data.get("framework_span_id"))
    if head.traceparent is None:
        head.traceparent = _text(data.get("traceparent"))


def add_framework(index: Index, record: AbbRecord, source: Source) -> None:
    """Group framework events by span id within their file."""
    data = record.data
    span_id = _text(data.get("span_id"))
    if record.event == "native_event" or span_id is None or not record.event.startswith(("span_", "tool_outcome")):
        index.counts[f"framework.{record.event}"] += 1
        return
    key = (source.path, span_id)
    head = index.framework.get(key)
    part = Part(record.event, record.ref)
    if record.event == "span_start":
        if head is not None and any(p.what == "span_start" for p in head.parts):
            index.notices.append(
                Notice("duplicate_span", f"span {span_id} starts twice", record.ref.source, record.ref.line)
            )
            head.parts.append(part)
            return
        metadata = data.get("metadata")
        metadata = metadata if isinstance(metadata, dict) else {}
        role = _FRAMEWORK_ROLES.get(str(data.get("kind")), Role.CHAIN)
        if metadata.get("abb_span_kind") == "tool":
            role = Role.TOOL_EXECUTION
        started = SpanHead(
            recorder=Recorder.FRAMEWORK,
            source=source.path,
            ordinal=source.ordinal,
            trace_id=None,
            span_id=span_id,
            parent_id=_text(data.get("parent_span_id")),
            role=role,
            start_ns=record.time_ns,
            end_ns=None,
            dialects=("abb_framework",),
            agent_path=_text(metadata.get("langgraph_checkpoint_ns")),
            framework_span_id=span_id,
            tool_call_id=_text(data.get("tool_call_id")),
            tool_name=_text(data.get("name")) if role is Role.TOOL_EXECUTION else None,
            finished=False,
        )
        started.parts = [part]
        if head is not None:  # its end came first
            started.parts += head.parts
            started.finished, started.failed, started.end_ns = head.finished, head.failed, head.end_ns
            started.tool_call_id = started.tool_call_id or head.tool_call_id
        index.framework[key] = started
        return
    if head is None:
        head = index.framework[key] = SpanHead(
            Recorder.FRAMEWORK, source.path, source.ordinal, None, span_id, None, Role.NONE, None, None, finished=False
        )
    head.parts.append(part)
    head.tool_call_id = head.tool_call_id or _text(data.get("tool_call_id"))
    if record.event in ("span_end", "span_error"):
        head.finished, head.end_ns = True, record.time_ns
        head.failed = head.failed or record.event == "span_error"


def add_acp(index: Index, record: AbbRecord, source: Source) -> None:
    """Group ACP tool calls by `toolCallId`, and remember which terminal belongs to which."""
    data = record.data
    index.counts[f"acp.{record.event}"] += 1
    if record.event == "native_model_call":
        response_id = _text(data.get("native_response_id"))
        if response_id is not None:
            index.native_calls.setdefault(response_id, []).append(
                (source.ordinal, Part("native_model_call", record.ref))
            )
        return
    if record.event in ("terminal_exited", "terminal_output", "terminal_released"):
        terminal = _text(data.get("terminal_id"))
        if terminal is not None:
            index.terminals.setdefault((source.path, terminal), []).append(Part(record.event, record.ref))
        return
    update = data.get("update")
    if record.event != "session_update" or not isinstance(update, dict):
        return
    kind = update.get("sessionUpdate")
    call_id = _text(update.get("toolCallId"))
    if kind not in ("tool_call", "tool_call_update") or call_id is None:
        return
    key = (source.path, call_id)
    head = index.acp.get(key)
    if head is None:
        if kind == "tool_call_update":
            index.notices.append(
                Notice(
                    "acp_update_without_start",
                    f"an update of tool call {call_id} that never began",
                    record.ref.source,
                    record.ref.line,
                )
            )
            return
        head = index.acp[key] = SpanHead(
            recorder=Recorder.ACP,
            source=source.path,
            ordinal=source.ordinal,
            trace_id=None,
            span_id=call_id,
            parent_id=None,
            role=Role.TOOL_EXECUTION,
            start_ns=record.time_ns,
            end_ns=None,
            tool_call_id=call_id,
            session=_text(data.get("session_id")),
            finished=False,
        )
    head.parts.append(Part("acp", record.ref))
    if update.get("status") in ("completed", "failed") and not head.finished:
        head.finished, head.end_ns = True, record.time_ns
        head.failed = update.get("status") == "failed"


def add_span(index: Index, archive: Archive, span: SpanRecord, source: Source) -> None:
    """One OpenTelemetry span. A finished span replaces its live snapshots; a repeated one is counted and dropped."""
    index.counts["spans"] += 1
    key = (span.trace_id, span.span_id)
    if "" in key:  # nobody can mean it by its id: it stands for itself, however often it was sent
        key = (span.trace_id, f"sha256:{archive.digest(span.ref)}")
    before = index.otel.get(key)
    if before is not None and not _replaces(index, archive, before, span):
        return
    found = dialects.classify(span)
    head = SpanHead(
        recorder=Recorder.OTEL,
        source=source.path,
        ordinal=source.ordinal,
        trace_id=span.trace_id if span.trace_id != "" else None,
        span_id=span.span_id,
        parent_id=span.parent_span_id,
        role=found.role or Role.NONE,
        start_ns=span.start_ns,
        end_ns=span.end_ns,
        parts=[Part("span", span.ref)],
        dialects=found.dialects,
        scope=span.scope_name,
        agent_name=found.agent_name,
        agent_path=found.agent_path,
        conversation_id=found.conversation_id,
        framework_span_id=found.framework_span_id,
        otel_span_id=span.span_id if span.span_id != "" else None,
        finished=_ended(span),
        failed=span.status_code == 2,
    )
    index.otel[key] = head
    if found.role is not None:
        index.scopes.setdefault((span.scope_name, span.scope_version), source.path)
    if found.log_key is not None:
        index.log_key_spans[(source.ordinal or "", found.log_key)] = head
    if found.role is None:
        index.counts["spans.unrecognised"] += 1
    if span.dropped_attributes or span.dropped_events:
        index.notices.append(
            Notice(
                "dropped_attributes",
                f"span {span.span_id} lost {span.dropped_attributes} attributes and {span.dropped_events} events"
                " to a limit of the SDK",
                span.ref.source,
                span.ref.line,
            )
        )


def _ended(span: SpanRecord) -> bool:
    return not span.live and span.end_ns is not None


def _replaces(index: Index, archive: Archive, before: SpanHead, span: SpanRecord) -> bool:
    if not before.finished:
        return True
    if not _ended(span):
        return False
    index.counts["spans.duplicate"] += 1
    if archive.digest(before.parts[0].ref) != archive.digest(span.ref):
        index.notices.append(
            Notice(
                "duplicate_span",
                f"span {span.span_id} was recorded twice with different content; the first stands",
                span.ref.source,
                span.ref.line,
            )
        )
    return False


def add_log(index: Index, log: LogRecord, source: Source) -> None:
    """One OpenTelemetry log record: with a call of its own, or as content of the span it names."""
    index.counts["logs"] += 1
    for dialect in _LOG_DIALECTS:
        if not dialect.recognises(log):
            continue
        found = dialect.classify(log)
        if found is None:
            continue
        key = (source.ordinal or "", f"{dialect.name}:{found.key}")
        head = index.log_groups.get(key)
        if head is None:
            head = index.log_groups[key] = SpanHead(
                recorder=Recorder.LOGS,
                source=source.path,
                ordinal=source.ordinal,
                trace_id=log.trace_id,
                span_id=found.key,
                parent_id=log.span_id,
                role=found.role,
                start_ns=log.time_ns,
                end_ns=log.time_ns,
                dialects=(dialect.name,),
                agent_name=found.agent_name,
                conversation_id=found.conversation_id,
                fallback_only=found.fallback_only,
            )
        for told in (found.key, *found.also):
            members = index.log_keys.setdefault((source.ordinal or "", told), [])
            if key not in members:
                members.append(key)
        head.parts.append(Part("log", log.ref))
        head.agent_name = head.agent_name or found.agent_name
        head.of_span = head.of_span or found.own_span
        head.fallback_only = head.fallback_only or found.fallback_only
        if log.time_ns is not None:
            head.start_ns = min(head.start_ns or log.time_ns, log.time_ns)
            head.end_ns = max(head.end_ns or log.time_ns, log.time_ns)
        return
    if log.span_id is not None:
        index.span_logs.setdefault((log.trace_id or "", log.span_id), []).append(Part("log", log.ref))
    else:
        index.counts["logs.without_span"] += 1


_LOG_DIALECTS = tuple(dialects.LOG_DIALECTS)
