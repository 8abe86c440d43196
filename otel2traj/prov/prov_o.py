"""A PROV-JSON document into TriG: PROV-O with every relation twice, as one plain triple and as a qualified influence.

Bundles are named graphs. https://www.w3.org/TR/2013/REC-prov-o-20130430/
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from ..canonical import JsonObject, dumps
from .validate.profile import bundles, statements

_PROV: Final = "http://www.w3.org/ns/prov#"
_XSD: Final = "http://www.w3.org/2001/XMLSchema#"
_ELEMENTS: Final = {"entity": "Entity", "activity": "Activity", "agent": "Agent"}
_QUALIFIED: Final = {
    "used": ("prov:activity", "prov:entity", "qualifiedUsage", "Usage", "entity"),
    "wasGeneratedBy": ("prov:entity", "prov:activity", "qualifiedGeneration", "Generation", "activity"),
    "wasAssociatedWith": ("prov:activity", "prov:agent", "qualifiedAssociation", "Association", "agent"),
    "wasAttributedTo": ("prov:entity", "prov:agent", "qualifiedAttribution", "Attribution", "agent"),
    "wasDerivedFrom": ("prov:generatedEntity", "prov:usedEntity", "qualifiedDerivation", "Derivation", "entity"),
    "actedOnBehalfOf": ("prov:delegate", "prov:responsible", "qualifiedDelegation", "Delegation", "agent"),
    "hadMember": ("prov:collection", "prov:entity", None, None, None),
}
"""Relation -> its two ends, the property that qualifies it, the class of the qualified form, and the property of that.
PROV-O qualifies no membership: what is known of one stands at its identifier, under `apv:` alone."""
_RENAMED: Final = {
    "prov:startTime": "prov:startedAtTime",
    "prov:endTime": "prov:endedAtTime",
    "prov:role": "prov:hadRole",
    "prov:plan": "prov:hadPlan",
}


def to_trig(document: JsonObject) -> Iterator[str]:
    """The lines of a TriG document that says what the PROV-JSON document says, and nothing else."""
    prefixes = document.get("prefix", {})
    for prefix, iri in sorted({**prefixes, "prov": _PROV, "xsd": _XSD}.items()):
        yield f"@prefix {prefix}: <{iri}> .\n"
    names = _Names({**prefixes, "prov": _PROV, "xsd": _XSD})
    for line in _triples(document, names):
        yield f"{line}\n"
    for bundle, instance in bundles(document).items():
        yield f"{names(bundle)} {{\n"
        for line in _triples(instance, names):
            yield f"  {line}\n"
        yield "}\n"


class _Names:
    """Qualified names as full IRIs: a local part may hold what Turtle would have to escape."""

    def __init__(self, prefixes: dict[str, str]) -> None:
        self._prefixes = prefixes

    def __call__(self, name: str) -> str:
        prefix, _, local = name.partition(":")
        return f"<{self._prefixes[prefix]}{local}>"


def _triples(instance: JsonObject, names: _Names) -> Iterator[str]:
    for section, key, item in statements(instance):
        subject = names(key)
        if section in _ELEMENTS:
            yield f"{subject} a {names('prov:' + _ELEMENTS[section])} ."
            yield from _attributes(subject, item, names, ())
            continue
        one, other, qualified, kind, end = _QUALIFIED[section]
        left, right = names(str(item[one])), names(str(item[other]))
        yield f"{left} {names('prov:' + section)} {right} ."
        if qualified is not None:
            yield f"{left} {names('prov:' + qualified)} {subject} ."
            yield f"{subject} a {names(f'prov:{kind}')} ; {names(f'prov:{end}')} {right} ."
        yield from _attributes(subject, item, names, (one, other))


def _attributes(subject: str, item: JsonObject, names: _Names, left_out: tuple[str, ...]) -> Iterator[str]:
    for key, value in sorted(item.items()):
        if key in left_out:
            continue
        verb = "a" if key == "prov:type" else names(_RENAMED.get(key, key))
        for one in value if isinstance(value, list) else [value]:
            yield f"{subject} {verb} {_object(key, one, names)} ."


def _object(key: str, value: Any, names: _Names) -> str:
    if isinstance(value, dict):
        if value.get("type") == "prov:QUALIFIED_NAME":
            return names(str(value["$"]))
        return f"{_string(str(value['$']))}^^{names(str(value['type']))}"
    if isinstance(value, bool):
        return "true" if value else "false"
    if key in ("prov:startTime", "prov:endTime"):
        return f"{_string(str(value))}^^{names('xsd:dateTime')}"
    return names(str(value)) if key == "prov:plan" else _string(str(value))


def _string(text: str) -> str:
    return dumps(text).decode("utf-8").replace("\x7f", "\\u007F")
