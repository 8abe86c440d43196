"""Gemini CLI's and Qwen Code's chat files (`~/.gemini/tmp/…/chats/session-….jsonl`, before that one JSON document) into
session records.

A message whose id comes again replaces the first. The CLI's call ids are `<tool>__<id>`: the model's id alone is kept.
https://github.com/google-gemini/gemini-cli/blob/v0.61.0/packages/core/src/services/chatRecordingService.ts
"""

from __future__ import annotations

from typing import Any, Final

from ..canonical import JsonObject, JsonValue
from ..model.evidence import EvidenceRef
from ..model.reading import Role
from ..model.session import SessionRecord, Told
from ..timestamps import parse_ns
from .documents import as_dict, as_list
from .otlp_dict import text
from .outline import Head, Path
from .sessions import LINE, Placed, SessionForm, State, compact, count, plain_texts, total

AGENT: Final = "gemini-cli"
_SET: Final = ("$set",)
_SET_MESSAGES: Final = ("$set", "messages")
"""Messages that the CLI put there itself, such as the context that a session begins with."""
_PATHS: Final = frozenset((LINE, _SET, ("messages",), _SET_MESSAGES))


class _State(State):
    def __init__(self) -> None:
        self._session: str | None = None
        self._kind = ""
        self._turn: str | None = None
        self._pending: list[EvidenceRef] = []
        self._begun: dict[str, Placed] = {}

    def place(self, path: Path, data: JsonObject, ref: EvidenceRef) -> Placed | None:
        if path in (LINE, _SET):
            self._session = text(data.get("sessionId")) or self._session
            self._kind = text(data.get("kind")) or self._kind
            if path == _SET or "id" not in data or "type" not in data:
                return None
        kind, key = data.get("type"), text(data.get("id")) or str(ref.offset)
        again = self._begun.get(key)
        if again is not None:
            return again
        if kind == "user":
            self._pending.append(ref)
            placed = self._placed("told") if path == _SET_MESSAGES else self._user(data, key)
        elif kind in ("gemini", "qwen", "assistant"):
            inputs, self._pending = tuple(self._pending), []
            placed = self._placed("answer", (f"message:{key}",), inputs=inputs)
        else:
            return None
        self._begun[key] = placed
        return placed

    def _user(self, data: JsonObject, key: str) -> Placed:
        parts = as_list(data.get("content"))
        if any("functionResponse" in as_dict(part) for part in parts):
            return self._placed("told")
        self._turn = f"prompt:{key}"
        return self._placed("prompt", (self._turn,))

    def _placed(self, what: str, keys: tuple[str, ...] = (), **more: Any) -> Placed:
        agent = AGENT if self._kind in ("", "main") else f"{AGENT}/{self._kind}"
        return Placed(what, keys, conversation_id=self._session, turn=self._turn, agent_name=agent, **more)


class GeminiSession(SessionForm):
    name = "gemini-session"
    writer = "Gemini CLI, Qwen Code"
    obtain = "`~/.gemini/tmp/<project>/chats/session-….jsonl`, before that `.json`"
    tried = "Gemini CLI 0.61.0; one document built by hand"
    loses = (
        "what each call was sent is told as what was added since the call before; system prompt, tool definitions,"
        " parameters, finish reasons, response ids and when a call or a tool began and ended (times are those of the"
        " messages) are not in the file"
    )
    paths = _PATHS

    def recognises(self, head: Head) -> bool:
        return head.has("sessionId", "projectHash", "startTime")

    def state(self) -> State:
        return _State()

    def read(self, data: JsonObject, placed: Placed, ref: EvidenceRef) -> SessionRecord:
        record = placed.record(ref, self.name, parse_ns(data.get("timestamp")))
        if placed.what != "answer":
            record.message = [{"role": "user", "parts": _parts(data.get("content"))}]
            if placed.what == "prompt":
                asked: JsonObject = {"input_text": plain_texts(data.get("content"))}
                record.told = (Told(placed.keys[0], Role.AGENT, asked, text(data.get("id"))),)
            return record
        calls = [as_dict(one) for one in as_list(data.get("toolCalls"))]
        answer = Told(placed.keys[0], Role.MODEL_CALL, _answer(data, calls), text(data.get("id")), placed.inputs)
        record.told = (answer, *(_ran(one) for one in calls if one.get("id") and "status" in one))
        return record


def _parts(content: JsonValue) -> list[JsonValue]:
    """Parts with the ids of calls as the model knows them."""
    if isinstance(content, str):
        return [{"text": content}]
    out: list[JsonValue] = []
    for part in as_list(content):
        response = as_dict(as_dict(part).get("functionResponse"))
        if response:
            name = text(response.get("name"))
            part = {**part, "functionResponse": {**response, "id": call_id(response.get("id"), name)}}
        out.append(part)
    return out


def call_id(value: JsonValue, name: str) -> JsonValue:
    """The id of a tool call without the tool's name that the CLI puts before it."""
    return value.removeprefix(f"{name}__") if isinstance(value, str) and name else value


def _answer(data: JsonObject, calls: list[JsonObject]) -> JsonObject:
    thoughts = [as_dict(one) for one in as_list(data.get("thoughts"))]
    told = [": ".join(text(one[key]) for key in ("subject", "description") if one.get(key)) for one in thoughts]
    tokens = as_dict(data.get("tokens"))
    facts: JsonObject = {
        "text": plain_texts(data.get("content")) or None,
        "reasoning": "\n".join(told) or None,
        "response_model": data.get("model"),
    }
    if calls:
        facts["tool_calls"] = [
            {"id": call_id(one.get("id"), text(one.get("name"))), "name": one.get("name"), "arguments": one.get("args")}
            for one in calls
        ]
    if tokens:
        facts["usage"] = {
            "input_tokens": count(tokens.get("input")),
            "output_tokens": total(count(tokens.get("output")), count(tokens.get("thoughts"))),
            "cache_read_input_tokens": count(tokens.get("cached")),
            "reasoning_output_tokens": count(tokens.get("thoughts")),
            "raw": tokens,
        }
    return facts


def _ran(call: JsonObject) -> Told:
    name = text(call.get("name"))
    own = call_id(call.get("id"), name)
    given = call.get("result")
    answers = [as_dict(as_dict(part).get("functionResponse")).get("response") for part in as_list(given)]
    told = [one for one in answers if one is not None]
    status = call.get("status")
    facts: JsonObject = {
        "tool_call_id": own,
        "tool_name": name or None,
        "arguments": call.get("args"),
        "result": told[0] if len(told) == 1 else given,
        "is_error": {"success": False, "error": True, "cancelled": True}.get(text(status)),
        "no_outcome": True,
        "extra": {"status": status},
    }
    if facts["is_error"] and call.get("resultDisplay") is not None:
        facts["error"] = compact(call["resultDisplay"])
    return Told(f"tool:{text(own)}", Role.TOOL_EXECUTION, facts, text(own))


GEMINI_SESSION = GeminiSession()
