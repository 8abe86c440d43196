"""OpenInference's indexed attributes become messages.

https://github.com/Arize-ai/openinference/blob/python-openinference-semantic-conventions-v0.1.42/spec/semantic_conventions.md
"""

from __future__ import annotations

from typing import Final

from ..messages import Message
from ..messages.flat import has_gap, message_object
from .draft import Draft
from .histories import Told, of_fields

UNKNOWN: Final = "unknown"
"""The role of a message whose role was dropped by an attribute limit."""


def oi_messages(draft: Draft, prefix: str) -> Told:
    """Messages of a family (`llm.input_messages.`), cut where some of them were dropped (the indices have gaps)."""
    indexed = draft.family(prefix)
    out: list[Message] = []
    lost, shared = has_gap(indexed), 0
    asked = prefix == "llm.input_messages."
    for _, fields in indexed:
        fields = {key.removeprefix("message."): value for key, value in fields.items()}
        if asked and "role" not in fields:
            lost = True
            fields["role"] = UNKNOWN
        found = of_fields(fields, None if asked else "assistant", message_object)
        out += found.messages
        shared += found.shared
    return Told(out, lost, shared)
