"""mini-SWE-agent's trajectories (`….traj.json`) into session records.

One run of one agent: the first message of the user is the prompt, all later ones are what the agent told the model. Of
the outputs of commands, those that bear the id of a call are executions of it.
https://github.com/SWE-agent/mini-swe-agent/blob/v2.2.7/docs/usage/output_files.md
"""

from __future__ import annotations

from typing import Final

from ..canonical import JsonObject
from ..model.evidence import EvidenceRef
from ..model.reading import Role
from ..model.session import SessionRecord, Told
from .documents import as_dict, as_list
from .otlp_dict import text
from .outline import Head, Path
from .sessions import LINE, Placed, SessionForm, State, plain_texts
from .span_rows import when

AGENT: Final = "mini-swe-agent"
_PROMPT: Final = "prompt"
_OUTPUT: Final = ("returncode", "raw_output")
"""Members that the agent writes beside what it told the model of a command."""


class _State(State):
    def __init__(self) -> None:
        self._name: str | None = None
        self._shared: JsonObject = {}
        self._pending: list[EvidenceRef] = []
        self._asked = False
        self._count = 0
        self._named: dict[str, str] = {}

    def place(self, path: Path, data: JsonObject, ref: EvidenceRef) -> Placed | None:
        if path == LINE:
            info = as_dict(data.get("info"))
            self._pending, self._asked, self._named = [], False, {}
            self._name = text(data.get("instance_id")) or ref.source
            self._shared = {"model": as_dict(as_dict(info.get("config")).get("model")).get("model_name")}
            return self._placed("run", (_PROMPT,)) if info else None
        self._count += 1
        if data.get("role") == "assistant" or data.get("object") == "response":
            inputs, self._pending = tuple(self._pending), []
            for call in map(as_dict, as_list(data.get("tool_calls"))):
                self._named[text(call.get("id"))] = text(as_dict(call.get("function")).get("name"))
            return self._placed("answer", (f"message:{self._count}",), inputs)
        if data.get("role") == "exit":
            return None  # what `info` tells too
        self._pending.append(ref)
        if data.get("role") == "user" and not self._asked:
            self._asked = True
            return self._placed("prompt", (_PROMPT,))
        own = text(data.get("tool_call_id") or data.get("call_id"))
        key = f"tool:{own}" if own else f"output:{self._count}"
        return self._placed("told", (key, own, self._named.get(own, "")))

    def _placed(self, what: str, keys: tuple[str, ...], inputs: tuple[EvidenceRef, ...] = ()) -> Placed:
        told = {"conversation_id": self._name, "turn": _PROMPT, "agent_name": AGENT, "shared": self._shared}
        return Placed(what, keys, inputs=inputs, **told)


class MiniSweAgent(SessionForm):
    name = "mini-swe-agent"
    writer = "mini-SWE-agent"
    obtain = "`….traj.json` of a run (`mini -o FILE`, a folder an instance of its benchmarks)"
    tried = "a run of 2.2.7; a run in the form before 2.0 built by hand"
    loses = (
        "what each call was sent is told as what was added since the call before; tool definitions, parameters and when"
        " a call or a command began (times are those of the messages) are not in the file; without ids of calls, which"
        " command an output belongs to is not in the file"
    )
    paths = frozenset((LINE, ("messages",)))

    def recognises(self, head: Head) -> bool:
        if not head.has("info", "messages"):
            return False
        return b"mini-swe-agent-" in head.data or ("info", "mini_version") in head.paths

    def state(self) -> State:
        return _State()

    def read(self, data: JsonObject, placed: Placed, ref: EvidenceRef) -> SessionRecord:
        extra = as_dict(data.get("extra"))
        record = placed.record(ref, self.name, when(extra.get("timestamp")))
        if placed.what == "run":
            info = as_dict(data.get("info"))
            kept = {name: info[name] for name in ("exit_status", "model_stats", "mini_version") if info.get(name)}
            facts: JsonObject = {"output_text": text(info.get("submission")) or None, "extra": kept}
            record.told = (Told(_PROMPT, Role.AGENT, facts),)
        elif placed.what == "answer":
            record.told = (Told(placed.keys[0], Role.MODEL_CALL, _answer(data, placed.shared), None, placed.inputs),)
        else:
            record.message = [{name: value for name, value in data.items() if name != "extra"}]
            if placed.what == "prompt":
                record.told = (Told(_PROMPT, Role.AGENT, {"input_text": plain_texts(data.get("content"))}),)
            elif any(name in extra for name in _OUTPUT):
                record.told = (_ran(data, extra, placed),)
        return record


def _answer(data: JsonObject, shared: JsonObject) -> JsonObject:
    response = as_dict(as_dict(data.get("extra")).get("response"))
    choices = [as_dict(one) for one in as_list(response.get("choices"))]
    answer = {name: value for name, value in data.items() if name != "extra"}
    return {
        "answers": as_list(data.get("output")) or [answer],
        "request_model": shared.get("model"),
        "response_model": response.get("model") or data.get("model"),
        "response_id": response.get("id") or data.get("id"),
        "finish_reason": choices[0].get("finish_reason") if choices else None,
        "counts": as_dict(response.get("usage") or data.get("usage")) or None,
    }


def _ran(data: JsonObject, extra: JsonObject, placed: Placed) -> Told:
    """What the agent wrote of a command's end."""
    key, own, name = placed.keys
    failure = text(extra.get("exception_info")) or None
    told = extra.get("returncode")
    code = told if isinstance(told, int) and not isinstance(told, bool) else None
    facts: JsonObject = {
        "tool_call_id": own or None,
        "tool_name": name or None,
        "result": extra["raw_output"] if "raw_output" in extra else data.get("content"),
        "exit_code": code,
        "is_error": True if failure else None if code is None else code != 0,
        "error": failure,
        "no_outcome": True,
    }
    return Told(key, Role.TOOL_EXECUTION, facts)


MINI_SWE_AGENT = MiniSweAgent()
