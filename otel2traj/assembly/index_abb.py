"""Enveloped records to heads: interceptor calls, framework spans and ACP tool calls."""

from __future__ import annotations

from typing import Any, Final

from ..canonical import JsonObject
from ..evidence import Index
from ..model.evidence import AbbRecord, Notice, Source
from ..model.heads import Part, Recorder, SpanHead, WireHead
from ..model.reading import Role
from ..providers import no_model_call
from .acp import terminals_in

_MODEL_EVENTS = {"llm_request", "llm_response", "llm_chunk", "llm_error"}
_FRAMEWORK_ROLES = {"llm": Role.MODEL_CALL, "tool": Role.TOOL_EXECUTION, "chain": Role.CHAIN}

WIRE_MEMBERS: Final = (
    "call_id",
    "path",
    "source_path",
    "agent_id",
    "case_id",
    "input_id",
    "native_session_id",
    "framework_span_id",
    "traceparent",
    "source_model",
    "status",
    "truncated",
    "error",
    "error_code",
)
"""What `add_wire` looks at; bodies are passed over."""


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def add_wire(index: Index, record: AbbRecord, source: Source) -> None:
    """Group interceptor records by `call_id`; traffic that is no model call is counted."""
    data = record.data
    if record.event not in _MODEL_EVENTS:
        index.counts[f"wire.{record.event}"] += 1
        if record.event == "observation_error":
            told = [data[key] for key in ("error_code", "error") if isinstance(data.get(key), str) and data[key]]
            message = f"the interceptor could not record: {': '.join(told) or 'unknown'}"
            index.notices.append(Notice("observation_error", message, record.ref.source, record.ref.line))
        return
    path = _text(data.get("path")) or _text(data.get("source_path"))
    aside = None if path is None else no_model_call(path)
    if aside is not None:
        if record.event == "llm_request":
            index.counts[f"wire.no_model_call.{aside}"] += 1
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
    head.source_model = head.source_model or _text(data.get("source_model"))
    if head.framework_span_id is None:
        head.framework_span_id = _text(data.get("framework_span_id"))
    if head.traceparent is None:
        head.traceparent = _text(data.get("traceparent"))


def add_framework(index: Index, record: AbbRecord, source: Source) -> None:
    """Group framework events by span id within their file."""
    data = record.data
    span_id = _text(data.get("span_id"))
    part = Part(record.event, record.ref)
    if record.event == "native_event" or span_id is None or not record.event.startswith(("span_", "tool_outcome")):
        index.counts[f"framework.{record.event}"] += 1
        index.told.setdefault(source.ordinal, []).append(part)
        if record.event == "execution_error":
            index.ends.setdefault(source.ordinal, []).append(part)
        return
    key = (source.path, span_id)
    head = index.framework.get(key)
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
            agent_name=_text(metadata.get("lc_agent_name")),
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
    """Group ACP tool calls by `toolCallId`, with the permissions and terminals that name them; the rest is the
    Input's."""
    data = record.data
    index.counts[f"acp.{record.event}"] += 1
    part = Part(record.event, record.ref)
    if record.event == "native_model_call":
        response_id = _text(data.get("native_response_id"))
        if response_id is not None:
            index.native_calls.setdefault(response_id, []).append((source.ordinal, part))
    if record.event in ("prompt_completed", "failure"):
        index.ends.setdefault(source.ordinal, []).append(part)
    asked, terminal = data.get("tool_call"), _text(data.get("terminal_id"))
    asked_id = _text(asked.get("toolCallId")) if isinstance(asked, dict) else None
    if record.event.startswith("terminal_") and terminal is not None:
        index.terminals.setdefault((source.path, terminal), []).append(part)
        return
    if record.event == "permission" and asked_id is not None:
        key = (source.path, _text(data.get("session_id")) or "", asked_id)
        index.permissions.setdefault(key, []).append(part)
        return
    update = data.get("update")
    if record.event == "session_update" and isinstance(update, dict):
        of_tool = update.get("sessionUpdate") in ("tool_call", "tool_call_update")
        if of_tool and _acp_tool(index, record, source, update):
            return
    index.told.setdefault(source.ordinal, []).append(part)


def _acp_tool(index: Index, record: AbbRecord, source: Source, update: JsonObject) -> bool:
    """One update of a tool call: what is odd about it is told, and the later update stands. False where it belongs
    to no tool call."""

    kind, call_id = update["sessionUpdate"], _text(update.get("toolCallId"))
    session = _text(record.data.get("session_id"))
    if call_id is None:
        message = f"an ACP {kind} without a toolCallId; it is no step"
        index.notices.append(Notice("missing_id", message, record.ref.source, record.ref.line))
        return False
    key = (source.path, session or "", call_id)
    head = index.acp.get(key)
    if head is None and kind == "tool_call_update":
        message = f"an update of tool call {call_id} that never began"
        index.notices.append(Notice("acp_update_without_start", message, record.ref.source, record.ref.line))
        return False
    if head is None:
        again = (source.path, call_id) in index.acp_ids
        index.acp_ids.add((source.path, call_id))
        if again:
            message = f"tool call {call_id} stands in more than one ACP session"
            index.notices.append(Notice("repeated_tool_call", message, record.ref.source, record.ref.line))
        head = index.acp[key] = SpanHead(
            recorder=Recorder.ACP,
            source=source.path,
            ordinal=source.ordinal,
            trace_id=None,
            span_id=f"{session}:{call_id}" if again else call_id,
            parent_id=None,
            role=Role.TOOL_EXECUTION,
            start_ns=record.time_ns,
            end_ns=None,
            tool_call_id=call_id,
            session=session,
            finished=False,
        )
    head.parts.append(Part("acp", record.ref))
    index.named_terminals.update((source.path, terminal) for terminal in terminals_in(update))
    if update.get("status") in ("completed", "failed"):
        failed = update["status"] == "failed"
        if head.finished:
            words = ["failed" if one else "completed" for one in (head.failed, failed)]
            message = f"tool call {call_id} ends twice: {words[0]}, then {words[1]}; the last one stands"
            lossy = failed is not head.failed
            index.notices.append(Notice("repeated_end", message, record.ref.source, record.ref.line, lossy=lossy))
        head.finished, head.failed = True, failed
        head.end_ns = record.time_ns
    return True
