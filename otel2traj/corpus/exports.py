"""A seal into forms that other tools read: an in-toto Statement, and a BagIt bag."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any, Final

from ..canonical import JsonObject
from ..errors import RefusedError, UsageError
from ..files import PREFIX
from ..model.statement import statement
from . import manifest as manifests
from .deriving import root_digest
from .tree import Tree, find_sealed
from .verifying import verify

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
    size = 0
    for path, _ in files:
        target = part / "data" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(tree.path(path), target, follow_symlinks=False)
        except OSError:
            shutil.copyfile(tree.path(path), target)
        size += target.stat().st_size
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
