"""Wire calls and model spans to model calls: which recordings tell of one call.

First match wins: the span id in the interceptor's header, a span id in a trace context, the response's own id, the ids
of the tool calls it emitted, and those in its request's history. A model span with model spans below it is a wrapper;
its leaves are the calls. Nothing is ever joined by time or by content, and what contradicts is never joined.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable

from ..model.evidence import Notice
from ..model.heads import ModelCall, SpanHead, WireHead
from .doubts import warn_of_doubts
from .joins import (
    BySpanId,
    Joining,
    Places,
    agrees,
    by_response_id,
    choose,
    emitted_by_span,
    is_another,
    named,
    witness_of,
)
from .leaves import Leaves
from .retold import join_retold, set_aside_calls, told_again
from .tree import ancestors
from .witness import Scopes, of_recordings


def pair_model_calls(
    wires: Iterable[WireHead],
    heads: Iterable[SpanHead],
    by_span_id: BySpanId,
    notices: list[Notice],
    *,
    several_inputs: bool,
) -> list[ModelCall]:
    """One `ModelCall` for each step to be, unordered. `heads` have been read (response ids, emitted calls)."""
    wires, heads = sorted(wires, key=WireHead.order), list(heads)
    tree, places = Leaves(heads), Places(heads, several_inputs=several_inputs)
    spare: list[SpanHead] = []
    calls = join_retold(_span_calls(tree, spare))
    notices.extend(told_again(spare, "model calls"))
    by_head: dict[SpanHead, ModelCall] = {}
    for call in calls:
        assert call.span is not None
        for head in (call.span, *call.span.twins):
            by_head[head] = call
    joined: dict[ModelCall, list[ModelCall]] = {}
    loose: list[ModelCall] = []
    claims: dict[ModelCall, list[ModelCall]] = {}
    """Calls whose span a header names that may mean another span as well."""
    for wire in wires:
        anchor, leaves, rule = named(wire, tree, by_span_id, notices)
        target = choose(wire, leaves, by_head)
        mine = ModelCall(wire=wire, anchor=anchor)
        if target is not None:
            mine.join, mine.witness = rule, witness_of(wire, target)
        sure = anchor is None or places.one(wire, anchor)
        if target is not None and _stands(mine, target, sure=sure):
            joined.setdefault(target, []).append(mine)
            continue
        if target is not None:
            if mine.witness is not None and mine.witness.holds():
                claims.setdefault(target, []).append(mine)
            _demote(mine, notices)
        if not sure:
            mine.anchor = None
        loose.append(mine)
    for call in [call for call, found in joined.items() if all(map(_is_another, found))]:
        for mine in joined.pop(call):
            _demote(mine, notices)
            loose.append(mine)
    by_response = by_response_id(calls, wires)
    Joining(loose, joined, calls, wires, claims).run()
    out = [*loose]
    absorbed = _absorb(joined, calls, by_response, Scopes())
    alone = [call for call in calls if call not in joined and call not in absorbed]
    for call in calls:
        if call in joined:
            out.extend(_owned(call, joined[call]))
    out.extend(alone)
    out = set_aside_calls(out, notices)
    left = set(out)
    warn_of_doubts([mine for mine in loose if mine in left], [call for call in alone if call in left], calls, notices)
    return out


def _stands(mine: ModelCall, call: ModelCall, *, sure: bool) -> bool:
    """Whether the header names the call, or a span below it: the contract joins by it. Where it names a wrapper or a
    chain around the call, others may have been in there whose spans were lost, and where the id may be another span's
    too, that one: something else has to agree."""
    anchor, witness = mine.anchor, mine.witness
    if anchor is None or call.span is None or witness is None or mine.wire is None:
        return True
    heads = (call.span, *call.span.twins)
    if sure and (anchor in heads or any(above in heads for above in ancestors(anchor))):
        return not (anchor not in heads and is_another(witness))
    return agrees(mine.wire, witness)


def _is_another(mine: ModelCall) -> bool:
    return mine.witness is not None and is_another(mine.witness)


def _demote(mine: ModelCall, notices: list[Notice]) -> None:
    assert mine.wire is not None
    assert mine.witness is not None
    what = ", ".join(mine.witness.contradictions())
    named = f"that contradicts it in {what}" if what else "and nothing else says that this is its call"
    message = f"wire call {mine.wire.call_id} names a span {named}: two steps"
    notices.append(Notice("contradicted_join", message, mine.wire.source))
    mine.join = None


def _span_calls(tree: Leaves, spare: list[SpanHead]) -> list[ModelCall]:
    """Leaves to calls; what two instrumentors recorded of one call is one. `spare` gets log records that tell a call
    again, where nothing tells which."""
    known = {h.response_id for h in tree.models if h.response_id is not None and not h.fallback_only}
    again = {leaf: leaf.response_id for leaf in tree.leaves if leaf.fallback_only and leaf.response_id in known}
    calls = []
    for leaf in tree.leaves:
        if leaf in again:
            continue
        lenders = tree.lenders(leaf)
        if leaf.response_id is None:
            leaf.response_id = next((h.response_id for h in lenders if h.response_id is not None), None)
        around = [wrapper for wrapper in tree.wrappers(leaf) if wrapper not in lenders]
        calls.append(ModelCall(span=leaf, lenders=lenders, around=around))
    scopes = Scopes()
    for key in (_response_id, _emitted_ids, _history_ids):
        calls = _merge(calls, key, scopes)
    answered: dict[str | None, list[SpanHead]] = {}
    for call in calls if again else ():
        if call.span is not None:
            answered.setdefault(call.span.response_id, []).append(call.span)
    for leaf, response_id in again.items():
        same = answered.get(response_id, [])
        if len(same) == 1:
            same[0].twins = [*same[0].twins, leaf]
        else:
            spare.append(leaf)
    return calls


def _response_id(call: ModelCall) -> Hashable:
    return None if call.span is None else call.span.response_id


def _emitted_ids(call: ModelCall) -> Hashable:
    ids = [item.id for item in emitted_by_span(call)]
    return None if not ids or None in ids else frozenset(ids)


def _history_ids(call: ModelCall) -> Hashable:
    said = None if call.span is None or emitted_by_span(call) else call.span.said
    return None if said is None else said.history or None


def _merge(calls: list[ModelCall], key: Callable[[ModelCall], Hashable], scopes: Scopes) -> list[ModelCall]:
    """Calls that two instrumentors recorded, each once, at one place of the tree, with one key, and without a word
    against it: one call with twins."""
    groups: dict[Hashable, list[ModelCall]] = {}
    for call in calls:
        assert call.span is not None
        found = key(call)
        if found is not None:
            groups.setdefault((found, call.span.ordinal), []).append(call)
    gone: set[ModelCall] = set()
    for members in groups.values():
        if len(members) < 2 or not _one_call(members, scopes):
            continue
        first, *rest = sorted(members, key=_content_first)
        assert first.span is not None
        for other in rest:
            assert other.span is not None
            first.span.twins = [*first.span.twins, other.span, *other.span.twins]
            first.span.response_id = first.span.response_id or other.span.response_id
            first.lenders, first.around = [*first.lenders, *other.lenders], [*first.around, *other.around]
            gone.add(other)
    return [call for call in calls if call not in gone]


def _content_first(call: ModelCall) -> tuple[bool, bool, tuple[int, int, str, int]]:
    assert call.span is not None
    return not call.span.has_output, not call.span.has_content, call.span.order()


def _one_call(members: list[ModelCall], scopes: Scopes, *, anywhere: bool = False) -> bool:
    spans = [call.span for call in members if call.span is not None]
    by = Counter(told for call in members for told in {(head.scope, head.recorder) for head in call.heads()})
    if max(by.values()) > 1:
        return False  # one instrumentor recorded two
    first = spans[0]
    for other in spans[1:]:
        if not of_recordings(first, other).holds():
            return False
        if not anywhere and first.recorder is other.recorder and _place(first, scopes) != _place(other, scopes):
            return False
    return True


def _place(head: SpanHead, scopes: Scopes) -> tuple[str | None, SpanHead | None, SpanHead | None, str | None]:
    if head.parent_id is None:
        return None, None, None, None  # instrumentations without a context make every span the root of a trace
    return head.trace_id, *scopes.of(head)


def _absorb(
    joined: dict[ModelCall, list[ModelCall]],
    calls: list[ModelCall],
    by_response: dict[str, ModelCall],
    scopes: Scopes,
) -> set[ModelCall]:
    """A joined call whose response id stands on one span more, of another instrumentor: at the same place, or the root
    of a trace of its own, which tells no place."""
    absorbed: set[ModelCall] = set()
    for call in calls:
        for mine in joined.get(call, ()):
            assert mine.wire is not None
            assert call.span is not None
            other = by_response.get(mine.wire.response_id or "")
            if other is None or other is call or other in joined or other in absorbed:
                continue
            assert other.span is not None
            apart = other.span.parent_id is None and other.span.trace_id != call.span.trace_id
            if _one_call([call, other], scopes, anywhere=apart) and witness_of(mine.wire, other).holds():
                call.span.twins = [*call.span.twins, other.span, *other.span.twins]
                call.lenders, call.around = [*call.lenders, *other.lenders], [*call.around, *other.around]
                absorbed.add(other)
    return absorbed


def _owned(call: ModelCall, attempts: list[ModelCall]) -> list[ModelCall]:
    """Retries: one step for each wire call; the span's output belongs to the last good one that it agrees with."""
    assert call.span is not None
    found = [mine for mine in attempts if mine.wire is not None]
    same = [m for m in found if m.wire and m.wire.response_id and m.wire.response_id == call.span.response_id]
    good = [m for m in found if m.wire and m.wire.succeeded() and not (m.witness and is_another(m.witness))]
    owner = (same or good or found)[-1]
    for mine in attempts:
        mine.span, mine.lenders, mine.around = call.span, call.lenders, call.around
        mine.owns_span_output = mine is owner
    return attempts
