"""What an ACP client or a framework recorded of an Input beside its steps and tools: the events of the Input."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ..canonical import JsonObject, JsonValue
from ..evidence import Index
from ..model.evidence import AbbRecord, Notice, SourceKind
from ..model.heads import Part
from .acp import CONTEXT
from .archive import Archive
from .documents import InputRecord
from .evidence import record

_MIRROR: Final = "acp."
_REPEATS: Final = {"prompt_started": "input", "execution_start": "input", "execution_end": "output"}
"""The member of an event that says again what the Input's own files say."""


def told_events(archive: Archive, index: Index, item: InputRecord) -> list[JsonObject]:
    """`{"event", "timestamp", "data"?, "pieces"?, "records"}` in the order of the files, `data` as recorded. Pieces of
    one message that follow each other stand as one event, with their number, and the first and the last record."""
    out: list[JsonObject] = []
    message: _Message | None = None
    line = 0
    for part, told in _events(archive, index, item.ordinal):
        data = _members(told, item)
        if not data and told.event in _REPEATS:
            continue
        event: JsonObject = {"event": told.event, "timestamp": told.timestamp}
        if data:
            event["data"] = data
        text = _text_of(data)
        follows, line = part.ref.line == line + 1, part.ref.line or 0
        frame = None if text is None else _frame(event)
        if message is not None:
            if text is not None and follows and message.frame == frame:
                message.texts.append(text)
                message.last = part
                continue
            message.close(archive)
            message = None
        event["records"] = [record(archive, part)]
        if text is not None and frame is not None:
            message = _Message(event, frame, [text])
        out.append(event)
    if message is not None:
        message.close(archive)
    return out


@dataclass(slots=True)
class _Message:
    """An event whose text further pieces may continue. They are joined once, at its end."""

    event: JsonObject
    frame: JsonObject
    texts: list[str]
    last: Part | None = None

    def close(self, archive: Archive) -> None:
        if self.last is None:
            return
        update = self.event["data"]["update"]
        content = {**update["content"], "text": "".join(self.texts)}
        self.event["data"] = {**self.event["data"], "update": {**update, "content": content}}
        self.event["pieces"] = len(self.texts)
        self.event["records"].append(record(archive, self.last))


def _events(archive: Archive, index: Index, ordinal: str | None) -> Iterator[tuple[Part, AbbRecord]]:
    """The events of an Input; those that the framework recorder mirrors of a stream which is there itself, once."""
    parts = list(index.told.get(ordinal, ()))
    paths = {source.path for source in archive.attempt.of(SourceKind.ACP) if source.ordinal == ordinal}
    for (path, terminal), found in index.terminals.items():
        if path in paths and (path, terminal) not in index.named_terminals:
            parts += found
    for key, found in index.permissions.items():
        if key[0] in paths and key not in index.acp:
            parts += found
    for part in sorted(parts, key=lambda part: (part.ref.source, part.ref.offset)):
        told = archive.fetch_abb(part.ref)
        name = told.data.get("name")
        if paths and told.event == "native_event" and isinstance(name, str) and name.startswith(_MIRROR):
            continue
        yield part, told


def _members(told: AbbRecord, item: InputRecord) -> JsonObject:
    known: JsonValue = None
    if told.event in ("prompt_started", "execution_start"):
        known = item.prompt
    elif told.event == "execution_end" and item.result is not None:
        known = item.result.get("output")
    said = _REPEATS.get(told.event)
    return {
        key: value
        for key, value in told.data.items()
        if key not in CONTEXT and not (key == said and known is not None and value == known)
    }


def _text_of(data: JsonObject) -> str | None:
    """The text of a piece of a message."""
    update = data.get("update")
    if not isinstance(update, dict) or not str(update.get("sessionUpdate")).endswith("_chunk"):
        return None
    content = update.get("content")
    text = content.get("text") if isinstance(content, dict) and content.get("type") == "text" else None
    return text if isinstance(text, str) else None


def _frame(event: JsonObject) -> JsonObject:
    """What the pieces of one message have in common."""
    update = event["data"]["update"]
    return {
        **event["data"],
        "event": event["event"],
        "update": {**update, "content": {**update["content"], "text": ""}},
    }


def homeless(index: Index, known: set[str | None]) -> list[Notice]:
    """Where events belong to no Input that is there."""
    notices = []
    for ordinal, parts in index.told.items():
        if ordinal not in known:
            ref = parts[0].ref
            message = f"{len(parts)} events of {ref.source} belong to no Input that is there"
            notices.append(Notice("unknown_input", message, ref.source, ref.line, lossy=False))
    return notices
