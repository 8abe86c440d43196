"""What an agent or a chain was asked and answered, out of the state objects that frameworks record for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ..canonical import JsonValue, dumps
from ..messages import Message
from ..messages.blobs import fold
from ..messages.nested import REDACTED, decode
from ..messages.reader import read_messages
from ..model.reading import Reading, Role

_STATES: Final = ("messages", "inputs", "outputs", "input", "output", "update", "prompt", "query", "question", "result")
_DEPTH: Final = 4


def asked(value: JsonValue) -> str | None:
    """The user's words in a recorded input: the last user message of a state, or the text as it stands."""
    return _told(value, "user")


def answered(value: JsonValue) -> str | None:
    """The last of the assistant's words in a recorded output, or the text as it stands."""
    return _told(value, "assistant")


def _told(value: JsonValue, role: str) -> str | None:
    if isinstance(value, str) and (not value or value in REDACTED):
        return None
    given = decode(value, repair=False).value
    found = _dig(given, role, 0)
    if found is not None:
        return found
    folded = fold(given)
    if folded is not given and not isinstance(folded, str):
        return dumps(folded).decode("utf-8")
    return value if isinstance(value, str) else None


def _dig(value: JsonValue, role: str, depth: int) -> str | None:
    if depth > _DEPTH:
        return None
    if isinstance(value, str):
        return value if depth > 0 and value else None
    if isinstance(value, list):
        if all(isinstance(item, str) for item in value):
            return None  # reprs of message objects: left as recorded
        found = text_of(read_messages(value, role), role)
        if found is not None or not value:
            return found
        return _dig(value[-1], role, depth + 1) if isinstance(value[-1], dict) else None
    if not isinstance(value, dict):
        return None
    for key in _STATES:
        if isinstance(value.get(key), (list, dict)) or (key != "messages" and isinstance(value.get(key), str)):
            found = _dig(value[key], role, depth + 1)
            if found is not None:
                return found
    if "role" in value or "type" in value:
        return text_of(read_messages(value), role)
    return None


def text_of(messages: Sequence[Message], role: str) -> str | None:
    """The text of the last message of a role that has some."""
    for message in reversed(messages):
        if message.role == role:
            texts = message.texts()
            if texts:
                return "\n".join(texts)
    return None


def settle(reading: Reading) -> None:
    """An agent's or chain's messages say what it was asked and answered, where nothing said it as such."""
    if reading.role not in (Role.AGENT, Role.CHAIN):
        return
    if reading.input_text is None and reading.messages:
        reading.input_text = text_of(reading.messages, "user")
        if reading.input_text is not None and "messages" in reading.said_by:
            reading.said_by["input_text"] = reading.said_by["messages"]
    if reading.output_text is None and reading.text is not None:
        reading.output_text = reading.text
        if "text" in reading.said_by:
            reading.said_by["output_text"] = reading.said_by["text"]
