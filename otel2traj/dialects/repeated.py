"""What a record named twice: the last stands, and a reading keeps what was recorded beside it."""

from __future__ import annotations

from ..anyvalue import LazyAttributes, OddAttributes
from ..model.evidence import EvidenceRef, Notice, SpanRecord
from ..model.reading import Reading


def tell_repeated(reading: Reading, repeated: list[tuple[str, str]], ref: EvidenceRef, span_id: str) -> None:
    """JSON texts that name a key twice, as `RepeatedKeys` collected them."""
    if not repeated:
        return
    reading.extra["repeated_keys"] = [*reading.extra.get("repeated_keys", ()), *(text for _, text in repeated)]
    for key in dict.fromkeys(key for key, _ in repeated):
        message = f"a text of span {span_id} names {key!r} twice in one object; the last stands"
        reading.notices.append(Notice("repeated_key", message, ref.source, ref.line))


def keep_repeated(reading: Reading, span: SpanRecord) -> None:
    """The earlier values of attributes that stand twice in the list of a span; the first pass tells of them."""
    attributes = span.attributes.plain() if isinstance(span.attributes, LazyAttributes) else span.attributes
    if isinstance(attributes, OddAttributes) and attributes.repeated:
        reading.extra["repeated_attributes"] = attributes.repeated
