"""Wire calls and model spans to model calls: which recordings tell of one call.

First match wins: the span id in the interceptor's header, a span id in a trace context, the response's own id, the ids
of the tool calls it emitted, and the only model span below the span that one wire call alone names. A model span with
model spans below it is a wrapper; its leaves are the calls. Nothing is ever joined by time or by content.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from ..model.evidence import Notice
from ..model.heads import EmittedCall, ModelCall, SpanHead, WireHead
from ..model.link import JoinRule
from ..model.reading import Role
from .tree import NearestAncestor

T = TypeVar("T")
BySpanId = Callable[[str], list[SpanHead]]


class _Leaves:
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


def pair_model_calls(
    wires: Iterable[WireHead], heads: Iterable[SpanHead], by_span_id: BySpanId, notices: list[Notice]
) -> list[ModelCall]:
    """One `ModelCall` for each step to be, unordered. `heads` have had their glance (response ids, emitted calls)."""
    wires = sorted(wires, key=WireHead.order)
    tree = _Leaves(heads)
    calls = _span_calls(tree, wires)
    by_head: dict[int, ModelCall] = {}
    for call in calls:
        assert call.span is not None
        for head in (call.span, *call.span.twins):
            by_head[id(head)] = call
    joined: dict[int, list[ModelCall]] = {}
    loose: list[ModelCall] = []
    for wire in wires:
        anchor, leaves, rule = _named(wire, tree, by_span_id, notices)
        target = _choose(wire, leaves, by_head)
        mine = ModelCall(wire=wire, anchor=anchor)
        if target is not None:
            mine.join = rule
            joined.setdefault(id(target), []).append(mine)
        else:
            loose.append(mine)
    by_response = _by_response_id(calls, wires)
    for mine in list(loose):
        assert mine.wire is not None
        found = by_response.get(mine.wire.response_id or "")
        if found is not None and id(found) not in joined:
            mine.join = JoinRule.RESPONSE_ID
            joined[id(found)] = [mine]
            loose.remove(mine)
    _join_emitted(loose, joined, calls, wires)
    _join_enclosed(loose, joined, by_head, tree)
    out = [*loose]
    absorbed = _absorb(joined, calls, by_response)
    for call in calls:
        if id(call) in joined:
            out.extend(_owned(call, joined[id(call)]))
        elif id(call) not in absorbed:
            out.append(call)
    _warn(loose, calls, notices)
    return out


def _span_calls(tree: _Leaves, wires: list[WireHead]) -> list[ModelCall]:
    """Leaves to calls; leaves of different scopes that carry one response id are one call."""
    known = {wire.response_id for wire in wires if wire.response_id is not None}
    known |= {h.response_id for h in tree.models if h.response_id is not None and not h.fallback_only}
    calls = []
    groups: dict[tuple[str, str | None], list[tuple[SpanHead, list[SpanHead]]]] = {}
    for leaf in tree.leaves:
        if leaf.fallback_only and leaf.response_id in known:
            continue
        lenders = tree.lenders(leaf)
        response_id = next((h.response_id for h in (leaf, *lenders) if h.response_id is not None), None)
        if response_id is None:
            calls.append(ModelCall(span=leaf, lenders=lenders))
        else:
            groups.setdefault((response_id, leaf.ordinal), []).append((leaf, lenders))
    for (response_id, _), members in groups.items():
        scopes = {(leaf.scope, leaf.recorder) for leaf, _ in members}
        if len(members) > 1 and len(scopes) == len(members):
            members.sort(key=lambda pair: (not pair[0].has_output, not pair[0].has_content, pair[0].order()))
            first, lenders = members[0]
            first.twins = [leaf for leaf, _ in members[1:]]
            members = [(first, [*lenders, *(lender for _, more in members[1:] for lender in more)])]
        for leaf, lenders in members:
            leaf.response_id = response_id
            calls.append(ModelCall(span=leaf, lenders=lenders))
    return calls


def _named(
    wire: WireHead, tree: _Leaves, by_span_id: BySpanId, notices: list[Notice]
) -> tuple[SpanHead | None, list[SpanHead], JoinRule]:
    """The span a wire call names, the model leaves it stands for, and by which rule."""
    if wire.framework_span_id is not None:
        found = by_span_id(wire.framework_span_id) or by_span_id(wire.framework_span_id.lower())
        if len(found) > 1:
            notices.append(
                Notice(
                    "ambiguous_span_id",
                    f"the span id {wire.framework_span_id} of call {wire.call_id} stands in {len(found)} places",
                    wire.source,
                )
            )
        elif found:
            head = found[0]
            if head.role is Role.MODEL_CALL:
                return head, tree.under(head), JoinRule.FRAMEWORK_SPAN_ID
            above = tree.nearest.of(head)
            return head, [] if above is None else tree.under(above), JoinRule.TRACEPARENT
    if wire.traceparent is not None:
        fields = wire.traceparent.lower().split("-")
        if len(fields) >= 4:
            found = [head for head in by_span_id(fields[2]) if head.trace_id == fields[1]]
            if len(found) == 1:
                head = found[0]
                above = head if head.role is Role.MODEL_CALL else tree.nearest.of(head)
                return head, [] if above is None else tree.under(above), JoinRule.TRACEPARENT
    return None, [], JoinRule.FRAMEWORK_SPAN_ID


def _choose(wire: WireHead, leaves: list[SpanHead], by_head: dict[int, ModelCall]) -> ModelCall | None:
    """The one call that the leaves stand for; among several, the one with the wire's own response id."""
    calls = list({id(by_head[id(leaf)]): by_head[id(leaf)] for leaf in leaves if id(leaf) in by_head}.values())
    if len(calls) == 1:
        return calls[0]
    if wire.response_id is None:
        return None
    same = [call for call in calls if call.span is not None and call.span.response_id == wire.response_id]
    return same[0] if len(same) == 1 else None


def _by_response_id(calls: list[ModelCall], wires: list[WireHead]) -> dict[str, ModelCall]:
    """Response ids that stand on exactly one wire call and exactly one model span."""
    spans: dict[str, list[ModelCall]] = {}
    for call in calls:
        if call.span is not None and call.span.response_id is not None:
            spans.setdefault(call.span.response_id, []).append(call)
    on_wire: dict[str, int] = {}
    for wire in wires:
        if wire.response_id is not None:
            on_wire[wire.response_id] = on_wire.get(wire.response_id, 0) + 1
    return {key: found[0] for key, found in spans.items() if len(found) == 1 and on_wire.get(key) == 1}


def _join_emitted(
    loose: list[ModelCall], joined: dict[int, list[ModelCall]], calls: list[ModelCall], wires: list[WireHead]
) -> None:
    """The same tool call ids in one wire answer and one span's answer, each id in no other answer of either side.

    Not for the framework recorder, which the contract joins by its header alone.
    """
    on_wire = _sole_emitters((wire, wire.emitted) for wire in wires)
    on_span = _sole_emitters((call, _emitted_by_span(call)) for call in calls)
    for mine in list(loose):
        assert mine.wire is not None
        ids = _ids(mine.wire.emitted)
        call = on_span.get(ids) if ids is not None and ids in on_wire else None
        if call is None or id(call) in joined or call.span is None or "abb_framework" in call.span.dialects:
            continue
        if None not in (call.span.response_id, mine.wire.response_id):
            continue  # two response ids that differ, or they would have joined
        mine.join = JoinRule.TOOL_CALL_IDS
        joined[id(call)] = [mine]
        loose.remove(mine)


def _emitted_by_span(call: ModelCall) -> list[EmittedCall]:
    assert call.span is not None
    heads = (call.span, *call.span.twins, *call.lenders)
    return next((head.emitted for head in heads if head.emitted), [])


def _ids(emitted: list[EmittedCall]) -> frozenset[str] | None:
    """The ids of an answer's tool calls; None where there is none or one has no id."""
    ids = [item.id for item in emitted if item.id is not None]
    return frozenset(ids) if ids and len(ids) == len(emitted) else None


def _sole_emitters(answers: Iterable[tuple[T, list[EmittedCall]]]) -> dict[frozenset[str], T]:
    """Answers by the set of ids they emitted, where no other answer emitted any of them."""
    answers = list(answers)
    times: dict[str | None, int] = {}
    for _, emitted in answers:
        for item in emitted:
            times[item.id] = times.get(item.id, 0) + 1
    out: dict[frozenset[str], T] = {}
    for owner, emitted in answers:
        ids = _ids(emitted)
        if ids is not None and all(times[id_] == 1 for id_ in ids):
            out[ids] = owner
    return out


def _join_enclosed(
    loose: list[ModelCall], joined: dict[int, list[ModelCall]], by_head: dict[int, ModelCall], tree: _Leaves
) -> None:
    """A wire call that alone names a span with a single model span below it, where the tool call ids agree."""
    named: dict[int, list[ModelCall]] = {}
    for mine in loose:
        if mine.anchor is not None:
            named.setdefault(id(mine.anchor), []).append(mine)
    for found in named.values():
        anchor = found[0].anchor
        leaf = None if anchor is None else tree.enclosed(anchor)
        call = None if leaf is None else by_head.get(id(leaf))
        if len(found) != 1 or leaf is None or call is None or id(call) in joined:
            continue
        mine = found[0]
        assert mine.wire is not None
        if leaf.emitted and {item.id for item in leaf.emitted} != {item.id for item in mine.wire.emitted}:
            continue
        if None not in (leaf.response_id, mine.wire.response_id) and leaf.response_id != mine.wire.response_id:
            continue
        mine.join = JoinRule.ENCLOSING_SPAN
        joined[id(call)] = [mine]
        loose.remove(mine)


def _absorb(joined: dict[int, list[ModelCall]], calls: list[ModelCall], by_response: dict[str, ModelCall]) -> set[int]:
    """A joined call whose response id stands on one more span of another scope: that span tells of the same call."""
    absorbed: set[int] = set()
    for call in calls:
        for mine in joined.get(id(call), ()):
            assert mine.wire is not None
            assert call.span is not None
            other = by_response.get(mine.wire.response_id or "")
            if other is None or other is call or id(other) in joined or id(other) in absorbed:
                continue
            assert other.span is not None
            if other.span.scope != call.span.scope:
                call.span.twins = [*call.span.twins, other.span, *other.span.twins]
                call.lenders = [*call.lenders, *other.lenders]
                absorbed.add(id(other))
    return absorbed


def _owned(call: ModelCall, attempts: list[ModelCall]) -> list[ModelCall]:
    """Retries: one step for each wire call; the span's output belongs to the last successful one."""
    assert call.span is not None
    wires = [mine.wire for mine in attempts if mine.wire is not None]
    named = [wire for wire in wires if wire.response_id is not None and wire.response_id == call.span.response_id]
    good = [wire for wire in wires if wire.succeeded()]
    owner = named[-1] if named else good[-1] if good else wires[-1]
    for mine in attempts:
        mine.span, mine.lenders = call.span, call.lenders
        mine.owns_span_output = mine.wire is owner
    return attempts


def _warn(loose: list[ModelCall], calls: list[ModelCall], notices: list[Notice]) -> None:
    if not calls:
        return
    for mine in loose:
        assert mine.wire is not None
        said = mine.wire.framework_span_id
        why = "no header names a framework span" if said is None else f"its header names {said}, which is no model span"
        notices.append(
            Notice("unjoined_wire_call", f"wire call {mine.wire.call_id}: {why}", mine.wire.source, lossy=False)
        )
