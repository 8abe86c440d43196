"""Wire calls and model spans to model calls: which recordings tell of one call.

First match wins: the span id in the interceptor's header, a span id in a trace context, the response's own id, the ids
of the tool calls it emitted, and the only model span below the span that one wire call alone names. A model span with
model spans below it is a wrapper; its leaves are the calls. Nothing is ever joined by time or by content.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..model.evidence import Notice
from ..model.heads import ModelCall, SpanHead, WireHead
from ..model.link import JoinRule
from .joins import BySpanId, by_response_id, choose, join_emitted, join_enclosed, named
from .leaves import Leaves


def pair_model_calls(
    wires: Iterable[WireHead], heads: Iterable[SpanHead], by_span_id: BySpanId, notices: list[Notice]
) -> list[ModelCall]:
    """One `ModelCall` for each step to be, unordered. `heads` have had their glance (response ids, emitted calls)."""
    wires = sorted(wires, key=WireHead.order)
    tree = Leaves(heads)
    calls = _span_calls(tree, wires)
    by_head: dict[int, ModelCall] = {}
    for call in calls:
        assert call.span is not None
        for head in (call.span, *call.span.twins):
            by_head[id(head)] = call
    joined: dict[int, list[ModelCall]] = {}
    loose: list[ModelCall] = []
    for wire in wires:
        anchor, leaves, rule = named(wire, tree, by_span_id, notices)
        target = choose(wire, leaves, by_head)
        mine = ModelCall(wire=wire, anchor=anchor)
        if target is not None:
            mine.join = rule
            joined.setdefault(id(target), []).append(mine)
        else:
            loose.append(mine)
    by_response = by_response_id(calls, wires)
    for mine in list(loose):
        assert mine.wire is not None
        found = by_response.get(mine.wire.response_id or "")
        if found is not None and id(found) not in joined:
            mine.join = JoinRule.RESPONSE_ID
            joined[id(found)] = [mine]
            loose.remove(mine)
    join_emitted(loose, joined, calls, wires)
    join_enclosed(loose, joined, by_head, tree)
    out = [*loose]
    absorbed = _absorb(joined, calls, by_response)
    for call in calls:
        if id(call) in joined:
            out.extend(_owned(call, joined[id(call)]))
        elif id(call) not in absorbed:
            out.append(call)
    _warn(loose, calls, notices)
    return out


def _span_calls(tree: Leaves, wires: list[WireHead]) -> list[ModelCall]:
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
