"""OpenCode's export of a session (`opencode export ID`) and what `opencode run --format json` prints, into session
records: messages with their parts; a part is told alike in both.

https://github.com/sst/opencode/blob/v1.18.33/packages/opencode/src/session/message-v2.ts
"""

from __future__ import annotations

from typing import Any, Final

from ..canonical import JsonObject, JsonValue
from ..model.evidence import EvidenceRef
from ..model.reading import Role
from ..model.session import SessionRecord, Told
from .documents import as_dict
from .otlp_dict import text
from .outline import Head, Path
from .sessions import LINE, Placed, SessionForm, State, count, total
from .span_rows import when

AGENT: Final = "opencode"
_MESSAGE: Final = ("messages",)
_PART: Final = ("messages", "parts")


class _Export(State):
    def __init__(self) -> None:
        self._session: str | None = None
        self._turn: str | None = None
        self._message: JsonObject = {}
        self._pending: list[EvidenceRef] = []
        self._begun: set[str] = set()

    def place(self, path: Path, data: JsonObject, ref: EvidenceRef) -> Placed | None:
        if path == LINE:
            self._session = text(as_dict(data.get("info")).get("id")) or None
            return None
        if path == _MESSAGE:
            self._message = as_dict(data.get("info"))
            if self._message.get("role") != "user":
                return self._placed("answer", self._first())
            self._turn = f"prompt:{text(self._message.get('id'))}"
            self._pending.append(ref)
            return self._placed("prompt", (self._turn,))
        if self._message.get("role") != "assistant" or data.get("type") != "tool":
            return None
        self._pending.append(ref)
        return self._placed("tool", (f"tool:{text(data.get('callID'))}",))

    def _first(self) -> tuple[str, ...]:
        return (f"message:{text(self._message.get('id'))}",)

    def _placed(self, what: str, keys: tuple[str, ...]) -> Placed:
        agent = text(self._message.get("agent") or self._message.get("mode")) or AGENT
        inputs: tuple[EvidenceRef, ...] = ()
        if what == "answer":
            inputs, self._pending = tuple(self._pending), []
        parent = self._message.get("parentID")
        turn = f"prompt:{parent}" if isinstance(parent, str) and parent else self._turn
        session = text(self._message.get("sessionID")) or self._session
        return Placed(what, keys, conversation_id=session, turn=turn, agent_name=agent, inputs=inputs)


class OpenCodeExport(SessionForm):
    name = "opencode-export"
    writer = "OpenCode"
    obtain = "`opencode export ID`"
    tried = "OpenCode 1.18.33"
    loses = (
        "what each call was sent is told as what was added since the call before; system prompt, tool definitions,"
        " parameters, response ids, when a call that asked for tools ended, and the calls beside the conversation"
        " (titles, summaries) are not in the file"
    )
    paths = frozenset((LINE, _MESSAGE, _PART))

    def recognises(self, head: Head) -> bool:
        return head.has("projectID", "directory", under=("info",)) and ("messages", "info") in head.paths

    def state(self) -> State:
        return _Export()

    def read(self, data: JsonObject, placed: Placed, ref: EvidenceRef) -> SessionRecord:
        if placed.what == "tool":
            return tool_record(data, placed, ref, self.name)
        info = as_dict(data.get("info"))
        time = as_dict(info.get("time"))
        record = placed.record(ref, self.name, when(time.get("created")))
        parts = [as_dict(one) for one in data.get("parts") or ()]
        if placed.what == "prompt":
            asked = "\n".join(text(one["text"]) for one in parts if one.get("type") == "text" and one.get("text"))
            record.message = [{"role": "user", "content": asked}]
            record.told = (Told(placed.keys[0], Role.AGENT, {"input_text": asked}),)
            return record
        facts = answer_facts(parts)
        facts["request_model"] = info.get("modelID")
        facts["provider"] = info.get("providerID")
        facts["usage"] = usage_of(as_dict(info.get("tokens"))) or facts.get("usage")
        facts["finish_reason"] = info.get("finish") or facts.get("finish_reason")
        error = as_dict(info.get("error"))
        if error:
            facts["is_error"] = True
            facts["error"] = text(as_dict(error.get("data")).get("message") or error.get("name")) or None
        told = Told(placed.keys[0], Role.MODEL_CALL, facts, text(info.get("id")), placed.inputs)
        if "tool_calls" not in facts:  # a message that has them is completed by their results
            told.end_ns = when(time.get("completed"))
        record.told = (told,)
        return record


class _Events(State):
    def __init__(self) -> None:
        self._pending: dict[str, list[EvidenceRef]] = {}
        self._begun: set[str] = set()

    def place(self, path: Path, data: JsonObject, ref: EvidenceRef) -> Placed | None:
        part = as_dict(data.get("part"))
        session, message = text(data.get("sessionID")), text(part.get("messageID"))
        if not session or not message:
            return None
        shared: dict[str, Any] = {"conversation_id": session, "turn": "run"}
        pending = self._pending.setdefault(session, [])
        inputs: tuple[EvidenceRef, ...] = ()
        if message not in self._begun:
            self._begun.add(message)
            inputs = tuple(pending)
            pending.clear()
        if part.get("type") == "tool":
            pending.append(ref)
            keys = (f"tool:{text(part.get('callID'))}", f"message:{message}")
            return Placed("tool", keys, inputs=inputs, **shared)
        return Placed("part", (f"message:{message}",), inputs=inputs, **shared)


class OpenCodeEvents(SessionForm):
    name = "opencode-events"
    writer = "OpenCode"
    obtain = "`opencode run --format json PROMPT`"
    tried = "OpenCode 1.18.33"
    loses = (
        "no prompt, no model, no agent, no response ids; what each call was sent but tool results, when a call ended,"
        " and the calls beside the conversation are not in the file"
    )

    def recognises(self, head: Head) -> bool:
        return head.has("type", "sessionID", "part") and ("part", "messageID") in head.paths

    def state(self) -> State:
        return _Events()

    def read(self, data: JsonObject, placed: Placed, ref: EvidenceRef) -> SessionRecord:
        part = as_dict(data.get("part"))
        if placed.what == "tool":
            record = tool_record(part, placed, ref, self.name)
        else:
            record = placed.record(ref, self.name, when(data.get("timestamp")))
        key = placed.keys[-1]
        facts = answer_facts([part])
        record.told = (*record.told, Told(key, Role.MODEL_CALL, facts, text(part.get("id")) or None, placed.inputs))
        return record


def answer_facts(parts: list[JsonObject]) -> JsonObject:
    """What the parts of one message say of the model's answer."""
    facts: JsonObject = {}
    calls: list[JsonValue] = []
    for part in parts:
        kind = part.get("type")
        if kind == "text" and part.get("synthetic") is not True:
            facts["text"] = text(facts.get("text")) + text(part.get("text"))
        elif kind == "reasoning":
            facts["reasoning"] = text(facts.get("reasoning")) + text(part.get("text"))
        elif kind == "tool":
            state = as_dict(part.get("state"))
            calls.append({"id": part.get("callID"), "name": part.get("tool"), "arguments": state.get("input")})
        elif kind == "step-finish":
            facts["finish_reason"] = part.get("reason")
            facts["usage"] = usage_of(as_dict(part.get("tokens")))
    if calls:
        facts["tool_calls"] = calls
    return facts


def usage_of(tokens: JsonObject) -> JsonObject | None:
    """Input leaves the cached tokens out, output the reasoning: both are put back."""
    if not tokens:
        return None
    cache = as_dict(tokens.get("cache"))
    read, made, thought = count(cache.get("read")), count(cache.get("write")), count(tokens.get("reasoning"))
    return {
        "input_tokens": total(count(tokens.get("input")), read, made),
        "output_tokens": total(count(tokens.get("output")), thought),
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": made,
        "reasoning_output_tokens": thought,
        "raw": tokens,
    }


def tool_record(part: JsonObject, placed: Placed, ref: EvidenceRef, form: str) -> SessionRecord:
    """A tool part: the call, its run and what came back."""
    state = as_dict(part.get("state"))
    time, metadata = as_dict(state.get("time")), as_dict(state.get("metadata"))
    record = placed.record(ref, form, when(time.get("start")))
    status = state.get("status")
    result = state.get("output") if state.get("output") is not None else state.get("error")
    facts: JsonObject = {
        "tool_call_id": part.get("callID"),
        "tool_name": part.get("tool"),
        "arguments": state.get("input"),
        "result": result,
        "is_error": {"completed": False, "error": True}.get(text(status)),
        "error": state.get("error"),
        "no_outcome": True,
        "exit_code": metadata["exit"] if isinstance(metadata.get("exit"), int) else None,
        "extra": {"status": status},
    }
    if facts["exit_code"]:
        facts["is_error"] = True
    told = Told(placed.keys[0], Role.TOOL_EXECUTION, facts, text(part.get("id")) or None)
    told.start_ns, told.end_ns = when(time.get("start")), when(time.get("end"))
    record.told = (told,)
    record.message = [{"role": "tool", "tool_call_id": part.get("callID"), "content": result}]
    return record


OPENCODE_EXPORT = OpenCodeExport()
OPENCODE_EVENTS = OpenCodeEvents()
