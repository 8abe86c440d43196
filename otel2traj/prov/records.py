"""AER records into canonical lines, sealed: the digest covers every byte before the last line."""

from __future__ import annotations

import hashlib
from typing import Any, BinaryIO, Final

from ..canonical import JsonObject
from ..model.unknown import EvidenceClass, UnknownReason
from .plain import Redact, canonical_plain
from .rules import catalogue

KINDS: Final = (
    "execution",
    "actor",
    "scope",
    "message",
    "model_call",
    "tool_execution",
    "decision",
    "state_change",
    "fixture",
    "judgement",
    "generic_activity",
    "generic_artefact",
    "seal",
)
RESERVED: Final = frozenset({"id", "kind", "class", "by", "rule", "source", "unknown", "after", "fields"})
BY: Final = ("source", "interceptor", "client", "harness", "benchmark", "config", "adapter")
"""Who wrote a value down: the agent's own telemetry, the wire interceptor, the protocol client, the harness, the
benchmark, a configuration file, or the adapter by a rule."""

_FIELD_CLASSES: Final = {one.value for one in EvidenceClass}


class Record:
    """One record in the making. Every field is given with its class and whoever said it."""

    def __init__(
        self,
        kind: str,
        identifier: str,
        by: str,
        *,
        rule: str | None = None,
        source: list[JsonObject] | None = None,
    ) -> None:
        self.id = identifier
        self.data: JsonObject = {
            "id": identifier,
            "kind": kind,
            "class": _class(rule),
            "by": by,
            "source": source if source is not None else [],
            "unknown": {},
            "after": [],
            "fields": {},
        }
        if rule is not None:
            self.data["rule"] = rule_id(rule)

    def say(self, name: str, value: Any, by: str, rule: str | None = None) -> None:
        """A field that was recorded (no rule, class O), or that a rule of the adapter's catalogue gives."""
        self.data[name] = value
        how: JsonObject = {"class": _class(rule), "by": by}
        if rule is not None:
            how["rule"] = rule_id(rule)
        self.data["fields"][name] = how

    def miss(self, name: str, reason: UnknownReason) -> None:
        """A field that is not there, and why."""
        self.data["unknown"][name] = reason.value

    def say_or_miss(
        self,
        name: str,
        value: Any,
        by: str,
        rule: str | None = None,
        reason: UnknownReason = UnknownReason.NOT_RECORDED,
    ) -> None:
        if value is None:
            self.miss(name, reason)
        else:
            self.say(name, value, by, rule)

    def after(self, rule: str, identifiers: set[str]) -> None:
        """Records that came before this one, known by identifiers and not by time."""
        if identifiers:
            self.data["after"] = sorted(identifiers)
            self.data["fields"]["after"] = {"class": _class(rule), "by": "adapter", "rule": rule_id(rule)}


def _class(rule: str | None) -> str:
    return EvidenceClass.OBSERVED.value if rule is None else catalogue("otel2traj")[rule].evidence.value


def rule_id(name: str) -> str:
    return catalogue("otel2traj")[name].id


def listed(name: str) -> bool:
    """Whether the adapter's catalogue has the rule."""
    return name in catalogue("otel2traj").rules


def cited(name: str, producer: str | None) -> str:
    """The rule itself where its entry cites the code that produced the record, else its class-I twin."""
    return name if producer in catalogue("otel2traj")[name].cites else f"{name}_unverified"


class AerWriter:
    """Writes records one by one and forgets them; keeps a running digest and a count."""

    def __init__(self, out: BinaryIO, redact: Redact | None = None, saved: JsonObject | None = None) -> None:
        self._out = out
        self._saved = saved
        self._redact = redact
        self._hash = hashlib.sha256()
        self._count = 0
        self.digest: str | None = None

    def write(self, record: Record) -> None:
        if self._saved is not None:
            _restated(record, self._saved)
        line = canonical_plain(record.data, self._redact) + b"\n"
        self._hash.update(line)
        self._count += 1
        self._out.write(line)

    def seal(self, issues: list[str], status: str) -> str:
        """Write the last line and return the digest it carries."""
        self.digest = "sha256:" + self._hash.hexdigest()
        record = {
            "id": "seal",
            "kind": "seal",
            "class": _class("seal"),
            "by": "adapter",
            "rule": rule_id("seal"),
            "records": self._count,
            "digest": self.digest,
            "status": status,
            "issues": issues,
        }
        self._out.write(canonical_plain(record, self._redact) + b"\n")
        return self.digest


def _restated(record: Record, saved: JsonObject) -> None:
    """What a saved trajectory says was observed is what the trajectory says: nobody opened what it was made from."""
    data = record.data
    for how in (data, *data["fields"].values()):
        if how["class"] == EvidenceClass.OBSERVED.value:
            how.update({"class": _class("saved_trajectory"), "by": "adapter", "rule": rule_id("saved_trajectory")})
    if data.get("role") != "raw":
        whole = {"path": saved["path"], "offset": 0, "length": saved["length"], "sha256": saved["sha256"]}
        data["source"] = [{**whole, "what": "trajectory"}]
