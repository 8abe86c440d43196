"""Tier 5: every core statement to the AER field that justifies it, and that field to the recorded bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from typing import Any, Final

from ...canonical import JsonObject
from ...model.finding import Finding
from ...model.unknown import EvidenceClass
from ..constraints.statements import RELATIONS
from ..core import DESCRIBE, STATUS, finer_types, known, literal, node_kind, prov_time
from ..document import CLASSES, REASONS
from .profile import bundles, element, names, statements
from .resolve import AerIndex

RULES: Final = {
    "linkage.record": "The document was derived from this AER: execution and digest agree.",
    "linkage.pointer": "The pointer of a statement resolves to a record, a part or a field that is known.",
    "linkage.class": "A statement is no better than what it rests on.",
    "linkage.basis": "The basis rule is the one that gave the field.",
    "linkage.ends": "The ends of a relation are the record it points to and what its field names.",
    "linkage.time": "A time is the recorded one; where none was recorded there is none.",
    "linkage.value": "What a node says of itself is what its record says: types, descriptions, scope, order.",
    "linkage.unknown": "A status is the declared reason, and a declared reason is never filled in.",
    "linkage.ambiguous": "A call whose execution is ambiguous or unknown is used by nothing in core.",
    "linkage.coverage": "Every model call, message and tool execution of the AER stands in core.",
    "linkage.raw": "A pointer's bytes have the digest that it states.",
    "linkage.place": "What is observed stands at the place that is given for it.",
    "linkage.object": "A source file has the digest that the AER states.",
}
_TERMS: Final = {reason.value: term for reason, term in REASONS.items()}
Read = Callable[[str, int, int], bytes | None]
DigestOf = Callable[[str], str | None]
_ORDER: Final = list(EvidenceClass)
_COVERED: Final = frozenset({"model_call", "message", "tool_execution", "decision", "state_change"})


class _Linkage:
    def __init__(self, document: JsonObject, aer: AerIndex) -> None:
        self.found: list[Finding] = []
        self._aer = aer
        self._document = document
        self._core = bundles(document).get("xd:core", {})
        self.cited: set[str] = set()
        self._classes = {
            key: names(item.get("apv:evidenceClass"))
            for kind, key, item in statements(self._core)
            if kind not in RELATIONS
        }

    def say(self, rule: str, message: str, place: str) -> None:
        self.found.append(Finding(f"linkage.{rule}", message, pointer=place))

    def run(self) -> None:
        self._same_record()
        for where, instance in bundles(self._document).items():
            for section, key, item in statements(instance):
                place = f"/bundle/{where}/{section}/{key}"
                record = self._resolve(item, place)
                if record is None:
                    continue
                if section in RELATIONS:
                    self._ends(section, item, record, place)
                    if where == "xd:core":
                        self._no_better(section, item, place)
                if where == "xd:core":
                    self.cited.add(str(record["id"]))
                    if section == "used":
                        self._unambiguous(item, place)
                    elif section not in RELATIONS and key == f"x:{record['id']}":
                        self._node(item, record, place)
                    elif section not in RELATIONS and key.removeprefix("x:") in self._aer.parts:
                        self._part(key, item, record, place)
        nodes = {key for section, key, _ in statements(self._core) if section not in RELATIONS}
        for identifier, record in self._aer.records.items():
            if record.get("kind") in _COVERED and f"x:{identifier}" not in nodes:
                self.say("coverage", f"{identifier} does not stand in core", identifier)

    def _same_record(self) -> None:
        stated = element(self._document, "entity", "xd:aer").get("apv:digest")
        if stated != self._aer.digest:
            self.say("record", "the document states another AER's digest", "/entity/xd:aer")
        prefix = self._document.get("prefix")
        iri = prefix.get("x") if isinstance(prefix, dict) else None
        if not isinstance(iri, str) or not iri.endswith(f"/{self._aer.execution}#"):
            self.say("record", "the document is about another execution", "/prefix/x")

    def _resolve(self, item: JsonObject, place: str) -> JsonObject | None:
        pointer = str(item.get("apv:sourcePointer"))
        evidence = self._aer.evidence(pointer)
        if evidence is None:
            self.say("pointer", f"{pointer!r} leads to nothing that is known", place)
            return None
        for name in names(item.get("apv:evidenceClass")):
            stated = next((one for one, term in CLASSES.items() if term == name), None)
            if stated is not None and _ORDER.index(stated) < _ORDER.index(evidence):
                self.say("class", f"{name}, resting on a field of class {evidence.value}", place)
        basis, rule = item.get("apv:basisRule"), self._aer.rule(pointer)
        if basis != rule and not str(basis).startswith("sem."):
            self.say("basis", f"basis rule {basis!r}, the field was given by {rule!r}", place)
        return self._aer.records[self._aer.split(pointer)[0]]

    def _ends(self, section: str, item: JsonObject, record: JsonObject, place: str) -> None:
        field = self._aer.split(str(item["apv:sourcePointer"]))[1]
        identifier = str(record["id"])
        own = {identifier, f"{identifier}-before", f"{identifier}-after", f"{identifier}-judge"}
        named = {one.partition("-")[0] for one in _values(known(record, field) if field is not None else None)}
        named |= set(_values(known(record, field) if field is not None else None))
        ends = [str(item.get(label)).removeprefix("x:") for label in RELATIONS[section].args[:2]]
        if str(item.get("apv:rule")).startswith("aprov.inf_"):
            return  # an inference relates what its method pairs; the pointer says where the pairing stands
        if str(item.get("apv:rule")).startswith("aprov.use_fixture"):
            own.add("ex")
        for end in ends:
            if end not in own and end not in named and end.partition("-")[0] not in named:
                self.say("ends", f"{end} is neither {identifier} nor named by {item['apv:sourcePointer']}", place)

    def _no_better(self, section: str, item: JsonObject, place: str) -> None:
        """A relation is as good as the weakest of its field and of the two things it relates."""
        stated = names(item.get("apv:evidenceClass"))
        for label in RELATIONS[section].args[:2]:
            end = str(item.get(label))
            if stated == ["apv:Observed"] and self._classes.get(end, stated) != stated:
                self.say("class", f"apv:Observed, about {end}, which is not", place)

    def _same(self, item: JsonObject, key: str, expected: Any, place: str) -> None:
        if item.get(key) != expected:
            self.say("value", f"{key} is {item.get(key)!r}, the record says {expected!r}", place)

    def _same_names(self, item: JsonObject, key: str, identifiers: list[str], place: str) -> None:
        if sorted(names(item.get(key))) != sorted(f"x:{one}" for one in identifiers):
            self.say("value", f"{key} does not name {', '.join(identifiers) or 'nothing'}", place)

    def _part(self, key: str, item: JsonObject, record: JsonObject, place: str) -> None:
        """A call request says the name of its call, and which message it is part of."""
        part: JsonObject = next((one for one in record["parts"] if f"x:{one['id']}" == key), {})
        name = part.get("name")
        self._same(item, "apv:toolName", name if isinstance(name, str) else None, place)
        self._same_names(item, "apv:partOf", [str(record["id"])], place)

    def _unambiguous(self, item: JsonObject, place: str) -> None:
        part = str(item.get("prov:entity")).removeprefix("x:")
        holder = self._aer.records.get(self._aer.parts.get(part, ""), {})
        reason = (holder.get("unknown") or {}).get(f"{part}/execution")
        if reason is not None:
            self.say("ambiguous", f"{part} is used, and its execution is declared {reason}", place)

    def _node(self, item: JsonObject, record: JsonObject, place: str) -> None:
        for field, key in (("started", "prov:startTime"), ("ended", "prov:endTime")):
            stated = item.get(key)
            if stated is not None and stated != prov_time(known(record, field)):
                self.say("time", f"{key} {stated!r} was not recorded", place)
        kind = node_kind(record)
        for field, term in DESCRIBE.get(kind, {}).items():
            value = known(record, field)
            self._same(item, f"apv:{term}", None if value is None else literal(value), place)
        self._same_names(item, "apv:inScope", _values(known(record, "scope")), place)
        self._same_names(item, "apv:afterCausal", record["after"], place)
        finer = finer_types(kind, record)
        if not set(finer) <= set(names(item.get("prov:type"))) or len(names(item.get("prov:type"))) != 1 + len(finer):
            self.say("value", f"the types of {record['id']} are not those of its record", place)
        unknown = record.get("unknown") or {}
        for field, term in STATUS.items():
            stated = item.get(f"apv:{term}Status")
            reason = unknown.get(field)
            expected = None if reason is None else _TERMS.get(reason)
            lost = field in ("started", "ended") and known(record, field) is not None
            lost = lost and prov_time(known(record, field)) is None
            if names(stated) != ([] if expected is None else [expected]) and not lost:
                self.say("unknown", f"{term} is declared {reason!r}, the document says {names(stated)}", place)


def _values(value: Any) -> list[str]:
    return [str(one) for one in value] if isinstance(value, list) else [] if value is None else [str(value)]


def _raw(aer: AerIndex, read: Read, digest_of: DigestOf | None) -> Iterator[Finding]:
    """Every range that a pointer names, and every source file, against the digests stated."""
    wanted: dict[str, list[tuple[JsonObject, str]]] = {}
    for identifier, record in aer.records.items():
        for pointer in record.get("source") or []:
            if not all(isinstance(pointer.get(key), int) for key in ("offset", "length")):
                continue  # tier 1 has said so
            wanted.setdefault(str(pointer.get("path")), []).append((pointer, identifier))
    for path, asked in sorted(wanted.items()):
        before = None
        for pointer, identifier in sorted(asked, key=lambda one: int(one[0]["offset"])):
            told = (pointer["offset"], pointer["length"], pointer.get("sha256"))
            if told == before:
                continue  # several records cite one range
            before = told
            where = f"{path}:{pointer.get('line') or pointer['offset']}"
            data = read(path, pointer["offset"], pointer["length"])
            if data is None:
                yield Finding("linkage.raw", f"there are no such bytes at {where}", pointer=where)
            elif hashlib.sha256(data).hexdigest() != pointer.get("sha256"):
                yield Finding("linkage.raw", f"the bytes at {where} are not those of {identifier}", pointer=where)
    for path, source in sorted(aer.raw.items()) if digest_of is not None else ():
        stated = source.get("object")
        if isinstance(stated, str) and digest_of is not None and digest_of(path) != stated:
            yield Finding(
                "linkage.object", f"{path} is missing or has another digest than the AER states", pointer=path
            )


def validate_linkage(
    document: JsonObject, aer: AerIndex, read: Read | None = None, digest_of: DigestOf | None = None
) -> list[Finding]:
    """Tier 5. `read(path, offset, length)` gives (inflated) bytes of a source, or None; `digest_of(path)` the SHA-256
    of the source as it lies there. Without them the bytes are not looked at, and the caller has to say so."""
    checker = _Linkage(document, aer)
    checker.run()
    return checker.found + ([] if read is None else list(_raw(aer, read, digest_of)))
