"""Spans without an attempt around them: each conversation becomes an attempt, each trace in it an Input."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from ..canonical import JsonObject
from ..evidence import Index
from ..messages import Message, fold
from ..model.evidence import Notice
from ..model.heads import Recorder, SpanHead, WireHead
from ..model.reading import Role
from ..pairing.actors import purpose_of
from ..pairing.retold_inputs import Same, join_retold_inputs
from ..pairing.tree import ancestors
from .conversations import acts, conversations_of, maybe_one_run
from .documents import Documents, InputRecord
from .readings import Readings


@dataclass(slots=True)
class Part:
    """The heads of one conversation, also by trace in order of the first span's start."""

    name: str
    wires: list[WireHead] = field(default_factory=list)
    heads: list[SpanHead] = field(default_factory=list)
    traces: dict[str, list[SpanHead]] = field(default_factory=dict)
    notices: list[Notice] = field(default_factory=list)

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
    """What ties spans together first: the prompt where the producer names it, the trace, else the file of a recorder
    without traces."""
    if head.turn is not None:
        return f"turn:{head.conversation_id or head.source}:{head.turn}"
    if head.recorder is Recorder.LOGS and head.conversation_id is not None:
        return f"conversation:{head.conversation_id}"
    return head.trace_id or f"file:{head.source}"


def split_conversations(index: Index, wires: list[WireHead], heads: list[SpanHead]) -> list[Part]:
    """Group by recorded conversation ids, else by trace; wire calls go with the span they name.

    Sets the `ordinal` of every head. Conversations come in order of their first record.
    """
    same = Same()
    for head in heads:
        if head.turn is not None and head.trace_id is not None:
            same.join(_trace_key(head), head.trace_id)
    by_trace: dict[str, list[SpanHead]] = {}
    for head in sorted(heads, key=SpanHead.order):
        by_trace.setdefault(same.of(_trace_key(head)), []).append(head)
    parts: dict[str, Part] = {}
    for trace, members in by_trace.items():
        for name, mine in conversations_of(trace, members).items():
            part = parts.setdefault(name, Part(name))
            part.traces.setdefault(trace, []).extend(mine)
            part.heads.extend(mine)
    for part in parts.values():
        coarse = join_retold_inputs(part.heads, lambda head: same.of(_trace_key(head)), same)
        live = dict.fromkeys(name for trace in _live(part) if (name := same.of(trace)) not in coarse)
        first_seen = {trace: number for number, trace in enumerate(live, 1)}
        for head in part.heads:
            number = first_seen.get(same.of(_trace_key(head)))
            head.ordinal = None if number is None else f"{number:04d}"
    _place_wires(index, wires, parts)
    found = [part for part in parts.values() if part.wires or acts(part.heads)]
    heads_of = {part.name: part.heads for part in found}
    for name, notice in maybe_one_run(heads_of, {part.name: len(part.wires) for part in found}):
        parts[name].notices.append(notice)
    return found


def _live(part: Part) -> list[str]:
    """The traces that tell of an agent's work; a trace of transport spans alone is no Input."""
    return [trace for trace, heads in part.traces.items() if acts(heads)]


def _place_wires(index: Index, wires: list[WireHead], parts: dict[str, Part]) -> None:
    """By the span that a call names, by its response id, by the session that its request names, else to the only
    conversation there is."""
    if not wires:
        return
    part_of: dict[SpanHead, str] = {head: part.name for part in parts.values() for head in part.heads}
    by_response: dict[str, set[str]] = {}
    for head, name in part_of.items():
        if head.response_id is not None:
            by_response.setdefault(head.response_id, set()).add(name)
    for wire in sorted(wires, key=WireHead.order):
        named = index.by_span_id(wire.framework_span_id) if wire.framework_span_id is not None else []
        homes = {part_of[head] for head in named if head in part_of}
        if len(homes) != 1 and wire.response_id is not None:
            homes = by_response.get(wire.response_id, set())
        if len(homes) != 1 and wire.session is not None:
            homes = {wire.session}
        if len(homes) != 1:
            homes = set(parts) if len(parts) == 1 else {wire.run_id or "wire"}
        name = next(iter(homes))
        parts.setdefault(name, Part(name)).wires.append(wire)


def _input(ordinal: str, heads: list[SpanHead], readings: Readings) -> InputRecord:
    """Prompt and result of an Input: its root span's, else those of a record of the prompt itself, else the first user
    message of its first call and nothing. Base64 in them is a line: its bytes are where they were recorded."""
    record = InputRecord(ordinal)
    root = _root(heads)
    tellers = [root] if root is not None and root.recorder is Recorder.OTEL else []
    tellers += [head for head in heads if head.role is Role.AGENT and head.recorder in _SPEAKERS]
    told = [(head, readings.of(head)) for head in tellers]
    asked_by = next(((head, one.input_text) for head, one in told if one.input_text is not None), None)
    answered_by = next(((head, one.output_text) for head, one in reversed(told) if one.output_text is not None), None)
    result: JsonObject = {}
    if asked_by is not None:
        record.told_by["prompt"], record.prompt = asked_by[0], fold(asked_by[1])
    if answered_by is not None:
        record.told_by["output"], result["output"] = answered_by[0], fold(answered_by[1])
    record.told_by = {name: head for name, head in record.told_by.items() if head.role in (Role.AGENT, Role.CHAIN)}
    if root is not None and root.failed:
        result["status"] = "failed"
    first_told = told[0][1].failure if told else None
    exported: Any = None if first_told is None else first_told.get("result")
    record.result = exported if isinstance(exported, dict) else result or None
    if record.prompt is None:
        asked = (head for head in heads if head.role is Role.MODEL_CALL and head.has_content)
        first = next((head for head in asked if purpose_of(head) is None), None)
        if first is not None:
            asked_for = readings.of(first)
            record.prompt = asked_for.input_text or _first_user_text(asked_for.messages or [])
    return record


def _root(heads: list[SpanHead]) -> SpanHead | None:
    """The outermost span of an Input; below a server's or a client's span, the outermost agent or chain."""
    mine = set(heads)
    found = next((head for head in heads if head.parent not in mine and head.role is not Role.NONE), None)
    if found is not None:
        return found
    for role in (Role.AGENT, Role.CHAIN):
        for head in heads:
            if head.role is role and all(above.role is Role.NONE or above not in mine for above in ancestors(head)):
                return head
    return None


_SPEAKERS: Final = (Recorder.SESSION, Recorder.LOGS)


def _first_user_text(messages: list[Message]) -> str | None:
    for message in messages:
        if message.role == "user":
            texts = message.texts()
            if texts:
                return "\n".join(texts)
    return None
