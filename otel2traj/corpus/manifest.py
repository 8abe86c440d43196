"""`corpus.json` and the two indexes of a working tree: read, changed, and written back."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from ..canonical import JsonObject
from ..errors import EvidenceError, RefusedError
from ..prov import versions as axes
from .rows import check_executions, check_manifest, check_members, check_origins, check_register, check_sources
from .tree import Tree, read_json, read_rows, write_json, write_rows
from .versions import CORPUS, SOFTWARE, axes_of, rule_catalogues


@dataclass(slots=True)
class Manifest:
    """The manifest and both indexes in memory: a row each for an execution and a candidate, never what they hold."""

    data: JsonObject
    executions: list[JsonObject]
    register: list[JsonObject]

    @property
    def sources(self) -> list[JsonObject]:
        found: list[JsonObject] = self.data["sources"]
        return found

    def source(self, origin: str) -> JsonObject | None:
        return next((row for row in self.sources if row["origin"] == origin), None)

    def put_source(self, row: JsonObject) -> None:
        rows = [one for one in self.sources if one["origin"] != row["origin"]] + [row]
        self.data["sources"] = sorted(rows, key=lambda one: str(one["origin"]))

    def incomplete(self) -> list[str]:
        return [str(row["origin"]) for row in self.sources if row["state"] != "complete"]

    def save(self, tree: Tree) -> None:
        """Indexes first: a manifest that says complete is never newer than they are."""
        self.executions.sort(key=lambda row: str(row["execution"]))
        self.register.sort(key=lambda row: (str(row["origin"]), str(row["candidate"]), str(row["kind"])))
        write_rows(tree, "register.jsonl", self.register)
        write_rows(tree, "executions.jsonl", self.executions)
        self.data["counts"] = self.counts()
        write_json(tree, "corpus.json", self.data)

    def counts(self) -> JsonObject:
        def by(rows: list[JsonObject], key: str) -> JsonObject:
            return dict(sorted(Counter(str(row[key]) for row in rows if row.get(key) is not None).items()))

        return {
            "executions": len(self.executions),
            "by_status": by(self.executions, "status"),
            "with_issues": sum(row["issues"] > 0 for row in self.executions),
            "model_calls": sum(row["model_calls"] for row in self.executions),
            "tool_calls": sum(row["tool_calls"] for row in self.executions),
            "candidates": len(self.register),
            "candidates_by_status": by(self.register, "status"),
            "candidates_by_reason": by(self.register, "reason"),
        }


def fresh() -> Manifest:
    data: JsonObject = {
        "schema": CORPUS,
        "state": "open",
        "version": None,
        "software": SOFTWARE,
        "versions": axes_of(),
        "ontology": {"namespace": axes.APV, "version": axes.VOCABULARY},
        "rule_catalogues": rule_catalogues(),
        "profile": None,
        "sources": [],
        "counts": {},
        "licences": [],
        "history": [],
    }
    return Manifest(data, [], [])


def load(tree: Tree) -> Manifest:
    """Raises `EvidenceError` for a manifest or an index that is damaged or of another kind."""
    data = read_json(tree.corpus)
    sources: Any = data.get("sources")
    if data.get("schema") != CORPUS or not isinstance(sources, list):
        raise EvidenceError(
            f"corpus.json is no {CORPUS} manifest", hint="it was made by other software", code="corpus.damaged"
        )
    check_manifest(data)
    check_sources(sources)
    manifest = Manifest(data, read_rows(tree.executions), read_rows(tree.register))
    check_executions(tree, manifest.executions)
    check_register(manifest.register)
    return manifest


def read_origins(tree: Tree) -> list[JsonObject]:
    """The rows of `raw/origins.jsonl`: one for each file that was stored."""
    return check_origins(read_rows(tree.origins))


def read_members(tree: Tree) -> list[JsonObject]:
    """The rows of `raw/members.jsonl`: one for each member of an archive that was looked at."""
    return check_members(read_rows(tree.members))


def refuse_incomplete(manifest: Manifest, tree: Tree) -> None:
    """Raises `RefusedError` (`corpus.incomplete`) where an import stopped early."""
    open_ones = manifest.incomplete()
    if open_ones or not manifest.sources:
        what = ", ".join(open_ones) if open_ones else "nothing was imported"
        raise RefusedError(
            f"{tree.name} is incomplete: {what}", hint="run the same import again to its end", code="corpus.incomplete"
        )


def refuse_underived(manifest: Manifest, tree: Tree) -> None:
    """Raises `RefusedError` (`corpus.underived`) where an execution has no PROV."""
    missing = sum("prov" not in row["files"] for row in manifest.executions)
    if missing:
        raise RefusedError(
            f"{missing} executions of {tree.name} have no PROV yet",
            hint="run `otel2traj corpus derive` first",
            code="corpus.underived",
        )


def refuse_mixed(manifest: Manifest, tree: Tree) -> None:
    """Raises `RefusedError` (`corpus.mixed`) where parts of the tree were mapped by other code than the rest."""
    found = {str(row["code"]) for row in manifest.sources}
    if len(found) > 1:
        raise RefusedError(
            f"{tree.name} was mapped by {len(found)} versions of this software",
            hint="`recompute --out DIR` makes all of it anew",
            code="corpus.mixed",
        )
