"""Trajectories in the Agent Trajectory Interchange Format, with the sub-agents embedded in them, into session records.

What `otel2traj export --to atif` put under `extra.otel2traj` is taken back.
https://github.com/harbor-framework/harbor/blob/v0.26.0/src/harbor/models/trajectories/trajectory.py (ATIF-v1.8)
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
from .sessions import Placed, SessionForm, State, count, plain_texts

_DEPTH: Final = 3
_NESTED: Final[Path] = ("subagent_trajectories",)
_TRAJECTORIES: Final = tuple(_NESTED * depth for depth in range(_DEPTH + 1))
_MARK: Final = b'"ATIF-v'


class _Trajectory:
    """One trajectory while its steps are met."""

    def __init__(self, data: JsonObject, ref: EvidenceRef, above: _Trajectory | None) -> None:
        agent = as_dict(data.get("agent"))
        own = text(data.get("trajectory_id"))
        self.conversation: str = above.conversation if above else text(data.get("session_id")) or own or ref.source
        self.prefix: str = f"{above.prefix}{own or ref.offset}:" if above else ""
        name = text(agent.get("name"))
        name = "" if name == "unknown" else name
        self.agent: str = "/".join(part for part in (above.agent if above else "", name) if part)
        self.shared: JsonObject = {"tools": agent.get("tool_definitions"), "model": agent.get("model_name")}
        self.pending: list[EvidenceRef] = []
        self.turn: str | None = None
        self.turns: dict[str, str | None] = {}
        """Inputs of an exported trajectory to the prompts met before them."""
        self.asking = False


class _State(State):
    def __init__(self) -> None:
        self._open: dict[Path, _Trajectory] = {}
        self._several = 0
        self._goes_on: list[str] = []

    def place(self, path: Path, data: JsonObject, ref: EvidenceRef) -> Placed | None:
        if path in _TRAJECTORIES:
            self._open[path] = _Trajectory(data, ref, self._open.get(path[:-1]) if path else None)
            if data.get("continued_trajectory_ref"):
                self._goes_on.append(text(data["continued_trajectory_ref"]))
            return None
        one = self._open.get(path[:-1])
        if one is None:
            return None
        source, told = data.get("source"), ours(data)
        key = f"{one.prefix}{text(data.get('step_id')) or ref.offset}"
        if source == "agent" and data.get("is_copied_context") is not True:
            return self._agent(data, told, one, key)
        one.pending.append(ref)
        if source != "user" or one.asking or data.get("is_copied_context") is True:
            return _placed("told", (key, one.prefix), one)
        one.turn, one.asking = f"prompt:{key}", True
        return _placed("prompt", (key, one.prefix), one)

    def _agent(self, data: JsonObject, told: JsonObject, one: _Trajectory, key: str) -> Placed:
        calls = data.get("llm_call_count")
        self._several += isinstance(calls, int) and calls > 1
        ordinal = told.get("input_ordinal")
        turn = one.turns.setdefault(ordinal, one.turn) if isinstance(ordinal, str) else one.turn
        inputs: tuple[EvidenceRef, ...] = ()
        if calls != 0:
            inputs, one.pending, one.asking = tuple(one.pending), [], False
        keys = (key, one.prefix)
        return _placed("acted" if calls == 0 else "answer", keys, one, inputs, turn, text(told.get("agent_name")))

    def remarks(self) -> Iterator[str]:
        if self._several:
            yield f"{self._several} steps stand for several model calls each, which are not told apart"
        for where in self._goes_on:
            yield f"the run goes on in another file: {where}"


def _placed(
    what: str,
    keys: tuple[str, ...],
    one: _Trajectory,
    inputs: tuple[EvidenceRef, ...] = (),
    turn: str | None = None,
    agent: str = "",
) -> Placed:
    shared: dict[str, Any] = {"conversation_id": one.conversation, "shared": one.shared}
    return Placed(what, keys, inputs=inputs, turn=turn or one.turn, agent_name=agent or one.agent or None, **shared)


def ours(data: JsonObject) -> JsonObject:
    """What an export of this project left under `extra`."""
    return as_dict(as_dict(data.get("extra")).get("otel2traj"))


class AtifTrajectory(SessionForm):
    name = "atif"
    writer = "Harbor and its agents; `otel2traj export --to atif`"
    obtain = "`trajectory.json` in the agent's logs of a Harbor trial"
    tried = "ATIF v1.8 of otel2traj's own exports; v1.7 built after Harbor 0.26.0"
    loses = (
        "a step's time is one moment; requests as sent, response ids, parameters and finish reasons are not in the"
        " file; of what each call was sent, the prompts added since the call before are told, not what it was told of"
        " results; whether a tool succeeded stands in no field; sub-agents in files of their own are runs of their own"
    )
    paths = frozenset((*_TRAJECTORIES, *((*path, "steps") for path in _TRAJECTORIES)))

    def recognises(self, head: Head) -> bool:
        return head.has("schema_version", "agent") and _MARK in head.data

    def state(self) -> State:
        return _State()

    def read(self, data: JsonObject, placed: Placed, ref: EvidenceRef) -> SessionRecord:
        record = placed.record(ref, self.name, parse_ns(data.get("timestamp")))
        results = [as_dict(one) for one in as_list(as_dict(data.get("observation")).get("results"))]
        calls = [as_dict(one) for one in as_list(data.get("tool_calls"))]
        named = {text(one.get("tool_call_id")): one for one in calls}
        key, prefix = placed.keys
        told = [
            _ran(one, named[one["source_call_id"]], f"tool:{prefix}{one['source_call_id']}")
            if one.get("source_call_id") in named
            else _ran(one, {}, f"result:{key}:{number}")
            for number, one in enumerate(results)
        ]
        if placed.what == "answer":
            answer = Told(f"step:{key}", Role.MODEL_CALL, _answer(data, calls, placed.shared), None, placed.inputs)
            answer.end_ns = parse_ns(ours(data).get("ended_at"))
            told.insert(0, answer)
        elif placed.what == "acted":
            ran = {one.get("source_call_id") for one in results}
            told += [_ran({}, named[own], f"tool:{prefix}{own}") for own in named if own not in ran]
        else:
            role = "assistant" if data.get("source") == "agent" else data.get("source")
            record.message = [{"role": role, "content": data.get("message")}]
            if placed.what == "prompt":
                asked: JsonObject = {"input_text": plain_texts(data.get("message"))}
                told.insert(0, Told(f"prompt:{key}", Role.AGENT, asked))
        record.told = tuple(told)
        return record


def _answer(data: JsonObject, calls: list[JsonObject], shared: JsonObject) -> JsonObject:
    told, metrics = ours(data), as_dict(data.get("metrics"))
    output = as_dict(told.get("output"))
    facts: JsonObject = {
        "text": None if "text" in output and output["text"] is None else plain_texts(data.get("message")),
        "reasoning": data.get("reasoning_content"),
        "request_model": shared.get("model"),
        "response_model": data.get("model_name"),
        "tools": shared.get("tools"),
        "finish_reason": told.get("finish_reason"),
        "refusal": output.get("refusal"),
        "other_parts": output.get("other_parts"),
        "is_error": True if told.get("status") == "failed" else None,
        "error": as_dict(output.get("error")).get("message"),
    }
    if data.get("reasoning_effort") is not None:
        facts["parameters"] = {"reasoning_effort": data["reasoning_effort"]}
    if calls:
        facts["tool_calls"] = [
            {"id": _id(one), "name": one.get("function_name"), "arguments": _arguments(one)} for one in calls
        ]
    usage: JsonObject = as_dict(as_dict(metrics.get("extra")).get("otel2traj")) or {
        "input_tokens": count(metrics.get("prompt_tokens")),
        "output_tokens": count(metrics.get("completion_tokens")),
        "cache_read_input_tokens": count(metrics.get("cached_tokens")),
    }
    facts["usage"] = usage if metrics else None
    return facts


def _id(call: JsonObject) -> JsonValue:
    """The call's id, but for one that the export made for a call without any."""
    told = ours(call)
    return told["tool_call_id"] if "tool_call_id" in told else call.get("tool_call_id")


def _arguments(call: JsonObject) -> JsonValue:
    given = call.get("arguments")
    if ours(call).get("arguments") != "not an object":
        return given
    return as_dict(given).get("value")


def _ran(result: JsonObject, call: JsonObject, key: str) -> Told:
    """What came back of a call, or of something done without one."""
    told = ours(result)
    evidence, exit_status = as_dict(told.get("evidence")), as_dict(told.get("exit_status"))
    status = told.get("execution_status") or ours(call).get("execution_status")
    code = exit_status.get("exitCode")
    facts: JsonObject = {
        "tool_call_id": _id(call),
        "tool_name": call.get("function_name"),
        "arguments": _arguments(call),
        "result": result.get("content"),
        "is_error": {"succeeded": False, "error": True}.get(text(status)),
        "no_outcome": True,
        "exit_code": code if isinstance(code, int) and not isinstance(code, bool) else None,
        "error": evidence.get("error") if isinstance(evidence.get("error"), str) else None,
    }
    if result.get("subagent_trajectory_ref") is not None:
        facts["extra"] = {"subagent_trajectory_ref": result["subagent_trajectory_ref"]}
    ran = Told(key, Role.TOOL_EXECUTION, facts)
    ran.start_ns, ran.end_ns = parse_ns(evidence.get("started_at")), parse_ns(evidence.get("ended_at"))
    return ran


ATIF = AtifTrajectory()
