"""The messages of an answer become its output: text, reasoning, refusal, calls, finish reason, choices."""

from __future__ import annotations

from collections.abc import Sequence

from ..canonical import JsonObject
from ..model.message import Message, Output, ToolCall

_TEXTS = ("text", "reasoning", "refusal")


def output_of(messages: Sequence[Message], *, choices: bool | None = None) -> Output | None:
    """One output from the assistant's messages, or None where there are none.

    Several messages are choices where `choices` says so, or, where it is None, when each has a finish reason of its
    own; else they are one answer told in pieces.
    """
    answers = [message for message in messages if message.role not in ("user", "system", "tool")]
    if not answers:
        return None
    if choices is None:
        choices = len(answers) > 1 and all(answer.finish_reason is not None for answer in answers)
    if choices and len(answers) > 1:
        outputs = [_single([answer]) for answer in answers]
        first = outputs[0]
        first.choices = [_choice(index, output) for index, output in enumerate(outputs)]
        return first
    return _single(answers)


def _single(answers: Sequence[Message]) -> Output:
    out = Output()
    found: dict[str, list[str]] = {kind: [] for kind in _TEXTS}
    for answer in answers:
        if out.finish_reason is None:
            out.finish_reason = answer.finish_reason
        for part in answer.parts:
            kind = part.get("type")
            content = part.get("content")
            if kind in _TEXTS and isinstance(content, str):
                found[kind].append(content)
            elif kind == "tool_call" and not part.get("builtin"):
                out.tool_calls.append(ToolCall(part.get("id"), part.get("name"), part.get("arguments")))
            else:
                out.other_parts.append(part)
    out.text = "".join(found["text"]) or None
    out.reasoning = "\n".join(found["reasoning"]) or None
    out.refusal = "".join(found["refusal"]) or None
    return out


def _choice(index: int, output: Output) -> JsonObject:
    choice: JsonObject = {"index": index, "text": output.text}
    if output.reasoning is not None:
        choice["reasoning"] = output.reasoning
    if output.refusal is not None:
        choice["refusal"] = output.refusal
    choice["tool_calls"] = [call.to_json() for call in output.tool_calls]
    choice["finish_reason"] = output.finish_reason
    return choice
