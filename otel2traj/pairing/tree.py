"""The span tree, asked without ever walking one path twice."""

from __future__ import annotations

from collections.abc import Iterator

from ..model.heads import SpanHead
from ..model.reading import Role


def ancestors(head: SpanHead) -> Iterator[SpanHead]:
    """Recorded parents, nearest first. For few spans at a time: every question walks the whole path."""
    current = head.parent
    while current is not None:
        yield current
        current = current.parent


def ended_before(one: SpanHead, other: SpanHead) -> bool:
    """Whether a span had ended when another began: then the other is not inside it, whatever its parent id says. One
    that began as the first ended, and went on, is not inside it either."""
    if one.end_ns is None or other.start_ns is None:
        return False
    return one.end_ns < other.start_ns or (
        one.end_ns == other.start_ns and other.end_ns is not None and other.end_ns > one.end_ns
    )


class ModelAround:
    """The nearest model span around a span with nothing but chains between: no execution and no agent, since what
    these do are calls of their own, and no span that had ended before. Remembered for every span on the way: linear in
    the spans over all questions."""

    def __init__(self) -> None:
        self._known: dict[SpanHead, SpanHead | None] = {}

    def of(self, head: SpanHead) -> SpanHead | None:
        path: list[SpanHead] = []
        current: SpanHead | None = head
        found: SpanHead | None = None
        while current is not None:
            if current in self._known:
                found = self._known[current]
                break
            path.append(current)
            child, current = current, current.parent
            if current is None or current.role in (Role.TOOL_EXECUTION, Role.AGENT) or ended_before(current, child):
                break
            if current.role is Role.MODEL_CALL:
                found = current
                break
        for node in path:
            self._known[node] = found
        return found
