"""Tier 3c: a PROV document into findings on what this specification asks of every statement, and forbids."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from ...canonical import JsonObject
from ...model.finding import Finding
from ..constraints.statements import KINDS, RELATIONS
from ..rules import Rule, catalogue
from ..vocabulary import terms

RULES: Final = {
    "profile.class": "Every statement has one evidence class.",
    "profile.rule": "Every statement names a rule of the catalogue that makes such a statement in such a bundle.",
    "profile.pointer": "Every statement points into the AER.",
    "profile.core-class": "Core holds observed and derived statements only.",
    "profile.bundle": "The bundles are one core, one for each method and one for each profile, and are described.",
    "profile.method": "An inference bundle holds inferred statements of its own method only.",
    "profile.assessment": "An assessment bundle states no relation.",
    "profile.dependency": "Core states no derivation and no communication: order, context and taint are none.",
    "profile.tool-input": "A tool execution in core uses its call request and nothing else.",
    "profile.time": "An activity has a time or says why it has none, not both and not neither.",
    "profile.term": "A term of the apv namespace is one that the vocabulary declares.",
    "profile.reference": "What a bundle speaks of is a node of core.",
    "profile.version": "The derivation states the vocabulary's version and the specification.",
}
_CLASSES: Final = ("apv:Observed", "apv:Derived", "apv:Inferred")
_TIMED: Final = (("prov:startTime", "apv:startTimeStatus"), ("prov:endTime", "apv:endTimeStatus"))


def statements(instance: JsonObject) -> Iterator[tuple[str, str, JsonObject]]:
    """(section, id, attributes) of every statement of one instance."""
    for section, table in instance.items():
        if section in KINDS and isinstance(table, dict):
            for key, item in table.items():
                if isinstance(item, dict):
                    yield section, key, item


def element(instance: JsonObject, section: str, key: str) -> JsonObject:
    """The attributes of one statement, or none where it is not there or no object."""
    table = instance.get(section)
    item = table.get(key) if isinstance(table, dict) else None
    return item if isinstance(item, dict) else {}


def names(value: Any) -> list[str]:
    """The qualified names among the values of an attribute."""
    values = value if isinstance(value, list) else [value]
    found = [one.get("$") for one in values if isinstance(one, dict) and one.get("type") == "prov:QUALIFIED_NAME"]
    return [one for one in found if isinstance(one, str)]


def bundles(document: JsonObject) -> dict[str, JsonObject]:
    found = document.get("bundle")
    return {k: v for k, v in found.items() if isinstance(v, dict)} if isinstance(found, dict) else {}


class _Profile:
    def __init__(self, document: JsonObject) -> None:
        self.found: list[Finding] = []
        self._rules = {rule.id: rule for rule in catalogue("aprov").rules.values()}
        core = bundles(document).get("xd:core", {})
        self._nodes = {key: kind for kind, key, _ in statements(core) if kind not in RELATIONS}
        types = {key: names(item.get("prov:type")) for _, key, item in statements(core)}
        self._tools = {key for key, found in types.items() if "apv:ToolExecution" in found}
        self._calls = {key for key, found in types.items() if "apv:ToolCallRequest" in found}
        self._used: set[str] = set()

    def say(self, rule: str, message: str, place: str) -> None:
        self.found.append(Finding(f"profile.{rule}", message, pointer=place))

    def instance(self, instance: JsonObject, where: str, kind: str, rest: str) -> None:
        for section, key, item in statements(instance):
            place = f"{where}/{section}/{key.replace('/', '~1')}"
            self._statement(section, item, place, kind, rest)
            self._terms(item, place)
            if kind == "core":
                self._core(section, item, place)
            elif kind in ("inference", "assessment"):
                self._aside(section, item, place, kind)

    def _statement(self, section: str, item: JsonObject, place: str, kind: str, rest: str) -> None:
        found = names(item.get("apv:evidenceClass"))
        if len(found) != 1 or found[0] not in _CLASSES:
            self.say("class", "no evidence class, or more than one", place)
        elif kind == "core" and found[0] == "apv:Inferred":
            self.say("core-class", "an inferred statement in core", place)
        elif kind == "inference" and found[0] != "apv:Inferred":
            self.say("method", f"a statement of class {found[0]} among inferences", place)
        if not isinstance(item.get("apv:sourcePointer"), str) or not item["apv:sourcePointer"]:
            self.say("pointer", "no pointer into the AER", place)
        rule = self._rules.get(str(item.get("apv:rule")))
        if rule is None:
            self.say("rule", f"{item.get('apv:rule')!r} is no rule of the catalogue", place)
        else:
            self._covered(rule, section, item, place, kind, rest)

    def _covered(self, rule: Rule, section: str, item: JsonObject, place: str, kind: str, rest: str) -> None:
        if rule.bundle != kind or rule.kind != section:
            self.say("rule", f"{rule.id} makes a {rule.kind} in {rule.bundle}, not a {section} in {kind}", place)
        if kind == "inference" and rule.method != rest:
            self.say("method", f"{rule.id} is of method {rule.method}, not {rest}", place)
        if rule.role is not None and names(item.get("prov:role")) != [f"apv:{rule.role}"]:
            self.say("rule", f"{rule.id} gives the role {rule.role}", place)
        if rule.type is not None and f"apv:{rule.type}" not in names(item.get("prov:type")):
            self.say("rule", f"{rule.id} gives the type {rule.type}", place)

    def _terms(self, item: JsonObject, place: str) -> None:
        used = [key for key in item if key.startswith("apv:")]
        for value in item.values():
            used += (one for one in names(value) if one.startswith("apv:"))
        for term in used:
            if term.removeprefix("apv:") not in terms():
                self.say("term", f"{term} is not in the vocabulary", place)

    def _core(self, section: str, item: JsonObject, place: str) -> None:
        if section in ("wasDerivedFrom", "wasInformedBy", "wasInfluencedBy"):
            self.say("dependency", f"{section} has no place in core", place)
        if section == "used" and str(item.get("prov:activity")) in self._tools:
            self._tool_input(item, place)
        if section == "activity":
            for time, status in _TIMED:
                if (time in item) == (status in item):
                    self.say("time", f"{time} and {status}: one of them, and only one", place)

    def _tool_input(self, item: JsonObject, place: str) -> None:
        tool = str(item["prov:activity"])
        right = names(item.get("prov:role")) == ["apv:CallRequestInput"] and str(item.get("prov:entity")) in self._calls
        if not right or tool in self._used:
            self.say("tool-input", f"{tool} uses something that is not its one call", place)
        self._used.add(tool)

    def _aside(self, section: str, item: JsonObject, place: str, kind: str) -> None:
        if section in RELATIONS:
            if kind == "assessment":
                self.say("assessment", f"{section} has no place in an assessment", place)
            ends = [item[label] for label in RELATIONS[section].args if isinstance(item.get(label), str)]
        else:
            ends = names(item.get("apv:about"))
        for end in ends:
            if end not in self._nodes:
                self.say("reference", f"{end} is no node of core", place)


def validate_profile(document: JsonObject) -> list[Finding]:
    """Tier 3c over one PROV-JSON document of this specification."""
    checker = _Profile(document)
    checker.instance(document, "", "document", "")
    described = {key for kind, key, item in statements(document) if "apv:Bundle" in names(item.get("prov:type"))}
    found = bundles(document)
    for key in sorted(described ^ found.keys()):
        checker.say("bundle", f"{key} is not there, or is not described", f"/bundle/{key}")
    if "xd:core" not in found:
        checker.say("bundle", "there is no core", "/bundle")
    for key, instance in found.items():
        kind, _, rest = key.removeprefix("xd:").partition(".")
        if kind not in ("core", "inference", "assessment") or (kind == "core") == bool(rest):
            checker.say("bundle", f"{key} is no bundle of this specification", f"/bundle/{key}")
        checker.instance(instance, f"/bundle/{key}", kind, rest)
    derivation = element(document, "activity", "xd:derivation")
    if not derivation.get("apv:vocabularyVersion") or not derivation.get("apv:specification"):
        checker.say("version", "the derivation states no version", "/activity/xd:derivation")
    return checker.found
