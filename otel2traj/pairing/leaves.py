"""Model spans to the calls among them: those that wrap no other, and the wrappers around each."""

from __future__ import annotations

from collections.abc import Iterable

from ..model.heads import SpanHead
from ..model.link import Word
from ..model.reading import Role
from .tree import ModelAround, ended_before
from .witness import of_recordings


class Leaves:
    """Which model spans are calls.

    A model span with model spans below it, chains alone between, is a wrapper of these, unless something recorded
    says that it is a call of its own: it emitted calls or bears a response id that none of them has.
    """

    def __init__(self, heads: Iterable[SpanHead]) -> None:
        heads = list(heads)
        self.models = [head for head in heads if head.role is Role.MODEL_CALL]
        self.around = ModelAround()
        below: dict[SpanHead, list[SpanHead]] = {}
        for head in self.models:
            above = self.around.of(head)
            if above is not None:
                below.setdefault(above, []).append(head)
        self._executed: dict[SpanHead, list[SpanHead]] = {}
        """The executions in a wrapper."""
        for head in heads:
            if head.role is Role.TOOL_EXECUTION:
                above = self.around.of(head)
                if above is not None:
                    self._executed.setdefault(above, []).append(head)
        self._under: dict[SpanHead, list[SpanHead]] = {}
        """The calls in each wrapper."""
        for head in self._inner_first(below):
            inside = [leaf for child in below[head] for leaf in self._under.get(child, [child])]
            if not self._is_call(head, inside):
                self._under[head] = inside
        self.leaves = [head for head in self.models if head not in self._under]

    def _inner_first(self, below: dict[SpanHead, list[SpanHead]]) -> list[SpanHead]:
        """Model spans with model spans below, every one after those below it."""
        out = [head for head in self.models if head in below and self.around.of(head) is None]
        for head in out:
            out.extend(child for child in below[head] if child in below)
        return out[::-1]

    def _is_call(self, head: SpanHead, inside: list[SpanHead]) -> bool:
        ids = {call.id for call in head.emitted if call.id is not None}
        told_inside = any(call.id in ids or call.also in ids for leaf in inside for call in leaf.emitted)
        spoken = all(leaf.has_output for leaf in inside)
        done = [tool for tool in self._executed.get(head, ()) if tool.tool_call_id in ids]
        if ids and not told_inside and (spoken or done) and not self._asked_for(head, inside, done):
            return True
        witnesses = [of_recordings(head, leaf) for leaf in inside]
        kinds: list[tuple[str, ...]] = [("response_id",), ("model", "text")]
        if all(leaf.scope == head.scope for leaf in inside):
            kinds.append(("text",))  # an instrumentor does not tell one answer in two ways
        for respects in kinds:
            if all(witness.word(name) is Word.CONTRADICTS for witness in witnesses for name in respects):
                return True
        return False

    def _asked_for(self, head: SpanHead, inside: list[SpanHead], done: list[SpanHead]) -> bool:
        """Whether a wrapper tells what the one call in it emitted: a call of the same instrumentor and model that says
        nothing of its own answer, and had ended when the first of the tools in the wrapper began."""
        if len(inside) != 1 or not done:
            return False
        leaf = inside[0]
        return (
            not leaf.has_output
            and leaf.scope == head.scope
            and of_recordings(head, leaf).word("model") is Word.AGREES
            and all(ended_before(leaf, tool) for tool in self._executed[head])
        )

    def wrappers(self, leaf: SpanHead) -> list[SpanHead]:
        """Model spans around it, nearest first."""
        out = []
        above = self.around.of(leaf)
        while above is not None and above in self._under:
            out.append(above)
            above = self.around.of(above)
        return out

    def under(self, head: SpanHead) -> list[SpanHead]:
        """The calls in a wrapper, or the span itself."""
        return self._under.get(head, [head])

    def lenders(self, leaf: SpanHead) -> list[SpanHead]:
        """Wrappers whose only successful call this is, with no execution in them and nothing that contradicts: they
        may lend it what it lacks."""
        out = []
        for wrapper in self.wrappers(leaf):
            good = [other for other in self.under(wrapper) if not other.failed]
            witness = of_recordings(wrapper, leaf)
            agrees = witness.word("text") is Word.AGREES or witness.word("tool_calls") is Word.AGREES
            done = self._executed.get(wrapper, [])
            if good != [leaf] or (done and not agrees and not self._asked_for(wrapper, good, done)):
                break
            if Word.CONTRADICTS in (witness.word("response_id"), witness.word("tool_calls")):
                break
            out.append(wrapper)
        return out
