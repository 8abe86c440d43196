"""Model spans to the calls among them: those without model spans below, and the wrappers around each."""

from __future__ import annotations

from collections.abc import Iterable

from ..model.heads import SpanHead
from ..model.reading import Role
from .tree import NearestAncestor


class Leaves:
    """Model spans without model spans below them, and the wrappers above each."""

    def __init__(self, heads: Iterable[SpanHead]) -> None:
        self.models = [head for head in heads if head.role is Role.MODEL_CALL]
        self.nearest = NearestAncestor(Role.MODEL_CALL)
        below: dict[int, int] = {}
        for head in self.models:
            above = self.nearest.of(head)
            if above is not None:
                below[id(above)] = below.get(id(above), 0) + 1
        self.leaves = [head for head in self.models if id(head) not in below]
        self._under: dict[int, list[SpanHead]] = {}
        for leaf in self.leaves:
            for wrapper in self.wrappers(leaf):
                self._under.setdefault(id(wrapper), []).append(leaf)
        self._enclosed = self._enclosing()

    def _enclosing(self) -> dict[int, SpanHead | None]:
        """By every span that is no model span: the only leaf below it, or None where there are several."""
        out: dict[int, SpanHead | None] = {}
        for leaf in self.leaves:
            above = leaf.parent
            while above is not None:
                known = id(above) in out
                if known and out[id(above)] is None:
                    break  # all further up have several too
                out[id(above)] = None if known else leaf
                above = above.parent
        return out

    def enclosed(self, head: SpanHead) -> SpanHead | None:
        """The only model leaf below a span."""
        return self._enclosed.get(id(head))

    def wrappers(self, leaf: SpanHead) -> list[SpanHead]:
        """Model spans around it, nearest first."""
        out = []
        above = self.nearest.of(leaf)
        while above is not None:
            out.append(above)
            above = self.nearest.of(above)
        return out

    def under(self, head: SpanHead) -> list[SpanHead]:
        """The leaves of a wrapper, or the span itself."""
        return self._under.get(id(head), [head])

    def lenders(self, leaf: SpanHead) -> list[SpanHead]:
        """Wrappers whose only successful leaf this is: they may lend it what it lacks."""
        out = []
        for wrapper in self.wrappers(leaf):
            good = [other for other in self.under(wrapper) if not other.failed]
            if good != [leaf]:
                break
            out.append(wrapper)
        return out
