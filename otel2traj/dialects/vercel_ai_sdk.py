"""The Vercel AI SDK, versions 4 to 6 and 7.

Each `source` has the version that was read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

from ..canonical import JsonError, JsonObject, JsonValue
from ..messages import Message, ToolCall
from ..messages.nested import load
from ..messages.reader import read_messages
from ..messages.tool_blocks import call_part
from ..model.evidence import LogRecord, SpanRecord
from ..model.reading import Role
from .base import Marks
from .draft import Draft
from .kit import SpanDialect
from .table import AttributeTable, UsageKeys

MODEL: Final = Role.MODEL_CALL
WRAPPER: Final = Role.AGENT
OPERATIONS: Final[Mapping[str, Role]] = {
    "ai.generateText.doGenerate": MODEL,
    "ai.streamText.doStream": MODEL,
    "ai.generateObject.doGenerate": MODEL,
    "ai.streamObject.doStream": MODEL,
    "ai.toolCall": Role.TOOL_EXECUTION,
    "ai.generateText": WRAPPER,
    "ai.streamText": WRAPPER,
    "ai.generateObject": WRAPPER,
    "ai.streamObject": WRAPPER,
    "ai.embed": Role.NONE,
    "ai.embedMany": Role.NONE,
    "ai.embed.doEmbed": Role.NONE,
    "ai.embedMany.doEmbed": Role.NONE,
    "ai.rerank": Role.NONE,
    "ai.rerank.doRerank": Role.NONE,
}
_CONVERSATION: Final = tuple(
    f"ai.telemetry.metadata.{name}"
    for name in ("sessionId", "session_id", "session", "threadId", "thread_id", "conversationId", "chatId")
)


class VercelAiSdkLegacy(SpanDialect):
    """Vercel AI SDK 4 to 6, and 7 with its legacy integration: `ai.*` attributes."""

    name = "vercel_ai_sdk_legacy"
    title = "Vercel AI SDK 4 to 6 (and 7 with LegacyOpenTelemetry)"
    source = "https://github.com/vercel/ai/tree/ai%406.0.0/packages/ai/src/telemetry"
    switch_on = "experimental_telemetry: { isEnabled: true }; recordInputs and recordOutputs are on by default"
    leaves_out = (
        "Tools that the provider runs have no ai.toolCall span; reasoning only where the model gave it as text."
    )
    namespaces = ("ai.",)
    marks = Marks(keys=("ai.operationId",))
    role_key = "ai.operationId"
    roles: ClassVar[Mapping[str, Role]] = OPERATIONS
    fields = AttributeTable(
        request_model=("gen_ai.request.model", "ai.model.id"),
        response_model=("gen_ai.response.model", "ai.response.model"),
        provider=("ai.model.provider", "gen_ai.system"),
        response_id=("gen_ai.response.id", "ai.response.id"),
        tool_name=("ai.toolCall.name",),
        tool_call_id=("ai.toolCall.id",),
        arguments=("ai.toolCall.args",),
        agent_name=("ai.telemetry.functionId",),
        conversation_id=_CONVERSATION,
        finish_reason=("ai.response.finishReason", "gen_ai.response.finish_reasons"),
        parameters={
            "temperature": "gen_ai.request.temperature",
            "top_p": "gen_ai.request.top_p",
            "top_k": "gen_ai.request.top_k",
            "max_tokens": "gen_ai.request.max_tokens",
            "stop_sequences": "gen_ai.request.stop_sequences",
            "frequency_penalty": "gen_ai.request.frequency_penalty",
            "presence_penalty": "gen_ai.request.presence_penalty",
        },
        usage=UsageKeys(
            input=("ai.usage.inputTokens", "ai.usage.promptTokens", "gen_ai.usage.input_tokens"),
            output=("ai.usage.outputTokens", "ai.usage.completionTokens", "gen_ai.usage.output_tokens"),
            cache_read=("ai.usage.inputTokenDetails.cacheReadTokens", "ai.usage.cachedInputTokens"),
            cache_write=("ai.usage.inputTokenDetails.cacheWriteTokens",),
            reasoning=("ai.usage.outputTokenDetails.reasoningTokens", "ai.usage.reasoningTokens"),
        ),
        known=("ai.", "operation.name", "resource.name"),
    )

    def fill(self, draft: Draft, span: SpanRecord, logs: Sequence[LogRecord]) -> None:
        if draft.role is Role.TOOL_EXECUTION:
            draft.put("result", unquote(draft, "ai.toolCall.result", "result"))
            return
        if draft.role is Role.AGENT:
            self._wrapper(draft)
            return
        if draft.role is not Role.MODEL_CALL:
            return
        draft.put_messages(read_messages(draft.json("ai.prompt.messages", "messages")))
        draft.put("tools", _tools(draft))
        choice = draft.json("ai.prompt.toolChoice")
        if choice is not None:
            draft.reading.extra["tool_choice"] = choice
        text = draft.attributes.get("ai.response.text")
        if text is None:
            text = draft.attributes.get("ai.response.object")
        calls = tool_calls(draft.json("ai.response.toolCalls", "tool_calls"))
        if isinstance(text, str) and (text or calls is None):
            draft.put("text", text)
        reasoning = draft.attributes.get("ai.response.reasoning")
        if isinstance(reasoning, str) and reasoning:
            draft.put("reasoning", reasoning)
        if calls is not None:
            own, hosted = calls
            draft.put("tool_calls", own or None)
            draft.put("other_parts", hosted or None)
        if draft.attributes.get("ai.response.files") is not None:
            files = draft.json("ai.response.files", "other_parts")
            draft.put("other_parts", [f for f in files if isinstance(f, dict)] if isinstance(files, list) else None)

    def _wrapper(self, draft: Draft) -> None:
        prompt = draft.json("ai.prompt", "input_text")
        if isinstance(prompt, dict):
            asked = prompt.get("prompt")
            if not isinstance(asked, str):
                asked = last_user_text(read_messages(prompt.get("messages") or asked))
            draft.put("input_text", asked)
        elif isinstance(prompt, str):
            draft.put("input_text", prompt)
        answer = draft.attributes.get("ai.response.text")
        draft.put("output_text", answer if answer is not None else draft.attributes.get("ai.response.object"))


def tool_calls(value: JsonValue) -> tuple[list[ToolCall], list[JsonObject]] | None:
    """`ai.response.toolCalls`: the calls left to the caller, and those that the provider executed itself."""
    if not isinstance(value, list):
        return None
    own: list[ToolCall] = []
    hosted: list[JsonObject] = []
    for item in value:
        if not isinstance(item, dict):
            continue
        if item.get("providerExecuted") is True:
            hosted.append(item)
        else:
            call = call_part(item)
            own.append(ToolCall(call.id, call.name, call.value))
    return own, hosted


def last_user_text(found: Sequence[Message]) -> str | None:
    """What the last user message says, all its text parts together."""
    for message in reversed(found):
        if message.role == "user":
            texts = message.texts()
            return "\n".join(texts) if texts else None
    return None


def unquote(draft: Draft, key: str, field: str) -> JsonValue:
    """A value that the producer always writes as JSON, strings too: exactly one layer is taken off."""
    raw = draft.attributes.get(key)
    if not isinstance(raw, str):
        return raw
    try:
        return load(raw)
    except JsonError:
        if raw[:1] in ('"', "{", "["):
            draft.cut(field)
        return raw


def _tools(draft: Draft) -> list[JsonObject] | None:
    """`ai.prompt.tools`: a list of JSON texts, one a tool; ai 4 and 5 say `parameters` or `inputSchema`."""
    raw = draft.attributes.get("ai.prompt.tools")
    if not isinstance(raw, (list, tuple)):
        raw = draft.json("ai.prompt.tools", "tools")
    if not isinstance(raw, (list, tuple)):
        return None
    out: list[JsonObject] = []
    for item in raw:
        try:
            tool = load(item) if isinstance(item, str) else item
        except JsonError:
            draft.cut("tools")
            continue
        if isinstance(tool, dict):
            out.append(tool)
    return out or None


VERCEL_AI_SDK_LEGACY = VercelAiSdkLegacy()


_SCOPE: Final = "gen_ai"
_METRICS: Final = ("gen_ai.execute_tool.duration", "gen_ai.client.operation.duration", "gen_ai.agent_step.duration")
"""Names of metrics that only this producer puts on spans."""


class VercelAiSdkV7(SpanDialect):
    """Vercel AI SDK 7 with `@ai-sdk/otel`: the GenAI conventions, with tool results that are always written as JSON."""

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
