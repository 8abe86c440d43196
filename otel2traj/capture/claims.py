"""What an attribute claims of the attempt that its item belongs to: the strongest of what a request says."""

from __future__ import annotations

from functools import cache
from typing import Final, NamedTuple

from ..canonical import JsonValue
from ..dialects import conversation_keys
from ..messages.nested import at, decode, ident

ATTEMPT_KEYS: Final = ("otel2traj.attempt.id", "abb.attempt_id")
"""Attributes that name an attempt outright, the stronger first."""
EXPLICIT: Final = len(ATTEMPT_KEYS)
"""Ranks below this name the attempt of the very item that carries them; those above name a conversation."""
BY_TRACE: Final = 1 << 16
"""The rank of a trace id: what an item belongs to when nothing else is known."""


class Claim(NamedTuple):
    """What says which attempt: the rank of the place (see `places`; or `BY_TRACE`), and the id."""

    rank: int
    value: str


class Place(NamedTuple):
    """What an attribute tells: its rank, and the places of ids inside the JSON that it holds, if it is read so."""

    rank: int
    inside: tuple[tuple[int, tuple[str, ...]], ...] = ()


@cache
def places() -> dict[str, Place]:
    """Attributes that name an attempt or a conversation: those of the receiver, then what the dialects declare.

    A lower rank is stronger.
    """
    own: dict[str, int] = {name: rank for rank, name in enumerate(ATTEMPT_KEYS)}
    inside: dict[str, list[tuple[int, tuple[str, ...]]]] = {}
    for rank, (name, way) in enumerate(conversation_keys(), EXPLICIT):
        if way:
            inside.setdefault(name, []).append((rank, way))
        else:
            own.setdefault(name, rank)
    names = own.keys() | inside.keys()
    return {name: Place(own.get(name, BY_TRACE), tuple(inside.get(name, ()))) for name in names}


@cache
def places_by_bytes() -> dict[bytes, Place]:
    return {name.encode(): place for name, place in places().items()}


def better(best: Claim | None, place: Place, value: JsonValue) -> Claim | None:
    """The stronger of what is claimed already and what this value tells."""
    limit = BY_TRACE if best is None else best.rank
    if place.rank < limit:
        text = _plain_text(value)
        if text is not None and text.startswith('"'):  # a producer that writes every value as JSON
            text = ident(decode(text, quoted=True, repair=False).value)
        if text is not None:
            best, limit = Claim(place.rank, text), place.rank
    if place.inside and any(rank < limit for rank, _ in place.inside):
        held = value.get("stringValue") if isinstance(value, dict) else None
        whole = decode(held, repair=False).value if isinstance(held, str) else None
        for rank, way in place.inside:
            told = ident(at(whole, way)) if rank < limit else None
            if told is not None:
                best, limit = Claim(rank, told), rank
    return best


def _plain_text(value: JsonValue) -> str | None:
    """The id in an AnyValue: non-empty text or an integer."""
    if not isinstance(value, dict):
        return None
    text = value.get("stringValue")
    if isinstance(text, str):
        return text.encode("utf-8", "backslashreplace").decode() if text.strip() else None
    number = value.get("intValue")
    return str(number) if isinstance(number, (int, str)) else None


def stronger(of_item: Claim | None, of_resource: Claim | None) -> Claim | None:
    """The claim of lower rank; between equals the item knows better than its resource."""
    if of_item is None or of_resource is None:
        return of_resource if of_item is None else of_item
    return of_resource if of_resource.rank < of_item.rank else of_item
