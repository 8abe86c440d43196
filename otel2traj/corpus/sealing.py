"""A working tree into a sealed corpus: manifest, pages, record copies, checksums, one rename, one root digest."""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Final

from ..canonical import sha256_hex
from ..errors import EvidenceError, RefusedError, UsageError
from ..prov.rules import CATALOGUES, catalogue_bytes
from ..prov.vocabulary import vocabulary_bytes
from . import integrity
from . import manifest as manifests
from .datasheet import changelog, datasheet, licence_notice
from .manifest import Manifest
from .names import safe
from .tree import Tree, base_of, digest, write, write_json, writing
from .versions import SOFTWARE
from .withholding import by_rules, withhold

_SEMVER: Final = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?")
_SCHEMA: Final = "abb.agent-trajectory.v1.schema.json"


@dataclass(frozen=True, slots=True)
class Sealed:
    """What was sealed. `root` is the SHA-256 of `checksums.sha256`: hand it over by another way than the corpus."""

    corpus: str
    version: str
    root: str
    files: int
    executions: int


def package(corpus: Path, version: str = "1.0.0", licences: tuple[Path, ...] = ()) -> Sealed:
    """Seal a working tree. Killed in between, the next call begins again; the rename comes last.

    Raises `RefusedError` where it is sealed, incomplete, underived or mixed, or where the tree is not what its indexes
    say (`corpus.damaged`).
    """
    if _SEMVER.fullmatch(version) is None:
        raise UsageError(f"{version!r} is no semantic version", hint="for example 1.0.0")
    with writing(corpus) as tree:
        manifest = manifests.load(tree)
        manifests.refuse_incomplete(manifest, tree)
        manifests.refuse_underived(manifest, tree)
        manifests.refuse_mixed(manifest, tree)
        withhold(tree, manifest, by_rules(tree, manifest))
        _drop_former_seal(tree)
        _refuse_damaged(tree, manifest)
        manifest.data.update(
            {"state": "sealed", "version": version, "software": SOFTWARE, "licences": _licences(tree, licences)}
        )
        for name, data in record_copies().items():
            write(tree, name, data)
        indexes = ("executions.jsonl", "register.jsonl", "derivation.json", "raw/origins.jsonl", "raw/members.jsonl")
        manifest.save(tree)
        manifest.data["digests"] = {name: digest(tree.path(name)) for name in indexes}
        write_json(tree, "corpus.json", manifest.data)
        write(tree, "DATASHEET.md", datasheet(tree, manifest).encode())
        write(tree, "CHANGELOG.md", changelog(manifest.data).encode())
        lines = [f"{digest(tree.path(path))}  {path}\n" for path, _ in tree.files() if path != "checksums.sha256"]
        checksums = "".join(lines).encode()
        write(tree, "checksums.sha256", checksums)
        _empty_folders(tree.root)
        shutil.rmtree(tree.work)
        os.sync()  # the rename must not reach the disk before what it seals
        os.rename(tree.root, base_of(corpus))
        return Sealed(tree.name, version, sha256_hex(checksums), len(lines), len(manifest.executions))


def _drop_former_seal(tree: Tree) -> None:
    """What a seal that was killed has left behind."""
    for name in ("DATASHEET.md", "CHANGELOG.md", "checksums.sha256"):
        tree.path(name).unlink(missing_ok=True)
    for name in ("rules", "schemas", "LICENSES"):
        shutil.rmtree(tree.path(name), ignore_errors=True)


def _refuse_damaged(tree: Tree, manifest: Manifest) -> None:
    found = integrity.check(tree, manifest)
    if found:
        raise RefusedError(
            f"{tree.name} is not what its indexes say: {found[0].message}",
            hint="`otel2traj corpus validate` lists all of it",
            code="corpus.damaged",
        )


def _licences(tree: Tree, files: tuple[Path, ...]) -> list[str]:
    names: list[str] = []
    for file in files:
        name = safe(file.name)
        if name is None or name in names or name == "NOTICE.txt":
            raise UsageError(f"{file.name!r} cannot be the name of a licence text")
        try:
            write(tree, f"LICENSES/{name}", file.read_bytes())
        except OSError as err:
            raise EvidenceError(f"cannot read {file.name}: {err.strerror}") from err
        names.append(name)
    write(tree, "LICENSES/NOTICE.txt", licence_notice(sorted(names)).encode())
    return sorted(names) or ["not stated"]


def record_copies() -> dict[str, bytes]:
    """Rules, vocabulary and schema as they are: a record for readers, never loaded as an authority."""
    package = __package__.partition(".")[0]
    return {
        **{f"rules/{name}.toml": catalogue_bytes(name) for name in CATALOGUES},
        "schemas/apv.ttl": vocabulary_bytes(),
        f"schemas/{_SCHEMA}": resources.files(package).joinpath("schemas", _SCHEMA).read_bytes(),
    }


def _empty_folders(root: Path) -> None:
    """Folders that withholding left empty: no file names them, so no seal would cover them."""
    for folder, _, _ in os.walk(root, topdown=False):
        if Path(folder) != root and not os.listdir(folder):
            os.rmdir(folder)
