"""A step's `input` and `output` become the conversation they tell: the one reading that every room shares."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..canonical import JsonObject, JsonValue
from .blocks import is_cut, read_block, said
from .nested import string
from .parts import Message, Part, PartKind
from .reader import UNKNOWN, read_message, read_system


@dataclass(slots=True)
class Conversation:
    """What a model received and answered. Nothing is raised for any shape; what is unknown is a part of kind OTHER."""

    system: list[Part] = field(default_factory=list)
    """Instructions that stood apart from the messages."""
    messages: list[Message] = field(default_factory=list)
    """In the order recorded; `Message.at` is the position of the recorded message."""
    answer: Message | None = None
    """None where no answer was recorded."""
    choices: list[Message] = field(default_factory=list)
    """All answers, where there were several; the first of them is `answer`."""


def read_conversation(given: JsonObject, output: JsonObject) -> Conversation:
    """The conversation of one step.

    Args:
        given: a step's `input`: `messages` and `system` in any recorded shape.
        output: a step's `output`: `text`, `reasoning`, `refusal`, `tool_calls`, `other_parts`, `choices`.
    """
    return Conversation(
        read_instructions(given.get("system")),
        read_request(given.get("messages")),
        read_answer(output),
        [read_choice(choice) for choice in _objects(output.get("choices"))],
    )


def read_request(value: JsonValue) -> list[Message]:
    """The messages of a request, each recorded one with its position."""
    if value is None:
        return []
    out: list[Message] = []
    for at, item in enumerate(value if isinstance(value, list) else [value]):
        for message in read_recorded(item):
            message.at = at
            out.append(message)
    return out


def read_recorded(value: JsonValue) -> list[Message]:
    """One recorded message, whatever it is: what no shape knows becomes a part of kind OTHER."""
    if isinstance(value, dict) and is_cut(value):
        return [Message(UNKNOWN, [said(PartKind.TEXT, value)])]
    found = read_message(value, stand_ins=True)
    if found or value in (None, "", [], {}):
        return found
    if isinstance(value, dict):
        word = value.get("role")
        part = Part(PartKind.OTHER, raw=value)
        says = any(item not in (None, "", [], {}) for key, item in value.items() if key != "role")
        return [Message(word if isinstance(word, str) and word else UNKNOWN, [part] if says else [])]
    return [Message(UNKNOWN, [Part(PartKind.OTHER, raw=value)])]


def read_instructions(value: JsonValue) -> list[Part]:
    if isinstance(value, dict) and is_cut(value):
        return [said(PartKind.TEXT, value)]
    found = read_system(value)
    return found if found or value in (None, "", [], {}) else [Part(PartKind.OTHER, raw=value)]


def read_answer(output: JsonObject) -> Message | None:
    """The assistant's message that a step's output makes; None where it holds no answer."""
    parts = [
        _spoken(kind, output[kind.value])
        for kind in (PartKind.REASONING, PartKind.TEXT, PartKind.REFUSAL)
        if output.get(kind.value) is not None
    ]
    parts += emitted(output)
    others = output.get("other_parts")
    for item in others if isinstance(others, list) else []:
        parts += read_block(item) if isinstance(item, dict) else [Part(PartKind.OTHER, raw=item)]
    reason = string(output.get("finish_reason"))
    return Message("assistant", parts, finish_reason=reason) if parts or reason is not None else None


def read_choice(choice: JsonObject) -> Message:
    """One of several answers, as `output.choices` keeps them."""
    return read_answer({**choice, "other_parts": choice.get("other_parts")}) or Message("assistant", [])


def emitted(output: JsonObject) -> list[Part]:
    """The calls a step's output emitted, in order: the form is the contract's own `{"id", "name", "arguments"}`."""
    return [
        Part(
            PartKind.TOOL_CALL,
            id=string(call.get("id")),
            name=string(call.get("name")),
            value=call.get("arguments"),
            raw=call,
        )
        for call in _objects(output.get("tool_calls"))
    ]


def _spoken(kind: PartKind, value: JsonValue) -> Part:
    if isinstance(value, str) or is_cut(value):
        return said(kind, value)
    return Part(PartKind.OTHER, raw={kind.value: value})


def _objects(value: JsonValue) -> list[JsonObject]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
