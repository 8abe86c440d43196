"""Committed diffs, else replay deltas, to the file changes of each SDK Input."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Final

from ..canonical import JsonError, JsonObject, JsonValue, loads
from ..model.evidence import Notice
from .archive import Archive
from .unsaid import beside

_REPLAY = "replay/events.jsonl"
_DIFF_LIMIT = 256 << 10
"""Bytes of a file beyond which no diff text is made from replay blobs; hashes and sizes stand all the same."""


_OF_EVENT: Final = ("sequence", "time_ms", "reason", "input_id", "changes", "partial")
_OF_ENTRY: Final = ("size", "mode", "blob")


@dataclass(slots=True)
class _Change:
    """One path within an Input: its entry before the first change and after the last."""

    before: JsonValue
    after: JsonValue
    told: list[JsonValue] = field(default_factory=list)
    """What the events of its changes hold beside."""


def committed_changes(archive: Archive, folder: str) -> list[JsonObject] | None:
    """`changes` of `file-evidence.json` as recorded, or None where no such file is readable."""
    path = f"{folder}/file-evidence.json"
    document = archive.document(path)
    if not isinstance(document, dict) or not isinstance(document.get("changes"), list):
        if document is not None or archive.is_read(path):
            archive.notices.append(Notice("unreadable_value", "file evidence without a list of changes", path))
        return None
    odd = sum(not isinstance(change, dict) for change in document["changes"])
    if odd:
        archive.notices.append(Notice("unreadable_value", f"{odd} file changes that are no objects", path))
    if document.get("complete") is False:
        archive.notices.append(
            Notice("file_evidence_incomplete", "not all file changes were recorded", f"{folder}/file-evidence.json")
        )
    return [change for change in document["changes"] if isinstance(change, dict)]


def replay_changes(archive: Archive, known: Collection[str]) -> dict[str, list[JsonObject]] | None:
    """Changes by input id from the replay archive, or None where there is none; those of no known Input are told.

    A change belongs to the Input whose boundary events stand around it in the recorded sequence, or that it names
    itself; observation times decide nothing.
    """
    raw = archive.raw_document(_REPLAY)
    if raw is None:
        return None
    manifest = archive.document("replay/manifest.json")
    if isinstance(manifest, dict) and manifest.get("status") != "complete":
        message = f"the replay archive is not complete: {manifest.get('status')}"
        archive.notices.append(Notice("replay_incomplete", message, "replay/manifest.json"))
    warned = manifest.get("warnings") if isinstance(manifest, dict) else None
    for warning in warned if isinstance(warned, list) else []:
        message = f"the recorder of the replay warns: {warning}"
        archive.notices.append(Notice("replay_incomplete", message, "replay/manifest.json"))
    found: dict[str, dict[str, _Change]] = {}
    current: str | None = None
    odd, lost = 0, list[str]()
    for event in _events(archive, raw):
        if event.get("partial") is True:
            message = f"event {event.get('sequence')} of the replay does not hold all changes"
            archive.notices.append(Notice("replay_incomplete", message, _REPLAY))
        named = event.get("input_id") if isinstance(event.get("input_id"), str) else None
        owner = named or current
        changes = event.get("changes")
        odd += changes is not None and not isinstance(changes, list)
        for change in changes if isinstance(changes, list) else []:
            if not isinstance(change, dict) or not isinstance(change.get("path"), str):
                odd += 1
                continue
            if owner is None:
                lost.append(change["path"])
                continue
            paths = found.setdefault(owner, {})
            odd += any(not isinstance(change.get(side), dict | None) for side in ("before", "after"))
            held = paths.setdefault(change["path"], _Change(change.get("before"), None))
            held.after = change.get("after")
            told = {**beside(event, *_OF_EVENT), **beside(change, "path", "before", "after")}
            if told:
                held.told.append(told)
        if named is not None:
            current = None if named == current else named
            found.setdefault(named, {})
    lost += [path for input_id in found.keys() - known for path in found[input_id]]
    if lost:
        message = f"changes of {', '.join(sorted(set(lost))[:5])} belong to no Input that is there"
        archive.notices.append(Notice("unknown_input", message, _REPLAY))
    if odd:
        archive.notices.append(Notice("unreadable_value", f"{odd} file changes of an unknown shape", _REPLAY))
    return {input_id: _changes(archive, paths) for input_id, paths in found.items()}


def _events(archive: Archive, raw: bytes) -> Iterator[JsonObject]:
    events: list[JsonObject] = []
    for number, line in enumerate(raw.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            value = loads(line)
        except JsonError as err:
            archive.notices.append(Notice("unreadable_line", f"skipped: {err}", _REPLAY, number))
            continue
        if isinstance(value, dict):
            events.append(value)
        else:
            archive.notices.append(Notice("unreadable_line", "skipped a line that is no event", _REPLAY, number))
    events.sort(key=lambda event: event["sequence"] if isinstance(event.get("sequence"), int) else 1 << 62)
    yield from events


def _changes(archive: Archive, paths: dict[str, _Change]) -> list[JsonObject]:
    out: list[JsonObject] = []
    for path in sorted(paths):
        before, after = (
            entry if isinstance(entry, dict) else None for entry in (paths[path].before, paths[path].after)
        )
        if before == after:
            continue
        file_type = (after or before or {}).get("type")
        recorded: JsonObject = {
            "before": _beside_entry(before, file_type),
            "after": _beside_entry(after, file_type),
            "events": paths[path].told,
        }
        kind = "created" if before is None else "deleted" if after is None else "modified"
        out.append(
            {
                "path": path,
                "change_type": kind,
                "file_type": file_type,
                "before_hash": _hash(before),
                "after_hash": _hash(after),
                "before_size": None if before is None else before.get("size"),
                "after_size": None if after is None else after.get("size"),
                "before_mode": None if before is None else before.get("mode"),
                "after_mode": None if after is None else after.get("mode"),
                "old_path": None,
                "diff": _diff(archive, path, before, after),
                "source": "replay",
                **({"recorded": told} if (told := beside(recorded)) else {}),
            }
        )
    return out


def _beside_entry(entry: JsonObject | None, kind: JsonValue) -> JsonObject:
    """What an entry says beside size, mode and digest, and beside the file type that the change has."""
    said = (("redacted", False), ("type", kind))
    return {key: told for key, told in beside(entry or {}, *_OF_ENTRY).items() if (key, told) not in said}


def _hash(entry: JsonObject | None) -> str | None:
    blob = None if entry is None else entry.get("blob")
    return f"sha256:{blob}" if isinstance(blob, str) else None


def _diff(archive: Archive, path: str, before: JsonObject | None, after: JsonObject | None) -> str | None:
    texts: list[list[str]] = []
    for entry in (before, after):
        if entry is None:
            texts.append([])
            continue
        blob, size = entry.get("blob"), entry.get("size")
        if not isinstance(blob, str) or not isinstance(size, int) or size > _DIFF_LIMIT:
            return None
        data = archive.raw_document(f"replay/blobs/{blob}")
        try:
            texts.append([] if data is None else data.decode("utf-8").splitlines(keepends=True))
        except UnicodeDecodeError:
            return None
        if data is None:
            return None
    old = "/dev/null" if before is None else f"a/{path}"
    new = "/dev/null" if after is None else f"b/{path}"
    lines = []
    for line in difflib.unified_diff(texts[0], texts[1], old, new):
        lines.append(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n")
    return "".join(lines)
