"""The rules by which a wire call finds the model span that tells of the same call, each on recorded identifiers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from ..model.evidence import Notice
from ..model.heads import EmittedCall, ModelCall, SpanHead, WireHead
from ..model.link import JoinRule
from ..model.reading import Role
from .leaves import Leaves

T = TypeVar("T")
BySpanId = Callable[[str], list[SpanHead]]


def named(
    wire: WireHead, tree: Leaves, by_span_id: BySpanId, notices: list[Notice]
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


def choose(wire: WireHead, leaves: list[SpanHead], by_head: dict[int, ModelCall]) -> ModelCall | None:
    """The one call that the leaves stand for; among several, the one with the wire's own response id."""
    calls = list({id(by_head[id(leaf)]): by_head[id(leaf)] for leaf in leaves if id(leaf) in by_head}.values())
    if len(calls) == 1:
        return calls[0]
    if wire.response_id is None:
        return None
    same = [call for call in calls if call.span is not None and call.span.response_id == wire.response_id]
    return same[0] if len(same) == 1 else None


def by_response_id(calls: list[ModelCall], wires: list[WireHead]) -> dict[str, ModelCall]:
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


def join_emitted(
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


def _emitted_by_span(call: ModelCall) -> Sequence[EmittedCall]:
    assert call.span is not None
    heads = (call.span, *call.span.twins, *call.lenders)
    return next((head.emitted for head in heads if head.emitted), [])


def _ids(emitted: Sequence[EmittedCall]) -> frozenset[str] | None:
    """The ids of an answer's tool calls; None where there is none or one has no id."""
    ids = [item.id for item in emitted if item.id is not None]
    return frozenset(ids) if ids and len(ids) == len(emitted) else None


def _sole_emitters(answers: Iterable[tuple[T, Sequence[EmittedCall]]]) -> dict[frozenset[str], T]:
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


def join_enclosed(
    loose: list[ModelCall], joined: dict[int, list[ModelCall]], by_head: dict[int, ModelCall], tree: Leaves
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
