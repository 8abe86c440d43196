"""Emitted tool calls and executions to links: by tool call id, within one Input, or not at all."""

from __future__ import annotations

from collections.abc import Iterable

from ..model.heads import Execution, ModelCall, Reported, ToolLink
from ..model.link import LinkStatus
from .tree import ancestors


def link_tool_calls(calls: Iterable[ModelCall], executions: Iterable[Execution]) -> list[ToolLink]:
    """One link for each emitted tool call, in the order of `calls`.

    In one Input one emitter and one candidate are exact; more of either are ambiguous, and nothing is attached; no
    candidate is none. An Input that is not known conflicts with none.
    """
    links = [ToolLink(call, position, emitted) for call in calls for position, emitted in enumerate(call.emitted())]
    emitters: dict[str, list[ToolLink]] = {}
    for link in links:
        if link.emitted.id is not None:
            emitters.setdefault(link.emitted.id, []).append(link)
    candidates: dict[str, list[Execution]] = {}
    for execution in executions:
        call_id = execution.tool_call_id()
        if call_id is not None:
            candidates.setdefault(call_id, []).append(execution)
    for call_id, same in emitters.items():
        found = candidates.get(call_id, [])
        for link in same:
            link.candidates = [execution for execution in found if _compatible(link.call, execution)]
            link.emitters = sum(1 for other in same if _same_input(link.call.ordinal, other.call.ordinal))
            if not link.candidates:
                continue
            if link.emitters > 1 or len(link.candidates) > 1:
                link.status = LinkStatus.AMBIGUOUS
            else:
                link.status, link.execution = LinkStatus.EXACT, link.candidates[0]
                link.rule = link.execution.id_rule()
        _note_scopes([link for link in same if link.status is LinkStatus.AMBIGUOUS])
    _inherit_inputs(links)
    return links


def _note_scopes(links: list[ToolLink]) -> None:
    """Ids that a server uses again: the execution whose own parents lead to exactly one of the emitters is noted there.

    The nearest ancestor with any emitter below it decides; where that has several, nothing is noted. The link stays
    ambiguous: several candidates in one Input are, by the contract.
    """
    below: dict[int, list[ToolLink]] = {}
    spanned = [link for link in links if link.call.span is not None]
    if len(spanned) < 2:
        return
    for link in spanned:
        assert link.call.span is not None
        for node in (link.call.span, *ancestors(link.call.span)):
            below.setdefault(id(node), []).append(link)
    found: dict[int, list[Execution]] = {}
    for execution in {id(e): e for link in spanned for e in link.candidates}.values():
        nearest = next((below[id(node)] for node in ancestors(execution.head) if id(node) in below), [])
        if len(nearest) == 1 and execution in nearest[0].candidates:
            found.setdefault(id(nearest[0]), []).append(execution)
    for link in spanned:
        mine = found.get(id(link), [])
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
    found: dict[int, set[str]] = {}
    for link in links:
        if link.execution is not None and link.call.ordinal is None and link.execution.ordinal is not None:
            found.setdefault(id(link.call), set()).add(link.execution.ordinal)
    for link in links:
        ordinals = found.get(id(link.call), set())
        if link.call.ordinal is None and len(ordinals) == 1:
            link.call.ordinal = next(iter(ordinals))


def find_reported(links: Iterable[ToolLink], calls: Iterable[ModelCall]) -> None:
    """What the first later request reports as a call's result: what the model was told. `calls` come in order."""
    told: dict[str, list[tuple[int, ModelCall, Reported]]] = {}
    place: dict[int, int] = {}
    for number, call in enumerate(calls):
        place[id(call)] = number
        for item in call.reported():
            told.setdefault(item.tool_call_id, []).append((number, call, item))
    for link in links:
        for number, call, item in told.get(link.emitted.id or "", ()):
            if number > place[id(link.call)] and _same_input(link.call.ordinal, call.ordinal):
                link.reported_by, link.reported_position, link.reported_sha256 = call, item.position, item.sha256
                break
