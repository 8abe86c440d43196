"""Statements into one PROV-JSON document, each through a rule of the catalogue or not at all."""

from __future__ import annotations

from typing import Any, BinaryIO, Final, NamedTuple

from ..canonical import JsonObject, canonical_bytes
from ..errors import Otel2TrajError
from ..model.unknown import EvidenceClass, UnknownReason
from . import versions
from .identity import statement_id
from .rules import Catalogue, Rule
from .spool import Differs, Place, Spool

CLASSES: Final = {
    EvidenceClass.OBSERVED: "apv:Observed",
    EvidenceClass.DERIVED: "apv:Derived",
    EvidenceClass.INFERRED: "apv:Inferred",
}
_RANK: Final = {one: number for number, one in enumerate(EvidenceClass)}
REASONS: Final = {reason: "apv:" + reason.value.title().replace("_", "") for reason in UnknownReason}

ENDS: Final = {
    "used": ("prov:activity", "prov:entity"),
    "wasGeneratedBy": ("prov:entity", "prov:activity"),
    "wasAssociatedWith": ("prov:activity", "prov:agent"),
    "wasAttributedTo": ("prov:entity", "prov:agent"),
    "wasDerivedFrom": ("prov:generatedEntity", "prov:usedEntity"),
    "actedOnBehalfOf": ("prov:delegate", "prov:responsible"),
    "hadMember": ("prov:collection", "prov:entity"),
}
"""The two ends of the relations that the catalogue may state: subject first."""


class RuleViolation(Otel2TrajError):
    """The engine was asked for a statement that no rule of the catalogue allows."""

    code = "prov.rule"


class Node(NamedTuple):
    """Something a statement may be about: its name in the document and what kind of record it stands for."""

    name: str
    kind: str


class Basis(NamedTuple):
    """What a statement rests on: the class of the AER field, its pointer, and the rule that gave the field."""

    evidence: EvidenceClass
    pointer: str
    rule: str | None = None


def name(text: str) -> JsonObject:
    """A qualified name as a value: a typed literal, for a plain string would stay a string."""
    return {"$": text, "type": "prov:QUALIFIED_NAME"}


def _sorted(values: list[Any]) -> list[Any]:
    unique = {canonical_bytes(value): value for value in values}
    return [unique[key] for key in sorted(unique)]


class Builder:
    """Collects statements. Every one carries class, rule and pointer, and sits in the bundle its rule belongs to."""

    def __init__(self, execution: str, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._spool = Spool()
        self._bundles: set[str] = set()
        self._nodes: dict[str, EvidenceClass] = {}
        prefixes = {
            "apv": versions.APV,
            "raw": versions.RAW,
            "rules": versions.RULES,
            "sw": versions.SOFTWARE,
            "x": f"{versions.EXEC}{execution}#",
            "xd": f"{versions.EXEC}{execution}/",
        }
        for prefix, iri in prefixes.items():
            self._spool.put(("prefix", prefix), canonical_bytes(iri), once=True)

    @property
    def bundles(self) -> list[str]:
        return sorted(self._bundles)

    def _rule(self, rule_name: str, kinds: tuple[str, ...]) -> Rule:
        try:
            rule = self._catalogue[rule_name]
        except KeyError:
            raise RuleViolation(
                f"no rule {rule_name!r} in catalogue {self._catalogue.name} version {self._catalogue.version}",
                hint="a statement needs an entry in rules/aprov.toml",
            ) from None
        if rule.kind not in kinds:
            raise RuleViolation(f"{rule.id} makes a {rule.kind}, not one of {', '.join(kinds)}")
        return rule

    def _place(self, rule: Rule, bundle: str | None, identifier: str) -> Place:
        if rule.bundle == "document":
            return (rule.kind, identifier)
        if rule.bundle == "core":
            key = "xd:core"
        elif rule.bundle == "inference":
            key = f"xd:inference.{rule.method}"
        else:
            key = f"xd:assessment.{bundle}"
        self._bundles.add(key)
        return ("bundle", key, rule.kind, identifier)

    def _qualify(self, rule: Rule, basis: Basis, *ends: str) -> JsonObject:
        about = [self._nodes[end] for end in ends if end in self._nodes]
        evidence = max(rule.evidence, basis.evidence, *about, key=_RANK.__getitem__)
        if rule.bundle == "core" and evidence is EvidenceClass.INFERRED:
            raise RuleViolation(f"{rule.id} would put an inferred statement into core (it rests on {basis.pointer})")
        out: JsonObject = {
            "apv:evidenceClass": name(CLASSES[evidence]),
            "apv:rule": rule.id,
            "apv:sourcePointer": basis.pointer,
        }
        if basis.rule is not None:
            out["apv:basisRule"] = basis.rule
        return out

    def node(
        self,
        rule_name: str,
        node: Node,
        basis: Basis,
        attributes: JsonObject | None = None,
        *,
        types: tuple[str, ...] = (),
        bundle: str | None = None,
    ) -> None:
        """An entity, activity or agent. Lists of values are written sorted and without repetition."""
        rule = self._rule(rule_name, ("entity", "activity", "agent"))
        if node.kind not in rule.subject:
            raise RuleViolation(f"{rule.id} says nothing of a {node.kind}")
        if rule.bundle == "core":
            self._nodes[node.name] = max(rule.evidence, basis.evidence, key=_RANK.__getitem__)
        item: JsonObject = {**self._qualify(rule, basis), **(attributes or {})}
        named = [f"apv:{rule.type}"] if rule.type is not None else []
        item["prov:type"] = [name(one) for one in (*named, *types)]
        for key, value in item.items():
            if isinstance(value, list):
                values = _sorted(value) if len(value) > 1 else value
                item[key] = values[0] if len(values) == 1 else values
        try:
            self._spool.put(self._place(rule, bundle, node.name), canonical_bytes(item), once=True)
        except Differs as err:
            raise _twice(err) from err

    def relation(
        self,
        rule_name: str,
        subject: Node,
        target: Node,
        basis: Basis,
        arguments: JsonObject | None = None,
    ) -> None:
        """One relation between two nodes of the kinds the rule names, under an id made from what it says. It is no
        better than the field it rests on, nor than the two things it relates."""
        rule = self._rule(rule_name, tuple(ENDS))
        if subject.kind not in rule.subject or target.kind not in rule.object:
            raise RuleViolation(f"{rule.id} does not relate a {subject.kind} to a {target.kind}")
        one, other = ENDS[rule.kind]
        role = None if rule.role is None else f"apv:{rule.role}"
        item: JsonObject = {
            **self._qualify(rule, basis, subject.name, target.name),
            one: subject.name,
            other: target.name,
            **(arguments or {}),
        }
        if role is not None:
            item["prov:role"] = name(role)
        key = statement_id(rule.id, subject.name, target.name, role)
        self._spool.put(self._place(rule, None, key), canonical_bytes(item), once=False)

    def write(self, out: BinaryIO) -> None:
        """The document as JSON with sorted keys, UTF-8, and a final line feed."""
        try:
            self._spool.write(out, frozenset(("entity", "activity", "agent")))
        except Differs as err:
            raise _twice(err) from err
        out.write(b"\n")


def _twice(err: Differs) -> RuleViolation:
    return RuleViolation(f"{str(err).rpartition('/')[2]} would be stated twice, and not alike")
