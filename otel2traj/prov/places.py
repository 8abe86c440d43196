"""Places in a cited range, and what stands there: JSON pointers into it, bytes of it where it is no JSON.

Nothing is observed that no cited byte holds. A place is `[number of the source, pointer, …]`: RFC 6901 pointers, each
after the first into the JSON text that stands where the one before leads; in a range that is no JSON
`[number of the source, offset, length]`, bytes within the range.
"""

from __future__ import annotations

import json
from typing import Any, Final, Protocol

from ..anyvalue import FIELDS, decode_any
from ..canonical import WRITTEN_DEPTH, JsonObject, canonical_bytes, loads_text, loads_tolerant

Place = list[int | str]


class Opens(Protocol):
    """Opens sources: the (inflated) bytes of a range, and the size of a whole source; None where there is nothing."""

    def __call__(self, path: str, offset: int, length: int, /) -> bytes | None: ...

    def size(self, path: str, /) -> int | None: ...


def by_whom(source: JsonObject) -> str:
    """Who wrote a cited record down: the wire interceptor, the protocol client, the harness, a configuration file, or
    else the agent's own telemetry."""
    what = str(source.get("what")).partition("_")[0]
    if what in ("request", "response", "error"):
        return "interceptor"
    if what in ("acp", "terminal"):
        return "client"
    if what == "file":
        return "config" if str(source.get("path")).rpartition("/")[2] in ("run.json", "case.json") else "harness"
    return "source"


class Range:
    """The bytes of one cited range, decoded once when first asked for a JSON pointer."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._roots: list[Any] = []

    def at(self, place: Place) -> Any:
        """What stands at a place (without the number of its source). Raises `LookupError` where nothing does."""
        if place and isinstance(place[0], int):
            start, length = int(place[0]), int(place[1])
            if start < 0 or length < 0 or start + length > len(self.data):
                raise LookupError("no such bytes")
            return self.data[start : start + length].decode("utf-8", "surrogateescape")
        try:
            if not self._roots:
                self._roots.append(loads_tolerant(self.data, WRITTEN_DEPTH)[0])
            value = self._roots[0]
            for number, pointer in enumerate(place):
                if number:
                    value = loads_text(value)
                for key in str(pointer).split("/")[1:]:
                    key = key.replace("~1", "/").replace("~0", "~")
                    value = value[int(key)] if isinstance(value, list) else value[key]
        except (ValueError, TypeError, KeyError, IndexError) as err:
            raise LookupError(str(place)) from err
        return value

    def span(self, place: Place) -> tuple[int, int]:
        """Where in the range the (outermost) value of a place begins and ends, in bytes. Raises `LookupError`."""
        if place and isinstance(place[0], int):
            return int(place[0]), int(place[0]) + int(place[1])
        text = self.data.decode("utf-8", "surrogateescape")
        keys = [key.replace("~1", "/").replace("~0", "~") for key in str(place[0] if place else "").split("/")[1:]]
        try:
            start, end = _walk(text, keys)
        except (ValueError, IndexError, RecursionError) as err:
            raise LookupError(str(place)) from err
        before = len(text[:start].encode("utf-8", "surrogateescape"))
        return before, before + len(text[start:end].encode("utf-8", "surrogateescape"))


def _walk(text: str, keys: list[str]) -> tuple[int, int]:
    """Start and end of the value below the keys in a JSON text; of equal keys the last one counts."""
    start = _skip(text, 0)
    for key in keys:
        found, at, number = -1, _skip(text, start + 1), 0
        listed = text[start] == "["
        while text[at] not in "]}":
            name = str(number)
            if not listed:
                name, at = _DECODER.raw_decode(text, at)
                at = _skip(text, _skip(text, at) + 1)
            found = at if name == key else found
            at = _skip(text, _DECODER.raw_decode(text, at)[1])
            at = _skip(text, at + 1) if text[at] == "," else at
            number += 1
        if found < 0:
            raise IndexError(key)
        start = found
    return start, _DECODER.raw_decode(text, start)[1]


def _skip(text: str, at: int) -> int:
    while text[at : at + 1] in (" ", "\t", "\n", "\r"):
        at += 1
    return at


_DECODER: Final = json.JSONDecoder(strict=False)


def same(recorded: Any, claimed: Any) -> bool:
    """Whether what stands in the bytes is what is claimed: the same JSON, under OTLP's typed values too."""
    for one in (recorded, typed(recorded)):
        if type(one) is type(claimed) and one == claimed:
            return not isinstance(one, (dict, list)) or canonical_bytes(one) == canonical_bytes(claimed)
    return False


def typed(value: Any) -> Any:
    """An OTLP `AnyValue` as the value that it holds; everything else as it is."""
    return decode_any(value) if isinstance(value, dict) and len(value) == 1 and value.keys() <= FIELDS else value


def together(places: list[Place]) -> Place | None:
    """The smallest place that holds all of them, or None where they stand in several records."""
    if not places or len({one[0] for one in places}) > 1:
        return None
    if not all(isinstance(one, str) for place in places for one in place[1:]):
        return places[0] if all(one == places[0] for one in places) else None
    out: Place = [places[0][0]]
    for level in zip(*(place[1:] for place in places), strict=False):
        keys = [str(pointer).split("/") for pointer in level]
        shared = 0
        while shared < min(map(len, keys)) and len({one[shared] for one in keys}) == 1:
            shared += 1
        out.append("/".join(keys[0][:shared]))
        if len(set(level)) > 1:
            break
    return out
