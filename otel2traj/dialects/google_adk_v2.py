"""Google ADK, second schema: the GenAI conventions, with ids of its own where Gemini gave none.

https://github.com/google/adk-python/blob/v2.13.0/src/google/adk/telemetry/tracing.py
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from ..model.evidence import LogRecord, SpanRecord
from ..model.reading import Role
from .base import Marks
from .draft import Draft
from .google_adk_v1 import PREFIX, SCOPE, adk_result, is_merged
from .kit import SpanDialect
from .table import AttributeTable
from .tool_payload import tool_result


class GoogleAdkV2(SpanDialect):
    name = "google_adk_v2"
    title = "Google ADK, second schema"
    source = "https://github.com/google/adk-python/blob/v2.13.0/src/google/adk/telemetry/tracing.py"
    switch_on = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true (off by default)"
    leaves_out = "response ids; the provider's finish reason (`stop` also stands for tool calls)"
    tested: ClassVar[Mapping[str, str]] = {"gcp.vertex.agent": "2.13.0"}
    marks = Marks(scopes=(SCOPE,), keys=(f"{PREFIX}event_id",))
    fields = AttributeTable(agent_name=("gen_ai.agent.name",), known=("gen_ai.workflow.", PREFIX))

    def confirms(self, span: SpanRecord) -> bool:
        return f"{PREFIX}llm_request" not in span.attributes

    def role(self, span: SpanRecord) -> Role | None:
        return Role.NONE if is_merged(span) else None

    def fill(self, draft: Draft, span: SpanRecord, logs: Sequence[LogRecord]) -> None:
        if span.attributes.get("gen_ai.operation.name") == "execute_tool" and draft.role is not Role.NONE:
            result = tool_result(adk_result(span.attributes.get("gen_ai.tool.call.result")))
            if result is not None:
                draft.put("result", result.content)
                draft.put("is_error", result.is_error)


GOOGLE_ADK_V2 = GoogleAdkV2()
