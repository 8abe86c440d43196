"""A saved trajectory against its published schema, its invariants and, where it is at hand, its evidence."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

from ..auditors.trajectory import TrajectoryInvariants
from ..canonical import JsonError, JsonObject, loads, loads_tolerant
from ..model.finding import Finding
from ..model.trajectory import SCHEMA
from ..readers.attempt import safe_join
from ..stored import replay


def schema() -> JsonObject:
    """The published JSON Schema of `abb.agent-trajectory.v1`."""
    value = loads(files("otel2traj").joinpath(f"schemas/{SCHEMA}.schema.json").read_bytes())
    assert isinstance(value, dict)
    return value


def validate(path: Path, evidence: Path | None = None) -> list[Finding]:
    """Findings on a saved trajectory; empty for a good one. `evidence` is the attempt directory that it was built from:
    every digest in it is then taken again over the recorded bytes."""
    return [*_trajectory(path), *([] if evidence is None else check_digests(path, evidence))]


def _trajectory(path: Path) -> Iterator[Finding]:
    from jsonschema import Draft202012Validator

    try:
        document, repairs = loads_tolerant(path.read_bytes())
    except JsonError as err:
        yield Finding("json", str(err))
        return
    for repair in repairs:
        yield Finding("json", f"read with a repair: {repair}")
    broken = False
    for error in Draft202012Validator(schema()).iter_errors(document):
        broken = True
        pointer = "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in error.absolute_path)
        message = error.message if len(error.message) <= 300 else f"{error.message[:297]}..."
        yield Finding("json-schema", message, pointer=pointer or "/")
    if broken:
        return
    auditor = TrajectoryInvariants()
    replay(path, auditor)
    yield from auditor.findings()


def check_digests(path: Path, evidence: Path) -> Iterator[Finding]:
    """Every source digest and every record digest of a trajectory, taken again over the recorded bytes."""
    document, _ = loads_tolerant(path.read_bytes())
    assert isinstance(document, dict)
    plain: dict[str, Path] = {}
    for number, source in enumerate(document.get("sources") or []):
        where = f"/sources/{number}"
        file = safe_join(evidence, source["path"])
        if file is None:
            yield Finding("source-exists", f"{source['path']} is not in the evidence", pointer=where)
        elif _digest(file) != source["sha256"]:
            yield Finding("source-digest", f"{source['path']} has other bytes than were read", pointer=where)
        elif not file.name.endswith((".gz", ".zst")):
            plain[source["path"]] = file
    for number, step in enumerate(document.get("steps") or []):
        for where, record in _records(step, f"/steps/{number}"):
            named = plain.get(record["path"])
            if named is not None and _slice_digest(named, record) != record["sha256"]:
                message = f"the bytes at {record['path']}:{record.get('line', record['offset'])} have another digest"
                yield Finding("record-digest", message, pointer=where)


def _records(step: JsonObject, where: str) -> Iterator[tuple[str, JsonObject]]:
    places = [(f"{where}/evidence", step["evidence"])]
    for number, log in enumerate(step["tool_logs"]):
        place = f"{where}/tool_logs/{number}/evidence"
        places.append((place, log["evidence"]))
        places.extend((f"{place}/candidates/{n}", c) for n, c in enumerate(log["evidence"].get("candidates") or []))
    for place, holder in places:
        for number, record in enumerate(holder.get("records") or []):
            yield f"{place}/records/{number}", record


def _digest(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _slice_digest(file: Path, record: JsonObject) -> str:
    with file.open("rb") as stream:
        return hashlib.sha256(os.pread(stream.fileno(), record["length"], record["offset"])).hexdigest()
