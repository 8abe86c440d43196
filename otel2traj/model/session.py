"""What a file in which an agent keeps its session tells, record by record."""

from __future__ import annotations

from dataclasses import dataclass

from ..canonical import JsonObject, JsonValue
from .evidence import EvidenceRef
from .reading import Role


@dataclass(slots=True)
class Told:
    """What one record of a session file tells of one call, execution or prompt. Those with equal `key` are read
    together, in the order of the file."""

    key: str
    role: Role
    facts: JsonObject
    """Members of `Reading` by name. `text` and `reasoning` of several records are joined, `tool_calls` and
    `other_parts` gathered, all else is overwritten by what comes later; `messages` are in any chat shape, as are the
    gathered `answers`, and `counts` in that of any provider."""
    unit: str | None = None
    """The record's own id: one that comes again replaces the first."""
    inputs: tuple[EvidenceRef, ...] = ()
    """Records before it whose `message` the call was sent first."""
    start_ns: int | None = None
    end_ns: int | None = None
    """When it began and ended, where the record says so itself."""


@dataclass(slots=True)
class SessionRecord:
    """One record of a file in which an agent keeps its session."""

    ref: EvidenceRef
    form: str
    time_ns: int | None
    """When it was written. What it tells of had begun by then; that it had ended is not said."""
    told: tuple[Told, ...] = ()
    message: JsonValue = None
    """What this record adds to the conversation, where it is no answer of the model."""
    conversation_id: str | None = None
    turn: str | None = None
    trace_id: str | None = None
    agent_name: str | None = None
