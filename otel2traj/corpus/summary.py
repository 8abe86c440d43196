"""A corpus into what `info` tells of it: nothing is checked, only read."""

from __future__ import annotations

from pathlib import Path

from ..canonical import JsonObject
from . import manifest as manifests
from .deriving import root_digest
from .tree import find
from .withholding import read_withheld


def info(corpus: Path) -> JsonObject:
    """State, versions, sources, counts and what is withheld. Raises `EvidenceError` where there is no corpus."""
    tree = find(corpus)
    manifest = manifests.load(tree)
    said = read_withheld(tree)
    state = "sealed" if tree.sealed else "incomplete" if manifest.incomplete() else "open"
    return {
        "corpus": tree.name,
        "schema": manifest.data["schema"],
        "state": state,
        "version": manifest.data["version"],
        "root": root_digest(tree) if tree.sealed else None,
        "software": manifest.data["software"],
        "versions": manifest.data["versions"],
        "sources": manifest.sources,
        "counts": manifest.counts(),
        "derived": sum("prov" in row["files"] for row in manifest.executions),
        "validated": sum("validation" in row["files"] for row in manifest.executions),
        "withheld": {"objects": len(said["objects"]), "executions": len(said["executions"])},
        "profile": manifest.data["profile"],
        "history": manifest.data["history"],
    }
