"""A reading while one dialect fills it: the first value of a field stays, with the name of whoever said it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..canonical import JsonValue
from ..messages import Message, Output, Usage
from ..messages.flat import Family, families
from ..messages.nested import Decoded, at, decode
from ..model.evidence import Notice
from ..model.reading import Reading, Role

OUTPUT_FIELDS = ("text", "reasoning", "refusal", "tool_calls", "finish_reason", "choices", "other_parts")
TEXTS = frozenset(
    {
        "request_model", "response_model", "provider", "response_id", "text", "reasoning", "refusal", "finish_reason",
        "purpose", "tool_name", "tool_call_id", "error", "agent_name", "conversation_id", "input_text", "output_text",
    }
)  # fmt: skip
"""Fields of a reading that are texts."""


class Draft:
    """What one dialect says of one span. JSON attributes are decoded once a draft."""

    __slots__ = ("_decoded", "_families", "attributes", "dialect", "reading")

    def __init__(self, dialect: str, attributes: Mapping[str, Any], role: Role | None = None) -> None:
        self.dialect = dialect
        self.attributes = attributes
        self.reading = Reading(role=role)
        self._decoded: dict[str, Decoded] = {}
        self._families: dict[str, Family] | None = None

    @property
    def role(self) -> Role | None:
        return self.reading.role

    def put(self, field: str, value: Any, carrier: str | None = None) -> None:
        """Sets a field that is still empty; None says nothing. `carrier` is where it stood, when not an attribute.

        A value of another kind than the field's is a notice, and the field stays empty for the next dialect.
        """
        if value is None:
            return
        reading = self.reading
        if getattr(reading, field) is None:
            if type(value) is not str and field in TEXTS and not isinstance(value, str):
                told = f"{self.dialect}: {field} is no text but of type {type(value).__name__}"
                reading.notices.append(Notice("unreadable_value", told, lossy=False))
                return
            setattr(reading, field, value)
            reading.said_by[field] = self.dialect if carrier is None else f"{self.dialect}:{carrier}"

    def put_usage(self, usage: Usage | None, carrier: str | None = None) -> None:
        """Fills the counts that are still empty."""
        if usage is None or usage.is_empty():
            return
        have = self.reading.usage
        if have is None:
            self.put("usage", usage, carrier)
        else:
            fill_usage(have, usage)

    def put_output(self, output: Output | None, carrier: str | None = None) -> None:
        """Spreads a model's answer over the fields."""
        if output is None:
            return
        for field in OUTPUT_FIELDS:
            value = getattr(output, field)
            if field in ("tool_calls", "other_parts") and not value:
                continue
            self.put(field, value, carrier)
        self.put_usage(output.usage, carrier)
        self.put("response_model", output.model, carrier)

    def put_messages(self, messages: list[Message] | None, carrier: str | None = None) -> None:
        if messages:
            self.put("messages", messages, carrier)

    def cut(self, *fields: str) -> None:
        """Marks fields as shortened by an attribute limit."""
        self.reading.truncated.update(fields)

    def json(self, key: str, *fields: str, quoted: bool = False) -> JsonValue:
        """The decoded attribute; `fields` are marked as cut where its JSON was."""
        found = self._decoded.get(key)
        if found is None:
            found = self._decoded[key] = decode(self.attributes.get(key), quoted=quoted)
        if found.cut:
            self.cut(*fields)
        return found.value

    def family(self, prefix: str) -> Family:
        """The indexed flat attributes that begin with `prefix`, which ends in a dot."""
        if self._families is None:
            self._families = families(self.attributes)
        return self._families.get(prefix, [])

    def at(self, key: str, path: tuple[str, ...], *fields: str) -> JsonValue:
        """The value at a path inside a JSON attribute, or the attribute itself for an empty path."""
        if not path:
            return self.attributes.get(key)
        return at(self.json(key, *fields), path)


def fill_usage(have: Usage, more: Usage) -> None:
    """Adds the counts that `have` lacks."""
    for name in Usage.__slots__:
        if getattr(have, name) is None:
            setattr(have, name, getattr(more, name))
