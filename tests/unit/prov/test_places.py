"""Every observed value of every fixture corpus stands where its record says: path, range, digest, JSON pointer."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from otel2traj.api import prov
from otel2traj.canonical import JsonObject, loads
from otel2traj.errors import EvidenceError
from otel2traj.prov.places import by_whom, together, typed

FIXTURES = Path(__file__).parents[3] / "fixtures"
CORPORA = sorted(path for path in (*FIXTURES.glob("attempts/*/attempt"), *FIXTURES.glob("samples/*")) if path.is_dir())
REFERENCES = {
    *("model", "request", "response", "result", "prompt", "messages", "system", "tools", "actor", "agent"),
    *("call", "model_call", "message", "subject", "scope"),
}


def named(path: Path) -> str:
    return path.parent.name if path.name == "attempt" else path.name


@cache
def exported(path: Path) -> tuple[tuple[JsonObject, ...], JsonObject]:
    """(records, document), or nothing where the folder is refused."""
    out = io.BytesIO()
    with TemporaryDirectory() as place:
        aer = Path(place) / "aer"
        try:
            prov.export(path, out, aer=aer)
        except EvidenceError:
            return (), {}
        records = tuple(loads(line) for line in aer.read_bytes().splitlines())
        return records, loads(out.getvalue())  # type: ignore[return-value]


def opened(root: Path, source: JsonObject) -> bytes:
    """The cited range, read without the product, and its digest checked."""
    data = (root / source["path"]).read_bytes()[source["offset"] : source["offset"] + source["length"]]
    assert len(data) == source["length"]
    assert hashlib.sha256(data).hexdigest() == source["sha256"]
    return data


def at(data: bytes, place: list[Any]) -> Any:
    if isinstance(place[0], int):
        return data[place[0] : place[0] + place[1]].decode()
    value = json.loads(data.decode("utf-8", "replace"))
    for number, pointer in enumerate(place):
        value = json.loads(value) if number else value
        for key in pointer.split("/")[1:]:
            key = key.replace("~1", "/").replace("~0", "~")
            value = value[int(key)] if isinstance(value, list) else value[key]
    return value


def within(value: Any) -> Iterator[Any]:
    """The value and all that is in it, JSON inside strings too."""
    yield value
    if isinstance(value, dict):
        yield typed(value)
        for item in value.values():
            yield from within(item)
    elif isinstance(value, list):
        for item in value:
            yield from within(item)
    elif isinstance(value, str) and value[:1] in ("{", "["):
        try:
            yield from within(json.loads(value))
        except ValueError:
            return


def claims(record: JsonObject) -> Iterator[tuple[str, JsonObject, Any]]:
    """(name, how, value) of all that the record says was observed. A reference claims nothing but its place."""
    for name, how in record.get("fields", {}).items():
        if how["class"] == "O" and name != "parts":
            yield name, how, record[name]
    for part in record.get("parts") or ():
        if part["class"] == "O":
            yield "part", part, part


@pytest.mark.parametrize("path", CORPORA, ids=named)
def test_every_observed_value_stands_where_it_says(path: Path) -> None:
    records, _ = exported(path)
    for record in records:
        hows = [record, *record.get("fields", {}).values(), *(record.get("parts") or ())]
        for how in hows:
            if how["class"] == "O":
                assert how["by"] == by_whom(record["source"][how["at"][0]]), record["id"]
                assert "rule" not in how
        for name, how, value in claims(record):
            held = at(opened(path, record["source"][how["at"][0]]), how["at"][1:])
            where = f"{record['id']}/{name} at {how['at']}"
            if name == "part" and value["type"] == "tool_call":
                inside = list(within(held))
                held_all = [value[key] is None or value[key] in inside for key in ("call_id", "name", "arguments")]
                assert all(held_all), where
            elif name == "part":
                assert value["content"] in (held, typed(held)), where
            elif name not in REFERENCES or record["kind"] == "execution":
                assert value in (held, typed(held)), where


@pytest.mark.parametrize("path", CORPORA, ids=named)
def test_no_statement_of_core_is_without_a_source(path: Path) -> None:
    records, document = exported(path)
    by_id = {record["id"]: record for record in records}
    bare = []
    for section, items in document.get("bundle", {}).get("xd:core", {}).items():
        for key, item in items.items():
            record = by_id[item["apv:sourcePointer"].partition("/")[0].partition("-")[0]]
            if not record["source"] and any(one["kind"] == "model_call" for one in records):
                bare.append(f"{section} {key}")
    assert bare == []


@pytest.mark.parametrize("path", CORPORA, ids=named)
def test_requests_cite_requests_and_responses_cite_responses(path: Path) -> None:
    records, _ = exported(path)
    for record in records:
        whats = {source.get("what") for source in record.get("source", ())}
        if record.get("direction") == "response":
            assert "request" not in whats
        elif record.get("direction") == "request" or record.get("role") == "request":
            assert "response" not in whats


def test_much_is_observed() -> None:
    """The tests above say something."""
    found = [claim for path in CORPORA for record in exported(path)[0] for claim in claims(record)]
    assert len(CORPORA) > 40
    assert len(found) > 2_000


def test_what_several_places_share() -> None:
    assert together([[0, "/a/b/c"], [0, "/a/b/d"]]) == [0, "/a/b"]
    assert together([[0, "/a", "/b/c"], [0, "/a", "/b/d", "/e"]]) == [0, "/a", "/b"]
    assert together([[0, "/a", "/b"], [0, "/c"]]) == [0, ""]
    assert together([[0, "/a"], [1, "/a"]]) is None
    assert together([[0, 4, 9], [0, 4, 9]]) == [0, 4, 9]
    assert together([]) is None
