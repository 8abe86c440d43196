"""Tier 6: what was given, against what is derived again: the AER from its evidence, SEM and PROV from the AER.

A document is a function of its AER, and the AER one of the evidence. So nothing has to be looked for: both are made
again, and every difference is a finding with its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from ...canonical import JsonObject, loads
from ...errors import Otel2TrajError
from ...model.finding import Finding, Severity
from ..engine import Options, derive_prov
from ..sem import derive_sem
from .profile import bundles, statements

RULES: Final = {
    "derivation.aer": "Every record of the AER is the one that its evidence gives.",
    "derivation.sem": "Every record of the SEM is the one that the AER gives.",
    "derivation.prov": "Every statement of the document is the one that AER and SEMs give.",
    "derivation.impossible": "What was given can be derived again at all.",
    "derivation.version": "It was made by this version; another one may differ for that alone (a warning).",
}
_CONTENT: Final = ("apv:content", "apv:parts", "apv:arguments", "apv:details", "apv:title")
MAX_DIFFERENCES: Final = 200
"""Differences named one by one; the rest is counted."""


def compare_records(rule: str, given: Iterable[bytes], derived: Iterable[bytes]) -> list[Finding]:
    """Lines of an AER or a SEM against those derived again, by record id."""
    given, derived = list(given), list(derived)
    if given == derived:
        return []
    left, right = _by_id(given), _by_id(derived)
    return _bounded(rule, _differences(left, right))


def compare_documents(given: JsonObject, derived: JsonObject) -> list[Finding]:
    """A PROV-JSON document against the one derived again, statement by statement."""
    return _bounded("derivation.prov", _differences(_statements(given), _statements(derived)))


def validate_derivation(
    document: JsonObject | None, aer: Sequence[bytes], sems: Sequence[Sequence[bytes]], data: bytes | None = None
) -> list[Finding]:
    """SEMs and document against what the AER gives. Message content is taken to be wanted where some stands in it.
    `data` are the document's bytes: where they are those derived again, nothing else is looked at."""
    found: list[Finding] = []
    try:
        for sem in sems:
            head = loads(sem[0]) if sem else None
            profile = str(head.get("profile", "default")) if isinstance(head, dict) else "default"
            found += compare_records("derivation.sem", sem, derive_sem(iter(aer), profile))
        if document is not None:
            options = Options(emit_content=_has_content(document))
            told = {
                str(head["profile"]) for sem in sems if isinstance(head := loads(sem[0]), dict) and "profile" in head
            }
            all_sems = [list(sem) for sem in sems]
            all_sems += [list(derive_sem(iter(aer), profile)) for profile in _profiles(document) - told]
            made = derive_prov(iter(aer), [iter(sem) for sem in all_sems], options)
            if made != data:
                derived = loads(made)
                assert isinstance(derived, dict)
                found += compare_documents(document, derived)
    except Otel2TrajError as err:
        found.append(Finding("derivation.impossible", f"{type(err).__name__}: {err}"))
    return found


def _profiles(document: JsonObject) -> set[str]:
    """The SEM profiles that a document says it was derived from."""
    entities = document.get("entity")
    names = entities if isinstance(entities, dict) else {}
    return {name.removeprefix("xd:sem.") for name in names if name.startswith("xd:sem.")}


def _has_content(document: JsonObject) -> bool:
    instances = [document, *bundles(document).values()]
    found = (item for instance in instances for _, _, item in statements(instance))
    return any(key in item for item in found for key in _CONTENT)


def _by_id(lines: Iterable[bytes]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for number, line in enumerate(lines, 1):
        try:
            record = loads(line)
        except ValueError:
            record = {"line": line.decode("utf-8", "replace")}
        name = str(record.get("id", f"line {number}")) if isinstance(record, dict) else f"line {number}"
        out[name if name not in out else f"{name} again in line {number}"] = record
    return out


def _statements(document: JsonObject) -> dict[str, Any]:
    """Every statement by its place: instance, section and identifier."""
    out: dict[str, Any] = {}
    bundles = document.get("bundle")
    instances = {"": document, **(bundles if isinstance(bundles, dict) else {})}
    for name, instance in instances.items():
        if not isinstance(instance, dict):
            out[f"{name}/"] = instance
            continue
        for section, items in instance.items():
            if name == "" and section == "bundle":
                continue
            if not isinstance(items, dict):
                out[f"{name}/{section}"] = items
                continue
            for identifier, item in items.items():
                out[f"{name}/{section}/{identifier}"] = item
        if not instance:
            out[f"{name}/"] = {}
    return out


def _differences(given: dict[str, Any], derived: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """(what differs, where), in the order of the places."""
    for place in sorted(given.keys() | derived.keys()):
        if place not in given:
            yield "is missing: it follows from what it was derived from", place
        elif place not in derived:
            yield "is stated, and does not follow from what it was derived from", place
        elif given[place] != derived[place]:
            for inner, left, right in _inside(given[place], derived[place]):
                yield f"{inner or 'it'} is {_short(left)}, derived again it is {_short(right)}", place
    if list(given) != list(derived) and given.keys() == derived.keys():
        yield "the order is another one", next(a for a, b in zip(given, derived, strict=True) if a != b)


_ABSENT: Final = object()


def _inside(given: Any, derived: Any, pointer: str = "") -> Iterator[tuple[str, Any, Any]]:
    if isinstance(given, dict) and isinstance(derived, dict):
        for key in sorted(given.keys() | derived.keys()):
            if given.get(key, _ABSENT) != derived.get(key, _ABSENT):
                yield from _inside(given.get(key, _ABSENT), derived.get(key, _ABSENT), f"{pointer}/{key}")
    elif isinstance(given, list) and isinstance(derived, list) and len(given) == len(derived):
        for number, (left, right) in enumerate(zip(given, derived, strict=True)):
            if left != right:
                yield from _inside(left, right, f"{pointer}/{number}")
    else:
        yield pointer, given, derived


def _short(value: Any) -> str:
    if value is _ABSENT:
        return "absent"
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:60]}… ({len(text)} characters)"


def _bounded(rule: str, differences: Iterator[tuple[str, str]]) -> list[Finding]:
    found: list[Finding] = []
    more = 0
    for message, place in differences:
        if len(found) < MAX_DIFFERENCES:
            found.append(Finding(rule, message, pointer=place))
        else:
            more += 1
    if more:
        found.append(Finding(rule, f"{more} more differences"))
    return found


def other_version(aer: Sequence[bytes], software: str) -> list[Finding]:
    """A warning where the AER was made by another version of the software."""
    head = loads(aer[0]) if aer else None
    adapter = head.get("adapter") if isinstance(head, dict) else None
    made = adapter.get("software") if isinstance(adapter, dict) else None
    if made == software:
        return []
    return [Finding("derivation.version", f"made by {made!r}, this is {software!r}", Severity.WARNING)]
