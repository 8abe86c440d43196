"""What session files tell of one call, execution or prompt becomes a reading; the form of the file is who said it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from ..canonical import JsonObject
from ..messages import Message, ToolCall, Usage
from ..messages.answer import output_of
from ..messages.reader import read_messages
from ..model.reading import Reading, Role
from ..model.session import SessionRecord, Told
from .bodies import usage_of
from .draft import Draft

_JOINED: Final = {"text": "", "reasoning": "\n"}
_GATHERED: Final = ("tool_calls", "other_parts", "answers")
_COUNTS: Final = tuple(name for name in Usage.__slots__)


def read_session(key: str, records: Iterable[tuple[str, SessionRecord]]) -> Reading:
    """One head from its records, each with what it is: `input` for what a call was sent, `session` for the rest."""
    records = list(records)
    told = list(_told(key, records))
    form = next((record.form for what, record in records if what == "session"), "session")
    draft = Draft(form, {}, told[0].role if told else None)
    messages: list[Message] = []
    for what, record in records:
        if what == "input" and record.message is not None:
            messages.extend(read_messages(record.message))
    facts = _merged(told)
    if draft.role is Role.MODEL_CALL:
        given = facts.pop("messages", None)
        messages = read_messages(given) if given is not None else messages
        draft.put_messages(messages)
        if given is None and messages:
            draft.reading.extra["input_messages_delta"] = True
    for name, value in facts.items():
        if name == "usage":
            draft.put_usage(_usage(value))
        elif name == "tool_calls":
            draft.put(name, [ToolCall(one.get("id"), one.get("name"), one.get("arguments")) for one in value])
        elif name == "answers":
            draft.put_output(output_of(read_messages(value, "assistant"), choices=False))
        elif name == "counts":
            draft.put_usage(usage_of(value))
        elif name == "no_outcome":
            draft.reading.no_outcome = value
        elif name == "extra":
            draft.reading.extra.update(value)
        else:
            draft.put(name, value)
    conversation = next((record.conversation_id for what, record in records if what == "session"), None)
    draft.put("conversation_id", conversation)
    return draft.reading


def _told(key: str, records: Iterable[tuple[str, SessionRecord]]) -> Iterator[Told]:
    """In the order of the file; of one unit the last word, at the place of the first."""
    units: dict[str, Told] = {}
    for number, (what, record) in enumerate(records):
        for told in record.told if what == "session" else ():
            if told.key == key:
                units[told.unit or f"\0{number}"] = told
    yield from units.values()


def _merged(told: Iterable[Told]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for one in told:
        for name, value in one.facts.items():
            if value is None:
                continue
            if name in _JOINED and name in out:
                out[name] = f"{out[name]}{_JOINED[name]}{value}"
            elif name in _GATHERED and name in out:
                out[name] = [*out[name], *value]
            elif name == "extra" and name in out:
                out[name] = {**out[name], **value}
            else:
                out[name] = value
    return out


def _usage(counts: JsonObject) -> Usage:
    """Counts under the convention's names, with `raw` beside them."""
    return Usage(**{name: counts[name] for name in _COUNTS if counts.get(name) is not None})
