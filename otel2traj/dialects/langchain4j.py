"""LangChain4j in Quarkus, and Koog: the GenAI conventions with the whole prompt and completion as text.

https://docs.quarkiverse.io/quarkus-langchain4j/dev/observability.html
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ..messages.nested import string
from ..model.evidence import LogRecord, SpanRecord
from ..model.reading import Role
from .base import Marks
from .bodies import read_request, read_response
from .draft import Draft
from .kit import SpanDialect
from .table import AttributeTable, UsageKeys

_TOOLS: Final = "langchain4j.tools."
_SERVICES: Final = "langchain4j.aiservices."


class Langchain4j(SpanDialect):
    name = "langchain4j"
    title = "LangChain4j (Quarkus) and Koog"
    source = "https://docs.quarkiverse.io/quarkus-langchain4j/dev/observability.html"
    switch_on = "quarkus.langchain4j.tracing.include-prompt=true and include-completion=true"
    leaves_out = "Tool call ids, and the roles of the messages in a prompt."
    marks = Marks(
        scopes=("langchain4j", "io.quarkiverse.langchain4j", "io.quarkus.langchain4j", "dev.langchain4j", "ai.koog"),
        span_names=("langchain4j.",),
    )
    fields = AttributeTable(
        request_model=("gen_ai.request.model",),
        response_model=("gen_ai.response.model",),
        provider=("gen_ai.provider.name", "gen_ai.system"),
        response_id=("gen_ai.response.id",),
        usage=UsageKeys(
            input=("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"),
            output=("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"),
        ),
        arguments=("gen_ai.tool.call.arguments",),
        result=("gen_ai.tool.call.result",),
        known=("gen_ai.prompt", "gen_ai.completion"),
    )

    def role(self, span: SpanRecord) -> Role | None:
        if span.name.startswith(_TOOLS):
            return Role.TOOL_EXECUTION
        if span.name.startswith(_SERVICES):
            return Role.CHAIN
        if "gen_ai.operation.name" in span.attributes:
            return None
        return Role.MODEL_CALL if "gen_ai.request.model" in span.attributes else None

    def fill(self, draft: Draft, span: SpanRecord, logs: Sequence[LogRecord]) -> None:
        if draft.role is Role.TOOL_EXECUTION:
            draft.put("tool_name", string(span.name.removeprefix(_TOOLS).rpartition(".")[2]))
            return
        for carrier, attributes in ((None, draft.attributes), *(("event", e.attributes) for e in span.events)):
            asked, answered = attributes.get("gen_ai.prompt"), attributes.get("gen_ai.completion")
            if isinstance(asked, str) and asked:
                read_request(draft, asked if asked[:1] in "[{" else [asked], carrier)
            if isinstance(answered, str) and answered:
                read_response(draft, answered, carrier)


LANGCHAIN4J = Langchain4j()
