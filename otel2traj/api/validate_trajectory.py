"""A saved trajectory against its published schema, its invariants and, where it is at hand, its evidence."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from ..auditors.trajectory import TrajectoryInvariants
from ..auditors.trajectory_schema import document_findings
from ..canonical import WRITTEN_DEPTH, JsonError, JsonObject, loads_tolerant
from ..model.finding import Finding
from ..readers.attempt import safe_join
from ..stored import replay


def validate(path: Path, evidence: Path | None = None) -> list[Finding]:
    """Findings on a saved trajectory; empty for a good one. `evidence` is the attempt directory, folder or file that it
    was built from: every digest in it is then taken again over the recorded bytes, and the whole file is built again
    and compared."""
    found = list(_trajectory(path))
    if evidence is None or any(finding.rule in ("json", "json-schema") for finding in found):
        return found
    digests = list(check_digests(path, evidence))
    return [*found, *digests, *([] if digests else built_again(path, evidence))]


def _trajectory(path: Path) -> Iterator[Finding]:
    try:
        document, repairs = loads_tolerant(path.read_bytes(), WRITTEN_DEPTH)
    except JsonError as err:
        yield Finding("json", str(err))
        return
    for repair in set(repairs) - {"lone-surrogate"}:  # which is how a recorded one is kept
        yield Finding("json", f"read with a repair: {repair}")
    broken = list(document_findings(document))
    if broken:
        yield from broken
        return
    from ..assembly.warnings import CODES, LOSSY

    auditor = TrajectoryInvariants(CODES, LOSSY)
    replay(path, auditor)
    yield from auditor.findings()


def check_digests(path: Path, evidence: Path) -> Iterator[Finding]:
    """Every source digest and every record digest of a trajectory, taken again over the recorded bytes."""
    document, _ = loads_tolerant(path.read_bytes(), WRITTEN_DEPTH)
    assert isinstance(document, dict)
    plain: dict[str, Path] = {}
    for number, source in enumerate(document.get("sources") or []):
        where = f"/sources/{number}"
        file = _source(evidence, source["path"])
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


def _source(evidence: Path, name: str) -> Path | None:
    """The file of a source, where it is there."""
    if evidence.is_file():
        return evidence if evidence.name == name else None
    return safe_join(evidence, name)


def built_again(path: Path, evidence: Path) -> Iterator[Finding]:
    """The file against what the evidence gives today, byte by byte, under the truncation limit of the environment."""
    from .build import build_path

    saved = path.read_bytes()
    coverage = loads_tolerant(saved, WRITTEN_DEPTH)[0]
    inferred = isinstance(coverage, dict) and "inferred_links" in (coverage.get("coverage") or {})
    with tempfile.TemporaryDirectory() as folder:
        made = build_path(evidence, output=Path(folder), inference=inferred)
        files = [one.file.read_bytes() for one in made if one.file is not None]
    if saved in files:
        return
    lines, again = saved.split(b"\n"), (files[0] if len(files) == 1 else b"").split(b"\n")
    number = next((n for n, (one, other) in enumerate(zip(lines, again, strict=False), 1) if one != other), len(again))
    where = f"first in line {number}" if len(files) == 1 else f"none of {len(files)} conversations gives it"
    yield Finding("built-again", f"the evidence gives another file today: {where}")


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
