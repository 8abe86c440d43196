"""Semantic Kernel (Python): messages in log records whose bodies are JSON text, tool functions as spans.

https://github.com/microsoft/semantic-kernel/tree/python-1.36.0/python/semantic_kernel/utils/telemetry
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from ..model.evidence import SpanRecord
from ..model.reading import Role
from .base import Marks
from .kit import SpanDialect
from .table import AttributeTable


class SemanticKernel(SpanDialect):
    name = "semantic_kernel"
    title = "Semantic Kernel (Python)"
    source = "https://github.com/microsoft/semantic-kernel/tree/python-1.36.0/python/semantic_kernel/utils/telemetry"
    switch_on = "SEMANTICKERNEL_EXPERIMENTAL_GENAI_ENABLE_OTEL_DIAGNOSTICS_SENSITIVE=true, and export the log records"
    leaves_out = "Messages on spans: they stand in the log records only. Tools are named Plugin-function."
    namespaces = ("semantic_kernel.",)
    marks = Marks(scopes=("semantic_kernel.",), keys=("sk.available_functions",))
    role_key = "gen_ai.operation.name"
    roles: ClassVar[Mapping[str, Role]] = {
        "chat": Role.MODEL_CALL,
        "text_completion": Role.MODEL_CALL,
        "execute_tool": Role.TOOL_EXECUTION,
        "invoke_agent": Role.AGENT,
    }
    fields = AttributeTable(
        finish_reason=("gen_ai.response.finish_reason", "gen_ai.response.finish_reasons"),
        known=("sk.",),
    )

    def role(self, span: SpanRecord) -> Role | None:
        if self.role_key not in span.attributes:
            return Role.CHAIN
        return super().role(span)


SEMANTIC_KERNEL = SemanticKernel()
