"""Claude Code's spans (beta): identifiers, token counts and tool outputs; the messages stand in its log events.

https://code.claude.com/docs/en/monitoring-usage (claude-code 2.1.332)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

from ..messages import Message, text_part
from ..messages.nested import decode_arguments, ident, redacted
from ..model.evidence import LogRecord, SpanRecord
from ..model.reading import Classified, Role
from .base import Marks
from .draft import Draft
from .kit import SpanDialect
from .table import AttributeTable, count, make_usage

PREFIX: Final = "claude_code."
ROLES: Final[Mapping[str, Role]] = {
    "llm_request": Role.MODEL_CALL,
    "tool": Role.TOOL_EXECUTION,
    "interaction": Role.AGENT,
    "subagent.spawn": Role.AGENT,
}
_OUTPUTS: Final = ("output", "content", "diff")


def request_key(request_id: str) -> str:
    """The key that a model call's span and its log records share: the provider's request id, never the message id."""
    return f"claude_code.request:{request_id}"


def tool_key(tool_use_id: str) -> str:
    return f"claude_code.tool:{tool_use_id}"


class ClaudeCodeTraces(SpanDialect):
    name = "claude_code_traces"
    title = "Claude Code traces (beta)"
    source = "https://code.claude.com/docs/en/monitoring-usage"
    switch_on = (
        "CLAUDE_CODE_ENABLE_TELEMETRY=1, CLAUDE_CODE_ENHANCED_TELEMETRY_BETA=1, OTEL_TRACES_EXPORTER=otlp; "
        "OTEL_LOG_USER_PROMPTS, OTEL_LOG_TOOL_DETAILS and OTEL_LOG_TOOL_CONTENT for content"
    )
    leaves_out = "Messages, tool definitions and answers: they stand in the log events, with OTEL_LOG_RAW_API_BODIES=1."
    tested: ClassVar[Mapping[str, str]] = {"com.anthropic.claude_code.tracing": "1.0.0"}
    marks = Marks(scopes=("com.anthropic.claude_code.tracing",), keys=("span.type",))
    fields = AttributeTable(
        request_model=("gen_ai.request.model", "model"),
        response_model=("gen_ai.response.model",),
        provider=("gen_ai.provider.name", "gen_ai.system"),
        conversation_id=("gen_ai.conversation.id", "session.id"),
        finish_reason=("gen_ai.response.finish_reasons", "stop_reason"),
        tool_name=("gen_ai.tool.name", "tool_name"),
        tool_call_id=("gen_ai.tool.call.id", "tool_use_id"),
        agent_name=("query_source", "agent_id"),
        extra={
            "request_id": "request_id",
            "attempt": "attempt",
            "agent_id": "agent_id",
            "parent_agent_id": "parent_agent_id",
            "full_command": "full_command",
            "file_path": "file_path",
        },
        known=("gen_ai.usage.", "gen_ai.response.id", "user_prompt"),
    )
    hides = ("gen_ai.response.id",)
    """It holds the request id (`req_...`), not the message id."""

    def confirms(self, span: SpanRecord) -> bool:
        return span.name.startswith(PREFIX)

    def role(self, span: SpanRecord) -> Role | None:
        return ROLES.get(span.name.removeprefix(PREFIX), Role.NONE)

    def classify(self, span: SpanRecord) -> Classified:
        found = super().classify(span)
        if found.role is Role.MODEL_CALL:
            request_id = ident(span.attributes.get("request_id")) or ident(span.attributes.get("gen_ai.response.id"))
            found.log_key = None if request_id is None else request_key(request_id)
        elif found.role is Role.TOOL_EXECUTION:
            tool_use_id = self.fields.first("tool_call_id", span.attributes)
            found.log_key = None if tool_use_id is None else tool_key(tool_use_id)
        return found

    def fill(self, draft: Draft, span: SpanRecord, logs: Sequence[LogRecord]) -> None:
        if draft.role is Role.MODEL_CALL:
            self._model(draft)
        elif draft.role is Role.TOOL_EXECUTION:
            self._tool(draft, span)
        elif draft.role is Role.AGENT:
            prompt = draft.attributes.get("user_prompt")
            draft.put("input_text", prompt if isinstance(prompt, str) and not redacted(prompt) else None)

    def _model(self, draft: Draft) -> None:
        attributes = draft.attributes
        inclusive = count(attributes.get("gen_ai.usage.input_tokens"))
        bare = count(attributes.get("input_tokens"))
        draft.put_usage(
            make_usage(
                bare if inclusive is None else inclusive,
                _either(attributes, "gen_ai.usage.output_tokens", "output_tokens"),
                _either(attributes, "gen_ai.usage.cache_read.input_tokens", "cache_read_tokens"),
                _either(attributes, "gen_ai.usage.cache_write.input_tokens", "cache_creation_tokens"),
                input_excludes_cache=inclusive is None,
            )
        )
        context = attributes.get("new_context")
        if isinstance(context, str) and not redacted(context):
            draft.put_messages([Message("user", [text_part(context)])])
            draft.cut("messages")
        answer = attributes.get("response.model_output")
        if isinstance(answer, str) and not redacted(answer):
            draft.put("text", answer)
        if attributes.get("success") is False:
            draft.put("is_error", True)
            draft.put("error", attributes.get("error") if isinstance(attributes.get("error"), str) else None)

    def _tool(self, draft: Draft, span: SpanRecord) -> None:
        given = draft.attributes.get("tool_input")
        if given is not None and not redacted(given):
            draft.put("arguments", decode_arguments(given))
        for event in span.events:
            if event.name != "tool.output":
                continue
            for key in _OUTPUTS:
                value = event.attributes.get(key)
                if value is not None and not redacted(value):
                    draft.put("result", value, "event")
                    break
        failed = draft.attributes.get("success") in (False, "false")
        if failed:
            draft.put("is_error", True)
            draft.put(
                "error", draft.attributes.get("error") if isinstance(draft.attributes.get("error"), str) else None
            )


def _either(attributes: Mapping[str, object], *keys: str) -> int | None:
    for key in keys:
        value = attributes.get(key)
        if isinstance(value, (int, str, float)):
            found = count(value)
            if found is not None:
                return found
    return None


CLAUDE_CODE_TRACES = ClaudeCodeTraces()
