"""What `codex exec --json` prints into session records: the commands that ran, the answer, and what a turn used in all.

Its items have ids of their own and none of a call, and a turn's model calls are not told apart.
https://github.com/openai/codex/blob/0136a731d73e681bbc7826c9cf7ae2ae09d89fe9/codex-rs/exec/src/exec_events.rs
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ..canonical import JsonObject
from ..model.evidence import EvidenceRef
from ..model.reading import Role
from ..model.session import SessionRecord, Told
from .documents import as_dict
from .otlp_dict import text
from .outline import Head, Path
from .sessions import Placed, SessionForm, State

_RAN: Final = ("command_execution", "mcp_tool_call", "file_change", "web_search")
_ENDED: Final = {"completed": False, "failed": True, "declined": True}


class _State(State):
    def __init__(self) -> None:
        self._thread: str | None = None
        self._turn = 0
        self._turns = 0

    def place(self, path: Path, data: JsonObject, ref: EvidenceRef) -> Placed | None:
        kind, item = data.get("type"), as_dict(data.get("item"))
        if kind == "thread.started":
            self._thread = text(data.get("thread_id")) or None
        elif kind == "turn.started":
            self._turn += 1
        elif kind in ("turn.completed", "turn.failed"):
            self._turns += 1
            return self._placed("turn", f"turn:{self._turn}")
        elif kind in ("item.completed", "item.started", "item.updated") and item.get("type") in _RAN:
            return self._placed("ran", f"item:{self._turn}:{text(item.get('id'))}")
        elif kind == "item.completed" and item.get("type") == "agent_message":
            return self._placed("answer", f"turn:{self._turn}")
        return None

    def _placed(self, what: str, key: str) -> Placed:
        return Placed(what, (key,), conversation_id=self._thread, turn=f"turn:{self._turn}", agent_name="codex")

    def remarks(self) -> Iterator[str]:
        if self._turns:
            yield f"the model calls of {self._turns} turns are not told; only their token counts together are recorded"


class CodexEvents(SessionForm):
    name = "codex-events"
    writer = "Codex CLI"
    obtain = "`codex exec --json PROMPT`"
    tried = "Codex CLI 0.171.0"
    loses = "no times, no model calls of their own, no prompt, no ids and names of tool calls"

    def recognises(self, head: Head) -> bool:
        return b'"thread.started"' in head.data[:4096] and head.has("type", "thread_id")

    def state(self) -> State:
        return _State()

    def read(self, data: JsonObject, placed: Placed, ref: EvidenceRef) -> SessionRecord:
        record = placed.record(ref, self.name, None)
        item = as_dict(data.get("item"))
        if placed.what == "answer":
            record.told = (Told(placed.keys[0], Role.AGENT, {"output_text": item.get("text")}),)
        elif placed.what == "turn":
            failed = as_dict(data.get("error")).get("message")
            facts: JsonObject = {"extra": {"turn_usage": data.get("usage")}, "error": failed}
            if failed is not None:
                facts["is_error"] = True
            record.told = (Told(placed.keys[0], Role.AGENT, facts),)
        else:
            record.told = (Told(placed.keys[0], Role.TOOL_EXECUTION, _ran(item), text(item.get("id"))),)
        return record


def _ran(item: JsonObject) -> JsonObject:
    code = item.get("exit_code")
    shown = {key: value for key, value in item.items() if key not in ("aggregated_output", "result", "exit_code")}
    return {
        "tool_name": item.get("tool"),
        "arguments": item.get("arguments"),
        "result": item.get("aggregated_output") if "aggregated_output" in item else item.get("result"),
        "exit_code": code if isinstance(code, int) and not isinstance(code, bool) else None,
        "is_error": _ENDED.get(text(item.get("status"))),
        "no_outcome": True,
        "extra": {"codex": shown},
    }


CODEX_EVENTS = CodexEvents()
