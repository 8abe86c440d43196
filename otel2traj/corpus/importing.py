"""A directory, an archive or a trace file into a working tree: raw bytes, members, register, AER and views.

An import may be killed at any moment. What was done is on the disk; the same import again does only what is missing,
and the tree is then the same, byte for byte.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ..canonical import JsonObject, loads, sha256_canonical
from ..errors import EvidenceError, RefusedError, UsageError
from . import manifest as manifests
from .archives import Archive, archive_kind
from .candidates import Candidate, find_candidates, refused_below
from .limits import Limits
from .listing import Entry, list_root
from .manifest import read_members, read_origins
from .mapping import Mapped, MapTask, map_candidate
from .names import safe
from .profile import SourceProfile, check_same
from .store import limits_of, put
from .tree import Tree, base_of, write_json, write_rows, writing
from .versions import code_digest, derivation
from .withholding import purged, withhold
from .workers import run


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """`name` is the origin's name, by default that of the directory: no path of this machine is recorded."""

    jobs: int = 1
    name: str | None = None
    profile: SourceProfile | None = None
    limits: Limits = field(default_factory=Limits)
    withhold_raw: bool = False


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did. `mapped` counts the candidates that it mapped now, `kept` those mapped before."""

    origins: list[str]
    mapped: int
    kept: int
    counts: JsonObject


def import_root(root: Path, corpus: Path, options: ImportOptions | None = None) -> Imported:
    """Import everything below `root`. Raises `RefusedError` for a sealed corpus and for an origin whose evidence is
    no longer what it was, `EvidenceError` where there is nothing to read."""
    options = options if options is not None else ImportOptions()
    place = Path(os.path.realpath(root))
    base = base_of(Path(os.path.realpath(corpus)))
    if base == place or base in place.parents or base.with_name(base.name + ".partial") in (place, *place.parents):
        raise UsageError("a corpus is no evidence of its own", hint="import the directory that was recorded")
    if not place.exists():
        raise EvidenceError(f"there is no {root.name or root}", hint="give a directory, an archive or a trace file")
    name = safe(options.name if options.name is not None else place.name or "root")
    if name is None or "\n" in name:
        raise UsageError(f"{options.name!r} is no name for an origin", hint="letters, digits, dots and dashes")
    entries = list_root(place, (base, base.with_name(base.name + ".partial")))
    if not entries:
        raise EvidenceError(f"there is nothing below {root.name or root}", hint="is it the directory that was meant?")
    with writing(corpus, create=True) as tree:
        return _Import(tree, options, name).run(place, entries)


class _Import:
    def __init__(self, tree: Tree, options: ImportOptions, name: str) -> None:
        self._tree = tree
        self._options = options
        self._name = name
        self._manifest = manifests.load(tree) if tree.corpus.is_file() else manifests.fresh()
        self._redactor = None if options.profile is None else options.profile.redactor()
        self._purged = purged(tree)
        self._also: dict[str, tuple[str, str, bool]] = {}
        """Archives that hold a purged member: they go as well."""
        self._origins = {(str(row["origin"]), str(row["path"])): row for row in read_origins(tree)}
        self._members = read_members(tree)
        self._register = {_key(row): row for row in self._manifest.register}
        self._executions = {str(row["execution"]): row for row in self._manifest.executions}
        self._done = tree.work / "done"
        self._touched: list[str] = []
        self.mapped = self.kept = 0

    def run(self, root: Path, entries: list[Entry]) -> Imported:
        if self._manifest.sources:
            check_same(self._manifest.data["profile"], self._options.profile)
        elif self._options.profile is not None:
            self._manifest.data["profile"] = self._options.profile.to_json()
        kind = "directory" if root.is_dir() else "file"
        origin = f"{'dir' if kind == 'directory' else 'file'}:{self._name}"
        self._begin(origin, {"kind": kind})
        self._done.mkdir(exist_ok=True)
        tasks = self._tasks(root, origin, entries)
        for mapped in run(_map, tasks, self._options.jobs):
            self._take(mapped)
            self.mapped += 1
        self._finish()
        return Imported(self._touched, self.mapped, self.kept, self._manifest.counts())

    def _begin(self, origin: str, facts: JsonObject) -> None:
        """Mark the origin incomplete before anything of it is stored; forget what other code made of it."""
        known = self._manifest.source(origin)
        stale = known is not None and known["code"] != code_digest()
        if stale:
            self._forget(origin)
        self._touched.append(origin)
        row = {
            "origin": origin,
            **facts,
            "state": "incomplete",
            "code": code_digest(),
            "raw_policy": "withhold" if self._options.withhold_raw else "keep",
        }
        self._manifest.put_source(row)
        write_json(self._tree, "corpus.json", self._manifest.data)

    def _forget(self, origin: str) -> None:
        for execution, row in list(self._executions.items()):
            if row["origin"] == origin:
                for file in row["files"].values():
                    self._tree.path(str(file["path"])).unlink(missing_ok=True)
                del self._executions[execution]
        self._register = {key: row for key, row in self._register.items() if key[0] != origin}

    def _tasks(self, root: Path, origin: str, entries: list[Entry]) -> Iterator[_Task]:
        archives: list[tuple[str, Path, str]] = []
        candidates = find_candidates(entries)
        for candidate in candidates:
            if candidate.reason in ("not_a_trace", "derived_output"):
                self._loose(origin, candidate, archives)
            elif candidate.reason is not None:
                self._row(candidate.row(origin, "refused", candidate.reason, []))
        for candidate in candidates:  # what was refused of one is known by now
            if candidate.reason is None:
                yield from self._candidate(origin, candidate, None)
        self._pin(origin)
        for path, file, kind in archives:
            yield from self._archive(path, file, kind, is_root=root == file)

    def _loose(self, origin: str, candidate: Candidate, archives: list[tuple[str, Path, str]]) -> None:
        """A file outside every attempt that is no trace: an archive, or something the register only names."""
        file = candidate.files[0].file
        assert file is not None
        try:
            kind = archive_kind(file) if candidate.reason == "not_a_trace" else None
        except OSError:
            self._row(candidate.row(origin, "refused", "unreadable", []))
            return
        if kind is None:
            self._row(candidate.row(origin, "not_mapped", candidate.reason, []))
            return
        candidate.kind = "archive"
        if self._store(origin, candidate.path, candidate.files[0], candidate):
            archives.append((candidate.path, file, kind))
            withheld = candidate.files[0].sha256 in self._purged
            self._row(
                candidate.row(origin, "withheld" if withheld else "opened", "purged" if withheld else "archive", [])
            )
        else:
            self._row(candidate.row(origin, "refused", "unreadable", []))

    def _store(self, origin: str, path: str, entry: Entry, candidate: Candidate) -> bool:
        """Put one file into the raw store. False where it cannot be read. A purged object is not stored again."""
        assert entry.file is not None
        try:
            entry.sha256, entry.size = put(self._tree, entry.file, path, self._purged)
        except OSError:
            return False
        known = self._origins.get((origin, path))
        if known is not None and known["object"] != entry.sha256:
            raise RefusedError(
                f"{path} of {origin} is not what it was when it was imported",
                hint="give the snapshot a name of its own with --name",
                code="corpus.origin-changed",
            )
        self._origins[(origin, path)] = {
            "origin": origin,
            "path": path,
            "object": entry.sha256,
            "size": entry.size,
            "candidate": candidate.path,
            "kind": candidate.kind,
        }
        return True

    def _candidate(self, origin: str, candidate: Candidate, archive: JsonObject | None) -> Iterator[_Task]:
        if archive is None:
            prefix = "" if candidate.path == "." else candidate.path + "/"
            stored = []
            for entry in candidate.files:
                if self._store(origin, prefix + entry.path, entry, candidate):
                    stored.append(entry)
                else:
                    lost = Candidate(prefix + entry.path, "file", [entry])
                    self._row(lost.row(origin, "refused", "unreadable", []))
            candidate.files = stored
        if self._before(origin, candidate):
            return
        if any(entry.sha256 in self._purged for entry in candidate.files):
            self._row(candidate.row(origin, "withheld", "purged", []))
            return
        files: list[JsonObject] = [
            {"path": entry.path, "sha256": entry.sha256, "size": entry.size, "ordinal": entry.ordinal}
            for entry in candidate.files
        ]
        key = sha256_canonical([origin, candidate.path, candidate.kind])
        map_task = MapTask(
            self._tree.root,
            self._tree.root,
            origin,
            candidate.kind,
            candidate.path,
            files,
            archive,
            self._redactor,
            refused_below(self._register.values(), origin, candidate.path, candidate.kind),
        )
        yield _Task(map_task, self._done / f"{key}.json", candidate.inputs())

    def _before(self, origin: str, candidate: Candidate) -> bool:
        """Whether the candidate was mapped before, by an import that ended or by one that was killed."""
        row = self._register.get((origin, candidate.path, candidate.kind))
        if row is not None:
            if row["inputs"] != candidate.inputs():
                raise RefusedError(
                    f"{candidate.path} of {origin} is not what it was when it was imported",
                    hint="give the snapshot a name of its own with --name",
                    code="corpus.origin-changed",
                )
            self.kept += 1
            return True
        done = self._done / f"{sha256_canonical([origin, candidate.path, candidate.kind])}.json"
        try:
            said = loads(done.read_bytes())
        except (OSError, ValueError):
            return False
        if not isinstance(said, dict) or said["code"] != code_digest() or said["inputs"] != candidate.inputs():
            return False
        self._take(Mapped(said["register"], said["executions"]))
        self.kept += 1
        return True

    def _archive(self, path: str, file: Path, kind: str, *, is_root: bool) -> Iterator[_Task]:
        origin = f"archive:{self._name}" if is_root else f"archive:{self._name}/{path}"
        key = ("file:" if is_root else "dir:") + self._name
        sha256 = str(self._origins[(key, path)]["object"])
        if sha256 in self._purged:
            return
        facts: JsonObject = {
            "kind": "archive",
            "object": sha256,
            "format": kind,
            "limits": {
                "members": self._options.limits.members,
                "member_bytes": self._options.limits.member_bytes,
                "total_bytes": self._options.limits.total_bytes,
            },
        }
        known = self._manifest.source(origin)
        if known is not None and (known["object"] != sha256 or known["limits"] != facts["limits"]):
            raise RefusedError(
                f"{origin} is not what it was when it was imported, or was read with other limits",
                hint="give the snapshot a name of its own with --name",
                code="corpus.origin-changed",
            )
        candidates, rows, damage = members_of(self._tree, facts)
        if any(row["sha256"] in self._purged for row in rows):
            row = self._register[(key, path, "archive")]
            row["status"], row["reason"] = "withheld", "purged"
            self._also[sha256] = ("purge", "purged", True)
            return
        self._begin(origin, facts)
        self._members = [row for row in self._members if row["archive"] != sha256] + rows
        if damage is not None:
            row = self._register[(key, path, "archive")]
            row["reason"], row["detail"] = "unreadable_archive", damage
        for candidate in candidates:
            if candidate.reason in ("not_a_trace", "derived_output"):
                self._row(candidate.row(origin, "not_mapped", candidate.reason, []))
            elif candidate.reason is not None:
                self._row(candidate.row(origin, "refused", candidate.reason, []))
        for candidate in candidates:
            if candidate.reason is None:
                yield from self._candidate(origin, candidate, facts)
        source = self._manifest.source(origin)
        assert source is not None
        source["pin"] = f"sha256:{sha256}"
        source["files"] = sum(row["status"] == "accepted" for row in rows)
        source["bytes"] = sum(row["size"] or 0 for row in rows)

    def _pin(self, origin: str) -> None:
        rows = [[path, row["object"]] for (of, path), row in sorted(self._origins.items()) if of == origin]
        source = self._manifest.source(origin)
        assert source is not None
        source["pin"] = "sha256:" + sha256_canonical(rows)
        source["files"] = len(rows)
        source["bytes"] = sum(row["size"] for (of, _), row in self._origins.items() if of == origin)

    def _row(self, row: JsonObject) -> None:
        self._register[_key(row)] = row

    def _take(self, mapped: Mapped) -> None:
        self._row(mapped.register)
        for row in mapped.executions:
            other = self._executions.get(str(row["execution"]))
            if other is not None and (other["origin"], other["attempt"]) != (row["origin"], row["attempt"]):
                raise RefusedError(f"{row['execution']} is two executions", code="corpus.duplicate-execution")
            self._executions[str(row["execution"])] = row

    def _finish(self) -> None:
        for origin in self._touched:
            source = self._manifest.source(origin)
            assert source is not None
            source["state"] = "complete"
        write_rows(self._tree, "raw/origins.jsonl", [row for _, row in sorted(self._origins.items())])
        self._members.sort(key=lambda row: (str(row["archive"]), int(row["ordinal"])))
        write_rows(self._tree, "raw/members.jsonl", self._members)
        self._manifest.register = list(self._register.values())
        self._manifest.executions = list(self._executions.values())
        write_json(self._tree, "derivation.json", derivation())
        self._manifest.save(self._tree)
        if self._also:
            withhold(self._tree, self._manifest, self._also)
        shutil.rmtree(self._done, ignore_errors=True)


@dataclass(slots=True)
class _Task:
    task: MapTask
    done: Path
    inputs: str


def _map(task: _Task) -> Mapped:
    """Map, then note on the disk that it was done: the note is what a later import believes."""
    mapped = map_candidate(task.task)
    tree = Tree(task.task.root)
    note: JsonObject = {
        "code": code_digest(),
        "inputs": task.inputs,
        "register": mapped.register,
        "executions": mapped.executions,
    }
    write_json(tree, str(task.done.relative_to(tree.root)), note)
    return mapped


def _key(row: JsonObject) -> tuple[str, str, str]:
    return str(row["origin"]), str(row["candidate"]), str(row["kind"])


def members_of(tree: Tree, archive: JsonObject) -> tuple[list[Candidate], list[JsonObject], str | None]:
    """The members of a stored archive: candidates, the rows of `raw/members.jsonl`, and what is damaged."""
    stored = tree.object(str(archive["object"]))
    if stored is None:
        raise EvidenceError(f"raw object {archive['object']} is not in the store", code="corpus.raw-missing")
    opened = Archive(stored, str(archive["format"]), limits_of(archive))
    try:
        members = opened.scan()
        damage = opened.damage
    finally:
        opened.close()
    rows = {member.ordinal: member.to_json(str(archive["object"])) for member in members}
    entries = [
        Entry(member.path or "*", None, member.size or 0, member.sha256, member.reason, member.ordinal)
        for member in members
    ]
    entries.sort(key=lambda entry: (entry.path.encode("utf-8"), entry.ordinal))
    candidates = find_candidates(entries)
    for candidate in candidates:
        for entry in candidate.files if candidate.reason is None else ():
            assert entry.ordinal is not None
            rows[entry.ordinal].update(candidate=candidate.path, kind=candidate.kind)
    return candidates, list(rows.values()), damage
