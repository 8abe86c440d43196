"""What a corpus says of the software that made it, against that software: formats, rules, stages, copies, licences.

Where another version made it, what it says of itself is believed as far as it agrees with itself; a remark says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ..canonical import sha256_hex
from ..model.finding import Finding
from ..prov import versions as axes
from ..prov.rules import CATALOGUES
from .datasheet import licence_notice
from .deriving import stage_key
from .manifest import Manifest
from .sealing import record_copies
from .tree import Tree, digest, read_json
from .versions import axes_of, derivation, rule_catalogues

RULES: Final = {
    "recompute.stated": "What a corpus says of formats, rules and stages is what the software that made it says.",
    "recompute.copy": "Rules, vocabulary and schema are those that the corpus was made with; licences are listed.",
    "recompute.file": "Size and digest of a file, and the key of its derivation, are those that the index states.",
}
_BELIEVED: Final = ("lockfile",)
"""What may differ while the code is the same, and is told by a remark."""


def derive_stated(tree: Tree, manifest: Manifest) -> Iterator[Finding]:
    """Findings on `corpus.json`, `derivation.json` and the copies of a sealed corpus."""
    recorded, ours = read_json(tree.derivation), derivation()
    made_here = all(recorded.get(name) == ours[name] for name in ("software", "code"))
    data = manifest.data
    if made_here:
        for name in sorted((recorded.keys() | ours.keys()) - set(_BELIEVED)):
            if recorded.get(name) != ours.get(name):
                yield _stated("derivation.json", name)
        told = {
            "versions": axes_of(),
            "ontology": {"namespace": axes.APV, "version": axes.VOCABULARY},
            "rule_catalogues": rule_catalogues(),
        }
        for name, value in told.items():
            if data.get(name) != value:
                yield _stated("corpus.json", name)
    elif recorded.keys() != ours.keys():
        yield _stated("derivation.json", "its members")
    elif data.get("rule_catalogues") != recorded.get("rule_catalogues"):
        yield _stated("corpus.json", "rule_catalogues")
    if (data.get("state") == "sealed") != tree.sealed:
        yield _stated("corpus.json", "state")
    if len({str(row["code"]) for row in manifest.sources}) > 1:
        yield _stated("corpus.json", "sources/code")
    for row in manifest.sources:
        if row["raw_policy"] not in ("keep", "withhold"):
            yield _stated("corpus.json", "sources/raw_policy")
    yield from _files(tree, manifest, made_here=made_here)
    if tree.sealed:
        yield from _copies(tree, manifest, made_here=made_here)


def _stated(file: str, name: str) -> Finding:
    return Finding("recompute.stated", f"{file} says something else of {name}", pointer=f"{file}/{name}")


def _files(tree: Tree, manifest: Manifest, *, made_here: bool) -> Iterator[Finding]:
    for row in manifest.executions:
        name = str(row["execution"])
        key = row.get("derived")
        if key != stage_key(row) if made_here else not isinstance(key, str):
            yield Finding("recompute.file", f"{name} was derived from something else", pointer=name)
        said = row["files"].get("validation")
        path = None if said is None else tree.path(str(said["path"]))
        if path is not None and path.is_file():
            there = {"path": str(said["path"]), "sha256": digest(path), "bytes": path.stat().st_size}
            if said != there:
                yield Finding("recompute.file", f"the index says something else of {said['path']}", pointer=name)


def _copies(tree: Tree, manifest: Manifest, *, made_here: bool) -> Iterator[Finding]:
    stated = manifest.data["rule_catalogues"]
    copies = record_copies()
    wanted = {path: sha256_hex(data) for path, data in copies.items()} if made_here else {}
    listed = [name for name in manifest.data["licences"] if name != "not stated"]
    wanted["LICENSES/NOTICE.txt"] = sha256_hex(licence_notice(listed).encode())
    for name in CATALOGUES:
        if isinstance(stated.get(name), dict):
            wanted.setdefault(f"rules/{name}.toml", str(stated[name].get("sha256")))
    for path in sorted([*wanted, *(copies.keys() - wanted.keys()), *(f"LICENSES/{name}" for name in listed)]):
        file = tree.path(path)
        if not file.is_file():
            yield Finding("recompute.copy", f"{path} is not there", pointer=path)
        elif path in wanted and digest(file) != wanted[path]:
            yield Finding("recompute.copy", f"{path} is not the one that the corpus was made with", pointer=path)
