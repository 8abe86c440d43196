"""Nouns of `trajectory-ledger-v1`: closed lists, the state hash, the event hash, instants.

An event is a JSON object of one line. Its `state_hash` is SHA-256 over the canonical form of its `state`; its
`event_hash` is SHA-256 over the canonical form of the event without `event_hash`, and `prev_event_hash` is the
`event_hash` of the event before it. The canonical form is `canonical.canonical_bytes`.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

from ..canonical import JsonObject, JsonValue, canonical_bytes, sha256_hex
from ..timestamps import parse_ns

SCHEMA: Final = "trajectory-ledger-v1"
STATE_RULE: Final = "otel2traj.state.v1"
"""How the `state` of an exported event is made; docs/how-to/ledger.md describes it. A change of it is a new name."""
CANONICAL_FORM: Final = "py-json-sorted-v1"

MANDATORY: Final = ("step", "timestamp", "type", "state_hash", "cost")
DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")
NO_CONVERSATION: Final = "sha256:" + sha256_hex(b"[]")
"""Where the digest of a conversation starts."""


class EventType(StrEnum):
    THINK = "think"
    TOOL = "tool"
    OBSERVE = "observe"


class Outcome(StrEnum):
    """In the order in which a run passes through them; everything from `succeeded` on is terminal."""

    PENDING = "pending"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    BLOCKED = "blocked"
    TIMEOUT = "timeout"

    @property
    def rank(self) -> int:
        return {"pending": 0, "running": 1}.get(self.value, 2)

    @property
    def terminal(self) -> bool:
        return self.rank == 2


CHAIN: Final[JsonObject] = {
    "algorithm": "sha256",
    "field": "event_hash",
    "previous": "prev_event_hash",
    "from_step": 0,
    "every_event": True,
}
"""How the header declares the event chain. `ends_in` beside it says `terminal outcome` where the ledger is whole."""
ENDS_IN: Final = "terminal outcome"

REQUIRED_FIELD: Final[dict[str, str]] = {
    Outcome.SUCCEEDED: "evidence",
    Outcome.FAILED: "reason",
    Outcome.BLOCKED: "blocker",
    Outcome.TIMEOUT: "elapsed_seconds",
}
"""What a terminal outcome must say for itself."""


def digest(data: bytes) -> str:
    """`sha256:` and lower-case hex: the prefix is part of the value."""
    return "sha256:" + sha256_hex(data)


def state_hash(state: JsonValue) -> str:
    return digest(canonical_bytes(state))


def event_hash(event: JsonObject) -> str:
    """The hash of an event, whether or not it carries one."""
    if "event_hash" in event:
        event = {key: value for key, value in event.items() if key != "event_hash"}
    return digest(canonical_bytes(event))


def declares_chain(value: JsonValue) -> bool:
    """Whether a header's `chain` is of the form that is known here, from whichever step."""
    if not isinstance(value, dict):
        return False
    told = {key: part for key, part in value.items() if key != "ends_in"}
    begins = told.get("from_step")
    return (
        value.get("ends_in") in (None, ENDS_IN)
        and type(begins) is int
        and begins >= 0
        and value.get("every_event") is True
        and {**told, "from_step": 0} == CHAIN
    )


def line_hash(line: bytes, event: JsonObject) -> str:
    """`event_hash(event)`, faster: `line` is the canonical form of the event, `event_hash` included."""
    recorded = event.get("event_hash")
    if isinstance(recorded, str) and DIGEST.fullmatch(recorded) is not None:
        # A quote inside a string is escaped, so these bytes are a key and its value; twice means nested once more.
        field = b'"event_hash":"' + recorded.encode() + b'"'
        if line.count(field) == 1:
            without = line.replace(field + b",", b"") if field + b"," in line else line.replace(b"," + field, b"")
            if len(without) < len(line):
                return digest(without)
    return event_hash(event)


def seal(event: JsonObject, previous: str | None) -> tuple[bytes, str]:
    """The event as one line with both chain hashes, ended by a newline, and its own hash."""
    chained = {**event, "prev_event_hash": previous}
    own = event_hash(chained)
    chained["event_hash"] = own
    return canonical_bytes(chained) + b"\n", own


def extend(conversation: str, entry: JsonValue) -> str:
    """The digest of a conversation after one more entry."""
    return digest(canonical_bytes([conversation, entry]))


def instant_ns(value: object) -> int | None:
    """Nanoseconds since the Unix epoch of an ISO-8601 date and time, or None for anything else."""
    return parse_ns(value) if isinstance(value, str) else None
