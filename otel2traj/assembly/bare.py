"""Spans without an attempt around them: each conversation becomes an attempt, each trace in it an Input."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..canonical import JsonObject
from ..evidence import Index
from ..model.heads import Recorder, SpanHead, WireHead
from ..model.message import Message
from ..model.reading import Reading, Role
from .documents import Documents, InputRecord
from .readings import Readings


@dataclass(slots=True)
class Part:
    """The heads of one conversation; `traces` in order of their first span's start."""

    name: str
    wires: list[WireHead] = field(default_factory=list)
    heads: list[SpanHead] = field(default_factory=list)
    traces: list[str] = field(default_factory=list)

    def documents(self, found: Documents, readings: Readings) -> Documents:
        """What the spans themselves tell of the run: prompts and results of the root spans."""
        out = Documents(found.run_id, found.agent_id, found.case_id, found.framework, found.case, found.run)
        out.run_id = out.run_id or self.name
        by_ordinal: dict[str, list[SpanHead]] = {}
        for head in self.heads:
            if head.ordinal is not None:
                by_ordinal.setdefault(head.ordinal, []).append(head)
        for ordinal in sorted(by_ordinal):
            out.inputs.append(_input(ordinal, sorted(by_ordinal[ordinal], key=SpanHead.order), readings))
        return out


def _trace_key(head: SpanHead) -> str:
    """What ties spans together first: the trace, else the file of a recorder without traces."""
    if head.recorder is Recorder.LOGS and head.conversation_id is not None:
        return f"conversation:{head.conversation_id}"
    return head.trace_id or f"file:{head.source}"


def split_conversations(index: Index, wires: list[WireHead], heads: list[SpanHead]) -> list[Part]:
    """Group by recorded conversation ids, else by trace; wire calls go with the span they name.

    Sets the `ordinal` of every head. Conversations come in order of their first record.
    """
    by_trace: dict[str, list[SpanHead]] = {}
    for head in sorted(heads, key=SpanHead.order):
        by_trace.setdefault(_trace_key(head), []).append(head)
    parts: dict[str, Part] = {}
    part_of_trace: dict[str, Part] = {}
    for trace, members in by_trace.items():
        named = sorted({head.conversation_id for head in members if head.conversation_id is not None})
        name = named[0] if named else trace
        part = parts.setdefault(name, Part(name))
        part.traces.append(trace)
        part.heads.extend(members)
        part_of_trace[trace] = part
    for part in parts.values():
        ordinals = {trace: f"{number:04d}" for number, trace in enumerate(_live(part, by_trace), 1)}
        for trace in part.traces:
            ordinal = ordinals.get(trace)
            for head in by_trace[trace]:
                head.ordinal = ordinal
    _place_wires(index, wires, parts, part_of_trace)
    return [part for part in parts.values() if part.wires or _acts(part.heads)]


def _live(part: Part, by_trace: dict[str, list[SpanHead]]) -> list[str]:
    """The traces that tell of an agent's work; a trace of transport spans alone is no Input."""
    return [trace for trace in part.traces if _acts(by_trace[trace])]


def _acts(heads: list[SpanHead]) -> bool:
    return any(head.role in (Role.MODEL_CALL, Role.TOOL_EXECUTION, Role.AGENT) for head in heads)


def _place_wires(index: Index, wires: list[WireHead], parts: dict[str, Part], part_of_trace: dict[str, Part]) -> None:
    if not wires:
        return
    by_response: dict[str, set[str]] = {}
    for trace, part in part_of_trace.items():
        for head in part.heads:
            if head.response_id is not None and _trace_key(head) == trace:
                by_response.setdefault(head.response_id, set()).add(part.name)
    for wire in sorted(wires, key=WireHead.order):
        named = index.by_span_id(wire.framework_span_id) if wire.framework_span_id is not None else []
        homes = {part_of_trace[_trace_key(head)].name for head in named}
        if len(homes) != 1 and wire.response_id is not None:
            homes = by_response.get(wire.response_id, set())
        if len(homes) != 1:
            homes = set(parts) if len(parts) == 1 else {wire.run_id or "wire"}
        name = next(iter(homes))
        parts.setdefault(name, Part(name)).wires.append(wire)


def _input(ordinal: str, heads: list[SpanHead], readings: Readings) -> InputRecord:
    """Prompt and result of a trace: its root span's, else the first user message and nothing."""
    record = InputRecord(ordinal)
    root = next((head for head in heads if head.parent is None and head.role is not Role.NONE), None)
    told = readings.of(root) if root is not None and root.recorder is Recorder.OTEL else Reading()
    record.prompt = told.input_text
    result: JsonObject = {}
    if told.output_text is not None:
        result["output"] = told.output_text
    if root is not None and root.failed:
        result["status"] = "failed"
    record.result = result or None
    if record.prompt is None:
        first = next((head for head in heads if head.role is Role.MODEL_CALL and head.has_content), None)
        if first is not None:
            record.prompt = _first_user_text(readings.of(first).messages or [])
    return record


def _first_user_text(messages: list[Message]) -> str | None:
    for message in messages:
        if message.role == "user":
            texts = message.texts()
            if texts:
                return "\n".join(texts)
    return None
