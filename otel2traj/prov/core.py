"""AER records into the core bundle: what was observed, and what follows from it by a declared rule."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from ..canonical import JsonObject, canonical_bytes
from ..model.unknown import EvidenceClass, UnknownReason
from ..timestamps import format_ns, parse_ns
from .document import REASONS, Basis, Builder, Node, name
from .sem import role_of
from .shape import well_formed

STATUS: Final = {
    "started": "startTime",
    "ended": "endTime",
    "model": "model",
    "agent": "agent",
    "actor": "actor",
    "scope": "scope",
    "request": "request",
    "messages": "messages",
    "system": "system",
    "tools": "tools",
    "response": "response",
    "usage": "usage",
    "finish_reason": "finishReason",
    "purpose": "purpose",
    "call": "call",
    "execution": "execution",
    "tool_call_id": "toolCallId",
    "arguments": "arguments",
    "result": "result",
    "exit_status": "exitStatus",
    "prompt": "prompt",
    "before_state": "beforeState",
    "after_state": "afterState",
    "verdict": "verdict",
    "judge": "judge",
    "injections": "injections",
    "run_id": "runId",
    "case_id": "caseId",
    "rest": "rest",
}
"""AER field -> the apv property `<name>Status` that says why it is not there."""

MESSAGE_TYPES: Final = {
    "system": "apv:SystemMessage",
    "user": "apv:UserMessage",
    "assistant": "apv:AssistantMessage",
    "tool": "apv:ToolMessage",
}
ARTEFACT_TYPES: Final = {
    "tool_result": "apv:ToolResult",
    "tool_definitions": "apv:ToolDefinitions",
    "input_result": "apv:InputResult",
}
ACTOR_TYPES: Final = {"agent": "apv:AgentSystem", "model": "apv:Model", "harness": "apv:Harness"}
_NODE_RULES: Final = {
    "execution": "n_execution",
    "actor": "n_actor",
    "scope": "n_scope",
    "message": "n_message",
    "model_call": "n_model_call",
    "tool_execution": "n_tool_execution",
    "decision": "n_decision",
    "state_change": "n_state_change",
    "fixture": "n_fixture",
    "judgement": "n_judgement",
    "generic_activity": "n_activity",
    "generic_artefact": "n_artefact",
    "request": "n_request",
}
DESCRIBE: Final = {
    "execution": {"framework": "framework", "agent_id": "agentId", "case_id": "caseId", "run_id": "runId"},
    "actor": {"name": "name"},
    "scope": {"ordinal": "ordinal", "input_id": "inputId"},
    "model_call": {"status": "status", "order": "order", "finish_reason": "finishReason", "join": "join"},
    "tool_execution": {"name": "toolName", "status": "status", "order": "order"},
    "decision": {"outcome": "decision"},
    "state_change": {"path": "path", "change": "change"},
    "fixture": {"role": "fixtureRole", "path": "path"},
    "request": {"length": "messageCount"},
}
"""Fields that are written as they stand; none of them is content."""
_ACTIVITIES: Final = frozenset({"execution", "model_call", "tool_execution", "state_change", "generic_activity"})


def basis(record: JsonObject, field: str | None = None) -> Basis:
    """What the record, or one of its fields, rests on."""
    if field is None:
        return Basis(EvidenceClass(record["class"]), str(record["id"]), record.get("rule"))
    how = record["fields"][field]
    return Basis(EvidenceClass(how["class"]), f"{record['id']}/{field}", how.get("rule"))


def known(record: JsonObject, field: str) -> Any:
    """The field's value, or None where the record does not have it or declares it unknown."""
    if field in record.get("unknown", {}) or field not in record.get("fields", {}):
        return None
    return record.get(field)


def x(identifier: str) -> str:
    return f"x:{identifier}"


_WHOLE_MICROSECONDS: Final = re.compile(r"(\.\d{6})\d+")


def prov_time(text: Any) -> str | None:
    """A recorded time as xsd:dateTime in UTC with at most six fraction digits, or None where it cannot be read."""
    value = parse_ns(text) if isinstance(text, str) else None
    shown = format_ns(value)
    return None if shown is None else _WHOLE_MICROSECONDS.sub(r"\1", shown)


def literal(value: Any) -> Any:
    """A value as PROV-JSON writes it: strings and booleans bare, numbers as typed literals with a string."""
    if isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return {"$": str(value), "type": "xsd:long" if abs(value) < 2**63 else "xsd:integer"}
    if isinstance(value, float):
        return {"$": repr(value), "type": "xsd:double"}
    return canonical_bytes(value).decode("utf-8")


class Core:
    """States one AER record after the other. Relations are stated only where their fields are known."""

    def __init__(self, builder: Builder, emit_content: bool) -> None:
        self._builder = builder
        self._emit_content = emit_content
        self._nodes: dict[str, str] = {}
        self._parts: dict[str, list[str]] = {}
        self._relations: dict[str, Callable[[JsonObject], None]] = {
            "message": self._message,
            "model_call": self._model_call,
            "tool_execution": self._tool_execution,
            "decision": self._decision,
            "state_change": self._state_change,
            "fixture": self._fixture,
            "judgement": self._judgement,
            "generic_activity": self._generic_activity,
            "request": self._request,
        }

    def look(self, record: JsonObject) -> None:
        kind = node_kind(record)
        if kind not in _NODE_RULES:
            return
        if not well_formed(record):
            raise ValueError("malformed")
        self._nodes[str(record["id"])] = kind
        self._builder.node(
            _NODE_RULES[kind],
            Node(x(record["id"]), kind),
            basis(record),
            self._attributes(kind, record),
            types=finer_types(kind, record),
        )
        relate = self._relations.get(kind)
        if relate is not None:
            relate(record)

    # -- nodes --------------------------------------------------------------------------------------------------------

    def _attributes(self, kind: str, record: JsonObject) -> JsonObject:
        out: JsonObject = {}
        for field, term in DESCRIBE.get(kind, {}).items():
            value = known(record, field)
            if value is not None:
                out[f"apv:{term}"] = literal(value)
        for field, reason in record["unknown"].items():
            if field in STATUS:
                out[f"apv:{STATUS[field]}Status"] = name(REASONS[UnknownReason(reason)])
        if kind in _ACTIVITIES:
            self._times(record, out)
        if record["after"]:
            out["apv:afterCausal"] = [name(x(one)) for one in record["after"]]
        scope = known(record, "scope")
        if scope is not None:
            out["apv:inScope"] = name(x(scope))
        if self._emit_content:
            for field in ("content", "parts", "arguments", "details", "title"):
                value = known(record, field)
                if value is not None:
                    out[f"apv:{field}"] = literal(value)
        return out

    def _times(self, record: JsonObject, out: JsonObject) -> None:
        for field, term in (("started", "startTime"), ("ended", "endTime")):
            recorded = known(record, field)
            if recorded is None:
                continue
            time = prov_time(recorded)
            if time is None:
                out[f"apv:{term}Status"] = name(REASONS[UnknownReason.LOST])
            else:
                out[f"prov:{term}"] = time
            if recorded != time:
                out[f"apv:{term}Recorded"] = literal(recorded)

    def _node(self, identifier: Any) -> Node | None:
        kind = self._nodes.get(str(identifier))
        return None if kind is None else Node(x(str(identifier)), kind)

    def _relate(self, rule: str, subject: Node, identifier: Any, on: Basis) -> None:
        target = self._node(identifier)
        if target is not None:
            self._builder.relation(rule, subject, target, on)

    # -- relations, by kind of record ---------------------------------------------------------------------------------

    def _message(self, record: JsonObject) -> None:
        if record.get("direction") != "response":
            return
        unknown = record["unknown"]
        for part in known(record, "parts") or []:
            if part.get("type") != "tool_call":
                continue
            self._nodes[part["id"]] = "part"
            self._parts.setdefault(record["id"], []).append(part["id"])
            attributes: JsonObject = {"apv:partOf": name(x(record["id"]))}
            if isinstance(part.get("name"), str):
                attributes["apv:toolName"] = part["name"]
            reason = unknown.get(f"{part['id']}/execution")
            if reason is not None:
                attributes["apv:executionStatus"] = name(REASONS[UnknownReason(reason)])
            if self._emit_content and part.get("arguments") is not None:
                attributes["apv:arguments"] = literal(part["arguments"])
            on = Basis(EvidenceClass(part["class"]), part["id"], part.get("rule"))
            self._builder.node("n_call_request", Node(x(part["id"]), "part"), on, attributes)

    def _model_call(self, record: JsonObject) -> None:
        call = Node(x(record["id"]), "model_call")
        if known(record, "request") is not None:
            self._relate("use_input", call, record["request"], basis(record, "request"))
        if known(record, "model") is not None:
            self._relate("assoc_model", call, record["model"], basis(record, "model"))
        if known(record, "agent") is not None:
            self._relate("assoc_agent", call, record["agent"], basis(record, "agent"))
        response = known(record, "response")
        if response is not None:
            on = basis(record, "response")
            for identifier in (response, *self._parts.get(response, ())):
                node = self._node(identifier)
                if node is not None:
                    rule = "gen_response" if node.kind == "message" else "gen_call_request"
                    self._builder.relation(rule, node, call, on)

    def _request(self, record: JsonObject) -> None:
        request = Node(x(record["id"]), "request")
        for field in ("system", "messages", "tools"):
            value = known(record, field)
            for member in value if isinstance(value, list) else [] if value is None else [value]:
                self._relate("mem_request", request, member, basis(record, field))

    def _tool_execution(self, record: JsonObject) -> None:
        execution = Node(x(record["id"]), "tool_execution")
        if known(record, "call") is not None:
            on = basis(record, "call")
            if on.evidence is not EvidenceClass.INFERRED:
                self._relate("use_request", execution, record["call"], on)
        if known(record, "agent") is not None:
            self._relate("assoc_agent", execution, record["agent"], basis(record, "agent"))
        result = self._node(known(record, "result"))
        if result is not None:
            self._builder.relation("gen_result", result, execution, basis(record, "result"))

    def _decision(self, record: JsonObject) -> None:
        call = self._node(known(record, "model_call"))
        if call is not None:
            decision = Node(x(record["id"]), "decision")
            self._builder.relation("gen_decision", decision, call, basis(record, "model_call"))

    def _state_change(self, record: JsonObject) -> None:
        change = Node(x(record["id"]), "state_change")
        for field, rule in (("before_state", "use_state"), ("after_state", "gen_state")):
            digest = known(record, field)
            if digest is None:
                continue
            on = basis(record, field)
            state = Node(x(f"{record['id']}-{field.partition('_')[0]}"), "state")
            self._builder.node("n_state", state, on, {"apv:digest": literal(digest)})
            ends = (change, state) if rule == "use_state" else (state, change)
            self._builder.relation(rule, *ends, on)

    def _fixture(self, record: JsonObject) -> None:
        fixture = Node(x(record["id"]), "fixture")
        self._builder.relation("use_fixture", Node("x:ex", "execution"), fixture, basis(record, "role"))

    def _judgement(self, record: JsonObject) -> None:
        if known(record, "judge") is not None:
            on = basis(record, "judge")
            judge = Node(x(f"{record['id']}-judge"), "judge")
            self._builder.node("n_judge", judge, on, {"apv:name": record["judge"]}, types=("prov:Agent",))
            self._builder.relation("attr_judgement", Node(x(record["id"]), "judgement"), judge, on)

    def _generic_activity(self, record: JsonObject) -> None:
        handling = Node(x(record["id"]), "generic_activity")
        if known(record, "prompt") is not None:
            self._relate("use_prompt", handling, record["prompt"], basis(record, "prompt"))
        if known(record, "actor") is not None:
            self._relate("assoc_harness", handling, record["actor"], basis(record, "actor"))
        result = self._node(known(record, "result"))
        if result is not None:
            self._builder.relation("gen_input_result", result, handling, basis(record, "result"))


def node_kind(record: JsonObject) -> str:
    """The kind of node that a record stands for; a source file stands on the document's own level, and has none."""
    kind = str(record.get("kind"))
    if kind == "generic_artefact" and record.get("role") in ("request", "raw"):
        return str(record["role"])
    return kind


def finer_types(kind: str, record: JsonObject) -> tuple[str, ...]:
    """The finer type of a node, read off the record's own role."""
    if kind == "message":
        found = MESSAGE_TYPES.get(role_of(record))
        return () if found is None else (found,)
    if kind == "generic_artefact":
        found = ARTEFACT_TYPES.get(str(record.get("role")))
        return () if found is None else (found,)
    if kind == "actor":
        return (ACTOR_TYPES.get(str(record.get("role")), "apv:AgentSystem"), "prov:SoftwareAgent")
    if kind == "request":
        return ("prov:Collection",)
    return ()
