"""A seal into forms that other tools read: an in-toto Statement, a BagIt bag, an RO-Crate."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from datetime import date
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from ..canonical import JsonObject, dumps
from ..errors import RefusedError, UsageError
from ..files import PREFIX
from ..model.statement import statement
from . import manifest as manifests
from .deriving import root_digest
from .tree import Tree, find_sealed
from .verifying import verify

_KINDS: Final = {
    ".json": "application/json",
    ".jsonl": "application/jsonl",
    ".md": "text/markdown",
    ".txt": "text/plain",
    ".tsv": "text/tab-separated-values",
    ".zst": "application/zstd",
}
PREDICATE: Final = "https://w3id.org/agentprov/corpus-seal/0.1"
"""Type of the predicate: what the root digest covers, and what made it."""


def _sealed(corpus: Path) -> Tree:
    """A sealed corpus that is as it was sealed: what is damaged is not handed on."""
    tree = find_sealed(corpus)
    found = verify(corpus).findings
    if found:
        raise RefusedError(
            f"{tree.name} is not what was sealed: {found[0].message}",
            hint="`otel2traj corpus verify` lists all of it",
            code="corpus.damaged",
        )
    return tree


def _checksums(tree: Tree) -> list[tuple[str, str]]:
    lines = tree.checksums.read_text(encoding="utf-8").splitlines()
    return [(line[66:], line[:64]) for line in lines]


def in_toto(corpus: Path) -> bytes:
    """An in-toto Statement v1, not signed:
    one subject for each file of the corpus and one for its checksums, whose digest is the root."""
    tree = _sealed(corpus)
    data: Any = manifests.load(tree).data
    subjects = [("checksums.sha256", root_digest(tree)), *_checksums(tree)]
    predicate: JsonObject = {
        "corpus": tree.name,
        "version": data["version"],
        "root": {"sha256": root_digest(tree)},
        "software": data["software"],
        "versions": data["versions"],
        "rule_catalogues": data["rule_catalogues"],
        "sources": [{key: row.get(key) for key in ("origin", "kind", "pin")} for row in data["sources"]],
        "counts": data["counts"],
    }
    return statement(subjects, PREDICATE, predicate)


def _take(tree: Tree, path: str, into: Path) -> int:
    """A file of the corpus below another folder, linked where the file system can; its bytes."""
    target = into / path
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(tree.path(path), target, follow_symlinks=False)
    except OSError:
        shutil.copyfile(tree.path(path), target)
    return target.stat().st_size


def ro_crate(corpus: Path, out: Path, published: str) -> int:
    """An RO-Crate 1.1 (https://w3id.org/ro/crate/1.1) of the corpus in a new directory; returns how many files it has.

    `published` (ISO 8601 date) is the date that such a crate must have and that no corpus records. The same corpus and
    date give the same crate. Raises `UsageError` where the directory exists or the date is none.
    """
    try:
        day = date.fromisoformat(published).isoformat()
    except ValueError as err:
        raise UsageError(f"{published!r} is no date", hint="for example 2026-05-01") from err
    tree = _sealed(corpus)
    if out.exists():
        raise UsageError(f"{out.name} exists", hint="name a new directory")
    part = Path(tempfile.mkdtemp(prefix=PREFIX, dir=out.parent))
    part.chmod(0o755)
    files = sorted([*_checksums(tree), ("checksums.sha256", root_digest(tree))])
    entities = [_file(path, sha256, _take(tree, path, part)) for path, sha256 in files]
    graph = crate_graph(tree.name, manifests.load(tree).data, root_digest(tree), day, entities)
    document = {"@context": "https://w3id.org/ro/crate/1.1/context", "@graph": graph}
    (part / "ro-crate-metadata.json").write_bytes(dumps(document))
    os.rename(part, out)
    return len(files)


def _file(path: str, sha256: str, size: int) -> JsonObject:
    told: JsonObject = {"@id": quote(path), "@type": "File", "name": path, "contentSize": str(size), "sha256": sha256}
    kind = _KINDS.get(Path(path).suffix)
    return {**told, "encodingFormat": kind} if kind is not None else told


def crate_graph(name: str, data: Any, root: str, published: str, files: list[JsonObject]) -> list[JsonObject]:
    """The entities of a crate: its descriptor, the corpus, what it was made by and from, and every file."""
    counts = data["counts"]
    described = (
        f"{counts['executions']} executions of agents with {counts['model_calls']} model calls and"
        f" {counts['tool_calls']} tool calls: recorded evidence, trajectories and W3C provenance."
    )
    sources: list[JsonObject] = [
        {"@id": f"#source-{number}", "@type": "CreativeWork", "name": row["origin"], "identifier": row["pin"]}
        for number, row in enumerate(data["sources"], 1)
    ]
    made: JsonObject = {"@id": "#software", "@type": "SoftwareApplication", "name": data["software"]}
    whole: JsonObject = {
        "@id": "./",
        "@type": "Dataset",
        "name": name,
        "description": described,
        "version": data["version"],
        "datePublished": published,
        "license": ", ".join(data["licences"]),
        "identifier": f"sha256:{root}",
        "isBasedOn": [{"@id": one["@id"]} for one in sources],
        "mentions": [{"@id": made["@id"]}],
        "hasPart": [{"@id": one["@id"]} for one in files],
    }
    descriptor: JsonObject = {
        "@id": "ro-crate-metadata.json",
        "@type": "CreativeWork",
        "conformsTo": {"@id": "https://w3id.org/ro/crate/1.1"},
        "about": {"@id": "./"},
    }
    return [descriptor, whole, made, *sources, *files]


def bagit(corpus: Path, out: Path) -> int:
    """A BagIt 1.0 bag (RFC 8493) of the corpus in a new directory; returns the number of payload files.

    Payload files are linked where the file system can. No date stands in it, so the same corpus gives the same bag.
    Raises `UsageError` where the directory exists.
    """
    tree = _sealed(corpus)
    if out.exists():
        raise UsageError(f"{out.name} exists", hint="name a new directory")
    part = Path(tempfile.mkdtemp(prefix=PREFIX, dir=out.parent))
    part.chmod(0o755)
    files = [*_checksums(tree), ("checksums.sha256", root_digest(tree))]
    size = sum(_take(tree, path, part / "data") for path, _ in files)
    info = [
        f"External-Identifier: sha256:{root_digest(tree)}",
        f"External-Description: corpus {tree.name}",
        f"Payload-Oxum: {size}.{len(files)}",
    ]
    pages = {
        "bagit.txt": "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n",
        "bag-info.txt": "\n".join(info) + "\n",
        "manifest-sha256.txt": "".join(f"{sha256}  data/{path}\n" for path, sha256 in sorted(files)),
    }
    tags = ""
    for name, text in pages.items():
        (part / name).write_bytes(text.encode())
        tags += f"{hashlib.sha256(text.encode()).hexdigest()}  {name}\n"
    (part / "tagmanifest-sha256.txt").write_bytes(tags.encode())
    os.rename(part, out)
    return len(files)
