"""Codex CLI's session files (`~/.codex/sessions/…/rollout-….jsonl`) into session records.

Which items came in one answer is told by `sampled_through_sequence` where it is written, else by the order of lines: a
run of the model's items up to its token count, or to what it was told next. `token_usage_record` names the response.
https://github.com/openai/codex/blob/0136a731d73e681bbc7826c9cf7ae2ae09d89fe9/codex-rs/protocol/src/protocol.rs
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from ..canonical import JsonError, JsonObject, JsonValue, loads_evidence
from ..model.evidence import EvidenceRef
from ..model.reading import Role
from ..model.session import SessionRecord, Told
from ..timestamps import parse_ns
from .documents import as_dict, as_list
from .otlp_dict import text
from .outline import Head, Path
from .sessions import Placed, SessionForm, State, arguments_of, count, plain_texts

AGENT: Final = "codex"
_SAID: Final = ("reasoning", "function_call", "custom_tool_call", "local_shell_call", "web_search_call")
_HOSTED: Final = ("image_generation_call", "tool_search_call")
_OUTPUTS: Final = ("function_call_output", "custom_tool_call_output", "tool_search_output")
_ENDS: Final = ("exec_command_end", "mcp_tool_call_end", "patch_apply_end")
_RAN: Final = ("CommandExecution", "McpToolCall", "FileChange", "DynamicToolCall")


class _State(State):
    def __init__(self) -> None:
        self._session: str | None = None
        self._agent = AGENT
        self._turn: str | None = None
        self._trace: str | None = None
        self._prompted: str | None = None
        """The turn whose prompt has been met."""
        self._pending: list[EvidenceRef] = []
        self._open: str | None = None
        """The answer at hand."""
        self._last: str | None = None
        """The answer that a usage record may belong to."""
        self._answered = False
        """Whether a call of the answer at hand has its result."""
        self._counted = False
        """Whether this file tells where an answer ends."""
        self._total: JsonValue = None
        self._names: dict[str, str] = {}
        self._loose = 0
        self._compacted = False
        self._ids = False
        """Whether turns have ids."""
        self._model = ""

    def place(self, path: Path, data: JsonObject, ref: EvidenceRef) -> Placed | None:
        kind, payload = text(data.get("type")), data.get("payload")
        if not isinstance(payload, dict):
            return self._bare(data, ref)
        if kind == "session_meta":
            self._meta(payload)
            self._pending.append(ref)
            return self._placed("meta")
        if kind == "turn_context":
            self._ids = self._ids or isinstance(payload.get("turn_id"), str)
            self._turn = text(payload.get("turn_id")) or (self._turn if self._ids else None)
            self._model = text(payload.get("model"))
            return None
        if kind == "compacted":
            self._compacted = True
            self._close()
            self._pending = [ref]
            self._turn = f"compaction:{ref.offset}"
            return self._placed("compacted", (f"prompt:{self._turn}",))
        if kind == "token_usage_record":
            return self._usage(payload)
        if kind == "event_msg":
            return self._event(payload, ref)
        return self._item(payload, ref, data) if kind == "response_item" else None

    def _bare(self, data: JsonObject, ref: EvidenceRef) -> Placed | None:
        """Lines of the first versions: the session's head without a type, items without an envelope."""
        if "type" not in data and "id" in data and "timestamp" in data:
            self._meta(data)
            self._pending.append(ref)
            return self._placed("meta")
        return self._item(data, ref, {}) if "type" in data else None

    def _meta(self, payload: JsonObject) -> None:
        if self._session is not None:
            return  # a fork's file begins with the head of its own session; those copied after it are history
        self._session = text(payload.get("id") or payload.get("session_id")) or None
        spawned = as_dict(as_dict(as_dict(payload.get("source")).get("subagent")).get("thread_spawn"))
        name = payload.get("agent_nickname") or payload.get("agent_role") or spawned.get("agent_role")
        if isinstance(payload.get("source"), dict) and "subagent" in payload["source"]:
            self._agent = f"{AGENT}/{text(name) or self._session}"

    def _placed(self, what: str, keys: tuple[str, ...] = (), **more: Any) -> Placed:
        told = {"conversation_id": self._session, "turn": self._turn, "trace_id": self._trace}
        return Placed(what, keys, **told, agent_name=self._agent, **more)

    def _close(self) -> None:
        self._open, self._answered = None, False

    def _usage(self, payload: JsonObject) -> Placed | None:
        self._counted = True
        key, self._last = self._last, None
        self._close()
        if key is None:
            self._loose += 1
            return None
        return self._placed("usage", (key,))

    def _event(self, payload: JsonObject, ref: EvidenceRef) -> Placed | None:
        kind = payload.get("type")
        if kind in ("task_started", "turn_started"):
            self._close()
            self._ids = self._ids or isinstance(payload.get("turn_id"), str)
            self._turn = text(payload.get("turn_id")) or f"turn:{ref.offset}"
            self._trace = text(payload.get("trace_id")) or None
            return None
        if kind == "user_message" and not self._knows_prompt():
            return self._prompt(ref)
        if kind == "token_count":
            return self._count(payload)
        if kind in _ENDS and payload.get("call_id"):
            return self._placed("ran", (f"tool:{payload['call_id']}",))
        if kind == "item_completed":
            item = as_dict(payload.get("item"))
            if item.get("type") == "UserMessage" and not self._knows_prompt():
                return self._prompt(ref)
            if item.get("type") in _RAN and item.get("id"):
                return self._placed("item", (f"tool:{item['id']}",))
            return None
        return None

    def _knows_prompt(self) -> bool:
        """A message to a turn that has begun, or its prompt once more. Without turn ids each message begins one."""
        return self._ids and self._turn is not None and self._prompted == self._turn

    def _prompt(self, ref: EvidenceRef) -> Placed:
        if self._turn is None or self._turn == self._prompted:
            self._turn = f"turn:{ref.offset}"
        self._prompted = self._turn
        return self._placed("prompt", (f"prompt:{self._turn}",))

    def _count(self, payload: JsonObject) -> Placed | None:
        info = as_dict(payload.get("info"))
        told = as_dict(info.get("total_token_usage")).get("total_tokens")
        if not info or told == self._total:
            return None
        self._total = told
        if self._last is None:
            self._loose += not self._counted
            self._close()
            return None
        self._counted = True
        key, self._last = self._last, None
        self._close()
        return self._placed("count", (key,))

    def _item(self, item: JsonObject, ref: EvidenceRef, line: JsonObject) -> Placed | None:
        kind = text(item.get("type"))
        passed = as_dict(item.get("internal_chat_message_metadata_passthrough") or line.get("metadata"))
        turn = passed.get("turn_id")
        if isinstance(turn, str) and turn and not (self._turn or "").startswith("compaction"):
            self._turn = turn
        if kind == "message" and item.get("role") != "assistant":
            self._close()
            self._last = None
            self._pending.append(ref)
            return self._placed("told")
        if kind in _OUTPUTS:
            call_id = text(item.get("call_id"))
            self._answered = True
            self._pending.append(ref)
            return self._placed("output", (f"tool:{call_id}\n{self._names.get(call_id, '')}",))
        if kind == "message" or kind in _SAID or kind in _HOSTED:
            return self._answer(item, ref, as_dict(line.get("metadata")))
        return None

    def _answer(self, item: JsonObject, ref: EvidenceRef, metadata: JsonObject) -> Placed:
        through = metadata.get("sampled_through_sequence")
        if isinstance(through, int):
            key = f"answer:{self._turn}:{through}"
        elif self._open is not None and not (self._answered and not self._counted):
            key = self._open
        else:
            key = f"answer:{ref.offset}"
        call_id = text(item.get("call_id"))
        if call_id:
            self._names[call_id] = text(item.get("name"))
        inputs: tuple[EvidenceRef, ...] = ()
        if key != self._open:
            inputs, self._pending = tuple(self._pending), []
            self._answered = False
        self._open = self._last = key
        return self._placed(f"answer\n{self._model}", (key,), inputs=inputs)

    def remarks(self) -> Iterator[str]:
        if self._compacted:
            yield "the conversation was compacted; the call that wrote the summary is not in the file"
        if self._loose:
            yield f"{self._loose} token counts belong to no answer by their place; they are left out"


class CodexRollout(SessionForm):
    name = "codex-rollout"
    writer = "Codex CLI"
    obtain = "`~/.codex/sessions/<year>/<month>/<day>/rollout-….jsonl`"
    tried = "Codex CLI 0.171.0; older versions built by hand"
    loses = (
        "what each call was sent is told as what was added since the call before; tool definitions, parameters and when"
        " a call or a tool began and ended (times are those of the lines) are not in the file"
    )

    def recognises(self, head: Head) -> bool:
        if head.has("type", "payload", "timestamp") and b'"session_meta"' in head.data[:4096]:
            return True
        if head.has("type", "payload", "timestamp") and b'"response_item"' in head.data:
            return True
        return head.has("id", "timestamp", "instructions") and head.has("type", "role", "content")

    def state(self) -> State:
        return _State()

    def read(self, data: JsonObject, placed: Placed, ref: EvidenceRef) -> SessionRecord:
        record = placed.record(ref, self.name, parse_ns(data.get("timestamp")))
        payload = as_dict(data["payload"]) if isinstance(data.get("payload"), dict) else data
        what, _, model = placed.what.partition("\n")
        if what == "meta":
            instructions = as_dict(payload.get("base_instructions")).get("text") or payload.get("instructions")
            if isinstance(instructions, str):
                record.message = [{"role": "system", "content": instructions}]
        elif what == "told":
            record.message = [payload]
        elif what == "compacted":
            kept = payload.get("replacement_history")
            record.message = kept if isinstance(kept, list) else [{"role": "user", "content": payload.get("message")}]
            record.told = (_prompt(placed, {"input_text": text(payload.get("message")) or None}),)
        elif what == "prompt":
            item = as_dict(payload.get("item"))
            asked = payload.get("message") if not item else plain_texts(item.get("content"))
            record.told = (_prompt(placed, {"input_text": asked if isinstance(asked, str) else None}),)
        elif what == "answer":
            facts = _said(payload)
            if model:
                facts["request_model"] = model
            record.told = (Told(placed.keys[0], Role.MODEL_CALL, facts, None, placed.inputs),)
        elif what in ("usage", "count"):
            record.told = (Told(placed.keys[0], Role.MODEL_CALL, _counts(payload, what)),)
        elif what == "output":
            record.message = [payload]
            key, _, name = placed.keys[0].partition("\n")
            record.told = (Told(key, Role.TOOL_EXECUTION, _output(payload, name)),)
        elif what in ("ran", "item"):
            facts = _ran(payload if what == "ran" else as_dict(payload.get("item")))
            record.told = (Told(placed.keys[0], Role.TOOL_EXECUTION, facts),)
        return record


def _prompt(placed: Placed, facts: JsonObject) -> Told:
    return Told(placed.keys[0], Role.AGENT, facts)


def _said(item: JsonObject) -> JsonObject:
    kind = item.get("type")
    if kind == "message":
        return {"text": plain_texts(item.get("content"))}
    if kind == "reasoning":
        told = [as_dict(one).get("text") for one in [*as_list(item.get("summary")), *as_list(item.get("content"))]]
        return {"reasoning": "\n".join(one for one in told if isinstance(one, str)) or None}
    if kind in ("function_call", "custom_tool_call"):
        given = item.get("arguments") if kind == "function_call" else item.get("input")
        return {"tool_calls": [{"id": item.get("call_id"), "name": item.get("name"), "arguments": arguments_of(given)}]}
    if kind == "local_shell_call" and item.get("call_id"):
        return {"tool_calls": [{"id": item["call_id"], "name": "local_shell", "arguments": item.get("action")}]}
    return {"other_parts": [item]}


def _counts(payload: JsonObject, what: str) -> JsonObject:
    raw = as_dict(payload.get("usage") if what == "usage" else as_dict(payload.get("info")).get("last_token_usage"))
    usage: JsonObject = {
        "input_tokens": count(raw.get("input_tokens")),
        "output_tokens": count(raw.get("output_tokens")),
        "cache_read_input_tokens": count(raw.get("cached_input_tokens")),
        "cache_creation_input_tokens": count(raw.get("cache_write_input_tokens")),
        "reasoning_output_tokens": count(raw.get("reasoning_output_tokens")),
        "raw": raw,
    }
    return {"usage": usage, "response_id": payload.get("response_id")}


def _output(item: JsonObject, name: str) -> JsonObject:
    given = item.get("output")
    facts: JsonObject = {"tool_call_id": item.get("call_id"), "tool_name": name or None, "no_outcome": True}
    if isinstance(given, str) and given.startswith('{"output":'):
        try:
            whole = loads_evidence(given)
        except JsonError:
            whole = None
        if isinstance(whole, dict) and isinstance(whole.get("metadata"), dict):
            code = count(whole["metadata"].get("exit_code"))
            if code is not None:
                facts["exit_code"], facts["is_error"] = code, code != 0
            given = whole.get("output")
    elif isinstance(given, dict) and "content" in given:
        if isinstance(given.get("success"), bool):
            facts["is_error"] = not given["success"]
        given = given["content"]
    facts["result"] = given
    return facts


def _ran(told: JsonObject) -> JsonObject:
    """What Codex says of its own run of a tool: status and exit code stand in members of their own."""
    facts: JsonObject = {}
    code = told.get("exit_code")
    if isinstance(code, int) and not isinstance(code, bool):
        facts["exit_code"], facts["is_error"] = code, code != 0
    status = told.get("status")
    if status in ("failed", "declined"):
        facts["is_error"] = True
    elif status == "completed" and "is_error" not in facts:
        facts["is_error"] = False
    if isinstance(told.get("success"), bool):
        facts["is_error"] = not told["success"]
    result = as_dict(told.get("result"))
    if "Err" in result or "Ok" in result:
        facts["is_error"] = "Err" in result or as_dict(result.get("Ok")).get("isError") is True
    if facts.get("is_error") and isinstance(told.get("stderr"), str) and told["stderr"]:
        facts["error"] = told["stderr"]
    names = ("command", "aggregated_output", "stdout", "stderr")
    shown = {name: told[name] for name in names if told.get(name) is not None}
    if shown:
        facts["extra"] = {"codex": shown}
    return facts


CODEX_ROLLOUT = CodexRollout()
