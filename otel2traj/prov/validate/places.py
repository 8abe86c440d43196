"""Tier 5, last step: what an AER says was observed, against what stands at the places that it gives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from ...canonical import JsonObject
from ...model.finding import Finding
from ..places import Range, same
from ..plain import plain
from ..sem import read_lines, strings
from ..tree import Tree
from .fields import REFERENCES

_LABEL: Final = "acct-"
_KEPT: Final = 4
"""Decoded ranges that are kept: records that follow each other cite the same ones."""
_CALL: Final = ("call_id", "name", "arguments")


def _claims(record: JsonObject) -> Iterator[tuple[str, JsonObject, list[Any]]]:
    """(pointer, how, values that stand there) of all that is observed; a reference only has a place."""
    name = str(record.get("id"))
    for field, how in (record.get("fields") or {}).items():
        if how.get("class") == "O" and field != "parts":
            reference = (record.get("kind"), field) in REFERENCES
            yield f"{name}/{field}", how, [] if reference else [record.get(field)]
    for part in record.get("parts") or ():
        if part.get("class") == "O":
            call = part.get("type") == "tool_call"
            held = [part.get(key) for key in _CALL] if call else [part.get("content")]
            yield str(part.get("id")), part, [one for one in held if one is not None]


def validate_places(lines: Iterable[bytes], read: Callable[[str, int, int], bytes | None]) -> Iterator[Finding]:
    """Findings `linkage.place`. What was redacted cannot be compared: only that its place is there."""
    opened: dict[tuple[str, int, int], Range | None] = {}
    for record in read_lines(lines):
        sources = record.get("source")
        for pointer, how, values in _claims(record):
            try:
                source = (sources or [])[how["at"][0]]
                key = (str(source["path"]), int(source["offset"]), int(source["length"]))
                if key not in opened:
                    data = read(*key)
                    opened = {**dict(list(opened.items())[1 - _KEPT :]), key: None if data is None else Range(data)}
                cited = opened[key]
                held = None if cited is None else cited.at(how["at"][1:])
            except (LookupError, TypeError, KeyError) as err:
                yield Finding(
                    "linkage.place", f"{pointer} is said to stand at {err}, which is nowhere", pointer=pointer
                )
                continue
            call = how.get("type") == "tool_call"
            for value in values if cited is not None else ():
                if any(_LABEL in text for text in strings(value)):
                    continue
                if not (same(plain(held), value) or (call and _inside(held, value))):
                    message = f"what stands at {how['at']} is not what {pointer} says"
                    yield Finding("linkage.place", message, pointer=pointer)


def _inside(held: Any, value: Any) -> bool:
    """Whether the value stands somewhere in what is held, in JSON inside of strings too."""
    return isinstance(held, (dict, list)) and next(Tree(b"", held)(value), None) is not None
