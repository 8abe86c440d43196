"""What must not be released: purged objects and a profile's rules into `WITHHELD.json`, and files that go.

Raw bytes are never edited: an object is there as it was recorded, or it is not there and is listed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..canonical import JsonObject
from ..errors import UsageError
from . import manifest as manifests
from .manifest import Manifest, read_members, read_origins
from .profile import Withhold
from .rows import check_withheld
from .tree import Tree, is_digest, read_json, write_json, writing


def read_withheld(tree: Tree) -> JsonObject:
    """`{"objects": [...], "executions": [...]}`; empty lists where nothing is withheld."""
    if tree.withheld.is_file():
        return check_withheld(read_json(tree.withheld))
    return {"objects": [], "executions": []}


def purged(tree: Tree) -> set[str]:
    """Digests of the objects that were purged: they are not stored again."""
    return {str(row["sha256"]) for row in read_withheld(tree)["objects"] if row["by"] == "purge"}


def withheld_objects(tree: Tree) -> set[str]:
    return {str(row["sha256"]) for row in read_withheld(tree)["objects"]}


def purge(corpus: Path, sha256: str, *, keep_executions: bool = False) -> JsonObject:
    """Take one raw object out of a working tree for good, and what was derived from it unless `keep_executions`. Raw
    bytes are never edited, so an archive with a member of these bytes goes whole, and none is stored again.

    Raises `RefusedError` for a sealed corpus and an incomplete one, `UsageError` for a digest that is no object of
    the store.
    """
    sha256 = sha256.removeprefix("sha256:").lower()
    if not is_digest(sha256):
        raise UsageError(f"{sha256!r} is no SHA-256", hint="64 hexadecimal digits")
    with writing(corpus) as tree:
        manifest = manifests.load(tree)
        manifests.refuse_incomplete(manifest, tree)
        rows = [row for row in read_origins(tree) if row["object"] == sha256]
        holders = {str(row["archive"]) for row in read_members(tree) if row["sha256"] == sha256}
        if not rows and not holders:
            raise UsageError(
                f"no raw object and no member of an archive has the digest {sha256}",
                hint="see raw/origins.jsonl and raw/members.jsonl",
            )
        withhold(tree, manifest, dict.fromkeys((sha256, *holders), ("purge", "purged", not keep_executions)))
        return read_withheld(tree)


def by_rules(tree: Tree, manifest: Manifest) -> dict[str, tuple[str, str, bool]]:
    """Objects that the profile's rules and the raw policies withhold: digest -> (by, reason, executions too)."""
    profile: Any = manifest.data["profile"]
    rules = [Withhold(one["path"], one["executions"], one["reason"]) for one in (profile or {}).get("withhold", [])]
    policies = {str(row["origin"]) for row in manifest.sources if row["raw_policy"] == "withhold"}
    found: dict[str, tuple[str, str, bool]] = {}
    kept: set[str] = set()
    for row in read_origins(tree):
        if row["origin"] in policies:
            found.setdefault(str(row["object"]), ("raw policy", "raw_policy", False))
        else:
            kept.add(str(row["object"]))
    for sha256 in kept & set(found):
        del found[sha256]  # the same bytes are kept elsewhere
    pairs = [(str(row["path"]), str(row["object"])) for row in read_origins(tree)]
    pairs += [(str(row["path"]), str(row["archive"])) for row in read_members(tree)]
    for path, sha256 in pairs:
        for rule in rules:
            if rule.matches(path):
                executions = rule.executions or found.get(sha256, ("", "", False))[2]
                found[sha256] = (f"profile:{profile['name']}@{profile['version']}", rule.reason, executions)
    return found


def withhold(tree: Tree, manifest: Manifest, objects: dict[str, tuple[str, str, bool]]) -> None:
    """List the objects, then take away files and rows. Killed in between, the next call does the rest."""
    said = read_withheld(tree)
    known = {str(row["sha256"]): row for row in said["objects"]}
    origins = read_origins(tree)
    for sha256, (by, reason, executions) in sorted(objects.items()):
        places = [{"origin": row["origin"], "path": row["path"]} for row in origins if row["object"] == sha256]
        sizes = [row["size"] for row in origins if row["object"] == sha256]
        sizes += [row["size"] for row in read_members(tree) if row["sha256"] == sha256]
        size = next(iter(sizes), None)
        row = {"sha256": sha256, "size": size, "by": by, "reason": reason, "origins": places, "executions": executions}
        known.setdefault(sha256, row)
    said["objects"] = [known[sha256] for sha256 in sorted(known)]
    gone = {sha256: row for sha256, row in known.items() if row["executions"]}
    listed = {str(row["execution"]): row for row in said["executions"]}
    for row in manifest.executions:
        citing = sorted(set(row["objects"]) & set(gone))
        if citing:
            listed[str(row["execution"])] = {
                "execution": row["execution"],
                "origin": row["origin"],
                "attempt": row["attempt"],
                "conversation": row["conversation"],
                "reason": gone[citing[0]]["reason"],
                "cites": citing,
            }
    said["executions"] = [listed[name] for name in sorted(listed)]
    if not said["objects"]:
        return
    write_json(tree, "WITHHELD.json", said)
    for row in manifest.executions:
        if row["execution"] in listed:
            for file in row["files"].values():
                tree.path(str(file["path"])).unlink(missing_ok=True)
    manifest.executions = [row for row in manifest.executions if row["execution"] not in listed]
    for row in manifest.register:
        away = [name for name in row["executions"] if name in listed]
        if away:
            row["status"], row["reason"] = "withheld", _code(known, listed[away[0]])
    manifest.save(tree)
    for sha256 in known:
        stored = tree.object(sha256)
        if stored is not None:
            stored.unlink()


def _code(objects: dict[str, JsonObject], row: JsonObject) -> str:
    """The register's reason: its list is closed, while a rule gives any reason it likes."""
    return "purged" if any(objects[sha256]["by"] == "purge" for sha256 in row["cites"]) else "withheld_by_profile"
