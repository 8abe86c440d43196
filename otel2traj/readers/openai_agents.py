"""Traces and spans as the OpenAI Agents SDK's own exporter sends them (`BackendSpanExporter`), into spans in the words
of the GenAI conventions: one request body, a list, or an object a line.

https://github.com/openai/openai-agents-python/blob/v0.6.4/src/agents/tracing/span_data.py
"""

from __future__ import annotations

from typing import Any, Final

from ..canonical import JsonObject
from ..model.evidence import EvidenceRef, SpanRecord
from ..timestamps import parse_ns
from .documents import Context, DocumentForm, Place, as_dict, as_text, put
from .otlp_dict import Repaired, text
from .outline import Head

_OPERATIONS: Final = {
    "agent": "invoke_agent",
    "generation": "chat",
    "response": "chat",
    "function": "execute_tool",
}
_HANDLED: Final = {
    "agent": ("name", "output_type"),
    "generation": ("input", "output", "model", "model_config", "usage"),
    "response": ("response_id", "usage", "input", "output", "model"),
    "function": ("name", "input", "output", "mcp_data"),
}


class OpenAiAgents(DocumentForm):
    name = "openai-agents"
    writer = "OpenAI Agents SDK"
    obtain = "a processor that writes `span.export()`, or what `BackendSpanExporter` sends"
    tried = "built after openai-agents 0.6.4"
    loses = "no ids of tool calls on executions; a call by the Responses API has only its response id and usage"
    places = (Place((), ()), Place((), ("data",)))

    def recognises(self, head: Head) -> bool:
        return any(
            head.has("object", "span_data", under=at) or head.has("object", "workflow_name", under=at)
            for at in (place.record for place in self.places)
        )

    def read(self, data: JsonObject, context: Context, ref: EvidenceRef, repairs: Repaired) -> Any:
        if data.get("object") == "trace" or "workflow_name" in data:
            return _trace(data, ref)
        return _span(data, ref) if isinstance(data.get("span_data"), dict) else None


def _trace(data: JsonObject, ref: EvidenceRef) -> SpanRecord:
    """The trace object: the name of the workflow, and the group that its conversation is."""
    attributes: dict[str, Any] = {"gen_ai.operation.name": "invoke_workflow"}
    put(attributes, "gen_ai.conversation.id", data.get("group_id"))
    put(attributes, "openai_agents.trace.metadata", data.get("metadata") or None)
    trace = text(data.get("id"))
    return SpanRecord(trace, trace, None, text(data.get("workflow_name")), attributes, ref, scope_name="openai-agents")


def _span(data: JsonObject, ref: EvidenceRef) -> SpanRecord:
    told = as_dict(data["span_data"])
    kind = text(told.get("type"))
    error = as_dict(data.get("error"))
    attributes: dict[str, Any] = {"openai_agents.span.type": kind}
    put(attributes, "gen_ai.operation.name", _OPERATIONS.get(kind))
    if kind == "agent":
        put(attributes, "gen_ai.agent.name", told.get("name"))
    elif kind in ("generation", "response"):
        _model(attributes, told)
    elif kind == "function":
        put(attributes, "gen_ai.tool.name", told.get("name"))
        put(attributes, "gen_ai.tool.call.arguments", told.get("input"))
        put(attributes, "gen_ai.tool.call.result", told.get("output"))
        put(attributes, "openai_agents.mcp_data", told.get("mcp_data"))
    for key, value in told.items():
        if key != "type" and key not in _HANDLED.get(kind, ()):
            put(attributes, f"openai_agents.{kind}.{key}", value)
    if error:
        put(attributes, "openai_agents.error.data", error.get("data"))
    return SpanRecord(
        trace_id=text(data.get("trace_id")),
        span_id=text(data.get("id")),
        parent_span_id=text(data.get("parent_id")) or None,
        name=text(told.get("name") or kind),
        attributes=attributes,
        ref=ref,
        start_ns=parse_ns(data.get("started_at")),
        end_ns=parse_ns(data.get("ended_at")),
        status_code=2 if error else 0,
        status_message=text(error.get("message")) or None,
        scope_name="openai-agents",
    )


def _model(attributes: dict[str, Any], told: JsonObject) -> None:
    attributes["gen_ai.provider.name"] = "openai"
    put(attributes, "gen_ai.request.model", told.get("model"))
    put(attributes, "gen_ai.response.id", told.get("response_id"))
    for name, key in (("input", "gen_ai.input.messages"), ("output", "gen_ai.output.messages")):
        value = told.get(name)
        if value is not None:
            attributes[key] = as_text([{"role": "user", "content": value}] if isinstance(value, str) else value)
    for name, value in as_dict(told.get("model_config")).items():
        if name in ("temperature", "top_p", "max_tokens", "frequency_penalty", "presence_penalty"):
            put(attributes, f"gen_ai.request.{name}", value)
    usage = as_dict(told.get("usage"))
    for name in ("input_tokens", "output_tokens"):
        put(attributes, f"gen_ai.usage.{name}", usage.get(name))
    cached = as_dict(usage.get("input_tokens_details")).get("cached_tokens")
    reasoning = as_dict(usage.get("output_tokens_details")).get("reasoning_tokens")
    put(attributes, "gen_ai.usage.cache_read.input_tokens", cached)
    put(attributes, "gen_ai.usage.reasoning.output_tokens", reasoning)


OPENAI_AGENTS = OpenAiAgents()
