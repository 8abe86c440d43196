"""Answers that an agent gave and no model call tells of: an Input of them alone is not all that happened."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..model.evidence import Notice
from ..model.heads import SpanHead
from ..model.reading import Role
from .plan import Plan
from .readings import Readings


def untold_calls(heads: Iterable[SpanHead], plan: Plan, readings: Readings) -> Iterator[Notice]:
    """One notice for each Input in which agents answer and no model call is recorded. A call of unknown Input may be
    any Input's."""
    told = {call.ordinal for call in plan.calls()}
    if None in told:
        return
    agents = (head for head in heads if head.role is Role.AGENT and head.ordinal not in told)
    seen: set[str | None] = set()
    for head in sorted(agents, key=SpanHead.order):
        if head.ordinal not in seen and readings.of(head).output_text:
            seen.add(head.ordinal)
            name = head.agent_name or head.span_id
            message = f"the agent {name} gave an answer in Input {head.ordinal}, and no model call of it is recorded"
            line = head.parts[0].ref.line if head.parts else None
            yield Notice("unrecorded_model_calls", message, head.source, line)
