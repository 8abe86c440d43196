"""OpenHands' events (a saved trajectory, `output.jsonl` of its evaluation, events of its SDK) into session records.

An answer of the model is known by the response's id, which each of its actions bears; an observation belongs to the
call whose id it bears, or where the model was asked for text, to the action that it names as its cause.
https://github.com/All-Hands-AI/OpenHands/blob/0.59.0/openhands/events/serialization/event.py,
https://github.com/OpenHands/software-agent-sdk/tree/v1.8.0/openhands-sdk/openhands/sdk/event
"""

from __future__ import annotations

import re
from typing import Final

from ..canonical import JsonObject, JsonValue
from ..model.evidence import EvidenceRef
from ..model.reading import Role
from ..model.session import SessionRecord, Told
from ..timestamps import parse_ns
from .documents import as_dict, as_list
from .otlp_dict import text
from .outline import Head, Path
from .sessions import LINE, Placed, SessionForm, State, arguments_of, plain_texts

_LISTS: Final = ("history", "trajectory", "events", "items")
_SDK: Final = re.compile(
    rb'"kind"\s*:\s*"(?:SystemPrompt|Message|Action|Observation|AgentError|ConversationStateUpdate)Event"'
)
_NO_DECISION: Final = ("system", "recall", "change_agent_state", "null", "condensation", "condensation_request")
"""Actions of the agent's own machinery."""
_NO_RESULT: Final = ("agent_state_changed", "recall", "null", "agent_condensation")
_WORDS: Final = ("message", "finish", "think", "reject", "delegate")
"""Actions without an observation of what was done outside."""


class _State(State):
    def __init__(self) -> None:
        self._run = 0
        self._begin(None, {})

    def _begin(self, name: str | None, shared: JsonObject) -> None:
        self._name, self._shared = name, shared
        self._pending: list[EvidenceRef] = []
        self._turn: str | None = None
        self._asking = False
        self._answers: set[str] = set()
        self._named: dict[str, str] = {}

    def place(self, path: Path, data: JsonObject, ref: EvidenceRef) -> Placed | None:
        if path == LINE and any(isinstance(data.get(name), list) for name in _LISTS):
            self._run += 1
            llm = as_dict(as_dict(data.get("metadata")).get("llm_config"))
            self._begin(text(data.get("instance_id")) or f"{ref.source}#{self._run}", {"model": llm.get("model")})
            return None
        if self._name is None:
            self._name = ref.source
        what, key = _kind(data)
        if what is None:
            return None
        if what == "answer":
            return self._answer(data, key)
        own = _call_id(data)
        keys = (key, own, self._named.get(own or key, ""))
        self._pending.append(ref)
        if what != "said" or self._asking:
            return self._placed(what if what != "said" else "more", keys)
        self._turn, self._asking = f"prompt:{key}", True
        return self._placed("prompt", (self._turn,))

    def _answer(self, data: JsonObject, key: str) -> Placed:
        own, response = _call_id(data), _response_id(data)
        name = text(as_dict(data.get("tool_call_metadata")).get("function_name") or data.get("tool_name"))
        self._named[own or f"event:{data.get('id')}"] = name or text(data.get("action"))
        answer = f"response:{response}" if response else key
        inputs: tuple[EvidenceRef, ...] = ()
        if answer not in self._answers:
            inputs, self._pending, self._asking = tuple(self._pending), [], False
        again = "again" if answer in self._answers and "tool_call_metadata" in data else "answer"
        self._answers.add(answer)
        return self._placed(again, (answer, own, f"event:{data.get('id')}"), inputs)

    def _placed(self, what: str, keys: tuple[str, ...], inputs: tuple[EvidenceRef, ...] = ()) -> Placed:
        told = {"conversation_id": self._name, "turn": self._turn, "agent_name": "openhands", "shared": self._shared}
        return Placed(what, keys, inputs=inputs, **told)


def _kind(data: JsonObject) -> tuple[str | None, str]:
    """What an event is, and the key of its own."""
    source, key = data.get("source"), f"event:{data.get('id')}"
    kind, action, observation = data.get("kind"), data.get("action"), data.get("observation")
    if kind in ("SystemPromptEvent", "ObservationEvent", "AgentErrorEvent", "UserRejectObservation"):
        return ("system" if kind == "SystemPromptEvent" else "ran"), f"event:{data.get('action_id') or data.get('id')}"
    if kind in ("MessageEvent", "ActionEvent"):
        return ("answer" if source == "agent" else "said"), key
    if kind is not None and isinstance(kind, str):
        return None, key
    if isinstance(observation, str):
        return (None if observation in _NO_RESULT else "ran"), f"event:{data.get('cause')}"
    if action == "system":
        return "system", key
    if source == "user" and action == "message":
        return "said", key
    return ("answer" if source == "agent" and isinstance(action, str) and action not in _NO_DECISION else None), key


def _call_id(data: JsonObject) -> str:
    return text(as_dict(data.get("tool_call_metadata")).get("tool_call_id") or data.get("tool_call_id"))


def _response_id(data: JsonObject) -> str:
    model = as_dict(as_dict(data.get("tool_call_metadata")).get("model_response"))
    return text(model.get("id") or data.get("llm_response_id") or data.get("response_id"))


class OpenHands(SessionForm):
    name = "openhands"
    writer = "OpenHands: its app, headless runs, evaluation and SDK"
    obtain = "`save_trajectory_path` in its configuration, the app's download, `output.jsonl`, events of its API or SDK"
    tried = "built after OpenHands 0.59 and its SDK 1.8"
    loses = (
        "what each call was sent is told as what was added since the call before; parameters and when a call or a tool"
        " began (times are those of the events) are not in the file; of actions that were written as text, the answer"
        " as the model gave it; calls that condensed the history"
    )
    paths = frozenset((LINE, *((name,) for name in _LISTS)))

    def recognises(self, head: Head) -> bool:
        for at in sorted(self.paths):
            if head.has("id", "source", under=at):
                if head.has("action", "args", under=at) or head.has("observation", "extras", under=at):
                    return True
                if (*at, "kind") in head.paths and _SDK.search(head.data) is not None:
                    return True
        return False

    def state(self) -> State:
        return _State()

    def read(self, data: JsonObject, placed: Placed, ref: EvidenceRef) -> SessionRecord:
        record = placed.record(ref, self.name, parse_ns(data.get("timestamp")))
        args = as_dict(data.get("args"))
        if placed.what == "system":
            told = args.get("content") if args else as_dict(data.get("system_prompt")).get("text")
            record.message = [{"role": "system", "content": told}]
        elif placed.what in ("prompt", "more"):
            content = args.get("content") if args else as_dict(data.get("llm_message")).get("content")
            record.message = [{"role": "user", "content": content}]
            if placed.what == "prompt":
                asked: JsonObject = {"input_text": plain_texts(content)}
                record.told = (Told(placed.keys[0], Role.AGENT, asked),)
        elif placed.what == "ran":
            key, own, name = placed.keys
            role: JsonObject = {"role": "tool", "tool_call_id": own} if own else {"role": "user"}
            record.message = [{**role, "content": _content(data)}]
            record.told = (Told(f"tool:{own or key}", Role.TOOL_EXECUTION, _ran(data, own, name)),)
        else:
            key, own, event = placed.keys
            facts = {} if placed.what == "again" else _answer(data, own, placed.shared)
            answer = Told(key, Role.MODEL_CALL, facts, None, placed.inputs)
            record.told = (answer, *_begun(data, own, event))
        return record


def _content(data: JsonObject) -> JsonValue:
    return as_dict(data.get("observation")).get("content", data.get("content", data.get("error")))


def _answer(data: JsonObject, own: str, shared: JsonObject) -> JsonObject:
    args = as_dict(data.get("args"))
    model = as_dict(as_dict(data.get("tool_call_metadata")).get("model_response"))
    facts: JsonObject = {"request_model": shared.get("model"), "response_id": _response_id(data) or None}
    if model:
        choices = [as_dict(one) for one in as_list(model.get("choices"))]
        facts["response_model"] = model.get("model")
        facts["answers"] = [one["message"] for one in choices if isinstance(one.get("message"), dict)] or None
        facts["finish_reason"] = choices[0].get("finish_reason") if choices else None
        facts["counts"] = as_dict(model.get("usage")) or None
        if facts["answers"] is None and own:
            name = as_dict(data.get("tool_call_metadata")).get("function_name")
            facts["tool_calls"] = [{"id": own, "name": name, "arguments": None}]
    elif data.get("kind") == "ActionEvent":
        call = as_dict(data.get("tool_call"))
        facts["text"] = plain_texts(data.get("thought")) or None
        facts["reasoning"] = text(data.get("reasoning_content")) or None
        name, given = call.get("name") or data.get("tool_name"), call.get("arguments", data.get("action"))
        facts["tool_calls"] = [{"id": own or None, "name": name, "arguments": arguments_of(given)}]
    elif data.get("kind") == "MessageEvent":
        facts["answers"] = [as_dict(data.get("llm_message"))]
    elif data.get("action") == "message":
        facts["text"] = plain_texts(args.get("content"))
    else:
        thought = text(args.get("thought") or args.get("final_thought")) or None
        facts["text"] = thought
        left = {name: value for name, value in args.items() if name != "thought"}
        facts["other_parts"] = [{"type": "action", "action": data.get("action"), "args": left}]
    return facts


def _begun(data: JsonObject, own: str, event: str) -> tuple[Told, ...]:
    """What an action that was written as text set going: its observation names it as its cause."""
    action = data.get("action")
    if own or not isinstance(action, str) or action in _WORDS:
        return ()
    args = {name: value for name, value in as_dict(data.get("args")).items() if name != "thought"}
    return (Told(f"tool:{event}", Role.TOOL_EXECUTION, {"tool_name": action, "arguments": args, "no_outcome": True}),)


def _ran(data: JsonObject, own: str, name: str) -> JsonObject:
    extras, observed = as_dict(data.get("extras")), as_dict(data.get("observation"))
    code = as_dict(extras.get("metadata")).get("exit_code", extras.get("exit_code", observed.get("exit_code")))
    failed = data.get("observation") == "error" or data.get("kind") in ("AgentErrorEvent", "UserRejectObservation")
    told = observed.get("is_error", not data["success"] if isinstance(data.get("success"), bool) else None)
    if not isinstance(code, int) or isinstance(code, bool) or code == -1:
        code = None  # -1: it was still running
    elif told is None:
        told = code != 0
    facts: JsonObject = {
        "result": _content(data),
        "exit_code": code,
        "is_error": True if failed else told if isinstance(told, bool) else None,
        "no_outcome": True,
    }
    if own:
        facts["tool_call_id"] = own
        facts["tool_name"] = as_dict(data.get("tool_call_metadata")).get("function_name") or data.get("tool_name")
        facts["tool_name"] = facts["tool_name"] or name or None
    if facts["is_error"]:
        facts["error"] = plain_texts(_content(data))
    return facts


OPENHANDS = OpenHands()
