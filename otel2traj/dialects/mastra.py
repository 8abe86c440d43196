"""Mastra's OpenTelemetry export: a generation over its steps over their inference, of which the innermost is the call.

https://github.com/mastra-ai/mastra/blob/%40mastra/otel-exporter%400.3.3/observability/otel-exporter/src
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from ..canonical import JsonObject, JsonValue
from ..messages import Message
from ..messages.answer import output_of
from ..messages.nested import decode, decode_arguments, string
from ..messages.reader import read_message, read_messages
from ..messages.tool_blocks import call_part
from ..model.evidence import LogRecord, SpanRecord
from ..model.reading import Role
from .base import Marks
from .bodies import read_request, read_response
from .draft import Draft
from .kit import SpanDialect
from .mlflow import put_texts
from .table import AttributeTable, UsageKeys

TYPES: Final[Mapping[str, Role]] = {
    **dict.fromkeys(("model_inference", "model_step", "model_generation", "llm_generation"), Role.MODEL_CALL),
    **dict.fromkeys(("tool_call", "mcp_tool_call", "provider_tool_call"), Role.TOOL_EXECUTION),
    "agent_run": Role.AGENT,
    **dict.fromkeys(("model_chunk", "llm_chunk", "rag_embedding"), Role.NONE),
}
_CONTENT: Final = ("gen_ai.prompt", "gen_ai.completion", "gen_ai.input.messages", "gen_ai.output.messages")


class Mastra(SpanDialect):
    name = "mastra"
    title = "Mastra"
    source = "https://github.com/mastra-ai/mastra/tree/main/observability/otel-exporter"
    switch_on = "on by default; SensitiveDataFilter replaces values"
    leaves_out = "Tool call ids on tool spans of older exporters; finish reason and usage of a step in a longer run."
    namespaces = ("mastra.",)
    marks = Marks(prefixes=("mastra.",), scopes=("@mastra",))
    fields = AttributeTable(
        request_model=("gen_ai.request.model",),
        response_model=("gen_ai.response.model", "modelId"),
        provider=("gen_ai.provider.name", "gen_ai.system"),
        response_id=("gen_ai.response.id", "id"),
        tool_name=("gen_ai.tool.name",),
        tool_call_id=("gen_ai.tool.call.id",),
        agent_name=("gen_ai.agent.name", "gen_ai.agent.id", "agent.id"),
        conversation_id=("gen_ai.conversation.id", "threadId"),
        finish_reason=("gen_ai.response.finish_reasons",),
        usage=UsageKeys(
            input=("gen_ai.usage.input_tokens",),
            output=("gen_ai.usage.output_tokens",),
            cache_read=("gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cached_input_tokens"),
            cache_write=("gen_ai.usage.cache_creation.input_tokens",),
            reasoning=("gen_ai.usage.reasoning_tokens",),
        ),
        known=(
            "mastra.",
            "gen_ai.usage.total_tokens",
            "gen_ai.tool.",
            "input",
            "output",
            "body",
            "headers",
            "modelMetadata",
            "timestamp",
            "runId",
            "span.kind",
        ),
    )
    hides = _CONTENT
    """Read here: their messages are JSON in JSON, and a generation's are those of a whole run."""

    def role(self, span: SpanRecord) -> Role | None:
        kind = span.attributes.get("mastra.span.type")
        if isinstance(kind, str):
            return TYPES.get(kind.lower(), Role.CHAIN)
        return None

    def fill(self, draft: Draft, span: SpanRecord, logs: Sequence[LogRecord]) -> None:
        kind = str(draft.attributes.get("mastra.span.type", "")).lower()
        given = _first(draft, "gen_ai.input.messages", "gen_ai.prompt", "input", f"mastra.{kind}.input")
        answer = _first(draft, "gen_ai.output.messages", "gen_ai.completion", "output", f"mastra.{kind}.output")
        if draft.role is Role.MODEL_CALL:
            self._model(draft, given, answer)
        elif draft.role is Role.TOOL_EXECUTION:
            arguments = _first(draft, "gen_ai.tool.call.arguments", "gen_ai.tool.input", "input")
            draft.put("arguments", decode_arguments(arguments))
            draft.put("result", _raw(draft, "gen_ai.tool.call.result", "gen_ai.tool.output", "output"))
            if draft.attributes.get("gen_ai.tool.success") in (False, "false"):
                draft.put("is_error", True)
        elif draft.role is Role.AGENT:
            put_texts(draft, given, answer.get("text", answer) if isinstance(answer, dict) else answer)

    def _model(self, draft: Draft, given: JsonValue, answer: JsonValue) -> None:
        if isinstance(given, dict) and given.get("body") is not None:
            given = decode(given["body"]).value
        read_request(draft, given)
        if isinstance(answer, dict) and any(key in answer for key in ("toolCalls", "text", "object", "reasoning")):
            draft.put_output(output_of([step_message(answer)], choices=False))
        elif isinstance(answer, (dict, list, str)):
            draft.put_output(output_of(read_messages(answer, "assistant"), choices=False))
        read_response(draft, draft.json("body", "text"))


def step_message(answer: JsonObject) -> Message:
    """What a step finished with: `{text, reasoning, toolCalls}`; a call may stand in the payload of a chunk."""
    message: JsonObject = {"role": "assistant", "content": answer.get("text")}
    reasoning = answer.get("reasoningText", answer.get("reasoning"))
    if isinstance(reasoning, (str, list)):
        message["reasoning"] = reasoning
    found = read_message(message) or [Message("assistant", [])]
    if not found[0].parts and answer.get("object") is not None:
        found = read_message({"role": "assistant", "content": str(answer["object"])})
    calls = answer.get("toolCalls")
    for call in calls if isinstance(calls, list) else []:
        if isinstance(call, dict):
            inner = call.get("payload") if isinstance(call.get("payload"), dict) else call
            assert isinstance(inner, dict)
            part = call_part(inner)
            part.hosted = inner.get("providerExecuted") is True
            found[0].parts.append(part)
    found[0].finish_reason = string(answer.get("finishReason"))
    return found[0]


def _first(draft: Draft, *names: str) -> JsonValue:
    for name in names:
        if draft.attributes.get(name) is not None:
            return draft.json(name, "messages", "text")
    return None


def _raw(draft: Draft, *names: str) -> JsonValue:
    """A result as recorded: objects are written as JSON, texts as they are, so JSON may be either."""
    return next((value for name in names if (value := draft.attributes.get(name)) is not None), None)


MASTRA = Mastra()
