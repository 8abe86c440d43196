"""What aer/0.2 asks of an AER, whoever wrote it: kinds, ids, classes, reasons, order. Fields are the adapter's own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from ...canonical import JsonObject
from ...model.finding import Finding
from ...model.unknown import UnknownReason
from ..records import KINDS

REASONS: Final = frozenset(reason.value for reason in UnknownReason)
CLASSES: Final = frozenset("ODI")


class Findings:
    """What was found in one AER."""

    def __init__(self) -> None:
        self.found: list[Finding] = []

    def say(self, rule: str, message: str, place: str) -> None:
        self.found.append(Finding(rule, message, pointer=place))


class Asked(Findings):
    """Tier 1 over the records of one AER of another adapter. What its fields are called, which rules its catalogue has
    and where its pointers lead only its own programs know."""

    def __init__(self) -> None:
        super().__init__()
        self._ids: set[str] = set()
        self._after: dict[str, list[str]] = {}

    def record(self, record: JsonObject, place: str) -> None:
        identifier, kind = record.get("id"), record.get("kind")
        if kind not in KINDS or kind == "seal":
            self.say("aer.kind", f"{kind!r} is no kind of record", place)
        if not isinstance(identifier, str) or identifier in self._ids:
            self.say("aer.id", f"{identifier!r} is no id, or is there twice", place)
            return
        self._ids.add(identifier)
        self._qualified(record, place)
        fields = record.get("fields")
        for name, how in fields.items() if isinstance(fields, dict) else ():
            if isinstance(how, dict):
                self._qualified(how, f"{place}/{name}")
        unknown = record.get("unknown")
        for name, reason in unknown.items() if isinstance(unknown, dict) else ():
            if reason not in REASONS:
                self.say("aer.unknown", f"{reason!r} is no reason for an unknown {name}", place)
        for part in record.get("parts") or () if isinstance(record.get("parts"), list) else ():
            if isinstance(part, dict) and isinstance(part.get("id"), str):
                self._ids.add(part["id"])
        after = record.get("after")
        if isinstance(after, list):
            self._after[identifier] = [str(one) for one in after]

    def _qualified(self, item: JsonObject, where: str) -> None:
        if str(item.get("class")) not in CLASSES:
            self.say("aer.class", "no evidence class", where)
        elif str(item.get("rule")).startswith("otel2traj."):
            self.say(
                "aer.rule", f"{item['rule']} is a rule of this package's adapter, and the AER another one's", where
            )
        elif item["class"] != "O" and not _is_rule(item.get("rule")):
            self.say("aer.rule", f"{item.get('rule')!r} names no rule", where)

    def finish(self) -> None:
        for identifier, before in self._after.items():
            for one in before:
                if one not in self._ids:
                    self.say("aer.reference", f"after names {one}, which is no record here", identifier)
        for identifier in cyclic(self._after):
            self.say("aer.after", f"{identifier} comes after itself", identifier)


def _is_rule(value: Any) -> bool:
    """`name@version`, whatever the catalogue."""
    name, _, version = value.rpartition("@") if isinstance(value, str) else ("", "", "")
    return bool(name) and version.isdigit()


def cyclic(after: dict[str, list[str]]) -> Iterator[str]:
    """Records that can be reached from themselves: what is left when those with nothing before them are taken away."""
    waiting = {name: set(targets) & after.keys() for name, targets in after.items()}
    behind: dict[str, list[str]] = {}
    for name, targets in waiting.items():
        for target in targets:
            behind.setdefault(target, []).append(name)
    free = [name for name, targets in waiting.items() if not targets]
    while free:
        done = free.pop()
        for name in behind.get(done, ()):
            waiting[name].discard(done)
            if not waiting[name]:
                free.append(name)
    yield from sorted(name for name, targets in waiting.items() if targets)
