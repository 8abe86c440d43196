"""Edits of an AER by a careful forger: each kind of edit on each field of each kind of record, once."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator
from typing import Any

from otel2traj.canonical import JsonObject
from otel2traj.prov.validate.fields import sort_of

Edit = Callable[[JsonObject], object]
PUT_TOGETHER = {"class": "D", "by": "adapter", "rule": "otel2traj.put_together@1"}
_WHO = {"request": "interceptor", "response": "interceptor", "file": "harness"}


def other(value: Any) -> Any:
    """Another value of the same type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, str):
        return (
            re.sub("[0-9]", lambda found: str((int(found[0]) + 1) % 10), value) if value[-1:].isdigit() else f"{value}x"
        )
    if isinstance(value, int):
        return value + 1
    if isinstance(value, list):
        return value[:-1] if value else ["x"]
    return {**value, "x": 1} if isinstance(value, dict) else "x"


def _next(digit: re.Match[str]) -> str:
    return str((int(digit[0]) + 1) % 10)


def _set(key: str, value: Any) -> Edit:
    return lambda record: record.__setitem__(key, value)


def _how(field: str, how: JsonObject) -> Edit:
    return lambda record: record["fields"].__setitem__(field, how)


def _leave_out(field: str, reason: str | None) -> Edit:
    def edit(record: JsonObject) -> None:
        del record[field], record["fields"][field]
        if reason is not None:
            record["unknown"][field] = reason

    return edit


def _fill(field: str) -> Edit:
    def edit(record: JsonObject) -> None:
        del record["unknown"][field]
        record[field], record["fields"][field] = "made up", PUT_TOGETHER

    return edit


def _forget_order(record: JsonObject) -> None:
    record["after"] = []
    record["fields"].pop("after", None)


def _of_field(record: JsonObject, field: str) -> Iterator[tuple[str, Edit]]:
    value, how = record[field], record.get("fields", {}).get(field)
    yield "another value", _set(field, other(value))
    yield "member gone", lambda one: one.pop(field)
    if how is None or field == "after":
        return
    yield "left out", _leave_out(field, None)
    yield "declared unknown", _leave_out(field, "not_recorded")
    if how["class"] == "O":
        yield "said to be derived", _how(field, PUT_TOGETHER)
        yield "another place", _how(field, {**how, "at": [how["at"][0], "/elsewhere"]})
        yield "another recorder", _how(field, {**how, "by": "benchmark"})
        yield "another source", _how(field, {**how, "at": [99, ""]})
    else:
        who = next((_WHO.get(str(one.get("what")), "source") for one in record["source"]), "source")
        yield "said to be observed", _how(field, {"class": "O", "by": who, "at": [0, ""]})
        if how != PUT_TOGETHER:
            yield "another rule", _how(field, PUT_TOGETHER)


def _of_source(source: JsonObject) -> Iterator[tuple[str, Edit]]:
    def put(key: str, value: Any) -> Edit:
        return lambda record: record["source"][0].__setitem__(key, value)

    yield "another offset", put("offset", source["offset"] + 1)
    yield "another digest", put("sha256", "0" * 64)
    yield "another file", put("path", "case.json" if source["path"] != "case.json" else "run.json")
    yield "no such file", put("path", "nowhere.jsonl")
    yield "no source", _set("source", [])


def _another(record: JsonObject) -> JsonObject:
    """A copy under the next free id."""
    made: JsonObject = copy.deepcopy(record)
    made["id"] = re.sub(r"\d+$", "77", record["id"])
    made["unknown"] = {name.replace(record["id"], made["id"]): why for name, why in made["unknown"].items()}
    for part in made.get("parts", ()):
        part["id"] = part["id"].replace(record["id"], made["id"])
    return made


def edits(records: list[JsonObject]) -> Iterator[tuple[tuple[str, str, str], list[JsonObject]]]:
    """((edit, sort of record, field), records after it), each once; what the seal says of the others is left to whoever
    seals them again."""
    seen: set[tuple[str, str, str]] = set()
    for number, record in enumerate(records):
        sort = sort_of(record)
        made: list[tuple[str, str, Edit]] = []
        for field in record:
            if not (sort == "seal" and field in ("records", "digest", "seal_digest", "kind")):
                made += ((what, field, edit) for what, edit in _of_field(record, field))
        if record.get("source"):
            made += ((what, "source", edit) for what, edit in _of_source(record["source"][0]))
        for field in record.get("unknown", ()):
            name = "execution" if field.endswith("/execution") else field
            made.append(("another reason", name, lambda one, f=field: one["unknown"].__setitem__(f, "withheld")))  # type: ignore[misc]
            made.append(("no reason", name, lambda one, f=field: one["unknown"].pop(f)))  # type: ignore[misc]
            if name == field:
                made.append(("made up", name, _fill(field)))
        if record.get("after"):
            made.append(("order forgotten", "after", _forget_order))
        for what, field, edit in made:
            if (what, sort, field) not in seen:
                seen.add((what, sort, field))
                edited = copy.deepcopy(records)
                edit(edited[number])
                yield (what, sort, field), edited
        if sort != "seal" and ("record gone", sort, "") not in seen:
            seen.add(("record gone", sort, ""))
            yield ("record gone", sort, ""), [*records[:number], *records[number + 1 :]]
            yield ("record more", sort, ""), [*records[: number + 1], _another(record), *records[number + 1 :]]
