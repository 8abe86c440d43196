"""Claude Code's session files (`~/.claude/projects/…/<session>.jsonl`, `agent-<id>.jsonl`): a line a content block,
lines of one answer with the same message id and usage.

A prompt of the user begins an Input, and so does the summary after a compaction; a sub-agent (a side chain) is an agent
with Inputs of its own. Written by no published schema; read from files of 1.0 to 2.1.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from ..canonical import JsonObject, JsonValue
from ..model.evidence import EvidenceRef
from ..model.reading import Role
from ..model.session import SessionRecord, Told
from ..timestamps import parse_ns
from .documents import as_dict, as_list
from .otlp_dict import text
from .outline import Head, Path
from .sessions import Placed, SessionForm, State, compact, count, plain_texts, total

AGENT: Final = "claude-code"
_SYNTHETIC: Final = "<synthetic>"


class _State(State):
    def __init__(self) -> None:
        self._turns: dict[str, str] = {}
        """The Input at hand, by the chain of an agent."""
        self._pending: dict[str, list[EvidenceRef]] = {}
        self._begun: set[str] = set()
        self._chains: dict[str, str] = {}
        """The chain that a line belongs to, by its uuid."""
        self._names: dict[str, str] = {}
        """Tools by the id of their call."""
        self._agents: dict[str, str] = {}
        """Sub-agents' kinds, by the id of the call that started one."""
        self._compacted: set[str] = set()
        self._compactions = 0

    def place(self, path: Path, data: JsonObject, ref: EvidenceRef) -> Placed | None:
        kind = data.get("type")
        uuid = text(data.get("uuid"))
        if kind == "system" and data.get("subtype") == "compact_boundary":
            self._compacted.add(self._chain(data, uuid))
            self._compactions += 1
            return None
        if kind not in ("user", "assistant") or not isinstance(data.get("message"), dict):
            return None
        chain = self._chain(data, uuid)
        message = as_dict(data["message"])
        session = text(data.get("sessionId")) or None
        shared: dict[str, Any] = {"conversation_id": session, "agent_name": self._agent(chain)}
        if kind == "assistant":
            return self._answer(data, message, chain, uuid, shared)
        return self._asked(data, message, chain, uuid, shared, ref)

    def remarks(self) -> Iterator[str]:
        if self._compactions:
            yield f"the conversation was compacted {self._compactions} times; no call that wrote a summary is told"

    def _chain(self, data: JsonObject, uuid: str) -> str:
        """The agent whose conversation a line belongs to: "" for the main one."""
        agent = data.get("agentId")
        if isinstance(agent, str) and agent:
            chain = agent
        elif data.get("isSidechain") is True:
            chain = self._chains.get(text(data.get("parentUuid"))) or f"sidechain:{uuid}"
        else:
            chain = ""
        if uuid:
            self._chains[uuid] = chain
        return chain

    def _agent(self, chain: str) -> str:
        return AGENT if chain == "" else f"{AGENT}/{self._agents.get(chain, chain)}"

    def _answer(
        self, data: JsonObject, message: JsonObject, chain: str, uuid: str, shared: dict[str, Any]
    ) -> Placed | None:
        key = f"message:{text(message.get('id')) or uuid}"
        for block in map(as_dict, as_list(message.get("content"))):
            if block.get("type") == "tool_use":
                self._names[text(block.get("id"))] = text(block.get("name"))
        inputs: tuple[EvidenceRef, ...] = ()
        if key not in self._begun:
            self._begun.add(key)
            inputs = tuple(self._pending.get(chain, ()))
            if not _is_error(data, message):  # what failed is sent once more
                self._pending.pop(chain, None)
        return Placed("answer", (key,), inputs=inputs, turn=self._turns.get(chain), **shared)

    def _asked(
        self, data: JsonObject, message: JsonObject, chain: str, uuid: str, shared: dict[str, Any], ref: EvidenceRef
    ) -> Placed:
        results = _results(message.get("content"))
        self._pending.setdefault(chain, []).append(ref)
        summary = data.get("isCompactSummary") is True or chain in self._compacted
        if not results and (summary or data.get("isMeta") is not True):
            self._compacted.discard(chain)
            self._turns[chain] = f"prompt:{uuid or ref.offset}"
            return Placed("prompt", (self._turns[chain],), turn=self._turns[chain], **shared)
        if not results:
            return Placed("meta", (), turn=self._turns.get(chain), **shared)
        told = as_dict(data.get("toolUseResult"))
        if isinstance(told.get("agentId"), str) and len(results) == 1:
            kind = told.get("agentType") or told.get("subagent_type")
            if isinstance(kind, str) and kind:
                self._agents.setdefault(told["agentId"], kind)
        ids = [text(one.get("tool_use_id")) for one in results]
        keys = tuple(f"{call_id}\n{self._names.get(call_id, '')}" for call_id in ids)
        return Placed("results", keys, turn=self._turns.get(chain), **shared)


def _is_error(data: JsonObject, message: JsonObject) -> bool:
    return message.get("model") == _SYNTHETIC or data.get("isApiErrorMessage") is True


def _results(content: JsonValue) -> list[JsonObject]:
    return [one for one in map(as_dict, as_list(content)) if one.get("type") == "tool_result"]


class ClaudeCodeSession(SessionForm):
    name = "claude-code-session"
    writer = "Claude Code"
    obtain = "`~/.claude/projects/<project>/<session>.jsonl`"
    tried = "built after files of Claude Code 2.1"
    loses = (
        "what each call was sent is told as what was added since the call before; system prompt, tool definitions,"
        " parameters, when a call or a tool began and ended (times are those of the lines), and calls beside the"
        " conversation are not in the file"
    )

    def recognises(self, head: Head) -> bool:
        return head.has("sessionId", "uuid", "parentUuid") and head.has("type") and head.has("role", under=("message",))

    def state(self) -> State:
        return _State()

    def read(self, data: JsonObject, placed: Placed, ref: EvidenceRef) -> SessionRecord:
        record = placed.record(ref, self.name, parse_ns(data.get("timestamp")))
        message = as_dict(data.get("message"))
        if placed.what == "answer":
            unit = text(data.get("uuid")) or None
            record.told = (Told(placed.keys[0], Role.MODEL_CALL, _answer(data, message), unit, placed.inputs),)
            return record
        record.message = [{"role": "user", "content": message.get("content")}]
        if placed.what == "prompt":
            facts: JsonObject = {"input_text": plain_texts(message.get("content"))}
            record.told = (Told(placed.keys[0], Role.AGENT, facts),)
        elif placed.what == "results":
            record.told = tuple(_results_told(data, message, placed))
        return record


def _answer(data: JsonObject, message: JsonObject) -> JsonObject:
    facts: JsonObject = {}
    calls: list[JsonValue] = []
    others: list[JsonValue] = []
    content = message.get("content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else as_list(content)
    for block in map(as_dict, blocks):
        kind = block.get("type")
        if kind == "text" and isinstance(block.get("text"), str):
            facts["text"] = text(facts.get("text")) + block["text"]
        elif kind == "thinking" and isinstance(block.get("thinking"), str):
            facts["reasoning"] = text(facts.get("reasoning")) + block["thinking"]
        elif kind == "tool_use":
            calls.append({"id": block.get("id"), "name": block.get("name"), "arguments": block.get("input")})
        elif block:
            others.append(block)
    if calls:
        facts["tool_calls"] = calls
    if others:
        facts["other_parts"] = others
    if _is_error(data, message):
        facts["is_error"], facts["error"] = True, text(facts.pop("text", None)) or None
        facts["extra"] = {"written_by": "the client, not a model"}
        return facts
    facts["response_model"] = message.get("model")
    facts["response_id"] = message.get("id")
    facts["finish_reason"] = message.get("stop_reason")
    facts["usage"] = _usage(message.get("usage"))
    if data.get("requestId") is not None:
        facts["extra"] = {"request_id": data["requestId"]}
    return facts


def _usage(value: JsonValue) -> JsonObject | None:
    raw = as_dict(value)
    if not raw:
        return None
    read, made = count(raw.get("cache_read_input_tokens")), count(raw.get("cache_creation_input_tokens"))
    return {
        "input_tokens": total(count(raw.get("input_tokens")), read, made),
        "output_tokens": count(raw.get("output_tokens")),
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": made,
        "raw": raw,
    }


def _results_told(data: JsonObject, message: JsonObject, placed: Placed) -> list[Told]:
    out = []
    results = _results(message.get("content"))
    for block, key in zip(results, placed.keys, strict=True):
        call_id, _, name = key.partition("\n")
        content = block.get("content")
        facts: JsonObject = {
            "tool_call_id": call_id or None,
            "tool_name": name or None,
            "result": _content(content),
            "is_error": block.get("is_error") is True,
        }
        if facts["is_error"]:
            facts["error"] = compact(facts["result"])
        if len(results) == 1 and data.get("toolUseResult") is not None:
            facts["extra"] = {"tool_use_result": data["toolUseResult"]}
        out.append(Told(f"tool:{call_id}", Role.TOOL_EXECUTION, facts, text(data.get("uuid")) or None))
    return out


def _content(content: JsonValue) -> JsonValue:
    """Text blocks alone are their text."""
    blocks = [as_dict(one) for one in as_list(content)]
    if blocks and all(one.get("type") == "text" and isinstance(one.get("text"), str) for one in blocks):
        return "\n".join(one["text"] for one in blocks)
    return content


CLAUDE_CODE_SESSION = ClaudeCodeSession()
