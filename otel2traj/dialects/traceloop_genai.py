"""OpenLLMetry (Traceloop) in its present form: GenAI attributes with messages as JSON, and entities of its own.

https://github.com/traceloop/openllmetry/tree/0.62.4/packages
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from ..model.evidence import LogRecord, SpanRecord
from ..model.reading import Role
from . import traceloop_keys as keys
from .draft import Draft
from .gen_ai_keys import OPERATIONS
from .kit import SpanDialect, errors
from .table import AttributeTable


class TraceloopGenAi(SpanDialect):
    name = "traceloop_genai"
    title = "OpenLLMetry (Traceloop), JSON messages"
    source = keys.SOURCE
    switch_on = keys.SWITCH
    leaves_out = "reasoning text of chat completions; every output of the OpenAI Agents SDK over chat completions"
    tested: ClassVar[Mapping[str, str]] = {
        "opentelemetry.instrumentation.agno": "0.62.4",
        "opentelemetry.instrumentation.anthropic": "0.62.4",
        "opentelemetry.instrumentation.crewai.instrumentation": "0.36.0",
        "opentelemetry.instrumentation.google_generativeai": "0.21.5",
        "opentelemetry.instrumentation.langchain": "0.62.4",
        "opentelemetry.instrumentation.llamaindex": "0.62.4",
        "opentelemetry.instrumentation.openai.v1": "0.62.4",
        "opentelemetry.instrumentation.openai_agents": "0.62.4",
    }
    marks = keys.MARKS
    fields = AttributeTable(
        agent_name=keys.AGENT_NAME,
        agent_path=keys.AGENT_PATH,
        conversation_id=keys.CONVERSATION,
        known=keys.KNOWN,
    )

    def confirms(self, span: SpanRecord) -> bool:
        return not keys.is_indexed(span)

    def role(self, span: SpanRecord) -> Role | None:
        attributes = span.attributes
        operation = attributes.get("gen_ai.operation.name")
        kind = attributes.get(keys.KIND)
        said = OPERATIONS.get(operation) if isinstance(operation, str) else None
        if said is None and isinstance(kind, str):
            if kind == "task" and keys.is_function_result(attributes.get("traceloop.entity.output")):
                return Role.TOOL_EXECUTION
            return keys.KINDS.get(kind)
        if said is Role.AGENT and kind in ("workflow", "task"):
            return Role.CHAIN
        return said

    def who(self, span: SpanRecord) -> str | None:
        return super().who(span) or keys.entity_agent(span)

    def fill(self, draft: Draft, span: SpanRecord, logs: Sequence[LogRecord]) -> None:
        if draft.role is Role.TOOL_EXECUTION:
            keys.read_tool(draft, span)
        elif draft.role is Role.MODEL_CALL:
            keys.read_model(draft, span)
        else:
            keys.read_whole(draft, span)

    def settle(self, draft: Draft, span: SpanRecord) -> None:
        if keys.is_handoff(span):
            draft.reading.is_error = False
        else:
            errors(draft, span)


TRACELOOP_GENAI = TraceloopGenAi()
