"""JSON with one leaf changed, for tests that ask whether a change is seen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Place = tuple[str | int, ...]


def members(node: Any, at: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Every leaf with its place; an empty list or object is a leaf."""
    if isinstance(node, dict | list) and node:
        for key, value in node.items() if isinstance(node, dict) else enumerate(node):
            yield from members(value, (*at, key))
    else:
        yield at, node


def changed(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, str):
        return value + "x"
    return value + 1 if isinstance(value, int | float) else "was nothing"


def put(node: Any, at: Place, value: Any) -> None:
    for key in at[:-1]:
        node = node[key]
    node[at[-1]] = value
