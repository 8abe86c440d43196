"""Spring AI (Micrometer): names, models and token counts; the messages go to its logs, or nowhere.

https://docs.spring.io/spring-ai/reference/1.1/observability/index.html
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from ..canonical import JsonValue
from ..messages.nested import string
from ..model.evidence import LogRecord, SpanRecord
from ..model.reading import Role
from .base import Marks
from .draft import Draft
from .kit import SpanDialect
from .table import AttributeTable, UsageKeys, finish


class SpringAi(SpanDialect):
    name = "spring_ai"
    title = "Spring AI"
    source = "https://docs.spring.io/spring-ai/reference/1.1/observability/index.html"
    switch_on = "spring.ai.tools.observations.include-content=true for tools; chat content is only logged (log-prompt)"
    leaves_out = "Messages and answers; a tool call id before Spring AI 1.1."
    namespaces = ("spring.ai.",)
    marks = Marks(keys=("gen_ai.system",), prefixes=("spring.ai.",), span_names=("spring_ai ",))
    role_key = "gen_ai.operation.name"
    roles: ClassVar[Mapping[str, Role]] = {
        "chat": Role.MODEL_CALL,
        "framework": Role.CHAIN,
        "embedding": Role.NONE,
        "image": Role.NONE,
    }
    fields = AttributeTable(
        request_model=("gen_ai.request.model",),
        response_model=("gen_ai.response.model",),
        response_id=("gen_ai.response.id",),
        tool_name=("spring.ai.tool.definition.name",),
        tool_call_id=("spring.ai.tool.call.id",),
        arguments=("spring.ai.tool.call.arguments",),
        result=("spring.ai.tool.call.result",),
        conversation_id=("spring.ai.chat.client.conversation.id",),
        usage=UsageKeys(input=("gen_ai.usage.input_tokens",), output=("gen_ai.usage.output_tokens",)),
        known=("spring.ai.", "gen_ai.usage.total_tokens"),
        quoted=True,
    )

    def confirms(self, span: SpanRecord) -> bool:
        attributes = span.attributes
        if attributes.get("gen_ai.system") == "spring_ai" or span.name.startswith("spring_ai "):
            return True
        return any(key.startswith("spring.ai.") for key in attributes)

    def role(self, span: SpanRecord) -> Role | None:
        attributes = span.attributes
        if "spring.ai.tool.definition.name" in attributes or attributes.get("spring.ai.kind") == "tool_call":
            return Role.TOOL_EXECUTION
        if "spring.ai.kind" in attributes:
            return Role.CHAIN
        return super().role(span)

    def fill(self, draft: Draft, span: SpanRecord, logs: Sequence[LogRecord]) -> None:
        draft.put("finish_reason", _first_word(draft.attributes.get("gen_ai.response.finish_reasons")))
        if draft.role is Role.MODEL_CALL:
            names = draft.json("spring.ai.model.request.tool.names")
            if isinstance(names, list):
                draft.put("tools", [{"name": name} for name in names if isinstance(name, str)] or None)


def _first_word(value: JsonValue) -> str | None:
    """The first of a list that Java printed: `[STOP]`, or JSON."""
    if isinstance(value, str) and value.startswith("[") and '"' not in value:
        return string(value.strip("[]").split(",")[0].strip())
    return finish(value)


SPRING_AI = SpringAi()
