"""Every kind of edit on every kind of statement and record is found with evidence; without it, the documented classes
pass and no other."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from functools import cache
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from otel2traj.api.prov import export
from otel2traj.canonical import JsonObject, canonical_bytes, loads
from otel2traj.errors import Otel2TrajError
from otel2traj.prov.engine import derive_prov
from otel2traj.prov.records import seal_digest
from otel2traj.prov.sem import derive_sem
from otel2traj.prov.validate import validate
from otel2traj.prov.validate.derivation import compare_documents, compare_records, validate_derivation
from otel2traj.prov.validate.unseen import UNSEEN
from tests.properties.aer_edits import edits
from tests.unit.prov import made
from tests.unit.prov.made import rich_aer

ATTEMPTS = Path(__file__).parents[2] / "fixtures" / "attempts"
CASES = ("abb-08-duplicate-ids", "abb-19a-replay-deltas", "langgraph-toolerror", "acp-none-wirefail-sdkagent")


@cache
def exported(case: str) -> tuple[bytes, tuple[bytes, ...], tuple[bytes, ...]]:
    """(document, AER lines, SEM lines) of a captured attempt."""
    out = BytesIO()
    folder = Path(str(ATTEMPTS / case / "attempt"))
    with TemporaryDirectory() as place:
        aer, sem = Path(place) / "aer", Path(place) / "sem"
        export(folder, out, aer=aer, sem=sem)
        return (
            out.getvalue(),
            tuple(aer.read_bytes().splitlines(keepends=True)),
            tuple(sem.read_bytes().splitlines(keepends=True)),
        )


def instances(document: JsonObject) -> Iterator[tuple[str, JsonObject]]:
    yield "", document
    yield from document.get("bundle", {}).items()


def places(document: JsonObject) -> list[tuple[str, str, str]]:
    """One statement of each kind (instance, section, rule), and of each rule two."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for name, instance in instances(document):
        for section, items in instance.items():
            if section in ("prefix", "bundle"):
                continue
            for identifier, item in items.items():
                found.setdefault((name, section, str(item.get("apv:rule"))), []).append(identifier)
    return [(name, section, one) for (name, section, _), ids in found.items() for one in ids[:2]]


def instance_of(document: JsonObject, name: str) -> JsonObject:
    instance: JsonObject = document if name == "" else document["bundle"][name]
    return instance


def with_section(document: JsonObject, name: str, section: str) -> tuple[JsonObject, JsonObject]:
    """A copy of the document in which that one section may be edited, and the section."""
    instance = instance_of(document, name)
    items = {identifier: dict(item) for identifier, item in instance[section].items()}
    fresh = {**instance, section: items}
    return (fresh if name == "" else {**document, "bundle": {**document["bundle"], name: fresh}}), items


def document_edits(document: JsonObject) -> Iterator[tuple[str, JsonObject]]:
    for name, section, identifier in places(document):
        where = f"{name}/{section}/{identifier}"

        def edit(change: Callable[[JsonObject], Any], name: str = name, section: str = section) -> JsonObject:
            copied, items = with_section(document, name, section)
            change(items)
            return copied

        yield f"remove {where}", edit(lambda items, i=identifier: items.pop(i))  # type: ignore[misc]
        yield f"double {where}", edit(lambda items, i=identifier: items.update({f"{i}x": items[i]}))  # type: ignore[misc]
        for key, value in instance_of(document, name)[section][identifier].items():
            other = value[:-1] if isinstance(value, list) and len(value) > 1 else "apv:Other"

            def put(items: JsonObject, i: str = identifier, k: str = key, v: Any = other) -> None:
                items[i][k] = v

            def cut(items: JsonObject, i: str = identifier, k: str = key) -> None:
                del items[i][k]

            yield f"change {where} {key}", edit(put)
            yield f"drop {where} {key}", edit(cut)
    for name, instance in instances(document):
        for section, items in instance.items():
            if section in ("prefix", "bundle") or len(items) < 2:
                continue
            first, second = list(items)[:2]
            if items[first] == items[second]:
                continue
            copied, swapped = with_section(document, name, section)
            swapped[first], swapped[second] = swapped[second], swapped[first]
            yield f"swap {name}/{section}/{first} {second}", copied
    for prefix in document["prefix"]:
        yield f"prefix {prefix}", {**document, "prefix": {**document["prefix"], prefix: "x"}}


def resealed(records: list[JsonObject]) -> tuple[bytes, ...]:
    """The lines of an AER with a seal that fits them, as a careful forger would write it."""
    body = [canonical_bytes(record) + b"\n" for record in records if record.get("kind") != "seal"]
    seal = dict(records[-1])
    seal["records"], seal["digest"] = len(body), "sha256:" + hashlib.sha256(b"".join(body)).hexdigest()
    seal["seal_digest"] = seal_digest(seal)
    return (*body, canonical_bytes(seal) + b"\n")


def aer_edits(lines: tuple[bytes, ...]) -> Iterator[tuple[str, tuple[bytes, ...]]]:
    records: list[JsonObject] = [loads(line) for line in lines]  # type: ignore[misc]
    seen: set[tuple[str, str]] = set()
    for number, record in enumerate(records):
        kind = str(record["kind"])
        if (kind, "") not in seen and kind != "seal":
            seen.add((kind, ""))
            yield f"remove {record['id']}", resealed([*records[:number], *records[number + 1 :]])
            yield f"double {record['id']}", resealed([*records[:number], record, *records[number:]])
        for key, value in record.items():
            if (kind, key) in seen or (kind == "seal" and key in ("records", "digest", "seal_digest")):
                continue
            seen.add((kind, key))
            other = {**record, key: {"changed": True} if not isinstance(value, str) else value + "x"}
            less = {name: one for name, one in record.items() if name != key}
            for what, edited in (("change", other), ("drop", less)):
                yield f"{what} {record['id']} {key}", resealed([*records[:number], edited, *records[number + 1 :]])


@pytest.mark.parametrize("case", CASES)
def test_nothing_differs_where_nothing_was_edited(case: str) -> None:
    document, aer, sem = exported(case)
    results = validate(prov=document, aer=aer, sems=[sem], again=lambda given: aer, roundtrip=False)
    assert {one.tier: one.status for one in results if one.status == "failed"} == {}


@pytest.mark.parametrize("case", CASES)
def test_every_edit_of_a_document_is_found_with_its_aer(case: str) -> None:
    data, aer, sem = exported(case)
    document = loads(data)
    assert isinstance(document, dict)
    assert validate_derivation(document, aer, [sem]) == []
    derived = loads(derive_prov(iter(aer), [iter(sem)]))
    assert isinstance(derived, dict)
    missed = [name for name, edited in document_edits(document) if not compare_documents(edited, derived)]
    assert missed == []
    assert sum(1 for _ in document_edits(document)) > 150


@pytest.mark.parametrize("case", CASES)
def test_every_edit_of_an_aer_is_found_with_its_evidence_however_it_is_sealed(case: str) -> None:
    _, aer, _ = exported(case)
    edits = list(aer_edits(aer))
    assert len(edits) > 60
    missed = [name for name, edited in edits if not compare_records("derivation.aer", edited, aer)]
    assert missed == []


def test_a_document_about_nothing_of_ours_fails_beside_an_aer() -> None:
    data, aer, sem = exported("langgraph-toolerror")
    foreign = data.replace(b"agentprov/ns#", b"agentprow/ns#")
    results = validate(prov=foreign, aer=aer, sems=[sem], roundtrip=False)
    assert {one.tier for one in results if one.status == "failed"} >= {"1", "6"}


def test_without_evidence_exactly_the_listed_edits_pass() -> None:
    """A forger edits one field, seals the AER again, and derives SEM and document again. What passes is what the list
    says, and all of it; with the evidence nothing does."""
    original = rich_aer()
    passed: set[tuple[str, str, str]] = set()
    tried = 0
    for name, edited in edits([record for line in original if isinstance(record := loads(line), dict)]):
        tried += 1
        lines = made.resealed(edited)
        try:
            sems = [list(derive_sem(lines, profile)) for profile in ("default", "injection")]
            document = derive_prov(lines, sems)
        except Otel2TrajError:
            continue
        if all(one.status != "failed" for one in validate(prov=document, aer=lines, sems=sems, roundtrip=False)):
            passed.add(name)
            assert compare_records("derivation.aer", lines, original), name
    declared = {
        (one.edit, sort, field) for one in UNSEEN for sort, fields in one.of.items() for field in fields or ("",)
    }
    assert passed == declared
    assert tried > 1_000
