"""The nouns of a conversation: messages, and the parts they are made of.

The names are those of the OpenTelemetry GenAI conventions
(https://github.com/open-telemetry/semantic-conventions/blob/v1.38.0/docs/gen-ai/gen-ai-input-messages.json), and
`to_json` writes their `parts` form. What a recorded part says beyond its fields stays with it as `raw`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from ..canonical import JsonObject, JsonValue


class PartKind(StrEnum):
    TEXT = "text"
    REASONING = "reasoning"
    REFUSAL = "refusal"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    MEDIA = "media"
    OTHER = "other"
    """Nothing a reader knows; `raw` is all there is."""


@dataclass(frozen=True, slots=True)
class Media:
    """An image, a sound, a video or a document. At most one of `data`, `uri` and `file_id` is set; `data` is base64 as
    recorded. None means nothing said."""

    modality: str | None = None
    mime_type: str | None = None
    data: str | None = None
    uri: str | None = None
    file_id: str | None = None
    name: str | None = None

    @property
    def size(self) -> int | None:
        """Bytes that `data` stands for; None without data."""
        if self.data is None:
            return None
        text = self.data.rstrip("=\r\n ")
        return len(text) * 3 // 4


@dataclass(slots=True)
class Part:
    """One part of a message.

    `text` is set for texts, reasoning and refusals (None for reasoning that only its provider can read); `id`, `name`
    and `value` for calls (`value`: arguments, decoded where they were JSON of an object or list) and results (`value`:
    what the tool answered, as recorded; `answer` unwraps it); `media` for media.
    """

    kind: PartKind
    text: str | None = None
    id: str | None = None
    name: str | None = None
    value: JsonValue = None
    media: Media | None = None
    hosted: bool = False
    """A call that the provider ran itself, or its result: no client executes it."""
    is_error: bool | None = None
    """Of a result; None where nothing was said."""
    cut: JsonObject | None = None
    """The stand-in `{"truncated", "size", "sha256", "head"}` where a text was over a limit; `text` is its head."""
    raw: JsonValue = None
    """The recorded part; None where the fields say all, and where another part of the message has it already."""

    def to_json(self) -> JsonObject:
        """The part in the conventions' form; hosted, media and unknown parts as recorded."""
        if self.kind is PartKind.TOOL_CALL and not self.hosted:
            return {"type": "tool_call", "id": self.id, "name": self.name, "arguments": self.value}
        if self.kind is PartKind.TOOL_RESULT and not self.hosted:
            part: JsonObject = {"type": "tool_call_response", "id": self.id, "response": self.answer}
            if self.name is not None:
                part["name"] = self.name
            return part
        if self.text is not None and self.kind in SPOKEN:
            return {"type": self.kind.value, "content": self.text if self.cut is None else self.cut}
        return self.raw if isinstance(self.raw, dict) else {"type": "other", "content": self.raw}

    @property
    def stands(self) -> bool:
        """Whether the part is recorded as one: False for a hosted result that stands inside its call."""
        return self.raw is not None or not (self.hosted or self.kind in (PartKind.MEDIA, PartKind.OTHER))

    @property
    def answer(self) -> JsonValue:
        """What a tool answered: the text where it is one text in whatever wrapping, else the value as recorded."""
        return unwrapped(self.value)

    @property
    def said(self) -> JsonValue:
        """The text, or the stand-in of one that was cut."""
        return self.text if self.cut is None else self.cut

    def rest(self) -> JsonObject:
        """What was recorded of the part beside its fields: signatures, citations, cache marks."""
        if self.kind in (PartKind.MEDIA, PartKind.OTHER) or not isinstance(self.raw, dict):
            return {}
        if self.text is None and self.kind in SPOKEN:
            return {}
        return left(self.raw, _UNDERSTOOD)


SPOKEN: Final = frozenset({PartKind.TEXT, PartKind.REASONING, PartKind.REFUSAL})
_UNDERSTOOD: Final = frozenset(
    {
        "type", "part_kind", "kind", "block_type", "text", "content", "thinking", "reasoning", "summary", "thought",
        "refusal", "id", "call_id", "tool_call_id", "toolCallId", "toolUseId", "tool_use_id", "name", "tool_name",
        "toolName", "function", "custom", "arguments", "args", "input", "parameters", "tool_args", "tool_kwargs",
        "action", "operation", "output", "response", "result", "is_error", "isError", "functionCall", "function_call",
        "functionResponse", "function_response", "toolUse", "toolResult", "tool_call", "tool_call_result",
        "server_tool_call", "server_tool_call_response", "reasoningContent", "reasoning_text", "value", "index",
    }
)  # fmt: skip


def left(value: JsonObject, understood: frozenset[str]) -> JsonObject:
    """The keys of `value` that are not understood and say something."""
    return {key: item for key, item in value.items() if key not in understood and item not in (None, [], {}, "")}


def text_part(content: str) -> Part:
    return Part(PartKind.TEXT, text=content)


def reasoning_part(content: str) -> Part:
    return Part(PartKind.REASONING, text=content)


def tool_call_part(call_id: str | None, name: str | None, arguments: JsonValue) -> Part:
    return Part(PartKind.TOOL_CALL, id=call_id, name=name, value=arguments)


@dataclass(slots=True)
class Message:
    """One message. Roles are `system`, `user`, `assistant` and `tool`; a word of no known role stands as recorded."""

    role: str
    parts: list[Part]
    name: str | None = None
    finish_reason: str | None = None
    at: int | None = None
    """Position of the recorded message among those of its request, from 0; several may come from one."""
    raw: JsonObject | None = None
    """The recorded message, on the last message that was read from it."""
    reported: tuple[tuple[str, str], ...] | None = field(default=None, init=False, compare=False, repr=False)
    """(tool call id, digest of the content) of the tool results in it, once somebody has looked."""
    called: tuple[str, ...] | None = field(default=None, init=False, compare=False, repr=False)
    """Ids of the tool calls in it, once somebody has looked."""
    json: JsonObject | None = field(default=None, init=False, compare=False, repr=False)
    """What `to_json` gave: histories share their messages, and nobody changes one that was written."""

    def to_json(self) -> JsonObject:
        """The message in the conventions' form: the same object on every call."""
        if self.json is None:
            self.json = self._written()
        return self.json

    def _written(self) -> JsonObject:
        out: JsonObject = {"role": self.role, "parts": [part.to_json() for part in self.parts if part.stands]}
        if self.name is not None:
            out["name"] = self.name
        if self.finish_reason is not None:
            out["finish_reason"] = self.finish_reason
        return out

    @property
    def speaker(self) -> str | None:
        """The name that the recorded message gives whoever speaks; a tool's name stands on its result."""
        told = None if self.raw is None or self.role == "tool" else self.raw.get("name")
        return self.name or (told if isinstance(told, str) else None)

    def texts(self) -> list[str]:
        return [part.text for part in self.parts if part.kind is PartKind.TEXT and part.text is not None]

    def rest(self) -> JsonObject:
        """What was recorded of the message beside its fields and parts: ids, statuses, metadata."""
        if self.raw is None:
            return {}
        rest = left(self.raw, _UNDERSTOOD_OF_MESSAGE)
        more = self.raw.get("additional_kwargs")
        if isinstance(more, dict):
            beside = left(more, _UNDERSTOOD_OF_MESSAGE)
            return {**rest, "additional_kwargs": beside} if beside else rest
        return rest


_UNDERSTOOD_OF_MESSAGE: Final = _UNDERSTOOD | {
    "role", "parts", "contents", "blocks", "_content", "items", "tool_calls", "toolCalls", "invalid_tool_calls",
    "reasoning_content", "finish_reason", "message", "lc", "kwargs", "data", "images", "tool_plan", "tool_results",
    "additional_kwargs", "toolInvocations", "experimental_attachments", "audio", "reasoning_details",
}  # fmt: skip


def calls_in(parts: Iterable[Part]) -> list[Part]:
    """The calls that a client is to run."""
    return [part for part in parts if part.kind is PartKind.TOOL_CALL and not part.hosted]


def unwrapped(content: JsonValue) -> JsonValue:
    """What a tool answered: the text where it is one text in whatever wrapping, else the value as recorded."""
    if isinstance(content, dict):
        return _unwrapped_object(content)
    if isinstance(content, list) and len(content) == 1 and isinstance(content[0], dict):
        only = unwrapped(content[0])
        return only if isinstance(only, str) else content
    if isinstance(content, list) and len(content) > 1:
        texts = [unwrapped(item) if isinstance(item, dict) else None for item in content]
        if all(isinstance(text, str) for text in texts):
            return "\n".join(text for text in texts if isinstance(text, str))
    return content


def _unwrapped_object(content: dict[str, Any]) -> JsonValue:
    kind = content.get("type", content.get("block_type"))
    value: JsonValue = content.get("value")
    if "value" in content and set(content) <= {"type", "value"}:
        if kind in ("text", "error-text", "json", "error-json"):
            return value
        if kind == "content":
            return unwrapped(value)
    if set(content) == {"text"} or (kind in _TEXTS and isinstance(content.get("text"), str)):
        return content["text"] if isinstance(content["text"], str) else content
    if set(content) == {"json"}:
        document: JsonValue = content["json"]
        return document
    if kind == "document" and isinstance(content.get("document"), dict) and set(content["document"]) <= {"data", "id"}:
        told: JsonValue = content["document"].get("data")
        return told
    return content


_TEXTS: Final = ("text", "input_text", "output_text")
