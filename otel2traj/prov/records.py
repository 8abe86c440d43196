"""AER records into canonical lines, sealed: the digest covers every byte before the last line."""

from __future__ import annotations

import hashlib
from typing import Any, BinaryIO, Final

from ..canonical import JsonObject, loads
from ..model.unknown import EvidenceClass, UnknownReason
from ..timestamps import parse_ns
from .cited import Cited
from .places import Place, by_whom, together
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
RESERVED: Final = frozenset({"id", "kind", "class", "by", "rule", "at", "source", "unknown", "after", "fields"})
BY: Final = ("source", "interceptor", "client", "harness", "benchmark", "config", "adapter")
"""Who wrote a value down: the agent's own telemetry, the wire interceptor, the protocol client, the harness, the
benchmark, a configuration file, or the adapter by a rule."""


class Record:
    """One record in the making. Every field is given with its class, whoever said it, and the place where it stands.

    `key` are the fields that tell of the thing at all: where one of them is observed the record is, by whoever recorded
    that one. With a `rule` the record is what the rule makes.
    """

    def __init__(
        self,
        kind: str,
        identifier: str,
        cited: Cited,
        *,
        rule: str | None = None,
        key: tuple[str, ...] = ("content",),
        narrow: bool = False,
    ) -> None:
        self.id = identifier
        self._cited = cited
        self._key = () if rule is not None else key
        self._rule = rule
        self._narrow = narrow
        self.data: JsonObject = {
            "id": identifier,
            "kind": kind,
            "source": list(cited.sources),
            "unknown": {},
            "after": [],
            "fields": {},
        }

    def derive(self, name: str, value: Any, rule: str) -> None:
        """A field that a rule of the adapter's catalogue gives."""
        self._put(name, value, _by_rule(rule))

    def say(
        self, name: str, value: Any, *, stands: Any = None, at: Place | None = None, rule: str | None = None
    ) -> None:
        """A field that was recorded: observed where a cited record holds it, derived (by `rule`) where none does.

        `stands` is what has to stand there where the field itself only names a record."""
        place = at if at is not None else self._cited.find(value if stands is None else stands, name)
        self._put(name, value, self.how(place, rule))

    def how(self, place: Place | None, rule: str | None = None) -> JsonObject:
        """Class and by of what stands at a place, or of what was put together where there is none."""
        if place is None:
            return _by_rule(rule if rule is not None else self._cited.otherwise)
        return {"class": _class(None), "by": by_whom(self._cited.sources[int(place[0])]), "at": place}

    def say_or_miss(
        self,
        name: str,
        value: Any,
        reason: UnknownReason = UnknownReason.NOT_RECORDED,
        *,
        stands: Any = None,
        rule: str | None = None,
    ) -> None:
        if value is None:
            self.miss(name, reason)
        else:
            self.say(name, value, stands=stands, rule=rule)

    def time_or_miss(self, name: str, value: str | None, reason: UnknownReason = UnknownReason.NOT_RECORDED) -> None:
        """A recorded time: observed as it was written, derived where it was written in another notation."""
        if value is None:
            self.miss(name, reason)
            return
        place = self._cited.find(value, name)
        how = self.how(place, "time_notation")
        if place is None and (written := self._cited.time(parse_ns(value), name)) is not None:
            how["at"] = written
        self._put(name, value, how)

    def derive_or_miss(
        self, name: str, value: Any, rule: str, reason: UnknownReason = UnknownReason.NOT_RECORDED
    ) -> None:
        if value is None:
            self.miss(name, reason)
        else:
            self.derive(name, value, rule)

    def refer(self, name: str, *records: Record, listed: bool = False) -> None:
        """Other records, written already: as good as the weakest of them, standing where they stand."""
        value = [one.id for one in records] if listed else records[0].id
        self.combine(name, value, [self._here(one) for one in records])

    def _here(self, record: Record) -> JsonObject:
        """How another record is known, its place counted among the sources of this one."""
        how = dict(record.known())
        if "at" in how:
            source = record.data["source"][how["at"][0]]
            how["at"] = [self.data["source"].index(source), *how["at"][1:]]
        return how

    def part(self, name: str, value: Any, how: JsonObject, pointer: str) -> None:
        """A field that stands in something whose place is known already."""
        if "at" in how and pointer:
            how = {**how, "at": [*how["at"][:-1], f"{how['at'][-1]}{pointer}"]}
        self._put(name, value, dict(how))

    def combine(self, name: str, value: Any, hows: list[JsonObject]) -> None:
        """A field that rests on several things: as good as the weakest."""
        self._put(name, value, weakest(hows, self._cited.otherwise))

    def miss(self, name: str, reason: UnknownReason) -> None:
        """A field that is not there, and why."""
        self.data["unknown"][name] = reason.value

    def after(self, rule: str, identifiers: set[str]) -> None:
        """Records that came before this one, known by identifiers and not by time."""
        if identifiers:
            self.data["after"] = sorted(identifiers)
            self.data["fields"]["after"] = _by_rule(rule)

    def finish(self) -> JsonObject:
        """The record as it is written."""
        places = [how["at"] for how in (*self.data["fields"].values(), *self.data.get("parts", ())) if "at" in how]
        if self._narrow and places:
            kept = sorted({place[0] for place in places})
            self.data["source"] = [self.data["source"][number] for number in kept]
            for how in (*self.data["fields"].values(), *self.data.get("parts", ())):
                if "at" in how:
                    how["at"] = [kept.index(how["at"][0]), *how["at"][1:]]
            self._narrow = False
        return {**self.data, **self.known()}

    def known(self) -> JsonObject:
        """How the record itself is known: `{"class", "by", "rule"?, "at"?}`."""
        if self._rule is not None:
            return _by_rule(self._rule)
        for name in self._key:
            how: JsonObject | None = self.data["fields"].get(name)
            if how is not None and how["class"] == EvidenceClass.OBSERVED.value:
                return how
        first = (self.data["fields"].get(name) for name in self._key)
        return next((how for how in first if how is not None), _by_rule(self._cited.otherwise))

    def _put(self, name: str, value: Any, how: JsonObject) -> None:
        self.data[name] = value
        self.data["fields"][name] = how


def weakest(hows: list[JsonObject], otherwise: str) -> JsonObject:
    """What rests on all of them is as good as the weakest; where all are observed it stands where all of them stand."""
    for how in sorted(hows, key=lambda one: -_ORDER.index(one["class"])):
        if how["class"] != EvidenceClass.OBSERVED.value:
            return {key: how[key] for key in ("class", "by", "rule")}
        place = together([one["at"] for one in hows])
        if place is None:
            return _by_rule(otherwise)
        return {"class": how["class"], "by": how["by"], "at": place}
    return _by_rule(otherwise)


_ORDER: Final = [one.value for one in EvidenceClass]


def _by_rule(rule: str) -> JsonObject:
    return {"class": _class(rule), "by": "adapter", "rule": rule_id(rule)}


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

    def __init__(self, out: BinaryIO, redact: Redact | None = None) -> None:
        self._out = out
        self._redact = redact
        self._hash = hashlib.sha256()
        self._count = 0
        self.digest: str | None = None

    def write(self, record: Record) -> None:
        line = canonical_plain(record.finish(), self._redact) + b"\n"
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
        written = loads(canonical_plain(record, self._redact))
        assert isinstance(written, dict)
        self._out.write(canonical_plain({**written, "seal_digest": seal_digest(written)}) + b"\n")
        return self.digest


def seal_digest(seal: JsonObject) -> str:
    """`sha256:…` over the RFC 8785 form of a seal without this very member: it covers issues, status and count, and
    through `digest` every byte before it."""
    own = {key: value for key, value in seal.items() if key != "seal_digest"}
    return "sha256:" + hashlib.sha256(canonical_plain(own)).hexdigest()
