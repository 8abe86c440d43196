"""What the projection remembers between steps: a name for each actor, message and call, never what they say."""

from __future__ import annotations

from typing import BinaryIO

from ..canonical import JsonObject
from ..model.trajectory import Step
from ..model.unknown import UnknownReason
from .plain import Redact
from .records import AerWriter, Record


class State:
    """Counters and names of one execution, and the writer that its records go to."""

    def __init__(self, out: BinaryIO, redact: Redact | None, saved: JsonObject | None = None) -> None:
        self.writer = AerWriter(out, redact, saved)
        self.scopes: set[str] = set()
        self._counts: dict[str, int] = {}
        self._actors: dict[tuple[str, str], str] = {}

    def new(self, prefix: str) -> str:
        """The next free id: `m0`, `m1`, …"""
        number = self._counts.get(prefix, 0)
        self._counts[prefix] = number + 1
        return f"{prefix}{number}"

    def actor(self, role: str, name: str, by: str, rule: str | None = None) -> str:
        """The id of an actor; its record is written when it is first met."""
        known = self._actors.get((role, name))
        if known is not None:
            return known
        record = Record("actor", self.new("a"), by, rule=rule)
        record.say("role", role, by, rule)
        record.say("name", name, by, rule)
        self.writer.write(record)
        self._actors[role, name] = record.id
        return record.id

    def agent_and_scope(self, record: Record, step: Step) -> None:
        agent = None if step.agent_name is None else self.actor("agent", step.agent_name, "adapter", "agent_name")
        record.say_or_miss("agent", agent, "adapter", "agent_name")
        self.scope(record, step)

    def scope(self, record: Record, step: Step) -> None:
        if step.input_ordinal is None:
            record.miss("scope", UnknownReason.NOT_RECORDED)
        else:
            self.scopes.add(step.input_ordinal)
            record.say("scope", f"s{step.input_ordinal}", "adapter", "scope_of_record")
