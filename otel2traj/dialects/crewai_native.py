"""CrewAI's own tracing: the GenAI conventions, with identifiers that are CrewAI's own under the conventions' names.

https://github.com/crewAIInc/crewAI (crewai 1.15.30, `crewai/events`)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from ..canonical import JsonObject, JsonValue
from ..messages.nested import decode, decode_repr
from ..model.evidence import LogRecord, SpanRecord
from ..model.reading import Role
from .base import Marks
from .draft import Draft
from .kit import SpanDialect
from .table import AttributeTable, UsageKeys
from .vercel_ai_sdk import unquote

_CUT: Mapping[str, tuple[str, ...]] = {
    "gen_ai.input.messages": ("messages",),
    "gen_ai.output.messages": ("text", "tool_calls"),
    "gen_ai.system_instructions": ("system",),
    "gen_ai.tool.definitions": ("tools",),
    "gen_ai.tool.call.arguments": ("arguments",),
    "gen_ai.tool.call.result": ("result",),
}


class CrewAiNative(SpanDialect):
    name = "crewai_native"
    title = "CrewAI tracing"
    source = "https://github.com/crewAIInc/crewAI/tree/1.15.30"
    switch_on = "a tracing session; on by default in it. CREWAI_OTEL_MAX_ATTR_BYTES cuts values"
    leaves_out = "Tool call ids on tool spans, and the model that really answered."
    namespaces = ("crewai.",)
    marks = Marks(
        keys=("crewai.event_name", "crewai.execution_uuid", "crewai.agent.role"), scopes=("crewai.telemetry",)
    )
    role_key = "gen_ai.operation.name"
    roles: ClassVar[Mapping[str, Role]] = {
        "chat": Role.MODEL_CALL,
        "execute_tool": Role.TOOL_EXECUTION,
        "invoke_agent": Role.AGENT,
        "execute_task": Role.CHAIN,
        "invoke_workflow": Role.CHAIN,
        "call_method": Role.CHAIN,
    }
    fields = AttributeTable(
        agent_name=("crewai.agent.role",),
        finish_reason=("gen_ai.response.finish_reasons",),
        conversation_id=("crewai.execution_uuid",),
        usage=UsageKeys(reasoning=("gen_ai.usage.reasoning_tokens",)),
        extra={"crewai.agent.key": "gen_ai.agent.name", "crewai.task.id": "gen_ai.conversation.id"},
        known=("crewai.",),
    )
    hides = ("gen_ai.agent.name", "gen_ai.conversation.id", "gen_ai.response.model", "gen_ai.tool.definitions")
    """The agent's hash, the task's id, a copy of the requested model, and schemas written as Python literals."""

    def confirms(self, span: SpanRecord) -> bool:
        attributes = span.attributes
        own = "crewai.event_name" in attributes or "crewai.execution_uuid" in attributes
        return own or span.scope_name.startswith("crewai.telemetry")

    def role(self, span: SpanRecord) -> Role | None:
        if span.scope_name.startswith("crewai.telemetry"):
            return Role.NONE
        return super().role(span)

    def fill(self, draft: Draft, span: SpanRecord, logs: Sequence[LogRecord]) -> None:
        for key, names in _CUT.items():
            if draft.attributes.get(f"{key}.truncated") in (True, "true"):
                draft.cut(*names)
        if draft.role is Role.TOOL_EXECUTION:
            draft.put("result", unquote(draft, "gen_ai.tool.call.result", "result"))
        tools = draft.json("gen_ai.tool.definitions", "tools")
        if isinstance(tools, list):
            draft.put("tools", [_tool(tool) for tool in tools if isinstance(tool, dict)] or None)


def _tool(value: JsonObject) -> JsonObject:
    """A definition whose schema values are Python literals in strings, decoded."""
    return {key: _literals(inner) if key in ("parameters", "function") else inner for key, inner in value.items()}


def _literals(value: JsonValue, depth: int = 0) -> JsonValue:
    if depth > 20:
        return value
    if isinstance(value, str) and value[:1] in ("{", "["):
        return decode_repr(decode(value, repair=False).value)
    if isinstance(value, dict):
        return {key: _literals(inner, depth + 1) for key, inner in value.items()}
    return value


CREWAI_NATIVE = CrewAiNative()
