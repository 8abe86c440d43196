"""The AER of each execution into SEM and PROV; in the working tree, or into a new version of the corpus."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from ..canonical import JsonObject, loads, sha256_canonical
from ..prov.engine import write_prov
from ..prov.sem import derive_sem
from . import manifest as manifests
from .manifest import Manifest
from .tree import SEM_PROFILES, Tree, digest, drafting, find, new_version, write, write_json, writing
from .versions import code_digest, derivation
from .workers import run


@dataclass(frozen=True, slots=True)
class Derived:
    """How many executions were derived now, and how many had been before."""

    corpus: str
    derived: int
    kept: int


def derive(corpus: Path, out: Path | None = None, jobs: int = 1) -> Derived:
    """SEM and PROV of every execution that has none made by this code. `out` names a new version of the corpus.

    Raises `RefusedError` for a sealed corpus without `out`, and for one whose import has not ended.
    """
    if out is None:
        with writing(corpus) as tree:
            manifest = manifests.load(tree)
            manifests.refuse_incomplete(manifest, tree)
            return _derive(tree, manifest, jobs)
    source = find(corpus)
    manifest = manifests.load(source)
    manifests.refuse_incomplete(manifest, source)
    with new_version(out, source) as tree:
        manifest = next_version(source, manifest)
        for row in manifest.executions:
            row.pop("derived", None)
            row["files"] = {name: row["files"][name] for name in ("aer", "view")}
            for file in row["files"].values():
                target = tree.path(str(file["path"]))
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source.path(str(file["path"])), target)
        return _derive(tree, manifest, jobs)


def next_version(source: Tree, manifest: Manifest) -> Manifest:
    """The manifest of a corpus that follows another: open again, with the one before in its history."""
    data = dict(manifest.data)
    if source.sealed:
        before = {"version": data["version"], "root": root_digest(source), "executions": len(manifest.executions)}
        data["history"] = [*data["history"], before]
    data.update({"state": "open", "version": None, "licences": []})
    data.pop("digests", None)
    return Manifest(data, manifest.executions, manifest.register)


def root_digest(tree: Tree) -> str:
    """SHA-256 over `checksums.sha256`: one digest for every byte of a sealed corpus."""
    return digest(tree.checksums)


def _derive(tree: Tree, manifest: Manifest, jobs: int) -> Derived:
    done = tree.work / "derived"
    done.mkdir(parents=True, exist_ok=True)
    waiting: list[DeriveTask] = []
    by_name = {str(row["execution"]): row for row in manifest.executions}
    for name, row in by_name.items():
        key = stage_key(row)
        note = _read(done / f"{name}.json")
        if note is not None and note.get("key") == key:
            row["files"].update(note["files"])
            row["derived"] = key
        elif row.get("derived") != key or "prov" not in row["files"]:
            waiting.append(DeriveTask(tree.root, name, str(row["files"]["aer"]["path"]), key))
    for task, files in zip(waiting, run(_annotate, waiting, jobs), strict=True):
        stale = by_name[task.execution]["files"].pop("validation", None)
        if stale is not None:
            tree.path(str(stale["path"])).unlink(missing_ok=True)
        by_name[task.execution]["files"].update(files)
        by_name[task.execution]["derived"] = task.key
    write_json(tree, "derivation.json", derivation())
    manifest.save(tree)
    shutil.rmtree(done, ignore_errors=True)
    return Derived(tree.name, len(waiting), len(by_name) - len(waiting))


def stage_key(row: JsonObject) -> str:
    """What the derived files of an execution are a function of: its AER and this code."""
    return "sha256:" + sha256_canonical([row["files"]["aer"]["sha256"], code_digest()])


def _read(file: Path) -> JsonObject | None:
    try:
        value = loads(file.read_bytes())
    except (OSError, ValueError):
        return None
    return value if isinstance(value, dict) else None


@dataclass(slots=True)
class DeriveTask:
    root: Path
    execution: str
    aer: str
    key: str


def _annotate(task: DeriveTask) -> JsonObject:
    tree = Tree(task.root)
    files = annotate(tree, task.execution, task.aer)
    write_json(tree, f".work/derived/{task.execution}.json", {"key": task.key, "files": files})
    return files


def annotate(tree: Tree, execution: str, aer: str) -> JsonObject:
    """Write the SEMs and the PROV of one execution from its AER; returns their paths and digests."""
    record = tree.path(aer).read_bytes().splitlines(keepends=True)
    files: JsonObject = {}
    sems = []
    for profile in SEM_PROFILES:
        lines = list(derive_sem(record, profile))
        sems.append(lines)
        name = f"sem/{profile}"
        files[name] = write(tree, tree.artefact(name, execution), b"".join(lines))
    with drafting(tree) as draft:
        write_prov(draft.stream, record, sems)
        files["prov"] = draft.commit(tree.artefact("prov", execution))
    return files
