"""An answer that was recorded as the representation of a client's object: its fields, never the writing as a text."""

from __future__ import annotations

from ..messages.represented import represented
from ..model.reading import Reading
from .bodies import read_response
from .draft import OUTPUT_FIELDS, Draft, fill_usage


def unrepresent(reading: Reading) -> None:
    """Puts what a representation says in the place of the text that it stood for. One that is not read (cut, a stream
    or a generator) stays among the other parts of the answer, as recorded."""
    text, said = reading.text, reading.said_by.pop("text", None)
    reading.text = None
    draft = Draft(said or "", {})
    read_response(draft, None if text is None else represented(text))
    found = draft.reading
    for field in (*OUTPUT_FIELDS, "response_id", "response_model"):
        value = getattr(found, field)
        if value and not getattr(reading, field):
            setattr(reading, field, value)
            if said is not None:
                reading.said_by[field] = said
    if found.usage is not None:
        if reading.usage is None:
            reading.usage = found.usage
        else:
            fill_usage(reading.usage, found.usage)
    if not found.has_output():
        reading.other_parts = [*(reading.other_parts or []), {"type": "representation", "value": text}]
