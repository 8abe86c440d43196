"""Records of one AER against each other: what one says of another, and that nothing stands there for nobody."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from ...canonical import JsonObject
from ..core import known
from .fields import NAMED

RULES: Final = {
    "aer.agree": "What a record says of another one is what that one says.",
    "aer.order": "The steps are numbered from 1 without a gap, and an Input holds those that name it.",
    "aer.orphan": "A message, an actor or an artefact is named by the record that it belongs to.",
}


_DECISION: Final = ("id", "model_call", "message", "calls", "outcome")


class Agreement:
    """Looks at each record once and keeps names and numbers of it; says at the end what does not fit."""

    def __init__(self) -> None:
        self._orders: list[tuple[int, str, str | None]] = []
        """(order, record, scope)"""
        self._scopes: dict[str, JsonObject] = {}
        self._handled: list[tuple[str, str, Any, Any]] = []
        self._harness = False
        self._calls: dict[str, list[str]] = {}
        """Response -> its parts that are tool calls."""
        self._responses: dict[str, str] = {}
        """Response -> the model call that generated it."""
        self._decisions: list[JsonObject] = []
        self._positions: dict[str, int] = {}
        self._requests: dict[str, int] = {}
        """Request -> messages in all."""
        self._belonging: dict[str, str] = {}
        self._named: Counter[str] = Counter()
        self._wrong: list[tuple[str, str, str]] = []

    def look(self, record: JsonObject) -> None:
        kind, identifier = str(record["kind"]), str(record["id"])
        if kind in NAMED and record.get("role") != "raw":
            self._belonging[identifier] = kind
        for fields in NAMED.values():
            for field in fields:
                value = known(record, field)
                self._named.update(str(one) for one in (value if isinstance(value, list) else [value]))
        order = known(record, "order")
        if order is not None:
            self._orders.append((order if isinstance(order, int) else -1, identifier, known(record, "scope")))
        if kind == "message":
            self._message(identifier, record)
        elif kind == "generic_artefact" and record.get("role") == "request":
            self._request(identifier, record)
        elif kind == "model_call" and isinstance(known(record, "response"), str):
            self._responses[record["response"]] = identifier
        elif kind == "decision":
            self._decisions.append({name: record.get(name) for name in _DECISION})
        elif kind == "scope":
            self._scopes[identifier] = {name: known(record, name) for name in ("prompt", "result", "steps")}
        elif kind == "actor":
            self._harness = self._harness or record.get("role") == "harness"
        elif kind == "generic_activity":
            told = (known(record, "scope"), known(record, "prompt"), known(record, "result"))
            self._handled.append((identifier, str(told[0]), told[1], told[2]))

    def _message(self, identifier: str, record: JsonObject) -> None:
        if record.get("direction") == "response":
            parts = known(record, "parts") or []
            self._calls[identifier] = [str(part.get("id")) for part in parts if part.get("type") == "tool_call"]
        elif isinstance(known(record, "position"), int):
            self._positions[identifier] = record["position"]

    def _request(self, identifier: str, record: JsonObject) -> None:
        kept, messages = known(record, "kept") or {}, known(record, "messages")
        if self._positions.get(str(known(record, "system")), -1) != -1:
            self._wrong.append(("agree", "its system prompt is said to be one of its messages", identifier))
        if messages is None:
            return
        length, earlier, base = known(record, "length"), _number(kept.get("messages")), known(record, "extends")
        if length != earlier + len(messages):
            told = f"{length} messages in all, {earlier} kept and {len(messages)} new"
            self._wrong.append(("agree", told, identifier))
        for number, one in enumerate(messages):
            if self._positions.get(str(one)) != number + earlier:
                self._wrong.append(("agree", f"{one} is not at the place that it says", identifier))
        self._requests[identifier] = _number(length)
        if self._requests.get(str(base), 0) < earlier:
            self._wrong.append(("agree", f"more messages are kept than {base} holds", identifier))

    def finish(self) -> Iterator[tuple[str, str, str]]:
        """(rule, message, place) of what does not fit."""
        yield from self._wrong
        yield from self._order()
        yield from self._decided()
        yield from self._inputs()
        for identifier in sorted(self._belonging.keys() - self._named.keys()):
            yield "orphan", f"no record names {identifier}", identifier

    def _order(self) -> Iterator[tuple[str, str, str]]:
        for number, (order, identifier, _) in enumerate(sorted(self._orders), 1):
            if order != number:
                yield "order", f"it is step {order}, by its order it is step {number}", identifier
                return
        for scope, told in self._scopes.items():
            held = [order for order, _, named in self._orders if named == scope]
            if told["steps"] is not None and told["steps"] != ([min(held), max(held)] if held else None):
                yield "order", f"steps are {told['steps']}, those that name it are {held[:1]} to {held[-1:]}", scope

    def _decided(self) -> Iterator[tuple[str, str, str]]:
        seen: Counter[str] = Counter()
        for decision in self._decisions:
            message = str(decision["message"])
            seen[message] += 1
            calls = self._calls.get(message)
            right = decision["calls"] == calls and self._responses.get(message) == decision["model_call"]
            if not right or (decision["outcome"] == "call_tools") != bool(calls):
                yield "agree", f"it is not what {message} decides", str(decision["id"])
        for message in self._responses:
            if seen[message] != 1:
                yield "agree", f"{seen[message]} decisions are read off it, not one", message

    def _inputs(self) -> Iterator[tuple[str, str, str]]:
        seen: Counter[str] = Counter()
        for identifier, scope, prompt, result in self._handled:
            seen[scope] += 1
            told = self._scopes.get(scope, {})
            if (told.get("prompt"), told.get("result")) != (prompt, result):
                yield "agree", f"prompt and result are not those of {scope}", identifier
        for scope, told in self._scopes.items():
            if seen[scope] > 1 or (self._harness and not seen[scope] and told["steps"] is None):
                yield "agree", f"the harness handled it {seen[scope]} times", scope


def _number(value: Any) -> int:
    return value if isinstance(value, int) else 0
