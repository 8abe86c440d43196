"""Emitted tool calls and executions to links: by tool call id, within one Input, or not at all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..model.heads import Execution, ModelCall, Reported, SpanHead, ToolLink
from ..model.ids import is_numbered
from ..model.link import LinkStatus, Witness, Word
from .tree import ancestors
from .witness import Scopes, of_link

Task = tuple[str, str | None, str]
"""File, trace and the tool call id that a task was started with."""


def link_tool_calls(
    calls: Iterable[ModelCall], executions: Iterable[Execution], tasks: Mapping[Task, int] | None = None
) -> list[ToolLink]:
    """One link for each emitted tool call, in the order of `calls`. `tasks` counts those started with numbered ids.

    In one Input one emitter and one candidate that nothing contradicts are exact; more of either, or a contradiction,
    are ambiguous, and nothing is attached; no candidate is none. An Input that is not known conflicts with none.
    """
    calls = list(calls)
    links = [ToolLink(call, position, emitted) for call in calls for position, emitted in enumerate(call.emitted())]
    emitters: dict[str, list[ToolLink]] = {}
    for link in links:
        for call_id in _ids(link):
            emitters.setdefault(call_id, []).append(link)
    candidates: dict[str, list[Execution]] = {}
    for execution in executions:
        borne = execution.tool_call_id()
        if borne is not None:
            candidates.setdefault(borne, []).append(execution)
    times = _times(calls)
    scopes = Scopes()
    for call_id, same in emitters.items():
        found = candidates.get(call_id, [])
        if not found:
            continue
        lost = is_numbered(call_id) and times.get(call_id, 0) > len(same)
        for link in same:
            for execution in found:
                if _compatible(link.call, execution):
                    link.candidates.append(execution)
                    link.witnesses.append(of_link(link.call, link.emitted, execution, scopes))
            link.emitters = max(
                link.emitters, sum(1 for other in same if _same_input(link.call.ordinal, other.call.ordinal))
            )
            started = max((_started(execution, call_id, tasks or {}) for execution in link.candidates), default=0)
            link.lost_emitters = link.lost_emitters or lost or started > link.emitters
    find_reported(links, calls)
    for link in links:
        _order(link)
        _decide(link)
    for same in emitters.values():
        _note_scopes([link for link in same if link.status is LinkStatus.AMBIGUOUS])
    _inherit_inputs(links)
    return links


def _ids(link: ToolLink) -> set[str]:
    """The ids that may name the call: its own, and that of the item of the response in which it stands."""
    return {told for told in (link.emitted.id, link.emitted.also) if told is not None}


def _decide(link: ToolLink) -> None:
    if not link.candidates:
        return
    link.status = LinkStatus.AMBIGUOUS
    if link.emitters > 1 or len(link.candidates) > 1 or link.lost_emitters or not link.witnesses[0].holds():
        return
    if link.call.ordinal is None and link.candidates[0].ordinal is not None and is_numbered(link.emitted.id or ""):
        return  # nothing tells the Input of the call, and other Inputs count the same ids
    link.status, link.execution = LinkStatus.EXACT, link.candidates[0]
    link.rule = link.execution.id_rule()
    if link.execution.tool_call_id() != link.emitted.id:
        link.rule = "item_id"


def _started(execution: Execution, call_id: str, tasks: Mapping[Task, int]) -> int:
    return tasks.get((execution.head.source, execution.head.trace_id, call_id), 0)


def _order(link: ToolLink) -> None:
    """An id that other answers may count again is not answered before its call began, nor after a request reported the
    result, by the clock of one recorder. Order finds nothing: it never agrees."""
    if not is_numbered(link.emitted.id or ""):
        return
    for at, execution in enumerate(link.candidates):
        began = execution.head.start_ns
        asked, told = _start(link.call, execution.head), _start(link.reported_by, execution.head)
        if began is None or asked is None:
            continue
        if began < asked or (told is not None and told < began):
            link.witnesses[at] = Witness((*link.witnesses[at].words, ("order", Word.CONTRADICTS)))


def _start(call: ModelCall | None, head: SpanHead) -> int | None:
    """When a call began by the recorder of another span, in one trace: other clocks may differ."""
    span = None if call is None else call.span
    if span is None or span.recorder is not head.recorder or span.trace_id != head.trace_id:
        return None
    if span.start_ns is not None and span.end_ns is not None and span.end_ns < span.start_ns:
        return None  # it ended before it began: its clock tells no order
    return span.start_ns


def _times(calls: list[ModelCall]) -> dict[str, int]:
    """How often an id was emitted by what any request or answer of the run shows, where that is more than once."""
    out: dict[str, int] = {}
    for call in calls:
        heads = () if call.span is None else (call.span, *call.span.twins)
        for told in (call.wire, *heads):
            for call_id, count in () if told is None or told.said is None else told.said.times:
                out[call_id] = max(count, out.get(call_id, 0))
    return out


def _note_scopes(links: list[ToolLink]) -> None:
    """Ids that a server uses again: the execution whose own parents lead to exactly one of the emitters is noted there.

    The nearest ancestor with any emitter below it decides; where that has several, nothing is noted. The link stays
    ambiguous: several candidates in one Input are, by the contract.
    """
    below: dict[SpanHead, list[ToolLink]] = {}
    spanned = [link for link in links if link.call.span is not None]
    if len(spanned) < 2:
        return
    for link in spanned:
        assert link.call.span is not None
        for node in (link.call.span, *ancestors(link.call.span)):
            below.setdefault(node, []).append(link)
    found: dict[ToolLink, list[Execution]] = {}
    for execution in dict.fromkeys(e for link in spanned for e in link.candidates):
        nearest = next((below[node] for node in ancestors(execution.head) if node in below), [])
        if len(nearest) == 1 and execution in nearest[0].candidates:
            found.setdefault(nearest[0], []).append(execution)
    for link in spanned:
        mine = found.get(link, [])
        if len(mine) == 1:
            link.in_scope = mine[0]


def _same_input(one: str | None, other: str | None) -> bool:
    return one is None or other is None or one == other


def _compatible(call: ModelCall, execution: Execution) -> bool:
    if not _same_input(call.ordinal, execution.ordinal):
        return False
    session = None if call.wire is None else call.wire.session
    return session is None or execution.head.session is None or session == execution.head.session


def _inherit_inputs(links: list[ToolLink]) -> None:
    """A call of unknown Input whose exact links all lead to one Input belongs to it."""
    found: dict[ModelCall, set[str]] = {}
    for link in links:
        if link.execution is not None and link.call.ordinal is None and link.execution.ordinal is not None:
            found.setdefault(link.call, set()).add(link.execution.ordinal)
    for link in links:
        ordinals = found.get(link.call, set())
        if link.call.ordinal is None and len(ordinals) == 1:
            link.call.ordinal = next(iter(ordinals))


def find_reported(links: Iterable[ToolLink], calls: Iterable[ModelCall]) -> None:
    """What the first later request reports as a call's result: what the model was told. `calls` come in order.

    A report belongs to the latest emission of its id before it: an earlier one may have had another result, or none.
    """
    place: dict[ModelCall, int] = {}
    told: dict[str, list[tuple[int, ModelCall, Reported]]] = {}
    for number, call in enumerate(calls):
        place[call] = number
        for item in call.reported():
            told.setdefault(item.tool_call_id, []).append((number, call, item))
    emissions: dict[str, list[tuple[int, str | None]]] = {}
    for link in links:
        if link.emitted.id is not None:
            emissions.setdefault(link.emitted.id, []).append((place[link.call], link.call.ordinal))
    for link in links:
        mine, link.reported_by = place[link.call], None
        for number, call, item in told.get(link.emitted.id or "", ()):
            if number > mine and _same_input(link.call.ordinal, call.ordinal):
                between = emissions[item.tool_call_id]
                if any(mine < at < number and _same_input(ordinal, call.ordinal) for at, ordinal in between):
                    break
                link.reported_by, link.reported_position, link.reported_sha256 = call, item.position, item.sha256
                break
