"""A forensic ledger as the analyzers read it: entries with the parts that decide, whoever wrote the ledger."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from ...canonical import JsonError, JsonObject, dumps, loads
from ...model.forensic import FailureCategory, Observation
from ...model.link import ExecutionStatus

AGENT: Final = "agent"
USER: Final = "user"
ENVIRONMENT: Final = "env"
SYSTEM: Final = "system"

_IDENTITIES: Final = {
    "agent_id": AGENT,
    "user_id": USER,
    "system_id": SYSTEM,
    "env_id": ENVIRONMENT,
    "environment_id": ENVIRONMENT,
}
_ROLES: Final = {"agent": AGENT, "assistant": AGENT, "user": USER, "environment": ENVIRONMENT, "system": SYSTEM}
_ERRORS: Final = frozenset({"error", "failed", "failure", "exception", str(ExecutionStatus.ERROR)})


@dataclass(frozen=True, slots=True)
class Rule:
    """One failure category and what names it, in one sentence: its line in the reference page."""

    name: str
    category: FailureCategory
    says: str


class Analyzer(Protocol):
    """The interface of the ledger's schema. A built-in one returns observations; one of a user may also return what
    `custom.observations` reads, or nothing."""

    @property
    def name(self) -> str: ...

    def analyze(self, history: list[JsonObject], task_result: JsonObject) -> list[Observation]: ...


@dataclass(slots=True)
class Call:
    """A tool call of an agent entry."""

    id: str | None
    name: str | None
    arguments: Any


@dataclass(slots=True)
class Entry:
    """One entry of `conversation_history`. `turn` counts from 0; None before the first turn."""

    index: int
    kind: str | None
    identity: str | None
    content: Any
    turn: int | None
    calls: list[Call] = field(default_factory=list)
    raw: JsonObject = field(default_factory=dict)

    @property
    def text(self) -> str | None:
        """What was said, where it is words."""
        return self.content if isinstance(self.content, str) else None

    @property
    def told(self) -> JsonObject:
        """The status object of an environment entry, else nothing."""
        return self.content if isinstance(self.content, dict) else {}

    @property
    def status(self) -> str | None:
        value = self.told.get("status")
        return value.strip().lower() if isinstance(value, str) else None

    @property
    def is_error(self) -> bool:
        """Whether the environment itself says that something failed; its words alone do not make it so."""
        if self.status is None:
            return self.told.get("error") not in (None, "", False)
        return self.status in _ERRORS


def entries(history: list[JsonObject]) -> list[Entry]:
    """What the analyzers read. Entries that are no objects are passed over; positions stay those of the list."""
    out: list[Entry] = []
    turn = -1
    for index, raw in enumerate(history):
        if not isinstance(raw, dict):
            continue
        identity = raw.get("identity", raw.get("identity_id"))
        identity = identity if isinstance(identity, str) else None
        kind = _IDENTITIES.get((identity or "").partition(":")[0]) or _ROLES.get(str(raw.get("role")))
        if kind == AGENT:
            turn += 1
        own = raw.get("turn_index")
        at = own if type(own) is int else turn if turn >= 0 and "turn_index" not in raw else None
        out.append(Entry(index, kind, identity, raw.get("content"), at, _calls(raw), raw))
    return out


def _calls(raw: JsonObject) -> list[Call]:
    out: list[Call] = []
    items = raw.get("tool_calls")
    for item in items if isinstance(items, list) else []:
        if not isinstance(item, dict):
            continue
        inner = item["function"] if isinstance(item.get("function"), dict) else item
        name = _first(inner, "name", "tool")
        call_id = _first(item, "id", "tool_call_id")
        arguments = _first(inner, "arguments", "params", "args", "input")
        out.append(
            Call(call_id if isinstance(call_id, str) else None, name if isinstance(name, str) else None, arguments)
        )
    return out


def _first(value: JsonObject, *names: str) -> Any:
    return next((value[name] for name in names if value.get(name) is not None), None)


def words(value: Any) -> str:
    """A value as text to be searched: text as it stands, anything else as JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else dumps(value).decode("utf-8", "replace")


def spoken(value: Any) -> str:
    """The texts in a value, JSON in a text opened: an error as its words, without the names of its fields."""
    found: list[str] = []
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, dict):
            stack += reversed(item.values())
        elif isinstance(item, list):
            stack += reversed(item)
        elif isinstance(item, str):
            opened = _opened(item)
            if opened is None:
                found.append(item)
            else:
                stack.append(opened)
    return "\n".join(found)


def _opened(text: str) -> Any:
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        value = loads(text)
    except JsonError:
        return None
    return value if isinstance(value, (dict, list)) else None


def shown(value: Any, limit: int = 240) -> str:
    """A value as evidence shows it, on one line and cut where it is long."""
    text = " ".join(words(value).split())
    return text if len(text) <= limit else text[: limit - 1] + "…"
