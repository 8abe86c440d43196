"""A corpus into the pages that people read: its datasheet, its changelog, and the notice about licences."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ..canonical import JsonObject, loads
from .manifest import Manifest, read_members
from .reasons import REASONS
from .tree import Tree
from .withholding import read_withheld


def datasheet(tree: Tree, manifest: Manifest) -> str:
    """`DATASHEET.md`: what is in the corpus, how it came about, what is missing, and how to check it. No dates."""
    data = manifest.data
    counts: Any = data["counts"]
    parts = [f"# Corpus, version {data['version']}", "", "## What it is", ""]
    parts.append(
        f"{counts['executions']} executions of agents, with {counts['model_calls']} model calls and"
        f" {counts['tool_calls']} tool calls, derived from recorded evidence. Each has an execution record (AER),"
        " annotations (SEM), W3C provenance (PROV-JSON) and a trajectory; every statement points back into the raw"
        " bytes under `raw/objects/`."
    )
    parts += ["", *_table(("status", "executions"), counts["by_status"].items())]
    parts.append(f"{counts['with_issues']} executions carry issues; their seals list them. None was dropped.")
    parts += ["", "## Where it comes from", ""]
    parts += _table(
        ("origin", "kind", "files", "bytes", "pin"),
        [(row["origin"], row["kind"], row["files"], row["bytes"], f"`{row['pin']}`") for row in manifest.sources],
    )
    parts += ["## What was seen", "", f"{counts['candidates']} candidates; `register.jsonl` lists each.", ""]
    parts += _table(("status", "candidates"), counts["candidates_by_status"].items())
    reasons = [(code, n, REASONS.get(code, "")) for code, n in counts["candidates_by_reason"].items()]
    if reasons:
        parts += _table(("reason", "candidates", "meaning"), reasons)
    parts += _members(tree)
    parts += ["## How it was made", "", f"Software: {data['software']}. Formats:", ""]
    parts += _table(("axis", "version"), data["versions"].items())
    rules = [(name, row["version"], f"`{row['sha256']}`") for name, row in data["rule_catalogues"].items()]
    parts += _table(("rule catalogue", "version", "SHA-256"), rules)
    parts += _profile(data["profile"])
    parts += _withheld(tree)
    parts += _validation(tree, manifest)
    parts += ["## Licences", "", ", ".join(data["licences"]) + " (see `LICENSES/`).", ""]
    parts += [
        "## How to check it",
        "",
        "```",
        "sha256sum -c checksums.sha256",
        "sha256sum checksums.sha256     # the root digest",
        "otel2traj corpus verify .",
        "otel2traj corpus validate .",
        "otel2traj corpus recompute .",
        "```",
        "",
        "The first two need nothing of ours. A corpus that is not signed shows accidents and partial edits; it does not"
        " show that its owner rewrote all of it. Compare the root digest with one that you got by another way.",
        "",
        "An imported log is evidence of what was recorded, not of what happened.",
    ]
    return "\n".join(parts) + "\n"


def _table(head: tuple[str, ...], rows: Any) -> list[str]:
    lines = ["| " + " | ".join(head) + " |", "| " + " | ".join("---" for _ in head) + " |"]
    lines += ["| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in rows]
    return [*lines, ""]


def _members(tree: Tree) -> list[str]:
    rows = read_members(tree)
    if not rows:
        return []
    found = Counter("accepted" if row["reason"] is None else str(row["reason"]) for row in rows)
    return [
        f"{len(rows)} members of archives were looked at in memory (`raw/members.jsonl`); none was extracted.",
        "",
        *_table(("member", "count", "meaning"), [(key, n, REASONS.get(key, "")) for key, n in sorted(found.items())]),
    ]


def _profile(profile: Any) -> list[str]:
    if profile is None:
        return ["No account paths were replaced: the corpus was made without a source profile.", ""]
    out = [f"Source profile: {profile['name']}@{profile['version']}.", ""]
    if profile["redact"] is not None:
        out += [
            "Account paths in the records, the annotations, the provenance and the trajectories were replaced by"
            " labels `acct-<12 hex>`, a salted SHA-256. A label cannot be turned back, but whoever has the salt can"
            " guess a short or common name. Raw objects were not changed: they may hold such paths.",
            "",
        ]
    return out


def _withheld(tree: Tree) -> list[str]:
    said = read_withheld(tree)
    out = ["## What is withheld", ""]
    if not said["objects"]:
        return [*out, "Nothing.", ""]
    executions = len(said["executions"])
    out += [f"{len(said['objects'])} raw objects and {executions} executions; `WITHHELD.json` lists each.", ""]
    found = Counter((str(row["by"]), str(row["reason"])) for row in said["objects"])
    rows = [(by, reason, n, REASONS.get(reason, "")) for (by, reason), n in sorted(found.items())]
    return [*out, *_table(("by", "reason", "objects", "meaning"), rows)]


def _validation(tree: Tree, manifest: Manifest) -> list[str]:
    out = ["## Validation", ""]
    counts: dict[str, Counter[str]] = {}
    seen = 0
    for row in manifest.executions:
        file = row["files"].get("validation")
        if file is None:
            continue
        seen += 1
        result: Any = loads(tree.path(str(file["path"])).read_bytes())
        for tier in result["tiers"]:
            counts.setdefault(f"{tier['tier']} {tier['title']}", Counter())[str(tier["status"])] += 1
    if not seen:
        return [*out, "Not validated before it was sealed.", ""]
    out += [f"{seen} of {len(manifest.executions)} executions were validated; results are under `validation/`.", ""]
    rows = [(name, one["passed"], one["failed"], one["not_run"]) for name, one in sorted(counts.items())]
    return [*out, *_table(("tier", "passed", "failed", "not run"), rows)]


def changelog(data: JsonObject) -> str:
    """`CHANGELOG.md`: this version and the sealed ones it follows, newest first."""
    counts: Any = data["counts"]
    parts = ["# Changes", "", f"## {data['version']}", ""]
    parts.append(f"* {counts['executions']} executions, made with {data['software']}.")
    history: Any = data["history"]
    for before in reversed(history):
        parts += ["", f"## {before['version']}", "", f"* {before['executions']} executions, root `{before['root']}`."]
    return "\n".join(parts) + "\n"


def licence_notice(names: list[str]) -> str:
    """The page that stands in `LICENSES/` beside the texts that were given."""
    given = ", ".join(names) if names else "none was stated when the corpus was sealed"
    return (
        f"Licence texts of the recorded evidence: {given}.\n\n"
        "The rules and schemas under rules/ and schemas/ are record copies from otel2traj, Apache-2.0.\n"
    )
