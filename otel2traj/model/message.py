"""Parts of speech, in the shapes of the OpenTelemetry GenAI conventions.

Messages read from spans and logs are given in the conventions' `parts` form
(https://github.com/open-telemetry/semantic-conventions/blob/v1.38.0/docs/gen-ai/gen-ai-input-messages.json);
messages of a wire payload stay as they were sent.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..canonical import JsonObject, JsonValue


def text_part(content: str) -> JsonObject:
    return {"type": "text", "content": content}


def reasoning_part(content: str) -> JsonObject:
    return {"type": "reasoning", "content": content}


def refusal_part(content: str) -> JsonObject:
    return {"type": "refusal", "content": content}


def tool_call_part(call_id: str | None, name: str | None, arguments: JsonValue) -> JsonObject:
    return {"type": "tool_call", "id": call_id, "name": name, "arguments": arguments}


def tool_call_response_part(call_id: str | None, response: JsonValue, name: str | None = None) -> JsonObject:
    part: JsonObject = {"type": "tool_call_response", "id": call_id, "response": response}
    if name is not None:
        part["name"] = name
    return part


@dataclass(slots=True)
class Message:
    """One message. `parts` are objects with a `type`; a type the conventions do not know is kept as recorded."""

    role: str
    parts: list[JsonObject]
    name: str | None = None
    finish_reason: str | None = None
    reported: tuple[tuple[str, str], ...] | None = field(default=None, compare=False, repr=False)
    """(tool call id, digest of the content) of the tool results in it, once somebody has looked."""

    def to_json(self) -> JsonObject:
        out: JsonObject = {"role": self.role, "parts": self.parts}
        if self.name is not None:
            out["name"] = self.name
        if self.finish_reason is not None:
            out["finish_reason"] = self.finish_reason
        return out


@dataclass(slots=True)
class ToolCall:
    """A tool call that a model emitted. `arguments` is the decoded value where the text was JSON, else the text."""

    id: str | None
    name: str | None
    arguments: JsonValue = None

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
            if value is not None:
                out[name] = value
        if self.raw is not None:
            out["raw"] = self.raw
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
    """`{"index", "text", "reasoning"?, "refusal"?, "tool_calls", "finish_reason"}` a choice, when there are several."""
    other_parts: list[JsonObject] = field(default_factory=list)
    """Hosted tool calls and results, media and whatever else stood in the answer, as recorded."""

    def has_anything(self) -> bool:
        """Whether any part of an answer is there."""
        said = (self.text, self.reasoning, self.refusal)
        return any(value is not None for value in said) or bool(self.tool_calls) or bool(self.other_parts)
