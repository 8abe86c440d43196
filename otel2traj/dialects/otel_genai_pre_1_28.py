"""OpenTelemetry GenAI conventions up to 1.27: `gen_ai.prompt` and `gen_ai.completion` as JSON.

https://github.com/open-telemetry/semantic-conventions/blob/v1.27.0/docs/gen-ai/gen-ai-spans.md
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

from ..messages.answer import output_of
from ..messages.nested import decode
from ..messages.reader import read_messages
from ..model.evidence import LogRecord, SpanRecord
from ..model.reading import Role
from . import gen_ai_keys as keys
from .base import Marks
from .draft import Draft
from .kit import SpanDialect
from .table import AttributeTable

PROMPT: Final = "gen_ai.content.prompt"
COMPLETION: Final = "gen_ai.content.completion"


class OtelGenAiPre128(SpanDialect):
    name = "otel_genai_pre_1_28"
    title = "OpenTelemetry GenAI conventions up to 1.27"
    source = "https://github.com/open-telemetry/semantic-conventions/blob/v1.27.0/docs/gen-ai/gen-ai-spans.md"
    switch_on = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true in most packages"
    leaves_out = "tool executions; tool definitions"
    marks = Marks(keys=("gen_ai.prompt", "gen_ai.completion"), events=(PROMPT, COMPLETION))
    fields = AttributeTable(
        request_model=keys.REQUEST_MODEL,
        response_model=keys.RESPONSE_MODEL,
        provider=("gen_ai.system",),
        response_id=("gen_ai.response.id",),
        parameters=keys.PARAMETERS,
        usage=keys.USAGE,
        finish_reason=("gen_ai.response.finish_reasons",),
        known=("gen_ai.prompt", "gen_ai.completion"),
    )
    role_key = "gen_ai.operation.name"
    roles: ClassVar = keys.OPERATIONS

    def confirms(self, span: SpanRecord) -> bool:
        return "langsmith.span.kind" not in span.attributes and span.scope_name != "langsmith"

    def role(self, span: SpanRecord) -> Role | None:
        role = super().role(span)
        if role is None and self.role_key not in span.attributes and "gen_ai.request.model" in span.attributes:
            return Role.MODEL_CALL
        return role

    def fill(self, draft: Draft, span: SpanRecord, logs: Sequence[LogRecord]) -> None:
        if draft.role is not Role.MODEL_CALL:
            return
        for event in span.events:
            if event.name == PROMPT:
                draft.put_messages(read_messages(event.attributes.get("gen_ai.prompt")), "event")
            elif event.name == COMPLETION:
                answer = read_messages(event.attributes.get("gen_ai.completion"), "assistant")
                draft.put_output(output_of(answer), "event")
        attributes = span.attributes
        prompt = decode(attributes.get("gen_ai.prompt"))
        draft.put_messages(read_messages(prompt.value))
        answers = decode(attributes.get("gen_ai.completion"))
        if not draft.reading.has_output():
            draft.put_output(output_of(read_messages(answers.value, "assistant")))
        if prompt.cut:
            draft.cut("messages")
        if answers.cut:
            draft.cut("text", "tool_calls")


OTEL_GENAI_PRE_1_28 = OtelGenAiPre128()
