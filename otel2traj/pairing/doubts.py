"""Model calls that may stand twice: what no identifier joins is said, for no total can be trusted beside it."""

from __future__ import annotations

from collections import Counter

from ..model.evidence import Notice
from ..model.heads import ModelCall, Recorder, SpanHead
from .witness import of_recordings


def warn_of_doubts(
    loose: list[ModelCall], alone: list[ModelCall], calls: list[ModelCall], notices: list[Notice]
) -> None:
    """Remarks on wire calls (`loose`) and model spans (`alone`) that stand by themselves; `calls` are all of spans."""
    if not calls:
        return
    for mine in loose:
        assert mine.wire is not None
        said = mine.wire.framework_span_id
        why = "no header names a framework span"
        if said is not None:
            what = "is not recorded" if mine.anchor is None else "tells of no model call that it could be"
            why = f"its header names {said}, which {what}"
        notices.append(
            Notice("unjoined_wire_call", f"wire call {mine.wire.call_id}: {why}", mine.wire.source, lossy=False)
        )
    known = Counter(call.span.response_id for call in calls if call.span is not None)
    again = sum(1 for call in alone if call.span and call.span.response_id and known[call.span.response_id] > 1)
    twice = min(len(loose), len(alone))
    if twice:
        message = f"{len(loose)} wire calls and {len(alone)} model spans that no identifier joins"
        notices.append(Notice("calls_may_stand_twice", f"{twice} calls may stand twice: {message}"))
    elif again:
        message = f"{again} model spans bear a response id that another one bears elsewhere in the tree"
        notices.append(Notice("calls_may_stand_twice", f"{message}: a call told twice, or a cached response"))
    else:
        within = _within(alone, calls)
        if within:
            message = (
                f"{within} model spans lie, in traces of their own, within calls that another instrumentor recorded"
            )
            notices.append(Notice("calls_may_stand_twice", f"{message}; no identifier joins them or tells them apart"))


def _within(alone: list[ModelCall], calls: list[ModelCall]) -> int:
    """How many calls of spans alone began and ended within another instrumentor's call in another trace of the Input,
    with nothing that speaks against their being one. Time joins nothing: this is what to doubt, and is said as that."""
    told = [call.span for call in calls if call.span is not None and call.span.start_ns is not None]
    if len({(head.recorder, head.scope) for head in told}) < 2:
        return 0
    mine = {call.span for call in alone}
    inputs: dict[str | None, dict[tuple[Recorder, str], SpanHead]] = {}
    """Of each instrumentor in an Input, the call so far that ended last."""
    count = 0
    for head in sorted(told, key=lambda head: (head.start_ns or 0, -(head.end_ns or 0))):
        here, latest = (head.recorder, head.scope), inputs.setdefault(head.ordinal, {})
        for other, outer in latest.items():
            if other == here or not (head in mine or outer in mine):
                continue
            apart = None not in (head.trace_id, outer.trace_id) and head.trace_id != outer.trace_id
            if apart and _end(head) <= _end(outer) and of_recordings(outer, head).holds():
                count += 1
                break
        if here not in latest or _end(head) > _end(latest[here]):
            latest[here] = head
    return count


def _end(head: SpanHead) -> int:
    return head.end_ns or head.start_ns or 0
