"""Requests and responses of model calls into records: a request holds what is new in it, a response is its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from ..canonical import JsonObject
from ..model.link import ExecutionStatus, LinkStatus
from ..model.trajectory import Step, ToolLog
from ..model.unknown import UnknownReason
from .histories import Histories
from .records import Record
from .state import State

_PARTS: Final = ("reasoning", "text", "refusal")
_INFERRED: Final = ("reported_result", "name_arguments", "name")
_CALL_ID_KEYS: Final = frozenset({"id", "tool_call_id", "tool_use_id", "call_id"})


@dataclass(slots=True)
class Response:
    """The message a model answered with, and the parts of it that are tool calls."""

    message: str
    calls: list[tuple[str, str | None]] = field(default_factory=list)
    """(part id, tool call id)"""

    def part_of(self, log: ToolLog, position: int) -> str | None:
        """The call a log stands for: the one at its place where the ids agree, else the only one of that id."""
        if position < len(self.calls) and self.calls[position][1] == log.tool_call_id:
            return self.calls[position][0]
        same = [part for part, call_id in self.calls if call_id == log.tool_call_id]
        return same[0] if len(same) == 1 else None


class Messages:
    """Writes requests, messages, and the tool definitions that requests carry."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._histories = Histories()
        self._emitted: dict[str, set[str]] = {}

    def request(self, step: Step, by: str, source: list[JsonObject]) -> tuple[str | None, set[str]]:
        """The record of what the model received, or None where nothing was recorded; and the responses that came
        before it, because it names their calls. What it shares with an earlier request is not written again."""
        system, messages, tools = (step.input.get(name) for name in ("system", "messages", "tools"))
        if system is None and messages is None and tools is None:
            return None, set()
        given = [] if messages is None else messages if isinstance(messages, list) else [messages]
        record = Record("generic_artefact", self._state.new("rq"), by, source=source)
        shared = self._histories.note(record.id, step.agent_name, given, system, tools)
        kept = 0 if shared is None else shared.messages
        record.say("role", "request", by)
        if shared is not None:
            record.say("extends", shared.request, "adapter", "request_extends")
            of = {"messages": kept, "system": shared.system, "tools": shared.tools}
            record.say("kept", of, "adapter", "request_extends")
        if shared is None or not shared.system:
            said = {"role": "system", "content": system}
            one = None if system is None else self._message(said, -1, by, source)
            record.say_or_miss("system", one, by)
        after: set[str] = set()
        new = []
        for position, message in enumerate(given[kept:], kept):
            new.append(self._message(message, position, by, source))
            for call_id in call_ids(message):
                holders = self._emitted.get(call_id, set())
                after |= holders if len(holders) == 1 else set()
        record.say_or_miss("messages", None if messages is None else new, by)
        if messages is not None:
            record.say("length", len(given), by)
        if shared is None or not shared.tools:
            record.say_or_miss("tools", self._tools(tools, by, source), by)
        self._state.writer.write(record)
        return record.id, after

    def _message(self, message: Any, position: int, by: str, source: list[JsonObject]) -> str:
        record = Record("message", self._state.new("m"), by, source=source)
        known = message if isinstance(message, dict) else {}
        role, kind = known.get("role"), known.get("type")
        record.say_or_miss("role", role if isinstance(role, str) else None, by)
        if isinstance(kind, str):
            record.say("type", kind, by)
        record.say("direction", "request", by)
        record.say("position", position, by)
        record.say("content", message, by)
        self._state.writer.write(record)
        return record.id

    def _tools(self, tools: Any, by: str, source: list[JsonObject]) -> str | None:
        """The artefact that holds the request's tool definitions."""
        if tools is None:
            return None
        record = Record("generic_artefact", self._state.new("ga"), by, source=source)
        record.say("role", "tool_definitions", by)
        record.say("content", tools, by)
        self._state.writer.write(record)
        return record.id

    def response(self, step: Step, by: str, source: list[JsonObject]) -> Response | None:
        """The record of what the model answered, or None where it answered nothing."""
        output = step.output
        calls = output.get("tool_calls") or []
        parts: list[JsonObject] = [
            {"type": name, "content": output[name]} for name in _PARTS if output.get(name) is not None
        ]
        parts += (
            {"type": "tool_call", "call_id": c.get("id"), "name": c.get("name"), "arguments": c.get("arguments")}
            for c in calls
        )
        parts += ({"type": "other", "content": part} for part in output.get("other_parts") or [])
        if not parts:
            return None
        record = Record("message", self._state.new("m"), by, source=source)
        response = Response(record.id)
        for number, part in enumerate(parts):
            part["id"] = f"{record.id}-{number}"
            if part["type"] == "tool_call":
                response.calls.append((part["id"], part["call_id"]))
                if part["call_id"] is not None:
                    self._emitted.setdefault(part["call_id"], set()).add(record.id)
        rule = None
        if output.get("tool_calls_source") == "graph_node":
            rule = "graph_node_calls"
        elif output.get("output_source") == "framework":
            rule = "framework_output"
        record.say("role", "assistant", by)
        record.say("direction", "response", by)
        record.say("parts", parts, by if rule is None else "source", rule)
        if output.get("choices") is not None:
            record.say("choices", output["choices"], by)
        _notes(record, step, response)
        self._state.writer.write(record)
        return response


def _notes(record: Record, step: Step, response: Response) -> None:
    """What is known, and what is not, of the execution of each call: never more than the evidence says."""
    notes: dict[str, JsonObject] = {}
    for position, log in enumerate(step.tool_logs):
        part = response.part_of(log, position)
        if part is None:
            continue
        if isinstance(log.evidence.get("reported_result"), dict):
            notes.setdefault("reported", {})[part] = log.evidence["reported_result"]
        if observed(log):
            continue
        ambiguous = log.link is LinkStatus.AMBIGUOUS
        record.miss(f"{part}/execution", UnknownReason.AMBIGUOUS if ambiguous else UnknownReason.NOT_RECORDED)
        if ambiguous:
            notes.setdefault("candidates", {})[part] = [one["interaction_id"] for one in candidates(log)]
        inferred = log.evidence.get("inferred")
        if isinstance(inferred, dict) and inferred.get("rule") in _INFERRED:
            notes.setdefault(f"inferred_{inferred['rule']}", {})[part] = inferred.get("interaction_id")
    for name, value in sorted(notes.items()):
        rule = {"candidates": "tool_call_id_ambiguous", "reported": "reported_by_request"}.get(name, name)
        record.say(name, value, "adapter", rule)


def observed(log: ToolLog) -> bool:
    """Whether an execution was recorded for the log: finished, or at least begun under an exact link."""
    if log.link is LinkStatus.AMBIGUOUS:
        return False
    begun = log.link is LinkStatus.EXACT and bool(log.evidence.get("records"))
    return log.execution_status is not ExecutionStatus.NOT_OBSERVED or begun


def candidates(log: ToolLog) -> list[JsonObject]:
    """The candidate executions of an ambiguous link, as far as the evidence names them."""
    found = log.evidence.get("candidates")
    return [one for one in found or () if isinstance(one, dict) and isinstance(one.get("interaction_id"), str)]


def call_ids(value: Any, depth: int = 0) -> Iterator[str]:
    """Every string under a key that holds tool call ids in one of the providers' message forms."""
    if depth > 8:
        return
    if isinstance(value, dict):
        for key, item in value.items():
            if isinstance(item, str):
                if key in _CALL_ID_KEYS:
                    yield item
            else:
                yield from call_ids(item, depth + 1)
    elif isinstance(value, list):
        for item in value:
            yield from call_ids(item, depth + 1)
