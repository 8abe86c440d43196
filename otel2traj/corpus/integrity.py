"""A corpus against its own indexes: every file that is named is there with its digest, and nothing else is there."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any, Final

from ..canonical import JsonObject, loads
from ..errors import EvidenceError
from ..model.finding import Finding
from ..prov.records import seal_digest
from ..prov.validate.aer import seals_itself
from .manifest import Manifest, read_origins
from .tree import Tree, digest
from .withholding import read_withheld, withheld_objects

RULES: Final = {
    "corpus.damaged": "Manifest and indexes can be read and have their form.",
    "corpus.missing": "A file that an index names is there.",
    "corpus.changed": "A file has the digest that an index states for it.",
    "corpus.extra": "Every file is named by an index.",
    "corpus.link": "A corpus holds no link and no special file.",
    "corpus.raw-missing": "Every raw object is in the store, or listed in WITHHELD.json.",
    "corpus.raw-changed": "A raw object's digest is its name.",
    "corpus.chain": "An AER's seal covers its records, and the index states that seal.",
    "corpus.index": "Register and index name the same executions, each once.",
    "corpus.withheld": "What is withheld is not there.",
    "corpus.checksums": "checksums.sha256 is well formed, sorted, and names each file once.",
    "corpus.root": "The root digest is the one that was expected.",
}
_FIXED: Final = frozenset(
    {
        "corpus.json",
        "executions.jsonl",
        "register.jsonl",
        "derivation.json",
        "raw/origins.jsonl",
        "raw/members.jsonl",
        "WITHHELD.json",
    }
)
_SEALED: Final = frozenset({"checksums.sha256", "DATASHEET.md", "CHANGELOG.md"})
_RECORD_COPIES: Final = ("rules/", "schemas/", "LICENSES/")


def check(tree: Tree, manifest: Manifest) -> list[Finding]:
    """Everything about a tree that needs no derivation. Findings in the order of paths."""
    named = {str(file["path"]): str(file["sha256"]) for row in manifest.executions for file in _files(row)}
    present = dict(tree.files())
    found = list(_tree(tree, named, present))
    found += _raw(tree)
    found += _chain(tree, manifest)
    found += _register(manifest)
    found += _withheld(tree, manifest)
    return sorted(found, key=lambda one: (one.pointer or "", one.rule))


def _files(row: JsonObject) -> list[Any]:
    files = row.get("files")
    return list(files.values()) if isinstance(files, dict) else []


def _tree(tree: Tree, named: dict[str, str], present: dict[str, Any]) -> Iterator[Finding]:
    allowed = _FIXED | (_SEALED if tree.sealed else frozenset())
    folders = ("raw/objects/", *(_RECORD_COPIES if tree.sealed else ()))
    for path, entry in present.items():
        if entry.is_symlink() or not entry.is_file(follow_symlinks=False):
            yield Finding("corpus.link", f"{path} is no regular file", pointer=path)
        elif path not in named and path not in allowed and not path.startswith(folders):
            yield Finding("corpus.extra", f"{path} is named by no index", pointer=path)
    for path, sha256 in named.items():
        entry = present.get(path)
        if entry is None:
            yield Finding("corpus.missing", f"{path} is not there", pointer=path)
        elif not entry.is_symlink() and digest(tree.path(path)) != sha256:
            yield Finding("corpus.changed", f"{path} is not what the index says", pointer=path)
    for path in sorted(_FIXED - {"WITHHELD.json"} | (_SEALED if tree.sealed else frozenset())):
        if path not in present:
            yield Finding("corpus.missing", f"{path} is not there", pointer=path)


def _raw(tree: Tree) -> Iterator[Finding]:
    away = withheld_objects(tree)
    listed = {str(row["object"]) for row in read_origins(tree)}
    stored: dict[str, str] = {}
    for path, entry in tree.files():
        if path.startswith("raw/objects/") and entry.is_file(follow_symlinks=False):
            sha256 = entry.name.partition(".")[0]
            if sha256 not in listed or path.split("/")[2] != sha256[:2] or sha256 in stored:
                yield Finding("corpus.extra", f"{path} is in no row of raw/origins.jsonl", pointer=path)
                continue
            stored[sha256] = path
            if digest(tree.path(path)) != sha256:
                yield Finding("corpus.raw-changed", f"{path} has other bytes than its name says", pointer=path)
    for sha256 in sorted(listed - set(stored) - away):
        yield Finding("corpus.raw-missing", f"raw object {sha256} is not in the store", pointer=f"raw/objects/{sha256}")
    for sha256 in sorted(away & set(stored)):
        yield Finding("corpus.withheld", f"{sha256} is withheld, and is there", pointer=stored[sha256])


def _chain(tree: Tree, manifest: Manifest) -> Iterator[Finding]:
    for row in manifest.executions:
        aer = (row.get("files") or {}).get("aer") or {}
        path = str(aer.get("path"))
        try:
            stated = seal_of(tree.path(path).read_bytes())
        except OSError:
            continue  # missing, and said so
        except EvidenceError as err:
            yield Finding("corpus.chain", f"{path}: {err}", pointer=path)
            continue
        if stated != aer.get("seal"):
            yield Finding("corpus.chain", f"the index states another seal for {path}", pointer=path)


def seal_of(data: bytes) -> str:
    """The digest in the last line of an AER. Raises `EvidenceError` where it does not cover the lines before."""
    body, _, last = data.removesuffix(b"\n").rpartition(b"\n")
    try:
        seal = loads(last)
    except ValueError as err:
        raise EvidenceError("the last line is no seal") from err
    stated = seal.get("digest") if isinstance(seal, dict) and seal.get("kind") == "seal" else None
    if stated != "sha256:" + hashlib.sha256(body + b"\n").hexdigest():
        raise EvidenceError("the seal does not cover the records before it")
    if not isinstance(seal, dict) or (_covers_itself(data, seal) and seal.get("seal_digest") != seal_digest(seal)):
        raise EvidenceError("the seal does not cover its own issues and status")
    return str(stated)


def _covers_itself(data: bytes, seal: JsonObject) -> bool:
    """Whether the seal has a digest of its own, or the adapter's version that the first line tells writes one."""
    if "seal_digest" in seal:
        return True
    try:
        first = loads(data.partition(b"\n")[0])
    except ValueError:
        return True
    return not isinstance(first, dict) or seals_itself(first)


def _register(manifest: Manifest) -> Iterator[Finding]:
    names = [str(row.get("execution")) for row in manifest.executions]
    for name in sorted({name for name in names if names.count(name) > 1} if len(set(names)) != len(names) else ()):
        yield Finding("corpus.index", f"{name} stands twice in executions.jsonl", pointer=name)
    mapped = [str(name) for row in manifest.register if row.get("status") == "mapped" for name in row["executions"]]
    withheld = {str(name) for row in manifest.register if row.get("status") == "withheld" for name in row["executions"]}
    for name in sorted(set(mapped) - set(names)):
        yield Finding("corpus.index", f"{name} is registered and not in executions.jsonl", pointer=name)
    for name in sorted(set(names) - set(mapped) - withheld):
        yield Finding("corpus.index", f"{name} is in executions.jsonl and not registered", pointer=name)


def _withheld(tree: Tree, manifest: Manifest) -> Iterator[Finding]:
    listed = {str(row["execution"]) for row in read_withheld(tree)["executions"]}
    for row in manifest.executions:
        if row.get("execution") in listed:
            yield Finding("corpus.withheld", f"{row['execution']} is withheld, and is there", pointer=row["execution"])
