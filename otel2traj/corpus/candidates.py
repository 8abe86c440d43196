"""A listing into candidates: attempts, folders of loose trace files, and each file that is neither, with its reason."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from ..canonical import JsonObject, sha256_canonical
from .listing import Entry

_LAYOUT_DIRS: Final = frozenset({"steps", "evaluation"})
_LAYOUT_FILES: Final = frozenset({"network.jsonl", "run.json"})
_TRACE: Final = re.compile(r".*\.(jsonl|json|ndjson|binpb|pb|proto|log)(\.(zst|gz))*")
_OWN_OUTPUT: Final = re.compile(r"(.*\.)?trajectory[^/]*\.json(\.tmp)?")


@dataclass(slots=True)
class Candidate:
    """One thing an import saw. `files` are what it is derived from, by paths relative to `path`."""

    path: str
    kind: str
    """`attempt`, `folder` (loose trace files of one directory), `file`, `archive` or `link`."""
    files: list[Entry] = field(default_factory=list)
    reason: str | None = None
    detail: str | None = None

    @property
    def key(self) -> bytes:
        return self.path.encode("utf-8") + b"\x00" + self.kind.encode()

    def inputs(self) -> str:
        """The digest of everything it is derived from: paths and digests, in order."""
        return "sha256:" + sha256_canonical([[entry.path, entry.sha256] for entry in self.files])

    def row(self, origin: str, status: str, reason: str | None, executions: list[str]) -> JsonObject:
        return {
            "origin": origin,
            "candidate": self.path,
            "kind": self.kind,
            "status": status,
            "reason": reason,
            "detail": self.detail,
            "files": len(self.files),
            "bytes": sum(entry.size for entry in self.files),
            "inputs": self.inputs() if self.files else None,
            "executions": executions,
        }


def refused_below(register: Iterable[JsonObject], origin: str, path: str, kind: str) -> list[str]:
    """What the register says was refused of a candidate: `PATH (REASON)`, paths relative to it. A folder of loose files
    has none but its own."""
    prefix = "" if path == "." else f"{path}/"
    found = []
    for row in register:
        name = str(row["candidate"])
        if row["origin"] != origin or row["status"] != "refused" or not name.startswith(prefix):
            continue
        inner = name.removeprefix(prefix)
        if kind == "attempt" or "/" not in inner:
            found.append(f"{inner} ({row['reason']})")
    return sorted(found)


def find_candidates(entries: list[Entry]) -> list[Candidate]:
    """Every candidate of a listing, in order; each entry belongs to exactly one.

    A directory with `steps/`, `evaluation/`, `invocation-*/`, `network.jsonl` or `run.json` is an attempt, and what
    lies in it is part of it. Trace files elsewhere belong together where they lie in one directory.
    """
    roots = _attempts(entries)
    found: dict[tuple[str, str], Candidate] = {}
    for entry in entries:
        root = _holder(entry.path, roots)
        name = entry.path.rpartition("/")[2]
        if entry.reason is not None:
            kind = "link" if entry.reason == "symbolic_link" else "file"
            candidate = Candidate(entry.path, kind, reason=entry.reason)
        elif _OWN_OUTPUT.fullmatch(name if root is None else _relative(entry.path, root)):
            candidate = Candidate(entry.path, "file", [entry], "derived_output")
        elif root is not None:
            candidate = found.setdefault((root, "attempt"), Candidate(root or ".", "attempt"))
            entry.path = _relative(entry.path, root)
            candidate.files.append(entry)
            continue
        elif _TRACE.fullmatch(name):
            folder = entry.path.rpartition("/")[0]
            candidate = found.setdefault((folder, "folder"), Candidate(folder or ".", "folder"))
            entry.path = name
            candidate.files.append(entry)
            continue
        else:
            candidate = Candidate(entry.path, "file", [entry], "not_a_trace")
        found[(candidate.path, candidate.kind)] = candidate
    return sorted(found.values(), key=lambda candidate: candidate.key)


def _attempts(entries: list[Entry]) -> set[str]:
    """The directories that are attempts; one inside another belongs to the outer one."""
    marked: set[str] = set()
    for entry in entries:
        parts = entry.path.split("/")
        if entry.reason is None and parts[-1] in _LAYOUT_FILES:
            marked.add("/".join(parts[:-1]))
        for at, part in enumerate(parts[:-1] if entry.reason is None else parts):
            if part in _LAYOUT_DIRS or part.startswith("invocation-"):
                marked.add("/".join(parts[:at]))
                break
    return {path for path in marked if _holder(path, marked - {path}) is None}


def _holder(path: str, roots: set[str]) -> str | None:
    """The outermost of `roots` that `path` lies in, or None."""
    if "" in roots:
        return ""
    parts = path.split("/")
    for at in range(1, len(parts) + 1):
        if "/".join(parts[:at]) in roots:
            return "/".join(parts[:at])
    return None


def _relative(path: str, root: str) -> str:
    return path[len(root) + 1 :] if root else path
