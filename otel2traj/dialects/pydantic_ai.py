"""Pydantic AI's own spans, in all versions of its instrumentation settings.

https://github.com/pydantic/pydantic-ai/blob/v2.68.0/pydantic_ai_slim/pydantic_ai/models/instrumented.py
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from ..canonical import JsonObject
from ..messages.nested import decode, decode_arguments, string
from ..model.evidence import LogRecord, SpanRecord
from ..model.reading import Role
from .base import Marks
from .draft import Draft
from .histories import tool_definitions
from .kit import SpanDialect
from .otel_genai_events import OneEvent, read_events
from .table import AttributeTable, UsageKeys
from .whole import asked

INVALID = "INVALID_JSON"


class PydanticAi(SpanDialect):
    name = "pydantic_ai"
    title = "Pydantic AI"
    source = "https://github.com/pydantic/pydantic-ai/blob/v2.68.0/pydantic_ai_slim/pydantic_ai/models/instrumented.py"
    switch_on = "on by default; InstrumentationSettings(include_content=False) switches it off"
    leaves_out = "nothing of a call with content on; without it arguments, results and texts, but not call ids"
    namespaces = ("pydantic_ai.",)
    tested: ClassVar[Mapping[str, str]] = {"pydantic-ai": "2.68.0"}
    marks = Marks(
        scopes=("pydantic-ai",),
        keys=("pydantic_ai.all_messages", "model_request_parameters", "all_messages_events"),
        prefixes=("pydantic_ai.",),
    )
    fields = AttributeTable(
        agent_name=("gen_ai.agent.name", "agent_name"),
        usage=UsageKeys(
            cache_read=("gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.details.cache_read_tokens"),
            cache_write=("gen_ai.usage.cache_creation.input_tokens", "gen_ai.usage.details.cache_write_tokens"),
            reasoning=("gen_ai.usage.details.reasoning_tokens",),
        ),
        known=(
            "pydantic_ai.",
            "model_request_parameters",
            "gen_ai.usage.details.",
            "gen_ai.aggregated_usage.",
            "logfire.",
            "events",
            "all_messages_events",
            "final_result",
        ),
    )

    def role(self, span: SpanRecord) -> Role | None:
        """Version 1 has no operation on tool spans, and a span around several tools."""
        attributes = span.attributes
        if "gen_ai.operation.name" in attributes:
            return None
        if "gen_ai.tool.name" in attributes:
            return Role.TOOL_EXECUTION
        if "gen_ai.request.model" in attributes or "model_request_parameters" in attributes:
            return Role.MODEL_CALL
        if "all_messages_events" in attributes or "pydantic_ai.all_messages" in attributes:
            return Role.AGENT
        return Role.CHAIN

    def fill(self, draft: Draft, span: SpanRecord, logs: Sequence[LogRecord]) -> None:
        attributes = span.attributes
        if "gen_ai.tool.call.id" in attributes or draft.role is Role.TOOL_EXECUTION:
            for key in ("gen_ai.tool.call.arguments", "tool_arguments"):
                if attributes.get(key) is not None:
                    arguments = decode_arguments(attributes[key])
                    if isinstance(arguments, dict) and set(arguments) == {INVALID}:
                        arguments = arguments[INVALID]
                    draft.put("arguments", arguments)
            draft.put("result", attributes.get("tool_response"))
            return
        if "events" in attributes:
            self._read_event_list(draft)
        draft.put("output_text", string(attributes.get("final_result")))
        if "pydantic_ai.all_messages" in attributes:
            draft.put("input_text", asked(draft.json("pydantic_ai.all_messages")))
        draft.put("tools", tool_definitions(attributes.get("gen_ai.tool.definitions")))
        requested = attributes.get("model_request_parameters")
        if requested is not None:
            requested = decode(requested, repair=False).value
        if isinstance(requested, dict):
            tools: list[JsonObject] = []
            for key in ("function_tools", "output_tools"):
                for tool in requested.get(key) or ():
                    if isinstance(tool, dict) and isinstance(tool.get("name"), str):
                        tools.append(_definition(tool))
            draft.put("tools", tools or None)

    def _read_event_list(self, draft: Draft) -> None:
        """Version 1 wrote the message events of the conventions into one attribute."""
        events = draft.json("events", "messages")
        found: list[OneEvent] = []
        for event in events if isinstance(events, list) else ():
            if isinstance(event, dict) and isinstance(event.get("event.name"), str):
                found.append(OneEvent(event["event.name"], event, "events"))
        if found:
            read_events(draft, found)


def _definition(tool: dict[str, Any]) -> JsonObject:
    out: JsonObject = {"name": tool["name"]}
    if tool.get("description") is not None:
        out["description"] = tool["description"]
    if tool.get("parameters_json_schema") is not None:
        out["parameters"] = tool["parameters_json_schema"]
    return out


PYDANTIC_AI = PydanticAi()
