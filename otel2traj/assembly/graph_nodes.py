"""Tool calls that a framework generation kept none of, recovered from the LangGraph node around it."""

from __future__ import annotations

from ..dialects import langchain_dump
from ..evidence import Index
from ..model.heads import ModelCall, Recorder, SpanHead
from ..model.reading import Role
from .archive import Archive
from .hydrate import namespace, node_output
from .readings import Readings, called_in, emitted


class GraphNodes:
    """Looks up, by parent ids only, what the enclosing node gave out; only where it made a single model call."""

    def __init__(self, archive: Archive, index: Index, readings: Readings) -> None:
        self._archive = archive
        self._index = index
        self._readings = readings
        self._models_below: dict[SpanHead, int] = {}
        for head in index.span_heads():
            if head.role is Role.MODEL_CALL:
                above = head.parent
                while above is not None and above.role is Role.CHAIN:
                    below = self._models_below.get(above, 0) + 1
                    if below > 2:
                        break  # all further up have several too
                    self._models_below[above] = below
                    above = above.parent

    def look(self, call: ModelCall) -> None:
        """Fill the emitted calls of a framework generation that has none, where its node's output tells them."""
        head = call.span
        if head is None or call.emitted() or not call.owns_span_output or not _by_framework(head):
            return
        if call.wire is not None and call.wire.succeeded():
            return
        above = head.parent
        while above is not None and above.role is Role.CHAIN and namespace(self._archive, above) == head.agent_path:
            if self._models_below.get(above) != 1:
                return
            asked = self._readings.of(head).messages or ()
            history = {call_id for message in asked for call_id in called_in(message)}
            calls = langchain_dump.node_output_tool_calls(node_output(self._archive, above), history)
            if calls:
                self._index.recovered[head] = "graph_node", calls
                head.emitted = [emitted(found) for found in calls]
                return
            above = above.parent


def _by_framework(head: SpanHead) -> bool:
    return head.recorder is Recorder.FRAMEWORK or "abb_framework" in head.dialects
