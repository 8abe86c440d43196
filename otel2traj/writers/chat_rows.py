"""Training rows: one conversation a line in the OpenAI chat form, and a reason for every step that makes none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from ..canonical import JsonObject, JsonValue, dumps, sha256_canonical
from ..model.trajectory import Header, Step, StepKind, StepSink, StepStatus, Summary
from .base import Reject
from .chat_messages import answer_of, arguments_object, chat_of, has_cut, tools_of

_COMMON = (
    "One row a conversation: a step whose request repeats an earlier one of the same agent and its answer replaces it.",
    "Agent names, times, usage, links and evidence; tool results are those the model was told, not the executions.",
    "Steps that make no valid row; each is in the reject list with its reason.",
    "Tools that are no functions, request parameters but the tools.",
    "Base64 in tool results, which the form has no place for: a line with type, size and digest stands for it.",
)


class OpenAIChatRows:
    name = "openai-chat"
    title = "OpenAI chat fine-tuning rows with tools; arguments as JSON text."
    suffix = ".jsonl"
    losses = (*_COMMON, "Reasoning, which the fine-tuning form has no field for.")

    def sink(self, out: BinaryIO) -> StepSink:
        return ChatRowSink(out, trl=False)


class TrlRows:
    name = "trl"
    title = "TRL conversational rows with tools; arguments as objects, reasoning as `reasoning_content`."
    suffix = ".jsonl"
    losses = _COMMON

    def sink(self, out: BinaryIO) -> StepSink:
        return ChatRowSink(out, trl=True)


@dataclass(slots=True)
class _Pending:
    step_id: int
    digests: list[str]
    answer: JsonValue
    row: JsonObject

    def is_repeated(self, messages: list[JsonObject], digests: list[str]) -> bool:
        """Whether a later request holds all of this row: its messages, and its answer after them."""
        at = len(self.digests)
        return digests[:at] == self.digests and len(messages) > at and _said(messages[at]) == self.answer


class ChatRowSink:
    """Holds one row an agent, the longest of the conversation so far, until a step begins another."""

    def __init__(self, out: BinaryIO, *, trl: bool) -> None:
        self._out = out
        self._trl = trl
        self._pending: dict[str | None, _Pending] = {}
        self._rejects: list[Reject] = []

    def begin(self, header: Header) -> None:
        self._run_id = header.run_id

    def step(self, step: Step) -> None:
        if step.kind is not StepKind.MODEL:
            self._reject(step, "tool_only", "an execution that no recorded model call asked for")
            return
        if step.status is not StepStatus.COMPLETE:
            self._reject(step, "no_answer", f"the step is {step.status}")
            return
        if not isinstance(step.input.get("messages"), list):
            self._reject(step, "messages_unknown", "the request was not recorded, or it was cut")
            return
        chat = chat_of(step.input)
        if chat.problems:
            self._reject(step, "unsupported_content", ", ".join(sorted(set(chat.problems))))
            return
        if has_cut(step.output):
            self._reject(step, "unsupported_content", "output.truncated")
            return
        answer = answer_of(step.output)
        if isinstance(step.output.get("reasoning"), str):
            answer["reasoning_content"] = step.output["reasoning"]
        problem = _invalid([*chat.messages, answer])
        if problem is not None:
            self._reject(step, *problem)
            return
        self._hold(step, chat.messages, answer)

    def end(self, summary: Summary) -> None:
        for pending in sorted(self._pending.values(), key=lambda one: one.step_id):
            self._out.write(dumps(pending.row) + b"\n")
        self._pending.clear()

    def rejects(self) -> list[Reject]:
        """Every step that made no row, in order; complete after `end`."""
        return self._rejects

    def _reject(self, step: Step, reason: str, detail: str) -> None:
        self._rejects.append(Reject(step.step_id, reason, detail))

    def _hold(self, step: Step, messages: list[JsonObject], answer: JsonObject) -> None:
        digests = [sha256_canonical(message) for message in messages]
        held = self._pending.pop(step.agent_name, None)
        if held is not None and not held.is_repeated(messages, digests):
            self._out.write(dumps(held.row) + b"\n")
        said = [*messages, answer]
        row: JsonObject = {"messages": [self._message(message) for message in said]}
        tools, _ = tools_of(step.input.get("tools"))
        if tools:
            row["tools"] = tools
            parameters = step.input.get("parameters")
            parallel = parameters.get("parallel_tool_calls") if isinstance(parameters, dict) else None
            if isinstance(parallel, bool) and not self._trl:
                row["parallel_tool_calls"] = parallel
        self._pending[step.agent_name] = _Pending(step.step_id, digests, _said(answer), row)

    def _message(self, message: JsonObject) -> JsonObject:
        out = {key: value for key, value in message.items() if key != "reasoning_content" or self._trl}
        if not self._trl:
            return out
        calls = out.get("tool_calls")
        if calls:
            out["tool_calls"] = [_with_object(call) for call in calls]
        if out.get("content") is None:
            out["content"] = ""
        return out


def _said(message: JsonObject) -> JsonValue:
    """What a message says, in whatever way it was written: role, text, calls with their arguments."""
    content = message.get("content")
    if isinstance(content, list) and all(isinstance(part, dict) and part.get("type") == "text" for part in content):
        content = "".join(str(part.get("text")) for part in content)
    calls = [
        [call.get("id"), call["function"].get("name"), arguments_object(call["function"].get("arguments"))]
        for call in message.get("tool_calls") or []
    ]
    return [message.get("role"), content or None, calls]


def _with_object(call: JsonObject) -> JsonObject:
    function = call["function"]
    arguments: JsonValue = arguments_object(function["arguments"])
    return {**call, "function": {**function, "arguments": function["arguments"] if arguments is None else arguments}}


def _invalid(messages: list[JsonObject]) -> tuple[str, str] | None:
    """Why the conversation is no valid row: every call must have an id and be answered before the next turn."""
    answer = messages[-1]
    if answer.get("content") is None and not answer.get("tool_calls") and answer.get("refusal") is None:
        return "no_answer", "neither text, refusal nor tool call was recorded"
    for call in _calls(messages):
        if not isinstance(call.get("id"), str):
            return "tool_call_without_id", f"a call of {call['function'].get('name')!r} has no id"
    open_calls: list[str] = []
    for message in messages:
        if message.get("role") == "tool":
            call_id = message.get("tool_call_id")
            if call_id not in open_calls:
                return "result_without_call", f"a result names {call_id!r}, which no open call has"
            open_calls.remove(call_id)
        elif open_calls:
            return "unanswered_tool_call", f"no result for {', '.join(open_calls)} before the next message"
        else:
            open_calls = [call["id"] for call in message.get("tool_calls") or []]
    return None


def _calls(messages: list[JsonObject]) -> Iterator[JsonObject]:
    for message in messages:
        yield from message.get("tool_calls") or []
