"""OpenLLMetry (Traceloop) in its older form: indexed attributes (`gen_ai.prompt.0.content`).

https://github.com/traceloop/openllmetry/tree/0.52.6/packages
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ..canonical import JsonObject
from ..messages import Message
from ..messages.answer import output_of
from ..messages.flat import family, has_gap
from ..messages.nested import decode
from ..model.evidence import LogRecord, SpanRecord
from ..model.reading import Role
from . import traceloop_keys as keys
from .base import Marks
from .draft import Draft
from .gen_ai_keys import PARAMETERS, PROVIDER, REQUEST_MODEL, RESPONSE_MODEL
from .histories import decoded, of_fields
from .kit import SpanDialect, errors
from .table import AttributeTable, UsageKeys

NOT_MODELS: Final = ("embedding", "rerank")


class TraceloopLegacy(SpanDialect):
    name = "traceloop_legacy"
    title = "OpenLLMetry (Traceloop), indexed attributes"
    source = "https://github.com/traceloop/openllmetry/tree/0.52.6/packages"
    switch_on = keys.SWITCH
    leaves_out = "tool call ids of executions but for LangChain's, which stand inside the result"
    namespaces = ("traceloop.",)
    marks = Marks(prefixes=keys.INDEXED, keys=("llm.request.type", "llm.usage.total_tokens"))
    fields = AttributeTable(
        request_model=REQUEST_MODEL,
        response_model=RESPONSE_MODEL,
        provider=PROVIDER,
        response_id=("gen_ai.response.id",),
        agent_name=keys.AGENT_NAME,
        agent_path=keys.AGENT_PATH,
        conversation_id=keys.CONVERSATION,
        parameters={
            **PARAMETERS,
            "top_k": "llm.top_k",
            "frequency_penalty": "llm.frequency_penalty",
            "presence_penalty": "llm.presence_penalty",
            "stop": "llm.chat.stop_sequences",
            "stream": "llm.is_streaming",
            "reasoning_effort": "llm.request.reasoning_effort",
        },
        usage=UsageKeys(
            input=("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"),
            output=("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"),
            cache_read=("gen_ai.usage.cache_read_input_tokens", "llm.usage.cache_read_input_tokens"),
            cache_write=("gen_ai.usage.cache_creation_input_tokens", "llm.usage.cache_creation_input_tokens"),
            reasoning=("gen_ai.usage.reasoning_tokens", "llm.usage.reasoning_tokens"),
        ),
        finish_reason=("llm.response.finish_reason", "llm.response.stop_reason", "gen_ai.response.finish_reasons"),
        known=(*keys.KNOWN, *keys.INDEXED, "llm.", "gen_ai.request.functions."),
    )

    def role(self, span: SpanRecord) -> Role | None:
        kind = span.attributes.get(keys.KIND)
        if isinstance(kind, str):
            return keys.KINDS.get(kind)
        request = span.attributes.get("llm.request.type")
        if request in NOT_MODELS:
            return Role.NONE
        return Role.MODEL_CALL if request in ("chat", "completion") or keys.is_indexed(span) else None

    def who(self, span: SpanRecord) -> str | None:
        return super().who(span) or keys.entity_agent(span)

    def fill(self, draft: Draft, span: SpanRecord, logs: Sequence[LogRecord]) -> None:
        if draft.role is Role.TOOL_EXECUTION:
            keys.read_tool(draft, span)
        elif draft.role is Role.MODEL_CALL:
            self._read_model(draft)
        else:
            keys.read_whole(draft, span)

    def _read_model(self, draft: Draft) -> None:
        prompts = draft.family("gen_ai.prompt.")
        messages: list[Message] = []
        for _, fields in prompts:
            found = of_fields(fields, None, message_object)
            messages += found.messages
            draft.reading.shared += found.shared
        draft.put_messages(messages)
        if has_gap(prompts) or any("role" not in fields for _, fields in prompts):
            draft.cut("messages")
        completions = draft.family("gen_ai.completion.")
        answers: list[Message] = []
        for _, fields in completions:
            answers += of_fields(fields, "assistant", message_object).messages
        draft.put_output(output_of(answers, choices=_are_choices(completions)))
        if has_gap(completions):
            draft.cut("text", "tool_calls")
        draft.put("tools", _tools(draft))

    def settle(self, draft: Draft, span: SpanRecord) -> None:
        if keys.is_handoff(span):
            draft.reading.is_error = False
        else:
            errors(draft, span)


def _are_choices(completions: Sequence[tuple[int, Mapping[str, Any]]]) -> bool:
    """One index is one choice in Traceloop, one tool call where LiteLLM writes the same names."""
    if len(completions) < 2:
        return False
    return not any("function_call.name" in fields for _, fields in completions) and all(
        fields.get("role") in ("assistant", None) and ("content" in fields or "finish_reason" in fields)
        for _, fields in completions
    )


def message_object(fields: Mapping[str, Any]) -> JsonObject:
    """One message's flat attributes as the object they were flattened from."""
    value: JsonObject = {"content": decode(fields.get("content"), repair=False).value}
    if fields.get("role") == "thinking":
        value["content"] = [{"type": "reasoning", "text": fields.get("content")}]
    if not isinstance(value["content"], list):
        value["content"] = fields.get("content")
    for key in ("role", "tool_call_id", "finish_reason", "reasoning", "refusal"):
        if fields.get(key) is not None:
            value[key] = fields[key]
    calls: list[JsonObject] = [dict(inner) for _, inner in family(fields, "tool_calls.")]
    if fields.get("function_call.name"):
        calls.append({"name": fields["function_call.name"], "arguments": fields.get("function_call.arguments")})
    if calls:
        value["tool_calls"] = calls
    return value


def _tools(draft: Draft) -> list[JsonObject] | None:
    tools: list[JsonObject] = []
    for _, fields in draft.family("llm.request.functions.") or draft.family("gen_ai.request.functions."):
        tool: JsonObject = {key: fields[key] for key in ("name", "description") if fields.get(key) is not None}
        for key in ("parameters", "input_schema"):
            if fields.get(key) is not None:
                tool["parameters"] = decoded(fields[key]).value
        tools.append(tool)
    return tools or None


TRACELOOP_LEGACY = TraceloopLegacy()
