"""What spans of one file share: resource and scope, found again by the offset of a span; and remarks, gathered."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from ..anyvalue import OddAttributes
from ..model.evidence import Notice


@dataclass(frozen=True, slots=True, eq=False)
class Context:
    """Resource attributes and scope of a run of records."""

    resource: dict[str, Any]
    scope_name: str = ""
    scope_version: str = ""
    logs: bool = False
    """Whether the records are log records."""


EMPTY = Context({})


def event_name(recorded: Any, attributes: Mapping[str, Any]) -> str | None:
    """The name of a log record's event: its own field, else one of the attributes that stand for it where a form or an
    older convention has no such field.

    https://github.com/open-telemetry/semantic-conventions/blob/v1.38.0/docs/registry/attributes/otel.md
    """
    if recorded:
        return str(recorded)
    named = next((told for key in _EVENT_NAMES if (told := attributes.get(key)) is not None), None)
    return None if named is None else str(named) or None


_EVENT_NAMES: Final = ("event.name", "otel.event.name")

T = TypeVar("T")


class OffsetTable(Generic[T]):
    """Which context is in force from which offset on; 16 bytes for each change, contexts are kept once."""

    def __init__(self, empty: T) -> None:
        self._empty = empty
        self._offsets = array("Q")
        self._indexes = array("L")
        self._contexts: list[T] = []
        self._index_of: dict[int, int] = {}

    def put(self, offset: int, context: T) -> None:
        """`context` holds for records from `offset` on; offsets must rise."""
        index = self._index_of.get(id(context))
        if index is None:
            index = self._index_of[id(context)] = len(self._contexts)
            self._contexts.append(context)
        if not self._indexes or self._indexes[-1] != index:
            self._offsets.append(offset)
            self._indexes.append(index)

    def at(self, offset: int) -> T:
        place = bisect_right(self._offsets, offset) - 1
        return self._empty if place < 0 else self._contexts[self._indexes[place]]


class Repairs:
    """Repairs that lost nothing, told once for each kind; those that lost something are told at once."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._kinds: dict[str, tuple[int, int | None]] = {}
        self._repeated: list[str] = []

    def note(self, kind: str, line: int | None) -> None:
        count, first = self._kinds.get(kind, (0, line))
        self._kinds[kind] = (count + 1, first)

    def twice(self, resource: Mapping[str, Any]) -> None:
        """Notes the attributes that the list of a resource names more than once."""
        if isinstance(resource, OddAttributes):
            self._repeated += [key for key in resource.repeated if key not in self._repeated]

    def notices(self) -> Iterator[Notice]:
        if self._repeated:
            message = f"a resource: {', '.join(self._repeated)} given more than once; the last stands"
            yield Notice("repeated_key", message, self.path)
        for kind, (count, first) in self._kinds.items():
            message = kind if count == 1 else f"{kind}, in {count} records"
            yield Notice("repaired_record", message, self.path, first, lossy=False)
