"""The span tree, asked without ever walking one path twice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..model.heads import SpanHead
from ..model.reading import Role


def ancestors(head: SpanHead) -> Iterator[SpanHead]:
    """Recorded parents, nearest first. For few spans at a time: every question walks the whole path."""
    current = head.parent
    while current is not None:
        yield current
        current = current.parent


class NearestAncestor:
    """The nearest ancestor of a role, remembered for every span on the way: linear in the spans over all questions."""

    def __init__(self, role: Role) -> None:
        self._role = role
        self._known: dict[int, SpanHead | None] = {}

    def of(self, head: SpanHead) -> SpanHead | None:
        path: list[SpanHead] = []
        current: SpanHead | None = head
        found: SpanHead | None = None
        while current is not None:
            if id(current) in self._known:
                found = self._known[id(current)]
                break
            path.append(current)
            current = current.parent
            if current is not None and current.role is self._role:
                found = current
                break
        for node in path:
            self._known[id(node)] = found
        return found


def children(heads: Iterable[SpanHead]) -> dict[int, list[SpanHead]]:
    """Recorded children by the identity of their parent."""
    out: dict[int, list[SpanHead]] = {}
    for head in heads:
        if head.parent is not None:
            out.setdefault(id(head.parent), []).append(head)
    return out
