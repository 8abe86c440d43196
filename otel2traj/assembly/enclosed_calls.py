"""Tool calls that no answer tells, where the producer runs the tools of one call, and no others, below one span."""

from __future__ import annotations

from ..evidence import Index
from ..messages import ToolCall
from ..model.heads import SpanHead
from ..model.reading import Role
from .readings import emitted


def find_enclosed_calls(index: Index) -> None:
    """Notes on a model span without an answer the calls of the tools that ran beside it, by recorded parents alone."""
    models: dict[SpanHead, list[SpanHead]] = {}
    tools: dict[SpanHead, list[SpanHead]] = {}
    if not any(head.encloses for head in index.otel.values()):
        return
    for head in index.otel.values():
        if head.encloses or head.role not in (Role.MODEL_CALL, Role.TOOL_EXECUTION):
            continue
        above = head.parent
        while above is not None and not above.encloses:
            above = above.parent
        if above is not None:
            (models if head.role is Role.MODEL_CALL else tools).setdefault(above, []).append(head)
    for around, found in models.items():
        ran = sorted((tool for tool in tools.get(around, ()) if tool.tool_call_id is not None), key=SpanHead.order)
        calls = {tool.tool_call_id: ToolCall(tool.tool_call_id, tool.tool_name) for tool in ran}
        if len(found) == 1 and not found[0].has_output and calls:
            index.recovered[found[0]] = "enclosing_span", list(calls.values())
            found[0].emitted = [emitted(call) for call in calls.values()]
