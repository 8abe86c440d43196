"""Vercel AI SDK 7 with `@ai-sdk/otel`: the GenAI conventions, with tool results that are always written as JSON.

https://github.com/vercel/ai/tree/ai%407.0.173/packages/otel
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

from ..model.evidence import LogRecord, SpanRecord
from ..model.reading import Role
from .base import Marks
from .draft import Draft
from .kit import SpanDialect
from .table import AttributeTable
from .vercel_ai_sdk_legacy import unquote

_SCOPE: Final = "gen_ai"
_METRICS: Final = ("gen_ai.execute_tool.duration", "gen_ai.client.operation.duration", "gen_ai.agent_step.duration")
"""Names of metrics that only this producer puts on spans."""


class VercelAiSdkV7(SpanDialect):
    name = "vercel_ai_sdk_v7"
    title = "Vercel AI SDK 7 (@ai-sdk/otel)"
    source = "https://github.com/vercel/ai/tree/ai%407.0.173/packages/otel"
    switch_on = "on by default once registered; recordInputs and recordOutputs switch content off"
    leaves_out = "The agent's name on model and tool spans; reasoning tokens."
    marks = Marks(scopes=(_SCOPE,), keys=_METRICS)
    role_key = "gen_ai.operation.name"
    roles: ClassVar[Mapping[str, Role]] = {
        "chat": Role.MODEL_CALL,
        "execute_tool": Role.TOOL_EXECUTION,
        "invoke_agent": Role.AGENT,
        "agent_step": Role.CHAIN,
    }
    fields = AttributeTable(
        finish_reason=("gen_ai.response.finish_reasons",),
        tool_name=("gen_ai.tool.name",),
        tool_call_id=("gen_ai.tool.call.id",),
        arguments=("gen_ai.tool.call.arguments",),
        agent_name=("gen_ai.agent.name",),
        known=("gen_ai.client.", "gen_ai.execute_tool.", "gen_ai.agent_step."),
    )

    def confirms(self, span: SpanRecord) -> bool:
        if "gen_ai.operation.name" not in span.attributes:
            return False
        return span.scope_name == _SCOPE or any(key in span.attributes for key in _METRICS)

    def fill(self, draft: Draft, span: SpanRecord, logs: Sequence[LogRecord]) -> None:
        if draft.role is Role.TOOL_EXECUTION:
            draft.put("result", unquote(draft, "gen_ai.tool.call.result", "result"))


VERCEL_AI_SDK_V7 = VercelAiSdkV7()
