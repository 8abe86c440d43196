"""Azure AI Inference and Azure AI Projects: message events on spans, with their bodies in one attribute.

https://github.com/Azure/azure-sdk-for-python/tree/azure-ai-inference_1.0.0b9/sdk/ai/azure-ai-inference
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

from ..model.evidence import LogRecord, SpanRecord
from ..model.reading import Role
from .base import Marks
from .draft import Draft
from .histories import tool_definitions
from .kit import SpanDialect
from .table import AttributeTable

_SYSTEMS: Final = ("az.ai.inference", "az.ai.agents", "az.ai.openai")


class AzureAiInference(SpanDialect):
    name = "azure_ai_inference"
    title = "Azure AI Inference and Azure AI Projects"
    source = "https://github.com/Azure/azure-sdk-for-python/tree/azure-ai-inference_1.0.0b9/sdk/ai/azure-ai-inference"
    switch_on = "AZURE_TRACING_GEN_AI_CONTENT_RECORDING_ENABLED=true"
    leaves_out = "Tool executions, and cache or reasoning tokens."
    tested: ClassVar[Mapping[str, str]] = {"azure.core.tracing.ext.opentelemetry_span": "1.0.0b13"}
    marks = Marks(scopes=("azure.core.tracing",), keys=("gen_ai.system", "az.namespace", "az.client_request_id"))
    role_key = "gen_ai.operation.name"
    roles: ClassVar[Mapping[str, Role]] = {
        "chat": Role.MODEL_CALL,
        "execute_tool": Role.TOOL_EXECUTION,
        **dict.fromkeys(("invoke_agent", "process_thread_run"), Role.AGENT),
        **dict.fromkeys(("create_thread", "create_message", "list_messages", "start_thread_run"), Role.CHAIN),
        "create_agent": Role.NONE,
    }
    fields = AttributeTable(
        conversation_id=("gen_ai.conversation.id", "gen_ai.thread.id"),
        agent_name=("gen_ai.agent.name",),
        extra={"gen_ai.thread.run.id": "gen_ai.thread.run.id"},
        known=("az.", "gen_ai.thread.", "gen_ai.request.tools", "http.", "url.", "component", "user_agent."),
    )

    def confirms(self, span: SpanRecord) -> bool:
        attributes = span.attributes
        if attributes.get("gen_ai.system") in _SYSTEMS or span.scope_name.startswith("azure.core.tracing"):
            return True
        return "az.namespace" in attributes or "az.client_request_id" in attributes

    def role(self, span: SpanRecord) -> Role | None:
        if self.role_key not in span.attributes and "http.request.method" in span.attributes:
            return Role.NONE
        return super().role(span)

    def fill(self, draft: Draft, span: SpanRecord, logs: Sequence[LogRecord]) -> None:
        draft.put("tools", tool_definitions(draft.attributes.get("gen_ai.request.tools")))


AZURE_AI_INFERENCE = AzureAiInference()
