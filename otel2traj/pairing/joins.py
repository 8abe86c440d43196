"""The rules by which a wire call finds the model span that tells of the same call, each on recorded identifiers.

docs/reference/links.md holds for each rule what must be recorded and what contradicts it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from ..model.evidence import Notice
from ..model.heads import EmittedCall, ModelCall, SpanHead, WireHead
from ..model.ids import is_counted, is_numbered
from ..model.link import JoinRule, Witness, Word
from ..model.reading import Role
from .leaves import Leaves
from .witness import of_recordings

T = TypeVar("T")
BySpanId = Callable[[str], list[SpanHead]]


def named(
    wire: WireHead, tree: Leaves, by_span_id: BySpanId, notices: list[Notice]
) -> tuple[SpanHead | None, list[SpanHead], JoinRule]:
    """The span a wire call names, the model spans it stands for, and by which rule."""
    if wire.framework_span_id is not None:
        found = by_span_id(wire.framework_span_id) or by_span_id(wire.framework_span_id.lower())
        if len(found) > 1:
            found = _told_apart(wire, found)
        if len(found) > 1:
            message = f"the span id {wire.framework_span_id} of call {wire.call_id} stands in {len(found)} places"
            notices.append(Notice("ambiguous_span_id", message, wire.source))
        elif found:
            head = found[0]
            rule = JoinRule.FRAMEWORK_SPAN_ID if head.role is Role.MODEL_CALL else JoinRule.TRACEPARENT
            return head, _stands_for(head, tree), rule
    context = _context(wire)
    if context is not None:
        found = [head for head in by_span_id(context[1]) if head.trace_id == context[0]]
        if len(found) > 1:
            found = _told_apart(wire, found)
        if len(found) == 1:
            return found[0], _stands_for(found[0], tree), JoinRule.TRACEPARENT
    return None, [], JoinRule.FRAMEWORK_SPAN_ID


class Places:
    """Whether the span id in a header means one span alone: one that is counted means one in each Input, unless the
    trace id beside it is of one Input."""

    def __init__(self, heads: Iterable[SpanHead], *, several_inputs: bool) -> None:
        self._several = several_inputs
        self._inputs: dict[str | None, set[str | None]] = {}
        if several_inputs:
            for head in heads:
                self._inputs.setdefault(head.trace_id, set()).add(head.ordinal)

    def one(self, wire: WireHead, head: SpanHead) -> bool:
        if not self._several:
            return True
        context = _context(wire)
        if context is not None and context[0] == head.trace_id:
            counted = is_counted(context[0]) or len(self._inputs[context[0]]) > 1
            return not (counted and is_counted(context[1]))
        return not is_counted(wire.framework_span_id or "")


def _context(wire: WireHead) -> tuple[str, str] | None:
    """Trace id and span id of a trace context."""
    fields = [] if wire.traceparent is None else wire.traceparent.lower().split("-")
    return (fields[1], fields[2]) if len(fields) >= 4 else None


def _told_apart(wire: WireHead, found: list[SpanHead]) -> list[SpanHead]:
    """Of several spans with the named id, the one in the trace that the call names, or with its response id."""
    context = _context(wire)
    if context is not None:
        found = [head for head in found if head.trace_id == context[0]] or found
    if len(found) > 1 and wire.response_id is not None:
        found = [head for head in found if head.response_id == wire.response_id] or found
    return found


def _stands_for(head: SpanHead, tree: Leaves) -> list[SpanHead]:
    """The calls of a model span, or of the model span around a span that is neither an execution nor an agent."""
    if head.role is Role.MODEL_CALL:
        return tree.under(head)
    if head.role in (Role.TOOL_EXECUTION, Role.AGENT):
        return []
    above = tree.around.of(head)
    return [] if above is None else tree.under(above)


def choose(wire: WireHead, leaves: list[SpanHead], by_head: dict[SpanHead, ModelCall]) -> ModelCall | None:
    """The one call that the leaves stand for; among several, the one with the wire's own response id."""
    calls = list(dict.fromkeys(by_head[leaf] for leaf in leaves if leaf in by_head))
    if len(calls) == 1:
        return calls[0]
    if wire.response_id is None:
        return None
    same = [call for call in calls if call.span is not None and call.span.response_id == wire.response_id]
    return same[0] if len(same) == 1 else None


def witness_of(wire: WireHead, call: ModelCall) -> Witness:
    """What a wire call and a span's call say of each other; of the span side, who says most."""
    assert call.span is not None
    spoken = [of_recordings(wire, head) for head in (call.span, *call.span.twins)]
    return min(spoken, key=lambda w: (len(w.contradictions()), sum(word is Word.SILENT for _, word in w.words)))


def agrees(wire: WireHead, witness: Witness) -> bool:
    """Whether anything that tells one call from another stands in both recordings, and nothing speaks against it."""
    told = [witness.word(respect) for respect in ("response_id", "tool_calls", "text")]
    history = (wire.said.history if wire.said else None) or ""
    if history and not history.startswith(NUMBERED):
        told.append(witness.word("history"))
    return witness.holds() and Word.AGREES in told


def is_another(witness: Witness) -> bool:
    """Whether a call that names a span is not the one that the span tells of."""
    return Word.CONTRADICTS in (witness.word("response_id"), witness.word("tool_calls"))


class Joining:
    """The rules that need no header, one after the other: each joins what it finds once on either side."""

    def __init__(
        self,
        loose: list[ModelCall],
        joined: dict[ModelCall, list[ModelCall]],
        calls: list[ModelCall],
        wires: list[WireHead],
        claims: dict[ModelCall, list[ModelCall]],
    ) -> None:
        self._loose, self._joined, self._calls, self._wires, self._claims = loose, joined, calls, wires, claims

    def run(self) -> None:
        self._by_response_id()
        self._by_emitted()
        self._by_history()

    def _join(self, rule: JoinRule, pairs: Iterator[tuple[ModelCall, ModelCall]]) -> None:
        for mine, call in pairs:
            assert mine.wire is not None
            assert call.span is not None
            witness = witness_of(mine.wire, call)
            if call in self._joined or not witness.holds() or _named_elsewhere(mine, call, rule):
                continue
            if mine not in self._claims.get(call, (mine,)):
                continue  # the header of another wire call names this span, and nothing speaks against that one
            if rule is not JoinRule.RESPONSE_ID and not _counted_anew(rule, mine.wire, call, witness):
                continue
            mine.join, mine.witness = rule, witness
            self._joined[call] = [mine]
            self._loose.remove(mine)

    def _by_response_id(self) -> None:
        found = by_response_id(self._calls, self._wires)
        self._join(
            JoinRule.RESPONSE_ID,
            (
                (mine, found[mine.wire.response_id])
                for mine in list(self._loose)
                if mine.wire is not None and mine.wire.response_id is not None and mine.wire.response_id in found
            ),
        )

    def _by_emitted(self) -> None:
        """The same tool call ids in one wire answer and one span's answer, each id in no other answer of either side.

        Not for the framework recorder, which the contract joins by its header alone.
        """
        on_wire = _sole_emitters((wire, wire.emitted) for wire in self._wires)
        on_span = _sole_emitters((call, emitted_by_span(call)) for call in self._calls)
        pairs = []
        for mine in self._loose:
            assert mine.wire is not None
            for ids in _ids(mine.wire.emitted):
                if ids in on_wire and ids in on_span and not _by_framework(on_span[ids]):
                    pairs.append((mine, on_span[ids]))
                    break
        self._join(JoinRule.TOOL_CALL_IDS, iter(pairs))

    def _by_history(self) -> None:
        """The same set of tool call ids in the history of one request and of one span's, where both emit nothing."""
        times: dict[str, int] = {}
        for told in (*self._wires, *(call.span for call in self._calls)):
            if told is not None and told.said is not None and told.said.history:
                side = "wire" if isinstance(told, WireHead) else "span"
                key = side + told.said.history
                times[key] = times.get(key, 0) + 1
        spans = {
            call.span.said.history: call
            for call in self._calls
            if call.span is not None
            and call.span.said is not None
            and call.span.said.history
            and times["span" + call.span.said.history] == 1
            and not emitted_by_span(call)
            and not _by_framework(call)
        }
        pairs = []
        for mine in self._loose:
            said = None if mine.wire is None or mine.wire.emitted else mine.wire.said
            if said is not None and said.history and said.history in spans and times["wire" + said.history] == 1:
                pairs.append((mine, spans[said.history]))
        self._join(JoinRule.HISTORY_IDS, iter(pairs))


def _by_framework(call: ModelCall) -> bool:
    return call.span is not None and "abb_framework" in call.span.dialects


def _named_elsewhere(mine: ModelCall, call: ModelCall, rule: JoinRule) -> bool:
    """Whether the wire call names a model span that is not of this call; or one that is lost, where it would join by
    its history alone, which a call that was tried again shares."""
    if mine.anchor is None and mine.wire is not None and mine.wire.framework_span_id is not None:
        return rule is JoinRule.HISTORY_IDS
    if mine.anchor is None or mine.anchor.role is not Role.MODEL_CALL or call.span is None:
        return False
    return mine.anchor not in (call.span, *call.span.twins, *call.lenders)


def _counted_anew(rule: JoinRule, wire: WireHead, call: ModelCall, witness: Witness) -> bool:
    """Ids that may be counted anew for each answer identify nothing alone: what else was recorded has to agree."""
    history = (wire.said.history if wire.said else None) or ""
    if rule is JoinRule.HISTORY_IDS:
        answers = {None if said is None else said.text for said in (wire.said, call.span.said if call.span else None)}
        alone = (
            len(answers) > 1 and None in answers
        )  # one of two answers is lost: one that was tried again had this too
        return not alone and (not history.startswith(NUMBERED) or witness.word("text") is Word.AGREES)
    if not all(is_numbered(item.id or "") for item in emitted_by_span(call)):
        return True
    told = call.span.said.history if call.span is not None and call.span.said is not None else None
    return witness.word("tool_calls") is Word.AGREES and (told is None or told == history)


NUMBERED = "numbered:"
"""Before the digest of a history all of whose ids may be counted anew for each answer."""


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


def emitted_by_span(call: ModelCall) -> Sequence[EmittedCall]:
    """What the span side says was emitted."""
    heads = () if call.span is None else (call.span, *call.span.twins, *call.lenders)
    return next((head.emitted for head in heads if head.emitted), [])


def _ids(emitted: Sequence[EmittedCall]) -> list[frozenset[str]]:
    """The ids of an answer's tool calls, and those of the items they stand in; none where one has no id."""
    out = []
    for ids in ([item.id for item in emitted], [item.also for item in emitted]):
        known = frozenset(id_ for id_ in ids if id_ is not None)
        if known and len(known) == len(emitted):
            out.append(known)
    return out


def _sole_emitters(answers: Iterable[tuple[T, Sequence[EmittedCall]]]) -> dict[frozenset[str], T]:
    """Answers by the set of ids they emitted, where no other answer emitted any of them."""
    answers = list(answers)
    times: dict[str | None, int] = {}
    for _, emitted in answers:
        for id_ in {told for item in emitted for told in (item.id, item.also)}:
            times[id_] = times.get(id_, 0) + 1
    out: dict[frozenset[str], T] = {}
    for owner, emitted in answers:
        for ids in _ids(emitted):
            if all(times[id_] == 1 for id_ in ids):
                out[ids] = owner
    return out
