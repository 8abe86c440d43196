"""What an ACP client recorded of one tool call: its updates, who was asked for permission, and its terminals."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from ..canonical import JsonObject, JsonValue
from ..evidence import Index
from ..model.evidence import AbbRecord, Notice
from ..model.heads import Part, SpanHead
from ..model.reading import Reading, Role
from .archive import Archive

CONTEXT: Final = frozenset({"case_id", "input_id", "agent_id"})
"""Members that the recorder's store stamps on every record of an Input."""
_TOLD: Final = frozenset(
    ("sessionUpdate", "toolCallId", "title", "kind", "locations", "rawInput", "rawOutput", "content", "status")
)
"""Members of an update that the log tells by names of its own."""
_UNDER_WAY: Final = ({"status": "pending"}, {"status": "in_progress"})


def read_acp(archive: Archive, index: Index, head: SpanHead) -> Reading:
    """Updates overwrite the members they carry; null members say nothing. What they overwrote is kept."""
    state, replaced = accumulate(
        update
        for part in head.parts
        if part.what == "acp" and isinstance(update := archive.fetch_abb(part.ref).data.get("update"), dict)
    )
    reading = Reading(role=Role.TOOL_EXECUTION, tool_call_id=head.tool_call_id)
    title, kind = state.get("title"), state.get("kind")
    reading.tool_name = title if isinstance(title, str) else kind if isinstance(kind, str) else None
    extra = reading.extra
    if kind is not None:
        extra["acp_kind"] = kind
    if state.get("locations") is not None:
        extra["acp_locations"] = state["locations"]
    reading.arguments = state.get("rawInput")
    if state.get("status") in ("completed", "failed"):
        reading.is_error = state["status"] == "failed"
    replaced = [item for item in replaced if item not in _UNDER_WAY and "sessionUpdate" not in item]
    if replaced:
        extra["acp_replaced"] = replaced
    requests = [archive.fetch_abb(part.ref) for part in _permissions(index, head)]
    asked = [{"timestamp": told.timestamp, **_plain(told.data)} for told in requests]
    if asked:
        extra["acp_permissions"] = asked
    terminals = [_terminal(archive, name, parts) for name, parts in _terminals(archive, index, head)]
    if terminals:
        extra["acp_terminals"] = terminals
    _result(reading, state, terminals)
    extra.update({f"acp_{key}": value for key, value in state.items() if key not in _TOLD})
    return reading


def _result(reading: Reading, state: JsonObject, terminals: list[JsonObject]) -> None:
    """The raw output, else the content; the text of a terminal where the content only names it."""
    content = state.get("content")
    reading.result = state.get("rawOutput", content)
    texts = [terminal["output"] for terminal in terminals if isinstance(terminal.get("output"), str)]
    named = [item for item in content if isinstance(item, dict)] if isinstance(content, list) else []
    only_named = bool(named) and all(item.get("type") == "terminal" for item in named)
    if "rawOutput" not in state and only_named and any(texts):
        reading.result = texts[0] if len(texts) == 1 else texts
        reading.said_by["result"] = "acp:terminal"
    if reading.result is not content and content is not None:
        reading.extra["acp_content"] = content


def accumulate(told: Iterable[JsonObject]) -> tuple[JsonObject, list[JsonObject]]:
    """The last value of every member, and the earlier values that the later one does not continue, in order."""
    state: JsonObject = {}
    replaced: list[JsonObject] = []
    for members in told:
        for key, value in members.items():
            if value is None:
                continue
            if key in state and not _continues(value, state[key]):
                replaced.append({key: state[key]})
            state[key] = value
    return state, replaced


def _continues(later: JsonValue, earlier: JsonValue) -> bool:
    """Whether a value holds all of an earlier one: a text that goes on, a list or object with more in it."""
    if type(later) is not type(earlier):
        return False
    if isinstance(later, str):
        return later.startswith(str(earlier))
    if isinstance(later, list) and isinstance(earlier, list):
        pairs = zip(later, earlier, strict=False)
        return len(later) >= len(earlier) and all(_continues(one, other) for one, other in pairs)
    if isinstance(later, dict) and isinstance(earlier, dict):
        return all(key in later and _continues(later[key], value) for key, value in earlier.items())
    return bool(later == earlier)


def records_beside(archive: Archive, index: Index, head: SpanHead) -> list[Part]:
    """The records of permissions and terminals that belong to a tool call."""
    terminals = [part for _, parts in _terminals(archive, index, head) for part in parts]
    return [*_permissions(index, head), *terminals]


def terminals_in(update: JsonObject) -> list[str]:
    """The ids of the terminals that an update's content names."""
    content = update.get("content")
    items = content if isinstance(content, list) else []
    named = [item.get("terminalId") for item in items if isinstance(item, dict) and item.get("type") == "terminal"]
    return [name for name in named if isinstance(name, str)]


def _path(head: SpanHead) -> str | None:
    return next((part.ref.source for part in head.parts if part.what == "acp"), None)


def _permissions(index: Index, head: SpanHead) -> list[Part]:
    return index.permissions.get((_path(head) or "", head.session or "", head.tool_call_id or ""), [])


def _terminals(archive: Archive, index: Index, head: SpanHead) -> list[tuple[str, list[Part]]]:
    """The terminals that a tool call's own content names, the last one first, with what was recorded of each."""
    names: list[str] = []
    for part in head.parts:
        if part.what == "acp":
            update = archive.fetch_abb(part.ref).data.get("update")
            names += terminals_in(update) if isinstance(update, dict) else []
    return [(name, index.terminals.get((_path(head) or "", name), [])) for name in dict.fromkeys(reversed(names))]


def _terminal(archive: Archive, name: str, parts: list[Part]) -> JsonObject:
    told = [archive.fetch_abb(part.ref) for part in parts]
    state, replaced = accumulate(_plain(one.data) for one in told)
    out: JsonObject = {"terminal_id": name, **state}
    times = {one.event.removeprefix("terminal_"): one.timestamp for one in told}
    out.update({f"{what}_at": times[what] for what in ("started", "exited") if what in times})
    if replaced:
        out["replaced"] = replaced
    return out


def _plain(data: JsonObject) -> JsonObject:
    return {key: value for key, value in data.items() if key not in CONTEXT}


def exit_status(archive: Archive, index: Index, head: SpanHead) -> JsonObject | None:
    """What the ACP client saw of the end of the terminal that the tool call's own content names."""
    path = _path(head)
    if path is None:
        return None
    terminals = _terminals(archive, index, head)
    if len(terminals) > 1:
        names = ", ".join(name for name, _ in reversed(terminals))
        message = f"tool call {head.tool_call_id} names the terminals {names}"
        archive.notices.append(Notice("several_terminals", message, path, head.parts[-1].ref.line))
    for _, parts in terminals:
        for part in parts:
            found = _exit(archive, archive.fetch_abb(part.ref))
            if found is not None:
                return found
    return None


def _exit(archive: Archive, record: AbbRecord) -> JsonObject | None:
    data: dict[str, Any] = record.data
    if record.event == "terminal_exited":
        code, signal = data.get("exit_code"), data.get("signal")
    else:
        status = data.get("exitStatus")
        if not isinstance(status, dict):
            return None
        code, signal = status.get("exitCode"), status.get("signal")
    if code is None and signal is None:
        return None
    plain: JsonObject = {
        "exitCode": code if isinstance(code, int) and not isinstance(code, bool) else None,
        "signal": signal if isinstance(signal, str) else None,
    }
    if plain != {"exitCode": code, "signal": signal} or isinstance(code, bool):
        plain["recorded"] = {"exitCode": code, "signal": signal}
        archive.notices.append(
            Notice("unreadable_value", "an exit code or signal of another type", record.ref.source, record.ref.line)
        )
    return plain
