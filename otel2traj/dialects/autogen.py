"""AutoGen: agent and tool spans without any content; its messages between agents are transport.

https://github.com/microsoft/autogen/blob/python-v0.7.5/python/packages/autogen-core/src/autogen_core/_telemetry
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from ..model.evidence import SpanRecord
from ..model.reading import Role
from .base import Marks
from .kit import SpanDialect
from .table import AttributeTable


class Autogen(SpanDialect):
    name = "autogen"
    title = "AutoGen 0.7"
    source = "https://github.com/microsoft/autogen/tree/python-v0.7.5/python/packages/autogen-core"
    switch_on = "cannot be switched on: pair it with wire records or an instrumentor of the model client"
    leaves_out = "Model calls, messages, arguments and results: only who ran which tool, under which call id."
    marks = Marks(scopes=("autogen",))
    role_key = "gen_ai.operation.name"
    roles: ClassVar[Mapping[str, Role]] = {
        "execute_tool": Role.TOOL_EXECUTION,
        "invoke_agent": Role.AGENT,
        "create_agent": Role.NONE,
    }
    fields = AttributeTable(
        tool_name=("gen_ai.tool.name",),
        tool_call_id=("gen_ai.tool.call.id",),
        agent_name=("gen_ai.agent.name",),
        known=("messaging.", "gen_ai.agent.", "gen_ai.tool.", "gen_ai.system"),
    )

    hides = ("gen_ai.system",)
    """The framework, not the provider."""

    def role(self, span: SpanRecord) -> Role | None:
        if self.role_key not in span.attributes and span.name.startswith("autogen "):
            return Role.NONE
        return super().role(span)


AUTOGEN = Autogen()
