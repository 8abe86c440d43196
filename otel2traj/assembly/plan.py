"""Heads to the plan of one trajectory: which steps there will be, in order, and how they are tied."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from ..evidence import Index
from ..model.evidence import Notice
from ..model.heads import Execution, ModelCall, SpanHead, ToolLink, WireHead
from ..model.link import LinkStatus
from ..pairing.executions import find_executions
from ..pairing.inference import infer
from ..pairing.inputs import InputKeys, assign_inputs
from ..pairing.model_calls import pair_model_calls
from ..pairing.retold import set_aside_executions, told_again
from ..pairing.tool_links import find_reported, link_tool_calls
from .graph_nodes import GraphNodes

Entry = ModelCall | Execution


@dataclass(slots=True)
class Plan:
    """Steps to be, in order; `links` by the call that emitted."""

    entries: list[Entry] = field(default_factory=list)
    links: dict[ModelCall, list[ToolLink]] = field(default_factory=dict)
    inferred_calls: dict[Execution, ToolLink] = field(default_factory=dict)
    """The call that an execution, a step of its own, was inferred to answer."""
    inferred: int | None = 0
    notices: list[Notice] = field(default_factory=list)

    def calls(self) -> list[ModelCall]:
        return [entry for entry in self.entries if isinstance(entry, ModelCall)]


def plan_steps(
    index: Index,
    wires: list[WireHead],
    heads: list[SpanHead],
    keys: InputKeys,
    recover: GraphNodes | None,
    *,
    inference: bool,
) -> Plan:
    """Pair everything by identifiers. The order of `wires` and `heads` changes nothing."""
    plan = Plan()
    keys.several = keys.several or len({head.ordinal for head in heads} - {None}) > 1
    calls = pair_model_calls(wires, heads, index.by_span_id, plan.notices, several_inputs=keys.several)
    assign_inputs(calls, keys, index.by_span_id)
    calls.sort(key=ModelCall.order)
    if recover is not None:
        for call in calls:
            recover.look(call)
    spare: list[SpanHead] = []
    executions = sorted(set_aside_executions(find_executions(heads, spare), plan.notices), key=Execution.order)
    plan.notices.extend(told_again(spare, "tool executions"))
    links = link_tool_calls(calls, executions, index.tasks)
    find_reported(links, calls)
    emitted = {execution for link in links for execution in link.candidates}
    unlinked = [execution for execution in executions if execution not in emitted]
    if inference:
        plan.inferred = infer(links, unlinked)
    else:
        plan.inferred = None
    plan.entries = sorted([*calls, *unlinked], key=lambda entry: entry.order())
    for number, entry in enumerate(plan.entries, 1):
        entry.step_id = number
    for link in links:
        plan.links.setdefault(link.call, []).append(link)
        if link.inferred is not None:
            plan.inferred_calls[link.inferred] = link
        if link.status is LinkStatus.AMBIGUOUS:
            plan.notices.append(_ambiguous(link))
    plan.notices.extend(_across(links, unlinked))
    return plan


def _across(links: list[ToolLink], unlinked: list[Execution]) -> Iterator[Notice]:
    """Calls whose id stands in another Input, emitted or executed: no link crosses Inputs, and each stands for
    itself."""
    borne: dict[str, list[Execution]] = {}
    for execution in unlinked:
        call_id = execution.tool_call_id()
        if call_id is not None:
            borne.setdefault(call_id, []).append(execution)
    inputs: dict[str, set[str]] = {}
    for link in links:
        if link.emitted.id is not None and link.call.ordinal is not None:
            inputs.setdefault(link.emitted.id, set()).add(link.call.ordinal)
    for execution in unlinked:
        call_id = execution.tool_call_id()
        if call_id is not None and execution.ordinal is not None:
            inputs.setdefault(call_id, set()).add(execution.ordinal)
    told: set[str | None] = set()
    for link in links:
        found = [] if link.candidates or link.emitted.id is None else borne.get(link.emitted.id, [])
        if found:
            told.add(link.emitted.id)
            where = ", ".join(sorted({execution.ordinal or "unknown" for execution in found}))
            message = (
                f"tool call {link.emitted.id} of Input {link.call.ordinal} was executed in Input {where} of the same"
            )
            yield Notice("call_in_another_input", f"{message} conversation: not linked", lossy=False)
    again = [call_id for call_id in sorted(inputs.keys() - told) if len(inputs[call_id]) > 1]
    if again:
        named = [f"{call_id} ({', '.join(sorted(inputs[call_id]))})" for call_id in again[:_NAMED]]
        named += [f"{len(again) - _NAMED} more"] if len(again) > _NAMED else []
        message = f"tool call ids of several Inputs of one conversation, told apart: {', '.join(named)}"
        yield Notice("repeated_tool_call", message, lossy=False)


_NAMED: Final = 5
"""How many ids a notice names."""


def _ambiguous(link: ToolLink) -> Notice:
    message = (
        f"tool call {link.emitted.id} has {link.emitters} emitters and {len(link.candidates)} candidates in one Input"
    )
    against = {respect for witness in link.witnesses for respect in witness.contradictions()}
    if against:
        message += f", contradicted in {', '.join(sorted(against))}"
    if link.lost_emitters:
        message += "; a request shows that more answers emitted it than were recorded"
    return Notice("ambiguous_link", message)
