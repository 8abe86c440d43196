"""AER records into inference bundles: one for each method, so that a reader can leave any of them out."""

from __future__ import annotations

from typing import Any, Final

from ..canonical import JsonObject
from .core import basis, known, literal, x
from .document import Basis, Builder, Node
from .messages import call_ids
from .sem import reports_result, role_of

_METHODS: Final = {
    "inferred_reported_result": "inf_use_reported_result",
    "inferred_name_arguments": "inf_use_name_arguments",
    "inferred_name": "inf_use_name",
    "candidates": "inf_use_candidate",
}


class Inference:
    """Looks at every record once and keeps names only; states what it can after the last one."""

    def __init__(self, builder: Builder) -> None:
        self._builder = builder
        self._executions: dict[str, list[str]] = {}
        """Interaction id -> executions that carry it."""
        self._calls: dict[str, str] = {}
        """Interaction id of a model call -> its request."""
        self._members: dict[str, list[str]] = {}
        """Request -> the messages that are new in it."""
        self._results: dict[str, tuple[str, Basis]] = {}
        """Call part -> the result of the execution that is linked to it."""
        self._reports: dict[str, set[str]] = {}
        """Message -> tool call ids whose results it reports."""
        self._claims: list[tuple[str, str, str, Basis]] = []
        """(rule, part, interaction id, basis)"""
        self._told: list[tuple[str, str | None, Any, Basis]] = []
        self._agents: dict[str, tuple[str, Basis]] = {}

    def look(self, record: JsonObject) -> None:
        kind = record.get("kind")
        if kind == "message":
            self._message(record)
        elif kind == "model_call":
            interaction = known(record, "interaction_id")
            if interaction is not None:
                self._calls[str(interaction)] = str(known(record, "request"))
        elif kind == "generic_artefact" and record.get("role") == "request":
            self._request(record)
        elif kind == "tool_execution":
            self._execution(record)
        elif kind == "actor" and record.get("role") == "agent":
            self._agents[str(record["name"])] = (str(record["id"]), basis(record, "name"))

    def _request(self, record: JsonObject) -> None:
        identifier, base = str(record["id"]), known(record, "extends")
        self._members[identifier] = known(record, "messages") or []
        if base in self._members:
            kept = record["kept"]
            shared = {f"apv:kept{name.title()}": literal(kept[name]) for name in ("messages", "system", "tools")}
            ends = (Node(x(identifier), "request"), Node(x(str(base)), "request"))
            self._builder.relation("inf_request_extends", *ends, basis(record, "extends"), shared)

    def _message(self, record: JsonObject) -> None:
        identifier = str(record["id"])
        content = known(record, "content")
        if role_of(record) == "tool" or reports_result(content):
            self._reports[identifier] = set(call_ids(content))
        calls = {
            part["id"]: part.get("call_id") for part in known(record, "parts") or [] if part["type"] == "tool_call"
        }
        for field, rule in _METHODS.items():
            for part, found in (known(record, field) or {}).items():
                on = basis(record, field)
                for interaction in found if isinstance(found, list) else [found]:
                    self._claims.append((rule, part, str(interaction), on))
        for part, told in (known(record, "reported") or {}).items():
            self._told.append((part, calls.get(part), told.get("interaction_id"), basis(record, "reported")))

    def _execution(self, record: JsonObject) -> None:
        identifier = str(record["id"])
        interaction = known(record, "interaction_id")
        if interaction is not None:
            self._executions.setdefault(str(interaction), []).append(identifier)
        call = known(record, "call")
        if call is None:
            return
        on = basis(record, "call")
        if on.rule is not None and on.rule.partition("@")[0].endswith("_unverified"):
            ends = (Node(x(identifier), "tool_execution"), Node(x(call), "part"))
            self._builder.relation("inf_use_unverified", *ends, on)
        elif known(record, "result") is not None:
            self._results[call] = (record["result"], on)

    def finish(self) -> None:
        for rule, part, interaction, on in self._claims:
            for execution in self._executions.get(interaction, []):
                ends = (Node(x(execution), "tool_execution"), Node(x(part), "part"))
                self._builder.relation(rule, *ends, on)
        for part, call_id, interaction, on in self._told:
            if call_id is not None and part in self._results:
                self._reported(part, call_id, interaction, on)
        for agent, (identifier, on) in self._agents.items():
            above, slash, _ = agent.rpartition("/")
            if slash and above in self._agents:
                ends = (Node(x(identifier), "actor"), Node(x(self._agents[above][0]), "actor"))
                self._builder.relation("inf_delegation", *ends, on)

    def _reported(self, part: str, call_id: str, interaction: Any, on: Basis) -> None:
        """The one message of that request which reports the call's result."""
        request = self._members.get(self._calls.get(str(interaction), ""), [])
        messages = [message for message in request if call_id in self._reports.get(message, ())]
        if len(messages) == 1:
            ends = (Node(x(messages[0]), "message"), Node(x(self._results[part][0]), "generic_artefact"))
            self._builder.relation("inf_reported_message", *ends, on)
