"""Rows of manifest and indexes against their form: a corpus from elsewhere names no path but its own."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from ..canonical import JsonObject
from ..errors import EvidenceError
from .names import safe
from .tree import SEM_PROFILES, Tree, is_digest

_EXECUTION: Final = re.compile(r"ex_[a-z2-7]{26}")
_KINDS: Final = ("aer", "view", "prov", "validation", *(f"sem/{name}" for name in SEM_PROFILES))
_ARCHIVES: Final = ("zip", "tar", "tar+gzip", "tar+zstd")
_LIMITS: Final = ("members", "member_bytes", "total_bytes")

Check = Callable[[Any], bool]


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _table(value: Any) -> bool:
    return isinstance(value, dict)


def _maybe_text(value: Any) -> bool:
    return value is None or isinstance(value, str)


def _count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _maybe_count(value: Any) -> bool:
    return value is None or _count(value)


def _sha256(value: Any) -> bool:
    return isinstance(value, str) and is_digest(value)


def _maybe_sha256(value: Any) -> bool:
    return value is None or _sha256(value)


def _path(value: Any) -> bool:
    return isinstance(value, str) and safe(value) == value


def _place(value: Any) -> bool:
    return value == "." or _path(value)


def _id(value: Any) -> bool:
    return isinstance(value, str) and _EXECUTION.fullmatch(value) is not None


def _each(check: Check) -> Check:
    return lambda value: isinstance(value, list) and all(check(one) for one in value)


_EXECUTIONS: Final[dict[str, Check]] = {
    "execution": _id,
    "origin": _text,
    "attempt": _place,
    "conversation": _maybe_text,
    "status": _text,
    "model_calls": _count,
    "tool_calls": _count,
    "issues": _count,
    "objects": _each(_sha256),
}
_REGISTER: Final[dict[str, Check]] = {
    "origin": _text,
    "candidate": _text,
    "kind": _text,
    "status": _text,
    "reason": _maybe_text,
    "detail": _maybe_text,
    "files": _count,
    "bytes": _count,
    "inputs": _maybe_text,
    "executions": _each(_id),
}
_ORIGINS: Final[dict[str, Check]] = {
    "origin": _text,
    "path": _path,
    "object": _sha256,
    "size": _count,
    "candidate": _place,
    "kind": _text,
}
_MEMBERS: Final[dict[str, Check]] = {
    "archive": _sha256,
    "ordinal": _count,
    "path": _text,
    "size": _maybe_count,
    "sha256": _maybe_sha256,
    "status": _text,
    "reason": _maybe_text,
    "candidate": _maybe_text,
    "kind": _maybe_text,
}
_SOURCES: Final[dict[str, Check]] = {
    "origin": _text,
    "kind": lambda value: value in ("directory", "file", "archive"),
    "state": _text,
    "code": _text,
    "raw_policy": _text,
}
_PINNED: Final[dict[str, Check]] = {"pin": _text, "files": _count, "bytes": _count}
_MANIFEST: Final[dict[str, Check]] = {
    **dict.fromkeys(("schema", "state", "software"), _text),
    **dict.fromkeys(("versions", "ontology", "rule_catalogues", "counts"), _table),
    "version": _maybe_text,
    "profile": lambda value: value is None or _table(value),
    "licences": _each(_text),
    "history": _each(_table),
}
_CATALOGUE: Final[dict[str, Check]] = {"version": _count, "sha256": _sha256}
_BEFORE: Final[dict[str, Check]] = {"version": _text, "executions": _count, "root": _text}
_COUNTS: Final[dict[str, Check]] = {
    **dict.fromkeys(("executions", "with_issues", "model_calls", "tool_calls", "candidates"), _count),
    **dict.fromkeys(("by_status", "candidates_by_status", "candidates_by_reason"), _table),
}
_WITHHELD: Final[dict[str, Check]] = {
    "sha256": _sha256,
    "by": _text,
    "reason": _text,
    "executions": lambda v: v in (True, False),
}
_GONE: Final[dict[str, Check]] = {"execution": _id, "reason": _text, "cites": _each(_sha256)}


def _conform(rows: Any, form: dict[str, Check], name: str) -> None:
    if not isinstance(rows, list):
        raise _damaged(name, 0, "is no list")
    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict):
            raise _damaged(name, number, "is no object")
        for key, check in form.items():
            if key not in row or not check(row[key]):
                raise _damaged(name, number, f"{key!r} is missing or of another form")


def _damaged(name: str, number: int, what: str) -> EvidenceError:
    return EvidenceError(f"{name}, row {number}: {what}", hint="it was damaged, or is no corpus", code="corpus.damaged")


def check_executions(tree: Tree, rows: list[JsonObject]) -> None:
    """Every file of an execution stands at its own place. Raises `EvidenceError` (`corpus.damaged`)."""
    _conform(rows, _EXECUTIONS, "executions.jsonl")
    for number, row in enumerate(rows, 1):
        files = row.get("files")
        if not isinstance(files, dict) or not {"aer", "view"} <= set(files):
            raise _damaged("executions.jsonl", number, "'files' is missing or of another form")
        for kind, file in files.items():
            if kind not in _KINDS or not isinstance(file, dict) or not _sha256(file.get("sha256")):
                raise _damaged("executions.jsonl", number, f"{kind!r} is no file of an execution")
            if file.get("path") != tree.artefact(kind, str(row["execution"])):
                raise _damaged("executions.jsonl", number, f"{kind!r} stands elsewhere")


def check_register(rows: list[JsonObject]) -> None:
    _conform(rows, _REGISTER, "register.jsonl")


def check_origins(rows: list[JsonObject]) -> list[JsonObject]:
    _conform(rows, _ORIGINS, "raw/origins.jsonl")
    seen: set[tuple[str, str]] = set()
    for number, row in enumerate(rows, 1):
        key = (str(row["origin"]), str(row["path"]))
        if key in seen:
            raise _damaged("raw/origins.jsonl", number, "the file has a row already")
        seen.add(key)
    return rows


def check_members(rows: list[JsonObject]) -> list[JsonObject]:
    _conform(rows, _MEMBERS, "raw/members.jsonl")
    for number, row in enumerate(rows, 1):
        if row["candidate"] is not None and (row["sha256"] is None or not _path(row["path"])):
            raise _damaged("raw/members.jsonl", number, "a member of a candidate has a path and a digest")
    return rows


def check_manifest(data: JsonObject) -> None:
    """The members of `corpus.json`. Raises `EvidenceError` (`corpus.damaged`)."""
    for name, check in _MANIFEST.items():
        if name not in data or not check(data[name]):
            raise _damaged("corpus.json", 0, f"{name!r} is missing or of another form")
    _conform(list(data["rule_catalogues"].values()), _CATALOGUE, "corpus.json, rule_catalogues")
    _conform(data["history"], _BEFORE, "corpus.json, history")
    if data["state"] == "sealed":
        _conform([data["counts"]], _COUNTS, "corpus.json, counts")


def check_sources(rows: list[JsonObject]) -> None:
    _conform(rows, _SOURCES, "corpus.json")
    for number, row in enumerate(rows, 1):
        pinned = all(check(row.get(name)) for name, check in _PINNED.items())
        if row["state"] == "complete" and not pinned:
            raise _damaged("corpus.json", number, "a source that is complete has a pin, files and bytes")
        if row["kind"] != "archive":
            continue
        limits = row.get("limits")
        if row.get("format") not in _ARCHIVES or not _sha256(row.get("object")) or not isinstance(limits, dict):
            raise _damaged("corpus.json", number, "an archive has an object, a format and limits")
        if not all(_count(limits.get(name)) for name in _LIMITS):
            raise _damaged("corpus.json", number, "the limits of an archive are counts")


def check_withheld(said: JsonObject) -> JsonObject:
    _conform(said.get("objects"), _WITHHELD, "WITHHELD.json")
    _conform(said.get("executions"), _GONE, "WITHHELD.json")
    return said
