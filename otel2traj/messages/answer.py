"""What one model call answered: text, reasoning, refusal, calls, finish reason, usage, choices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..canonical import JsonObject, JsonValue
from .parts import SPOKEN, Message, PartKind


@dataclass(slots=True)
class ToolCall:
    """A tool call that a model emitted. `arguments` is the decoded value where the text was JSON, else the text."""

    id: str | None
    name: str | None
    arguments: JsonValue = None
    item_id: str | None = None
    """The id of the item that holds the call, where the API gives it one beside the call's (Responses)."""

    def to_json(self) -> JsonObject:
        return {"id": self.id, "name": self.name, "arguments": self.arguments}


@dataclass(slots=True)
class Usage:
    """Token counts under the GenAI convention's names: input includes cached tokens, output includes reasoning.

    None means nothing was recorded; 0 is an answer. `raw` is the provider's own object as it stood.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    reasoning_output_tokens: int | None = None
    raw: JsonValue = None

    def below_zero(self) -> list[str]:
        """Names of numbers that are no counts; they are kept as recorded and count as nothing."""
        return [name for name in self.__slots__ if name != "raw" and (getattr(self, name) or 0) < 0]

    def to_json(self) -> JsonObject:
        out: JsonObject = {}
        for name in (
            "input_tokens",
            "output_tokens",
            "cache_read_input_tokens",
            "cache_creation_input_tokens",
            "reasoning_output_tokens",
        ):
            value = getattr(self, name)
            if value is not None and value >= 0:
                out[name] = value
        raw = self.raw
        if raw is None and self.below_zero():
            raw = {name: getattr(self, name) for name in self.below_zero()}
        if raw is not None:
            out["raw"] = raw
        return out

    def is_empty(self) -> bool:
        return not self.to_json()


@dataclass(slots=True)
class Output:
    """What one model call answered. Several choices: the first one fills the fields, all stand in `choices`."""

    text: str | None = None
    reasoning: str | None = None
    tool_calls: list[ToolCall] = field(default_factory=list)
    finish_reason: str | None = None
    usage: Usage | None = None
    model: str | None = None
    refusal: str | None = None
    choices: list[JsonObject] | None = None
    """`{"index", "text", "reasoning"?, "refusal"?, "tool_calls", "finish_reason", "other_parts"?}` a choice."""
    other_parts: list[JsonObject] = field(default_factory=list)
    """Hosted tool calls and results, media and whatever else stood in the answer, as recorded."""
    extra: JsonObject = field(default_factory=dict)
    """What stood in the body about the answer and is no part of it, by its JSON pointer in the (merged) body:
    fingerprints, service tiers, log probabilities, signatures, filter results."""
    repeated_keys: list[str] = field(default_factory=list)
    """Keys that stand twice in the arguments of a call; the last one stands."""

    def all_tool_calls(self) -> list[ToolCall]:
        """The tool calls of every choice, those of the first before those of the others."""
        return all_tool_calls(self.tool_calls, self.choices)

    def has_anything(self) -> bool:
        """Whether any part of an answer is there."""
        said = (self.text, self.reasoning, self.refusal)
        return any(value is not None for value in said) or bool(self.tool_calls) or bool(self.other_parts)


def all_tool_calls(first: list[ToolCall], choices: list[JsonObject] | None) -> list[ToolCall]:
    """The tool calls of the first choice, then those that the other choices emitted."""
    rest = [call for choice in (choices or ())[1:] for call in choice.get("tool_calls") or ()]
    if not rest:
        return first
    return [*first, *(ToolCall(call.get("id"), call.get("name"), call.get("arguments")) for call in rest)]


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
        out = Output()
        put_choices(out, [(index, _single([answer])) for index, answer in enumerate(answers)])
        return out
    return _single(answers)


def _single(answers: Sequence[Message]) -> Output:
    out = Output()
    found: dict[PartKind, list[str]] = {kind: [] for kind in SPOKEN}
    for answer in answers:
        if out.finish_reason is None:
            out.finish_reason = answer.finish_reason
        for part in answer.parts:
            if part.text is not None and part.kind in SPOKEN:
                found[part.kind].append(part.text)
            elif part.kind is PartKind.TOOL_CALL and not part.hosted:
                out.tool_calls.append(ToolCall(part.id, part.name, part.value))
            elif part.stands:
                out.other_parts.append(part.to_json())
    out.text = "".join(found[PartKind.TEXT]) or None
    out.reasoning = "\n".join(found[PartKind.REASONING]) or None
    out.refusal = "".join(found[PartKind.REFUSAL]) or None
    return out


def put_choices(out: Output, choices: Sequence[tuple[int, Output]]) -> None:
    """Fill an output from the choices of one answer, each with its index: the first is the answer, and where there are
    several, all are listed."""
    if not choices:
        return
    first = choices[0][1]
    out.text, out.reasoning, out.refusal = first.text, first.reasoning, first.refusal
    out.tool_calls, out.finish_reason, out.other_parts = first.tool_calls, first.finish_reason, first.other_parts
    if len(choices) > 1:
        out.choices = [_choice(index, choice) for index, choice in choices]


def _choice(index: int, output: Output) -> JsonObject:
    choice: JsonObject = {"index": index, "text": output.text}
    if output.reasoning is not None:
        choice["reasoning"] = output.reasoning
    if output.refusal is not None:
        choice["refusal"] = output.refusal
    choice["tool_calls"] = [call.to_json() for call in output.tool_calls]
    choice["finish_reason"] = output.finish_reason
    if output.other_parts:
        choice["other_parts"] = output.other_parts
    return choice
