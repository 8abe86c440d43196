"""A sealed corpus against its seal: every byte that `checksums.sha256` covers, and every index against every file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ..canonical import sha256_hex
from ..errors import EvidenceError
from ..model.finding import Finding
from . import integrity
from . import manifest as manifests
from .names import safe
from .tree import Tree, digest, find_sealed

_LINE: Final = re.compile(r"([0-9a-f]{64})  (.+)")


@dataclass(frozen=True, slots=True)
class Verified:
    """`root` is the root digest as computed now; `findings` is empty where everything is as it was sealed."""

    corpus: str
    version: str
    root: str
    files: int
    findings: list[Finding]


def verify(corpus: Path, root: str | None = None) -> Verified:
    """Check a sealed corpus. `root` is the digest that was handed over by another way.

    Raises `RefusedError` (`corpus.not-sealed`) for a working tree.
    """
    tree = find_sealed(corpus)
    data = tree.checksums.read_bytes()
    computed = sha256_hex(data)
    found: list[Finding] = []
    if root is not None and root.removeprefix("sha256:").lower() != computed:
        found.append(Finding("corpus.root", f"the root digest is {computed}", pointer="checksums.sha256"))
    stated = _checksums(data, found)
    _compare(tree, stated, found)
    seen = {one.pointer for one in found}
    version = None
    try:
        manifest = manifests.load(tree)
        version = manifest.data.get("version")
        found += [one for one in integrity.check(tree, manifest) if one.pointer not in seen]
        digests: Any = manifest.data.get("digests")
        for name, sha256 in sorted(digests.items() if isinstance(digests, dict) else ()):
            if name in stated and stated[name] != sha256:
                found.append(Finding("corpus.changed", f"the manifest states another digest for {name}", pointer=name))
    except EvidenceError as err:
        found.append(Finding(err.error_code, str(err), pointer="corpus.json"))
    return Verified(tree.name, str(version), computed, len(stated), found)


def _checksums(data: bytes, found: list[Finding]) -> dict[str, str]:
    stated: dict[str, str] = {}
    before = ""
    for number, line in enumerate(data.decode("utf-8", "replace").removesuffix("\n").split("\n"), 1):
        match = _LINE.fullmatch(line)
        where = f"checksums.sha256:{number}"
        if match is None or safe(match[2]) != match[2] or match[2] in stated:
            found.append(Finding("corpus.checksums", f"line {number} is no digest of a file of its own", pointer=where))
            continue
        if _order(match[2]) < _order(before):
            found.append(Finding("corpus.checksums", f"line {number} is out of order", pointer=where))
        before = match[2]
        stated[match[2]] = match[1]
    return stated


def _order(path: str) -> list[bytes]:
    return [part.encode() for part in path.split("/")]


def _compare(tree: Tree, stated: dict[str, str], found: list[Finding]) -> None:
    present = dict(tree.files())
    for path, sha256 in stated.items():
        entry = present.get(path)
        if entry is None:
            found.append(Finding("corpus.missing", f"{path} is not there", pointer=path))
        elif entry.is_symlink() or not entry.is_file(follow_symlinks=False):
            found.append(Finding("corpus.link", f"{path} is no regular file", pointer=path))
        elif digest(tree.path(path)) != sha256:
            found.append(Finding("corpus.changed", f"{path} is not what was sealed", pointer=path))
    for path in present:
        if path not in stated and path != "checksums.sha256":
            found.append(Finding("corpus.extra", f"{path} was not sealed", pointer=path))
    if tree.work.exists():
        found.append(Finding("corpus.extra", "a working area does not belong in a sealed corpus", pointer=".work"))
