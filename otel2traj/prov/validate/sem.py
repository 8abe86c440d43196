"""Tier 2: a SEM and its AER into findings on form, closed lists, targets and classes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any, Final

from ...canonical import JsonObject, loads
from ...model.finding import Finding
from ...model.unknown import EvidenceClass
from .. import versions
from ..rules import catalogue
from ..sem import INTEGRITY, OUTCOMES, PROFILES, ROLES
from .aer import is_canonical
from .resolve import AerIndex

RULES: Final = {
    "sem.json": "Every line is a JSON object.",
    "sem.form": "The values of an annotation have the types they should.",
    "sem.canonical": "Every line is the RFC 8785 form of its object, and ends in LF.",
    "sem.head": "The first line names schema, a known profile, the rule catalogue and the execution of the AER.",
    "sem.id": "Annotation ids are unique and in order.",
    "sem.rule": "An annotation names a rule of the catalogue that makes annotations of its type.",
    "sem.value": "The value is from the closed list of its type.",
    "sem.target": "Target and sources are records, parts or fields of the AER.",
    "sem.class": "The class is the weakest of the rule's and of the fields it rests on.",
    "sem.seal": "The last line seals the SEM, and names the digest of the AER.",
}


def validate_sem(lines: Iterable[bytes], aer: AerIndex) -> list[Finding]:
    """Tier 2 over the lines of one SEM, against the index of its AER."""
    found: list[Finding] = []

    def say(rule: str, message: str, place: str) -> None:
        found.append(Finding(rule, message, pointer=place))

    digest = hashlib.sha256()
    count = annotations = 0
    sealed = False
    for number, line in enumerate(lines, 1):
        try:
            record = loads(line)
        except ValueError:
            record = None
        if not isinstance(record, dict):
            say("sem.json", "not a JSON object", f"line {number}")
        else:
            place = str(record.get("id", f"line {number}"))
            if not is_canonical(record, line):
                say("sem.canonical", "not the RFC 8785 form with one LF", place)
            kind = record.get("kind")
            if sealed:
                say("sem.seal", "there are lines after the seal", place)
            if (number == 1) != (kind == "sem") or (kind == "sem" and not _good_head(record, aer)):
                say("sem.head", "schema, profile, catalogue or execution is not right", place)
            if kind == "seal":
                sealed = True
                good = record.get("records") == count and record.get("digest") == f"sha256:{digest.hexdigest()}"
                if not good or record.get("aer") != aer.digest:
                    say("sem.seal", "count, digest or the AER's digest is not right", place)
            elif kind == "annotation":
                if record.get("id") != f"an{annotations}":
                    say("sem.id", f"an{annotations} expected", place)
                annotations += 1
                for rule, message in _checked(record, aer):
                    say(rule, message, place)
            elif kind != "sem":
                say("sem.json", f"{kind!r} is no kind of line", place)
        digest.update(line)
        count += 1
    if not sealed:
        say("sem.seal", "there is no seal", f"line {count}")
    return found


def _good_head(record: JsonObject, aer: AerIndex) -> bool:
    rules = catalogue("sem")
    expected = {"name": rules.name, "version": rules.version, "sha256": rules.digest}
    return (
        record.get("schema") == versions.SEM
        and str(record.get("profile")) in PROFILES.names()
        and record.get("execution") == aer.execution
        and record.get("catalogue") == expected
    )


def _checked(record: JsonObject, aer: AerIndex) -> list[tuple[str, str]]:
    source = record.get("source")
    if not isinstance(source, list) or not all(isinstance(one, str) for one in (*source, record.get("target"))):
        return [("sem.form", "target and sources are names")]
    return list(_annotation(record, aer))


def _annotation(record: JsonObject, aer: AerIndex) -> Iterable[tuple[str, str]]:
    rule = next((one for one in catalogue("sem").rules.values() if one.id == record.get("rule")), None)
    if rule is None or rule.kind != record.get("type"):
        yield "sem.rule", f"{record.get('rule')!r} makes no annotation of type {record.get('type')!r}"
        return
    if not _good_value(rule.kind, record.get("value"), aer):
        yield "sem.value", f"{record.get('value')!r} is no value of type {rule.kind}"
    classes = [rule.evidence]
    if not aer.has(str(record.get("target"))):
        yield "sem.target", f"{record.get('target')!r} is not in the AER"
    for source in record.get("source") or [None]:
        evidence = None if source is None else aer.evidence(str(source))
        if evidence is None:
            yield "sem.target", f"{source!r} is not in the AER"
        else:
            classes.append(evidence)
    if record.get("class") != EvidenceClass.weakest(*classes).value:
        yield "sem.class", f"class {EvidenceClass.weakest(*classes).value} expected, not {record.get('class')!r}"


def _good_value(kind: str, value: Any, aer: AerIndex) -> bool:
    if kind in ("role", "integrity"):
        return isinstance(value, str) and value in (ROLES if kind == "role" else INTEGRITY)
    if not isinstance(value, dict):
        return False
    if kind == "outcome":
        return str(value.get("outcome")) in OUTCOMES
    if kind == "marker":
        return isinstance(value.get("injection"), str)
    if kind == "exposure":
        return isinstance(value.get("to"), list) and bool(value["to"]) and all(aer.has(str(one)) for one in value["to"])
    return aer.has(str(value.get("exposed")))
