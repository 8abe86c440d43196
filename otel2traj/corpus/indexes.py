"""What a corpus says of itself, derived again: register, pins, counts, pages and the results of the validation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from ..canonical import JsonObject, sha256_canonical
from ..errors import EvidenceError
from ..model.finding import Finding
from .datasheet import changelog, datasheet
from .importing import members_of
from .manifest import Manifest, read_members, read_origins
from .stated import RULES as _STATED
from .stated import derive_stated
from .tree import Tree, digest, read_json
from .validating import validate_again
from .withholding import withheld_objects

RULES: Final = {
    "recompute.register": "The register names every candidate of the stored evidence, and no other.",
    "recompute.pin": "The pin, files and bytes of an origin are those of what was stored of it.",
    "recompute.counts": "The counts of the manifest are those of its indexes.",
    "recompute.digest": "The manifest of a sealed corpus states the digests of its indexes.",
    "recompute.page": "The pages of a sealed corpus say what its indexes say.",
    "recompute.validation": "The stored result of a validation is what validating gives.",
    **_STATED,
}
_Key = tuple[str, str, str]


def derive_indexes(tree: Tree, manifest: Manifest, jobs: int) -> list[Finding]:
    """Findings on everything that is no file of an execution: those are compared one by one."""
    found = [*_register(tree, manifest), *_pins(tree, manifest)]
    if manifest.data["counts"] != manifest.counts():
        found.append(Finding("recompute.counts", "the counts are not those of the indexes", pointer="corpus.json"))
    if tree.sealed:
        found += _sealed(tree, manifest)
    found += derive_stated(tree, manifest)
    found += _validation(tree, manifest, jobs)
    return found


def _register(tree: Tree, manifest: Manifest) -> Iterator[Finding]:
    """The candidates that the stored files belong to, against the rows of the register."""
    seen: dict[_Key, int] = {}
    for row in read_origins(tree):
        key = (str(row["origin"]), str(row["candidate"]), str(row["kind"]))
        seen[key] = seen.get(key, 0) + 1
    away = withheld_objects(tree)
    for source in manifest.sources:
        if source["kind"] == "archive" and source["object"] not in away:
            try:
                candidates = members_of(tree, source)[0]
            except (EvidenceError, OSError):
                continue  # told of by the comparison of the members
            seen.update({(str(source["origin"]), one.path, one.kind): len(one.files) for one in candidates})
    listed = {(str(row["origin"]), str(row["candidate"]), str(row["kind"])): row for row in manifest.register}
    for key in sorted(seen.keys() - listed.keys()):
        where = "/".join(key[:2])
        yield Finding("recompute.register", f"{where} was imported, and the register has no row of it", pointer=where)
    for key in sorted(listed.keys() - seen.keys()):
        row, where = listed[key], "/".join(key[:2])
        if row["status"] == "mapped" and row["files"] > 0:
            yield Finding("recompute.register", f"{where} is mapped, and nothing was stored of it", pointer=where)
    for stored in (row for row in read_origins(tree) if row["kind"] == "archive"):
        key = (str(stored["origin"]), str(stored["candidate"]), "archive")
        inputs = "sha256:" + sha256_canonical([[stored["path"], stored["object"]]])
        told = {"files": 1, "bytes": stored["size"], "inputs": inputs, "detail": None}
        if key in listed and any(listed[key][name] != value for name, value in told.items()):
            where = "/".join(key[:2])
            yield Finding("recompute.register", f"the register says something else of {where}", pointer=where)
    for key in sorted(seen.keys() & listed.keys()):
        row, where = listed[key], "/".join(key[:2])
        if key[2] in ("attempt", "folder") and row["files"] != seen[key]:
            message = f"{where} has {seen[key]} files, the register says {row['files']}"
            yield Finding("recompute.register", message, pointer=where)


def _pins(tree: Tree, manifest: Manifest) -> Iterator[Finding]:
    origins = read_origins(tree)
    members = read_members(tree)
    for source in manifest.sources:
        if source["kind"] == "archive":
            own = [row for row in members if row["archive"] == source["object"]]
            pin = f"sha256:{source['object']}"
            files, size = sum(row["status"] == "accepted" for row in own), sum(row["size"] or 0 for row in own)
        else:
            stored = sorted((str(row["path"]), row) for row in origins if row["origin"] == source["origin"])
            pin = "sha256:" + sha256_canonical([[path, row["object"]] for path, row in stored])
            files, size = len(stored), sum(row["size"] for _, row in stored)
        if (source["pin"], source["files"], source["bytes"]) != (pin, files, size):
            where = str(source["origin"])
            yield Finding("recompute.pin", f"{where} is not what its pin says", pointer=where)


def _sealed(tree: Tree, manifest: Manifest) -> Iterator[Finding]:
    for name, stated in (manifest.data.get("digests") or {}).items():
        if digest(tree.path(str(name))) != stated:
            yield Finding("recompute.digest", f"{name} is not the one that was sealed", pointer=str(name))
    pages: dict[str, Callable[[], str]] = {
        "DATASHEET.md": lambda: datasheet(tree, manifest),
        "CHANGELOG.md": lambda: changelog(manifest.data),
    }
    for name, write in pages.items():
        try:
            same = tree.path(name).read_bytes() == write().encode()
        except OSError:
            same = False
        except (KeyError, TypeError, ValueError):
            continue  # a stored result of a validation of another form: told of by the comparison of those
        if not same:
            yield Finding("recompute.page", f"{name} says something else than the indexes", pointer=name)


def _validation(tree: Tree, manifest: Manifest, jobs: int) -> Iterator[Finding]:
    rows = [row for row in manifest.executions if "validation" in row["files"]]
    recorded: dict[str, JsonObject] = {}
    for row in rows:
        path = str(row["files"]["validation"]["path"])
        try:
            recorded[str(row["execution"])] = read_json(tree.path(path))
        except (EvidenceError, OSError):
            yield Finding("recompute.validation", f"{path} cannot be read", pointer=path)
    for name, said in validate_again(tree, manifest, recorded, jobs):
        if said != recorded[name]:
            yield Finding("recompute.validation", f"validating {name} gives another result", pointer=name)
