"""What only agent spans tell: of calls that no span below them tells, or tells without content."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from ..canonical import JsonObject, JsonValue
from ..evidence import Index
from ..messages import all_tool_calls
from ..model.heads import Recorder, SpanHead, WireHead
from ..model.reading import Reading, Role
from .archive import Archive
from .documents import InputRecord
from .evidence import span_evidence
from .readings import Readings


@dataclass(slots=True)
class Below:
    """What the model calls below an agent tell."""

    calls: bool = False
    asked: bool = False
    answered: bool = False

    def add(self, other: Below) -> None:
        self.calls, self.asked = self.calls or other.calls, self.asked or other.asked
        self.answered = self.answered or other.answered


class Agents:
    """The agent spans of one conversation. Where its calls were intercepted, the wire tells all of them."""

    def __init__(
        self, archive: Archive, index: Index, readings: Readings, heads: Iterable[SpanHead], wires: Sequence[WireHead]
    ) -> None:
        self._archive = archive
        self._index = index
        self._readings = readings
        self._by_input: dict[str | None, list[tuple[SpanHead, Below]]] = {}
        if not wires:
            for head, below in _below(heads).items():
                if head.recorder is Recorder.OTEL and not (below.asked and below.answered):
                    self._by_input.setdefault(head.ordinal, []).append((head, below))

    def of(self, item: InputRecord) -> list[JsonObject]:
        """`{"agent_name", "interaction_id", "trace_id"?, "otel_span_id"?, "records", "told", "said_by"}` of each agent
        span of an Input with what it alone tells, in order. `told` has the members of a step's input and output."""
        out: list[JsonObject] = []
        for head, below in self._by_input.get(item.ordinal, ()):
            reading = self._readings.of(head)
            told = _told(reading, below, item)
            if not told:
                continue
            entry = span_evidence(self._archive, head, self._index.logs_of(head))
            said_by = {key: dialect for key, dialect in sorted(reading.said_by.items()) if key in _MEMBERS}
            out.append({"agent_name": head.agent_name, **entry, "told": told, "said_by": said_by})
        return out


_MEMBERS: Final = frozenset(
    {"request_model", "response_model", "messages", "system", "tools", "text", "reasoning", "tool_calls", "usage"}
    | {"finish_reason"}
)


def _told(reading: Reading, below: Below, item: InputRecord) -> JsonObject:
    """What no call below tells, without the words that are the Input's own prompt and result already."""
    out: JsonObject = {}
    if not below.asked:
        messages = [message.to_json() for message in reading.messages or []]
        words = [text for message in reading.messages or [] for text in message.texts()]
        if messages and words != [item.prompt]:
            out["messages"] = messages
        out |= {"system": reading.system, "tools": reading.tools}
    if not below.answered:
        result = item.result["output"] if item.result is not None and "output" in item.result else None
        calls: JsonValue = [call.to_json() for call in all_tool_calls(reading.tool_calls or [], reading.choices)]
        out |= {"text": reading.text if reading.text != result else None, "reasoning": reading.reasoning}
        out |= {"tool_calls": calls or None, "finish_reason": reading.finish_reason}
    if not below.calls:
        out["model"] = reading.response_model or reading.request_model
        out["usage"] = None if reading.usage is None or reading.usage.is_empty() else reading.usage.to_json()
    return {key: value for key, value in out.items() if value is not None}


def _below(heads: Iterable[SpanHead]) -> dict[SpanHead, Below]:
    """Every agent span, with what is told by the calls below it, those of agents inside it among them."""
    found: dict[SpanHead, Below] = {}
    above: dict[SpanHead, SpanHead | None] = {}
    heads = sorted(heads, key=SpanHead.order)
    for head in heads:
        if head.role is Role.AGENT:
            found[head] = Below()
    for head in heads:
        if head.role is Role.MODEL_CALL:
            agent = _agent_around(head, above)
            if agent is not None and agent in found:
                asked = head.said is not None and head.said.history is not None
                found[agent].add(Below(True, asked, head.has_output))
    inside: dict[SpanHead, int] = dict.fromkeys(found, 0)
    for head in found:
        outer = _agent_around(head, above)
        if outer in inside:
            inside[outer] += 1
    free = [head for head, count in inside.items() if count == 0]
    for head in free:  # the innermost first
        outer = _agent_around(head, above)
        if outer in found:
            found[outer].add(found[head])
            inside[outer] -= 1
            if inside[outer] == 0:
                free.append(outer)
    return found


def _agent_around(head: SpanHead, known: dict[SpanHead, SpanHead | None]) -> SpanHead | None:
    """The nearest agent span around a span, remembered for every span on the way."""
    way: list[SpanHead] = []
    node = head
    while node not in known:
        way.append(node)
        if node.parent is None or node.parent.role is Role.AGENT:
            known[node] = node.parent
            break
        node = node.parent
    for step in way:
        known[step] = known[node]
    return known[node]
