"""Every execution of a corpus through the tiers of `prov.validate`, with its raw bytes, and the tree itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ..canonical import JsonObject
from ..errors import EvidenceError
from ..model.finding import Finding
from ..prov import validate as tiers
from ..prov.validate import TierResult
from ..readers.record_bytes import RecordBytes
from . import integrity
from . import manifest as manifests
from .evidence import Evidence
from .manifest import Manifest
from .store import laid_out
from .tree import SEM_PROFILES, Tree, digest, find, write_json, writing
from .withholding import withheld_objects
from .workers import run


@dataclass(slots=True)
class Validated:
    """What was found. `tiers` counts executions by tier and status; `executions` holds those that are not clean."""

    corpus: str
    count: int
    tree: list[Finding]
    tiers: dict[str, dict[str, int]] = field(default_factory=dict)
    executions: dict[str, list[JsonObject]] = field(default_factory=dict)

    @property
    def clean(self) -> bool:
        return not self.tree and not self.executions


def validate(corpus: Path, jobs: int = 1, *, roundtrip: bool = True) -> Validated:
    """Check all of a corpus. Results are kept under `validation/` in a working tree; a sealed one is only read.

    Raises `RefusedError` for a corpus that is incomplete or underived.
    """
    tree = find(corpus)
    if tree.sealed:
        return _validate(tree, manifests.load(tree), jobs, roundtrip)
    with writing(corpus) as tree:
        manifest = manifests.load(tree)
        out = _validate(tree, manifest, jobs, roundtrip)
        manifest.save(tree)
        return out


def _validate(tree: Tree, manifest: Manifest, jobs: int, roundtrip: bool) -> Validated:
    manifests.refuse_incomplete(manifest, tree)
    manifests.refuse_underived(manifest, tree)
    out = Validated(tree.name, len(manifest.executions), integrity.check(tree, manifest))
    counts: dict[str, Counter[str]] = {tier: Counter() for tier in tiers.TIERS}
    tasks = _tasks(tree, manifest, roundtrip)
    for row, results in zip(manifest.executions, run(_check, tasks, jobs), strict=True):
        for result in results:
            counts[str(result["tier"])][str(result["status"])] += 1
        failed = [result for result in results if result["status"] == "failed"]
        if failed:
            out.executions[str(row["execution"])] = failed
        if not tree.sealed:
            files = row["files"]
            said = _said(row, results)
            files["validation"] = write_json(tree, tree.artefact("validation", str(row["execution"])), said)
    out.tiers = {tier: dict(sorted(found.items())) for tier, found in counts.items()}
    return out


def _said(row: JsonObject, results: list[JsonObject]) -> JsonObject:
    """What is kept of one validation."""
    return {
        "execution": row["execution"],
        "aer": row["files"]["aer"]["sha256"],
        "prov": row["files"]["prov"]["sha256"],
        "clean": not any(result["status"] == "failed" for result in results),
        "tiers": results,
    }


def validate_again(
    tree: Tree, manifest: Manifest, recorded: dict[str, JsonObject], jobs: int
) -> Iterator[tuple[str, JsonObject]]:
    """(execution, result) of those that have a stored result, in the same tiers."""
    tasks = [task for task in _tasks(tree, manifest, True) if str(task.row["execution"]) in recorded]
    for task in tasks:
        before = recorded[str(task.row["execution"])].get("tiers") or []
        task.roundtrip = not any(one.get("remarks") == ["not asked for"] for one in before if one.get("tier") == "4")
    for task, results in zip(tasks, run(_check, iter(tasks), jobs), strict=True):
        yield str(task.row["execution"]), _said(task.row, results)


@dataclass(slots=True)
class CheckTask:
    root: Path
    row: JsonObject
    files: list[JsonObject]
    archive: JsonObject | None
    withheld: bool
    roundtrip: bool


def _tasks(tree: Tree, manifest: Manifest, roundtrip: bool) -> Iterator[CheckTask]:
    evidence = Evidence(tree, manifest)
    away = withheld_objects(tree)
    kinds = {
        (str(row["origin"]), str(name)): str(row["kind"]) for row in manifest.register for name in row["executions"]
    }
    for row in manifest.executions:
        origin, attempt = str(row["origin"]), str(row["attempt"])
        kind = kinds.get((origin, str(row["execution"])), "attempt")
        withheld = bool(evidence.objects(origin, attempt, kind) & away)
        files = evidence.files(origin, attempt, kind)
        yield CheckTask(tree.root, row, files, evidence.archive(origin), withheld, roundtrip)


def _check(task: CheckTask) -> list[JsonObject]:
    """The tiers of one execution. A file that is missing or unreadable is a finding, not an end."""
    tree = Tree(task.root)
    row = task.row
    try:
        prov = tree.path(str(row["files"]["prov"]["path"])).read_bytes()
        aer = tree.path(str(row["files"]["aer"]["path"])).read_bytes().splitlines(keepends=True)
        sems = [
            tree.path(str(row["files"][f"sem/{profile}"]["path"])).read_bytes().splitlines(keepends=True)
            for profile in SEM_PROFILES
        ]
    except (OSError, KeyError) as err:
        result = TierResult("1", "failed", [Finding("corpus.missing", f"a derived file cannot be read: {err}")])
        rest = [tiers.not_run(tier, "a derived file is missing") for tier in tiers.TIERS if tier != "1"]
        return [one.to_json() for one in [result, *rest]]
    if task.withheld:
        results = tiers.validate(prov=prov, aer=aer, sems=sems, roundtrip=task.roundtrip)
        for result in results:
            if result.tier == "5":
                result.remarks = ["raw bytes not looked at: they are withheld"]
        return [one.to_json() for one in results]
    try:
        with laid_out(tree, str(row["attempt"]), task.files, task.archive) as folder, RecordBytes(folder) as read:
            results = tiers.validate(
                prov=prov,
                aer=aer,
                sems=sems,
                read=read,
                digest_of=lambda path: _digest(folder, path),
                roundtrip=task.roundtrip,
            )
    except EvidenceError as err:
        results = tiers.validate(prov=prov, aer=aer, sems=sems, roundtrip=task.roundtrip)
        for result in results:
            if result.tier == "5":
                result.status = "failed"
                result.findings.append(Finding(err.error_code, str(err)))
    return [one.to_json() for one in results]


def _digest(folder: Path, path: str) -> str | None:
    try:
        return digest(folder / path)
    except OSError:
        return None
