"""The rows of the raw store into the files of each candidate, so that it can be laid out and derived again."""

from __future__ import annotations

from ..canonical import JsonObject
from .manifest import Manifest, read_members, read_origins
from .tree import Tree


class Evidence:
    """What each candidate was derived from, by origin, path and kind."""

    def __init__(self, tree: Tree, manifest: Manifest) -> None:
        self.archives = {str(row["object"]): row for row in manifest.sources if row["kind"] == "archive"}
        by_object: dict[str, list[str]] = {}
        for row in manifest.sources:
            if row["kind"] == "archive":
                by_object.setdefault(str(row["object"]), []).append(str(row["origin"]))
        self._files: dict[tuple[str, str, str], list[JsonObject]] = {}
        self._sources = {str(row["origin"]): row for row in manifest.sources}
        for row in read_origins(tree):
            if row["kind"] in ("attempt", "folder"):
                prefix = "" if row["candidate"] == "." else f"{row['candidate']}/"
                path = str(row["path"]).removeprefix(prefix)
                self._add(str(row["origin"]), row, path, str(row["object"]))
        for row in read_members(tree):
            if row["candidate"] is not None:
                prefix = "" if row["candidate"] == "." else f"{row['candidate']}/"
                for origin in by_object.get(str(row["archive"]), ()):
                    self._add(origin, row, str(row["path"]).removeprefix(prefix), str(row["sha256"]))

    def _add(self, origin: str, row: JsonObject, path: str, sha256: str) -> None:
        key = (origin, str(row["candidate"]), str(row["kind"]))
        file = {"path": path, "sha256": sha256, "size": row["size"], "ordinal": row.get("ordinal")}
        self._files.setdefault(key, []).append(file)

    def files(self, origin: str, candidate: str, kind: str) -> list[JsonObject]:
        """`{"path", "sha256", "size", "ordinal"}` of each file, sorted by path."""
        found = self._files.get((origin, candidate, kind), [])
        return sorted(found, key=lambda file: str(file["path"]).encode("utf-8"))

    def archive(self, origin: str) -> JsonObject | None:
        """The source row of an origin that is an archive, else None."""
        row = self._sources.get(origin)
        return row if row is not None and row["kind"] == "archive" else None

    def objects(self, origin: str, candidate: str, kind: str) -> set[str]:
        """The raw objects that a candidate needs."""
        archive = self.archive(origin)
        if archive is not None:
            return {str(archive["object"])}
        return {str(file["sha256"]) for file in self.files(origin, candidate, kind)}
