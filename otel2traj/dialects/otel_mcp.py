"""OpenTelemetry MCP spans, and those of SDKs that name the method in their own way.

https://github.com/open-telemetry/semantic-conventions/blob/v1.39.0/docs/gen-ai/mcp.md
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ..messages.nested import string
from ..model.evidence import LogRecord, SpanRecord
from ..model.reading import Role
from .base import Marks
from .draft import Draft
from .kit import SpanDialect
from .table import AttributeTable
from .tool_payload import tool_result

_CALL: Final = "tools/call"
_SIDES: Final = {2: "server", 3: "client"}
"""Both sides of one call have a span: the server's is a child of the client's, often in another process."""


class OtelMcp(SpanDialect):
    name = "otel_mcp"
    title = "OpenTelemetry MCP conventions"
    source = "https://github.com/open-telemetry/semantic-conventions/blob/v1.39.0/docs/gen-ai/mcp.md"
    switch_on = "arguments and results are opt-in of the instrumentation"
    leaves_out = "the model's tool call id: a span has only the JSON-RPC request id"
    namespaces = ("mcp.",)
    marks = Marks(keys=("mcp.method.name",))
    fields = AttributeTable(
        tool_name=("gen_ai.tool.name", "mcp.tool.name"),
        tool_call_id=("gen_ai.tool.call.id",),
        arguments=("gen_ai.tool.call.arguments", "mcp.request.argument"),
        conversation_id=("gen_ai.conversation.id",),
        extra={
            "mcp.session.id": "mcp.session.id",
            "jsonrpc.request.id": "jsonrpc.request.id",
            "mcp.protocol.version": "mcp.protocol.version",
        },
        known=("mcp.", "jsonrpc.", "gen_ai.tool."),
    )
    role_key = "mcp.method.name"

    def role(self, span: SpanRecord) -> Role | None:
        return Role.TOOL_EXECUTION if span.attributes.get(self.role_key) == _CALL else Role.NONE

    def fill(self, draft: Draft, span: SpanRecord, logs: Sequence[LogRecord]) -> None:
        if draft.role is not Role.TOOL_EXECUTION:
            return
        draft.reading.extra["side"] = _SIDES.get(span.kind, "internal")
        for key in ("gen_ai.tool.name", "mcp.tool.name"):
            draft.put("tool_name", string(span.attributes.get(key)))
        draft.put("tool_name", string(span.name.partition(f"{_CALL} ")[2]))
        if span.attributes.get("error.type") == "tool_error":
            draft.put("is_error", True)
        found = tool_result(span.attributes.get("gen_ai.tool.call.result"))
        if found is not None:
            draft.put("result", found.content)
            draft.put("is_error", found.is_error)


OTEL_MCP = OtelMcp()
