"""The Anthropic SDK's own spans: one for each request, without content unless asked for.

They stand beside another instrumentor's span of the same call, often in a trace of their own; the response id joins
them. https://platform.claude.com/docs/en/api/opentelemetry/spans (anthropic 2.14)
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

from ..messages.nested import decode_arguments
from ..model.evidence import LogRecord, SpanRecord
from ..model.reading import Role
from .base import Marks
from .draft import Draft
from .kit import SpanDialect
from .table import AttributeTable, UsageKeys

_NAMES: Final = (
    (re.compile(r"anthropic\.(beta\.)?messages\.(create|stream|parse)\b"), Role.MODEL_CALL),
    (re.compile(r"anthropic\.(beta\.)?messages\.tool_runner"), Role.AGENT),
    (re.compile(r"anthropic\.(tool_use|custom_tool_use|mcp_tool_use)\b"), Role.TOOL_EXECUTION),
)


class AnthropicSdk(SpanDialect):
    name = "anthropic_sdk"
    title = "Anthropic SDK (native, beta)"
    source = "https://platform.claude.com/docs/en/api/opentelemetry/spans"
    switch_on = "on when a tracer provider is registered; the content mode is metadata_only by default"
    leaves_out = "Messages, answers and tools in the default content mode; server tools have no span of their own."
    tested: ClassVar[Mapping[str, str]] = {"com.anthropic.sdk.python": "2.14.0"}
    marks = Marks(
        scopes=("com.anthropic.sdk.", "com.anthropic.claude-platform"),
        keys=("anthropic.message.stop_reason", "anthropic.tool_result.content"),
    )
    fields = AttributeTable(
        request_model=("gen_ai.request.model",),
        response_model=("gen_ai.response.model",),
        provider=("gen_ai.provider.name",),
        response_id=("gen_ai.response.id",),
        conversation_id=("gen_ai.conversation.id",),
        finish_reason=("gen_ai.response.finish_reasons", "anthropic.message.stop_reason"),
        tool_name=("gen_ai.tool.name",),
        tool_call_id=("gen_ai.tool.call.id",),
        parameters={
            "max_tokens": "gen_ai.request.max_tokens",
            "temperature": "gen_ai.request.temperature",
            "top_p": "gen_ai.request.top_p",
            "top_k": "gen_ai.request.top_k",
            "stream": "gen_ai.request.stream",
            "thinking_type": "anthropic.thinking.type",
            "thinking_budget_tokens": "anthropic.thinking.budget_tokens",
        },
        usage=UsageKeys(
            input=("gen_ai.usage.input_tokens",),
            output=("gen_ai.usage.output_tokens",),
            cache_read=("gen_ai.usage.cache_read.input_tokens",),
            cache_write=("gen_ai.usage.cache_write.input_tokens", "gen_ai.usage.cache_creation.input_tokens"),
            reasoning=("gen_ai.usage.reasoning.output_tokens",),
        ),
        extra={"resend_count": "http.request.resend_count"},
        known=("anthropic.", "http.", "url.", "server."),
    )

    def role(self, span: SpanRecord) -> Role | None:
        for pattern, role in _NAMES:
            if pattern.match(span.name):
                return role
        return Role.NONE if span.name.startswith("anthropic.") else None

    def fill(self, draft: Draft, span: SpanRecord, logs: Sequence[LogRecord]) -> None:
        if draft.attributes.get("anthropic.content.truncated") in (True, "true"):
            draft.cut("messages", "text", "tool_calls", "result")
        if draft.role is Role.TOOL_EXECUTION:
            draft.put("result", decode_arguments(draft.attributes.get("anthropic.tool_result.content")))


ANTHROPIC_SDK = AnthropicSdk()
