"""Everything again from the raw store, compared with what is there byte by byte; or kept as a new version."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from ..canonical import JsonObject
from ..errors import EvidenceError
from ..model.finding import Finding
from . import manifest as manifests
from .candidates import refused_below
from .deriving import annotate, next_version, stage_key
from .evidence import Evidence
from .importing import members_of
from .indexes import RULES as _INDEXES
from .indexes import derive_indexes
from .manifest import Manifest, read_members
from .mapping import Mapped, MapTask, map_candidate
from .profile import SourceProfile, check_same
from .tree import Tree, find, new_version, read_json, write_json, write_rows
from .versions import derivation
from .withholding import withheld_objects
from .workers import run

RULES: Final = {
    "recompute.differs": "A derived file is, byte for byte, what this software derives from the raw bytes.",
    "recompute.missing": "Every file that this software derives is there.",
    "recompute.extra": "Every execution and file of a candidate is one that this software derives.",
    "recompute.row": "The rows of index and register are what this software writes.",
    "recompute.members": "The members of an archive are those that the raw bytes hold.",
    "recompute.raw": "The raw bytes needed are there, unchanged.",
    **_INDEXES,
}
_ROW: Final = (
    "execution",
    "origin",
    "attempt",
    "conversation",
    "status",
    "model_calls",
    "tool_calls",
    "issues",
    "objects",
)


@dataclass(slots=True)
class Recomputed:
    """`same` counts executions whose every file is the same; `skipped` those whose raw bytes are withheld."""

    corpus: str
    same: int = 0
    differing: int = 0
    skipped: int = 0
    findings: list[Finding] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


def recompute(corpus: Path, out: Path | None = None, jobs: int = 1, profile: SourceProfile | None = None) -> Recomputed:
    """Derive all of a corpus again with this software and compare. `out` keeps what was derived as a new version.

    Nothing in the corpus is written, and none of its copies of rules or schemas is used. Raises `RefusedError` for a
    corpus that is incomplete or underived, `UsageError` (`corpus.profile`) where it was made with another source
    profile or salt than the one given.
    """
    source = find(corpus)
    manifest = manifests.load(source)
    manifests.refuse_incomplete(manifest, source)
    manifests.refuse_underived(manifest, source)
    if profile is not None or (manifest.data["profile"] or {}).get("redact") is not None:
        check_same(manifest.data["profile"], profile)
    done = Recomputed(source.name)
    _remark_versions(source, done)
    with _target(out, source) as tree:
        tasks = _tasks(source, manifest, tree, profile, done, keep=out is not None)
        executions: list[JsonObject] = []
        register = {_key(row): row for row in manifest.register}
        for result in run(_again, tasks, jobs):
            done.findings += result.findings
            done.same += result.same
            done.differing += result.differing
            if result.mapped is not None:
                executions += result.mapped.executions
                register[_key(result.mapped.register)] = result.mapped.register
        done.findings += _members(source, manifest, tree if out is not None else None)
        done.findings += derive_indexes(source, manifest, jobs)
        if out is not None:
            fresh = next_version(source, manifest)
            fresh.data["profile"] = manifest.data["profile"]
            fresh.executions = executions + [_copied(source, tree, row) for row in _skipped(source, manifest)]
            fresh.register = list(register.values())
            for row in fresh.sources:
                row["code"] = derivation()["code"]
            fresh.save(tree)
            write_json(tree, "derivation.json", derivation())
    done.findings.sort(key=lambda one: (one.pointer or "", one.rule))
    return done


@contextmanager
def _target(out: Path | None, source: Tree) -> Iterator[Tree]:
    if out is not None:
        with new_version(out, source) as tree:
            yield tree
        return
    with tempfile.TemporaryDirectory() as folder:
        tree = Tree(Path(folder), raw=source.root)
        tree.work.mkdir()
        yield tree


def _remark_versions(source: Tree, done: Recomputed) -> None:
    recorded, ours = read_json(source.derivation), derivation()
    for name in ("software", "code", "lockfile", "rule_catalogues"):
        if recorded.get(name) != ours[name]:
            done.remarks.append(f"{name} is not the one that made the corpus")


@dataclass(slots=True)
class AgainTask:
    source: Path
    register: JsonObject
    rows: list[JsonObject]
    map: MapTask
    keep: bool


@dataclass(slots=True)
class _Result:
    findings: list[Finding] = field(default_factory=list)
    same: int = 0
    differing: int = 0
    mapped: Mapped | None = None


def _skipped(source: Tree, manifest: Manifest) -> list[JsonObject]:
    away = withheld_objects(source)
    evidence = Evidence(source, manifest)
    names = {
        str(name)
        for row in manifest.register
        if evidence.objects(str(row["origin"]), str(row["candidate"]), str(row["kind"])) & away
        for name in row["executions"]
    }
    return [row for row in manifest.executions if row["execution"] in names]


def _tasks(
    source: Tree, manifest: Manifest, tree: Tree, profile: SourceProfile | None, done: Recomputed, *, keep: bool
) -> Iterator[AgainTask]:
    evidence = Evidence(source, manifest)
    rows = {str(row["execution"]): row for row in manifest.executions}
    skipped = {str(row["execution"]) for row in _skipped(source, manifest)}
    done.skipped = len(skipped)
    if skipped:
        done.remarks.append(f"{len(skipped)} executions cannot be derived again: their raw bytes are withheld")
    redactor = None if profile is None else profile.redactor()
    for row in manifest.register:
        if row["kind"] not in ("attempt", "folder") or row["status"] not in ("mapped", "not_mapped"):
            continue
        own = [rows[name] for name in row["executions"] if name in rows]
        if any(one["execution"] in skipped for one in own):
            continue
        origin, path, kind = _key(row)
        task = MapTask(
            tree.root,
            source.root,
            origin,
            kind,
            path,
            evidence.files(origin, path, kind),
            evidence.archive(origin),
            redactor,
            refused_below(manifest.register, origin, path, kind),
        )
        yield AgainTask(source.root, row, own, task, keep)


def _key(row: JsonObject) -> tuple[str, str, str]:
    return str(row["origin"]), str(row["candidate"]), str(row["kind"])


def _again(task: AgainTask) -> _Result:
    tree = Tree(task.map.root, raw=task.map.raw)
    source = Tree(task.source)
    out = _Result()
    where = f"{task.map.origin}/{task.map.path}"
    try:
        mapped = map_candidate(task.map)
    except EvidenceError as err:
        out.findings.append(Finding("recompute.raw", f"{where}: {err}", pointer=where))
        out.differing = len(task.rows)
        return out
    for row in mapped.executions:
        row["files"].update(annotate(tree, str(row["execution"]), str(row["files"]["aer"]["path"])))
        row["derived"] = stage_key(row)
    if any(mapped.register[key] != task.register.get(key) for key in mapped.register):
        out.findings.append(Finding("recompute.row", f"the register says something else of {where}", pointer=where))
    recorded = {str(row["execution"]): row for row in task.rows}
    for row in mapped.executions:
        name = str(row["execution"])
        found = _compare(tree, source, row, recorded.pop(name, None))
        out.findings += found
        out.same += not found
        out.differing += bool(found)
    for name in sorted(recorded):
        out.differing += 1
        out.findings.append(Finding("recompute.extra", f"{name} does not follow from the raw bytes", pointer=name))
    if task.keep:
        out.mapped = mapped
    else:
        for row in mapped.executions:
            for file in row["files"].values():
                tree.path(str(file["path"])).unlink()
    return out


def _compare(tree: Tree, source: Tree, row: JsonObject, recorded: JsonObject | None) -> list[Finding]:
    name = str(row["execution"])
    if recorded is None:
        return [Finding("recompute.missing", f"{name} is not in the index", pointer=name)]
    found = []
    for kind, file in row["files"].items():
        path = str(file["path"])
        try:
            stored = source.path(path).read_bytes()
        except OSError:
            found.append(Finding("recompute.missing", f"{path} is not there", pointer=path))
            continue
        fresh = tree.path(path).read_bytes()
        if stored != fresh:
            line = _first_difference(stored, fresh)
            found.append(Finding("recompute.differs", f"{path} differs from line {line} on", pointer=f"{path}:{line}"))
        elif recorded["files"].get(kind) != file:
            found.append(Finding("recompute.row", f"the index says something else of {path}", pointer=path))
    for kind in sorted(set(recorded["files"]) - set(row["files"]) - {"validation"}):
        found.append(Finding("recompute.extra", f"{name} has a file of an unknown kind, {kind}", pointer=name))
    if any(row.get(key) != recorded.get(key) for key in _ROW):
        found.append(Finding("recompute.row", f"the index says something else of {name}", pointer=name))
    return found


def _first_difference(one: bytes, other: bytes) -> int:
    for number, (left, right) in enumerate(zip(one.split(b"\n"), other.split(b"\n"), strict=False), 1):
        if left != right:
            return number
    return min(one.count(b"\n"), other.count(b"\n")) + 1


def _members(source: Tree, manifest: Manifest, keep: Tree | None) -> list[Finding]:
    """The lists of members again from the archives that are there."""
    found = []
    recorded: dict[str, list[JsonObject]] = {}
    for row in read_members(source):
        recorded.setdefault(str(row["archive"]), []).append(row)
    away = withheld_objects(source)
    for archive in manifest.sources:
        sha256 = str(archive.get("object"))
        if archive["kind"] != "archive" or sha256 in away:
            continue
        try:
            rows = members_of(source, archive)[1]
        except (EvidenceError, OSError) as err:
            found.append(Finding("recompute.raw", f"{archive['origin']}: {err}", pointer=str(archive["origin"])))
            continue
        if rows != recorded.get(sha256, []):
            found.append(
                Finding("recompute.members", f"{archive['origin']} has other members", pointer="raw/members.jsonl")
            )
            recorded[sha256] = rows
    if keep is not None:
        write_rows(keep, "raw/members.jsonl", [row for sha256 in sorted(recorded) for row in recorded[sha256]])
    return found


def _copied(source: Tree, tree: Tree, row: JsonObject) -> JsonObject:
    """An execution that cannot be derived again, as it was."""
    row["files"].pop("validation", None)
    for file in row["files"].values():
        target = tree.path(str(file["path"]))
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source.path(str(file["path"])), target)
    return row
