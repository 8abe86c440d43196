"""Requests and responses of model calls into records: a request holds what is new in it, a response is its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from ..canonical import JsonObject
from ..messages import PartKind, read_recorded
from ..model.link import ExecutionStatus, LinkStatus
from ..model.trajectory import Step, ToolLog
from ..model.unknown import UnknownReason
from .cited import Cited
from .histories import Histories
from .places import Place, together
from .records import Record
from .state import State

_PARTS: Final = ("reasoning", "text", "refusal")
_INFERRED: Final = ("reported_result", "name_arguments", "name")
_CALL: Final = (("call_id", "call_id"), ("name", "name"), ("arguments", "arguments"))


@dataclass(slots=True)
class Response:
    """The message a model answered with, and the parts of it that are tool calls."""

    message: str
    record: Record
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

    def request(self, step: Step, cited: Cited) -> tuple[Record | None, set[str]]:
        """The record of what the model received, or None where nothing was recorded; and the responses that came
        before it, because it names their calls. What it shares with an earlier request is not written again."""
        system, messages, tools = (step.input.get(name) for name in ("system", "messages", "tools"))
        if system is None and messages is None and tools is None:
            return None, set()
        given = [] if messages is None else messages if isinstance(messages, list) else [messages]
        record = Record(
            "generic_artefact", self._state.new("rq"), cited, key=("messages", "system", "tools"), narrow=True
        )
        shared = self._histories.note(record.id, step.agent_name, given, system, tools)
        kept = 0 if shared is None else shared.messages
        record.derive("role", "request", "place_in_record")
        if shared is not None:
            record.derive("extends", shared.request, "request_extends")
            of = {"messages": kept, "system": shared.system, "tools": shared.tools}
            record.derive("kept", of, "request_extends")
        if shared is None or not shared.system:
            self._part(record, "system", None if system is None else self._system(system, cited))
        after: set[str] = set()
        new = []
        for position, message in enumerate(given[kept:], kept):
            new.append(self._message(given, position, cited))
            for call_id in call_ids(message):
                holders = self._emitted.get(call_id, set())
                after |= holders if len(holders) == 1 else set()
        if messages is None:
            record.miss("messages", UnknownReason.NOT_RECORDED)
        else:
            record.refer("messages", *new, listed=True)
            record.derive("length", len(given), "place_in_record")
        if shared is None or not shared.tools:
            self._part(record, "tools", None if tools is None else self._tools(tools, cited))
        declare_cut(record, step.evidence, ASKED, cited)
        self._state.writer.write(record)
        return record, after

    @staticmethod
    def _part(record: Record, name: str, part: Record | None) -> None:
        if part is None:
            record.miss(name, UnknownReason.NOT_RECORDED)
        else:
            record.refer(name, part)

    def _system(self, system: Any, cited: Cited) -> Record:
        """The system prompt as a message; what stands in the request is its text."""
        return self._message([{"role": "system", "content": system}], -1, cited, stands=system)

    def _message(self, given: Sequence[Any], position: int, cited: Cited, stands: Any = None) -> Record:
        message = given[position]
        record = Record("message", self._state.new("m"), cited, narrow=True)
        known = message if isinstance(message, dict) else {}
        role, kind = known.get("role"), known.get("type")
        place = cited.message(given, position) if stands is None else cited.find(stands, "system")
        how = record.how(place)
        if not isinstance(role, str):
            record.miss("role", UnknownReason.NOT_RECORDED)
        elif stands is None:
            record.part("role", role, how, "/role")
        else:
            record.derive("role", role, "place_in_record")
        if isinstance(kind, str):
            record.part("type", kind, how, "/type")
        record.derive("direction", "request", "place_in_record")
        record.derive("position", position, "place_in_record")
        if stands is None:
            record.part("content", message, how, "")
        else:
            record.part("content", stands, how, "")
        self._state.writer.write(record)
        return record

    def _tools(self, tools: Any, cited: Cited) -> Record:
        """The artefact that holds the request's tool definitions."""
        record = Record("generic_artefact", self._state.new("ga"), cited, narrow=True)
        record.derive("role", "tool_definitions", "place_in_record")
        record.say("content", tools)
        self._state.writer.write(record)
        return record

    def response(self, step: Step, cited: Cited) -> Response | None:
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
        record = Record("message", self._state.new("m"), cited, key=("parts",), narrow=True)
        response = Response(record.id, record)
        rule = _rule_of(output)
        for number, part in enumerate(parts):
            part["id"] = f"{record.id}-{number}"
            place = None if rule is not None else _place_of(part, cited)
            part.update(record.how(place, rule))
            if part["type"] == "tool_call":
                response.calls.append((part["id"], part["call_id"]))
                if part["call_id"] is not None:
                    self._emitted.setdefault(part["call_id"], set()).add(record.id)
        record.derive("role", "assistant", "place_in_record")
        record.derive("direction", "response", "place_in_record")
        record.combine("parts", parts, parts)
        if output.get("choices") is not None:
            record.say("choices", output["choices"])
        _notes(record, step, response)
        declare_cut(record, step.evidence, ANSWERED, cited)
        self._state.writer.write(record)
        return response


def _rule_of(output: JsonObject) -> str | None:
    """The rule that gave the answer, where it is not the one that the call itself recorded."""
    if output.get("tool_calls_source") == "graph_node":
        return "graph_node_calls"
    return "framework_output" if output.get("output_source") == "framework" else None


def _place_of(part: JsonObject, cited: Cited) -> Place | None:
    """Where a part of an answer stands: a text whole, a call where its id, its name and its arguments do."""
    if part["type"] != "tool_call":
        return cited.find(part["content"], "content")
    members = [(part[name], field) for name, field in _CALL if part[name] is not None]
    for number in range(len(cited.sources)):
        one = cited.of_one(number)
        near = one.find(*members[0]) if members else None
        places = [near, *(one.find(value, field, near) for value, field in members[1:])]
        if members and None not in places:
            place = together([place for place in places if place is not None])
            return None if place is None else [number, *place[1:]]
    return None


ASKED: Final = ("messages", "system", "tools")
ANSWERED: Final = ("text", "reasoning", "tool_calls")


def declare_cut(record: Record, evidence: JsonObject, names: tuple[str, ...], cited: Cited) -> None:
    """What the recorder had cut before it wrote it down is lost, and that is said where it is: of the field where
    nothing was left, of the `rest` where something was."""
    cut = [name for name in evidence.get("truncated") or () if name in names]
    for name in cut:
        if name in record.data["unknown"]:
            record.miss(name, UnknownReason.LOST)
        else:
            record.miss("rest", UnknownReason.LOST)
    if cited.holds("/data/truncated", True, of=("request", "response")):
        record.miss("rest", UnknownReason.LOST)


def _notes(record: Record, step: Step, response: Response) -> None:
    """What is known, and what is not, of the execution of each call: never more than the evidence says."""
    notes: dict[str, JsonObject] = {}
    told = set()
    for position, log in enumerate(step.tool_logs):
        part = response.part_of(log, position)
        if part is None:
            continue
        told.add(part)
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
    for part, _ in response.calls:
        if part not in told:
            record.miss(f"{part}/execution", UnknownReason.NOT_RECORDED)
    for name, value in sorted(notes.items()):
        rule = {"candidates": "tool_call_id_ambiguous", "reported": "reported_by_request"}.get(name, name)
        record.derive(name, value, rule)


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


def call_ids(message: Any) -> Iterator[str]:
    """The ids of the tool calls and of the results in a recorded message, whatever its shape."""
    for found in read_recorded(message):
        for part in found.parts:
            if part.kind in _OF_TOOLS and part.id is not None:
                yield part.id


_OF_TOOLS: Final = (PartKind.TOOL_CALL, PartKind.TOOL_RESULT)
