"""The state rule `otel2traj.state.v1`: what an event of an exported ledger says about the world after it.

`state` is `{"conversation": DIGEST, "files": {PATH: CONTENT}}`. It is a function of the events alone, so an auditor
recomputes it from the ledger, and of nothing that differs between two runs that did the same: no time, no identifier,
no duration, no cost.

`conversation` starts at `ledger.NO_CONVERSATION`. An event with an entry (see `entry`) makes it the digest of
`[conversation before, digest of the entry]`. `files` holds, for every path that a recorded change named so far, the
digest of its content after that change, else `deleted`, or `unknown` where no digest of the content was recorded.
"""

from __future__ import annotations

from typing import Any, Final

from ..canonical import JsonObject, JsonValue, canonical_bytes
from .ledger import DIGEST, NO_CONVERSATION, digest, extend

DELETED: Final = "deleted"
UNKNOWN: Final = "unknown"
CALL_ID: Final = "<tool_call_id>"
"""What stands for the identifier of the very call in the digest of its output, wherever the tool repeats it."""


def first_state() -> JsonObject:
    return {"conversation": NO_CONVERSATION, "files": {}}


def next_state(before: JsonObject, event: JsonObject) -> JsonObject:
    """The state after an event. Never changes `before`; shares its `files` where no file changed."""
    said = entry(event)
    changes = event.get("file_changes")
    if said is None and not changes:
        return before
    conversation = before["conversation"]
    if said is not None:
        conversation = extend(conversation, digest(canonical_bytes(said)))
    files = before["files"]
    if isinstance(changes, list) and changes:
        files = dict(files)
        for change in changes:
            if isinstance(change, dict):
                _apply(files, change)
    return {"conversation": conversation, "files": files}


def entry(event: JsonObject) -> JsonValue:
    """What an event adds to the conversation, or None.

    The prompt of an Input; what a model thought, said and how it ended; an execution with its arguments, status, exit
    code and the digest of its output; a call whose execution was not observed, with its arguments.
    """
    kind = event.get("type")
    if kind == "think":
        names = ("thought", "text", "refusal", "finish_reason")
        return ["model", *(event.get(name) for name in names), "error" in event]
    if kind == "tool":
        result = event.get("result")
        told = result if isinstance(result, dict) else {}
        output = _output_digest(told.get("output"), event.get("tool_call_id"))
        return ["tool", event.get("tool"), event.get("args"), told.get("status"), told.get("exit_code"), output]
    call = event.get("call")
    if isinstance(call, dict):
        return ["unobserved", call.get("tool"), call.get("args")]
    given = event.get("input")
    if isinstance(given, dict) and "prompt" in given:
        return ["input", given["prompt"]]
    return None


def _output_digest(output: JsonValue, call_id: Any) -> str:
    """Over the canonical form, in which the quoted identifier is replaced wherever it is a whole string: a quote
    inside a string is escaped, so the replacement can hit nothing else."""
    text = canonical_bytes(output)
    if isinstance(call_id, str) and call_id:
        text = text.replace(canonical_bytes(call_id), canonical_bytes(CALL_ID))
    return digest(text)


def _apply(files: dict[str, str], change: JsonObject) -> None:
    path, content, old = change.get("path"), change.get("content"), change.get("old_path")
    if isinstance(old, str):
        files[old] = DELETED
    if isinstance(path, str):
        files[path] = content if isinstance(content, str) else UNKNOWN


def file_change(recorded: JsonObject) -> JsonObject | None:
    """A committed diff or a replay delta as the ledger writes it: `{"path", "content", "old_path"?}`, or None."""
    path = recorded.get("path")
    if not isinstance(path, str):
        return None
    out: JsonObject = {"path": path, "content": _content(recorded)}
    if isinstance(recorded.get("old_path"), str):
        out["old_path"] = recorded["old_path"]
    return out


def _content(recorded: JsonObject) -> str:
    if recorded.get("change_type") == "deleted" or ("after" in recorded and recorded["after"] is None):
        return DELETED
    after = recorded.get("after")
    for value in (
        recorded.get("after_hash"),
        recorded.get("sha256"),
        *((after.get("blob"), after.get("sha256")) if isinstance(after, dict) else ()),
    ):
        if isinstance(value, str):
            known = value if value.startswith("sha256:") else f"sha256:{value}"
            if DIGEST.fullmatch(known):
                return known
    return UNKNOWN
