"""Microsoft Agent Framework: the GenAI conventions on spans, and the same messages once more as log events.

https://github.com/microsoft/agent-framework/blob/python-1.23.0/python/packages/core/agent_framework/observability.py
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final

from ..model.evidence import SpanRecord
from ..model.reading import Role
from .base import Marks
from .kit import SpanDialect
from .table import AttributeTable

_CHAINS: Final = ("workflow.", "executor.process", "message.send", "edge_group")


class AgentFramework(SpanDialect):
    name = "agent_framework"
    title = "Microsoft Agent Framework"
    source = "https://github.com/microsoft/agent-framework/blob/python-1.23.0/python/packages/core/agent_framework"
    switch_on = "ENABLE_INSTRUMENTATION=true and ENABLE_SENSITIVE_DATA=true"
    leaves_out = "Tool definitions on model spans (they stand on the agent's); an unknown tool call id is `unknown`."
    tested: ClassVar[Mapping[str, str]] = {"agent_framework": "1.23.0"}
    marks = Marks(scopes=("agent_framework",), keys=("agent_framework.function.invocation.duration",))
    fields = AttributeTable(
        finish_reason=("gen_ai.response.finish_reasons",),
        tool_name=("gen_ai.tool.name",),
        tool_call_id=("gen_ai.tool.call.id", "tool.call_id"),
        known=("agent_framework.", "workflow.", "executor.", "message.", "edge_group."),
    )

    def role(self, span: SpanRecord) -> Role | None:
        if "gen_ai.operation.name" not in span.attributes and span.name.startswith(_CHAINS):
            return Role.CHAIN
        return None


AGENT_FRAMEWORK = AgentFramework()
