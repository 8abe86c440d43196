"""Traceloop's MCP instrumentation: the tool call as an entity, and a transport span for each message of the session.

https://github.com/traceloop/openllmetry/tree/0.62.4/packages/opentelemetry-instrumentation-mcp
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from ..messages.nested import string
from ..model.evidence import LogRecord, SpanRecord
from ..model.reading import Role
from .base import Marks
from .draft import Draft
from .kit import SpanDialect
from .table import AttributeTable
from .tool_payload import tool_result


class TraceloopMcp(SpanDialect):
    name = "traceloop_mcp"
    title = "Traceloop MCP"
    source = "https://github.com/traceloop/openllmetry/tree/0.62.4/packages/opentelemetry-instrumentation-mcp"
    switch_on = "TRACELOOP_TRACE_CONTENT (default true)"
    leaves_out = "The model's tool call id; the request id stands on the transport spans below the call only."
    tested: ClassVar[Mapping[str, str]] = {"opentelemetry.instrumentation.mcp.instrumentation": "0.62.4"}
    marks = Marks(scopes=("opentelemetry.instrumentation.mcp",), keys=("mcp.response.value", "mcp.request.id"))
    fields = AttributeTable(
        extra={"mcp.request.id": "mcp.request.id"},
        known=("mcp.", "traceloop."),
    )

    def role(self, span: SpanRecord) -> Role | None:
        return Role.TOOL_EXECUTION if span.attributes.get("traceloop.span.kind") == "tool" else Role.NONE

    def fill(self, draft: Draft, span: SpanRecord, logs: Sequence[LogRecord]) -> None:
        if draft.role is not Role.TOOL_EXECUTION:
            return
        asked = draft.json("traceloop.entity.input", "arguments")
        if isinstance(asked, dict) and "arguments" in asked:
            draft.put("tool_name", string(asked.get("tool_name")))
            draft.put("arguments", asked["arguments"])
        draft.put("tool_name", string(draft.attributes.get("traceloop.entity.name")))
        answer = draft.json("traceloop.entity.output", "result")
        if isinstance(answer, dict) and set(answer) == {"result"}:  # MCP's structured content
            answer = answer["result"]
        found = tool_result(answer)
        if found is not None:
            draft.put("result", found.content)
            draft.put("is_error", found.is_error)


TRACELOOP_MCP = TraceloopMcp()
