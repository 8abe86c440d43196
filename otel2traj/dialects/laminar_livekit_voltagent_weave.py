"""Four more producers, each with a few keys of its own: Laminar, LiveKit Agents, VoltAgent, Weave.

https://github.com/lmnr-ai/lmnr-python/blob/v0.7.20/src/lmnr/opentelemetry_lib/tracing/attributes.py,
https://github.com/livekit/agents/blob/livekit-agents%401.3.0/livekit-agents/livekit/agents/telemetry/trace_types.py
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from ..canonical import JsonValue
from ..messages import ToolCall
from ..messages.nested import decode, string
from ..messages.tool_blocks import call_part
from ..model.evidence import LogRecord, SpanRecord
from ..model.reading import Role
from .base import Marks
from .bodies import read_request, read_response
from .draft import Draft
from .kit import SpanDialect
from .mlflow import put_texts
from .table import AttributeTable, UsageKeys
from .tool_payload import tool_input, tool_result

_LAMINAR: Final[Mapping[str, Role]] = {
    "LLM": Role.MODEL_CALL,
    "TOOL": Role.TOOL_EXECUTION,
    "DEFAULT": Role.CHAIN,
    "EXECUTOR": Role.CHAIN,
    "EVALUATOR": Role.NONE,
    "EVALUATION": Role.NONE,
}
_LIVEKIT: Final[Mapping[str, Role]] = {
    "llm_node": Role.MODEL_CALL,
    "function_tool": Role.TOOL_EXECUTION,
    "agent_turn": Role.AGENT,
    "agent_session": Role.CHAIN,
    "start_agent_activity": Role.CHAIN,
}
_VOLTAGENT: Final[Mapping[str, Role]] = {
    "llm": Role.MODEL_CALL,
    "tool": Role.TOOL_EXECUTION,
    "agent": Role.AGENT,
}
_WEAVE: Final[Mapping[str, Role]] = {"llm": Role.MODEL_CALL, "tool": Role.TOOL_EXECUTION, "agent": Role.AGENT}


class LaminarLivekitVoltagentWeave(SpanDialect):
    name = "laminar_livekit_voltagent_weave"
    title = "Laminar, LiveKit Agents, VoltAgent, Weave"
    source = "https://github.com/lmnr-ai/lmnr-python/blob/v0.7.20/src/lmnr/opentelemetry_lib/tracing/attributes.py"
    switch_on = "on by default (Laminar: ignore_inputs and ignore_outputs switch it off)"
    leaves_out = "Tool call ids in Laminar; finish reasons."
    namespaces = (
        "lmnr.",
        "lk.",
        "voltagent.",
    )
    marks = Marks(prefixes=("lmnr.span.", "lk.", "voltagent.", "weave."), keys=("span.type",))
    fields = AttributeTable(
        request_model=("gen_ai.request.model", "llm.model"),
        response_model=("gen_ai.response.model",),
        tool_name=("lk.function_tool.name", "tool.name"),
        tool_call_id=("lk.function_tool.id", "tool.call.id"),
        arguments=("lk.function_tool.arguments",),
        result=("lk.function_tool.output",),
        conversation_id=("lmnr.association.properties.session_id", "conversation.id", "voltagent.conversation_id"),
        agent_name=("lk.agent_name", "voltagent.agent.name", "entity.name"),
        input_text=("lk.user_input",),
        usage=UsageKeys(
            input=("gen_ai.usage.input_tokens", "usage.prompt_tokens"),
            output=("gen_ai.usage.output_tokens", "usage.completion_tokens"),
            cache_read=("usage.cached_tokens",),
            reasoning=("usage.reasoning_tokens",),
        ),
        known=("lmnr.", "llm.messages", "lk.", "voltagent.", "weave.", "entity.", "usage."),
    )

    def confirms(self, span: SpanRecord) -> bool:
        attributes = span.attributes
        if any(key.startswith(("lmnr.span.", "lk.", "voltagent.", "weave.")) for key in attributes):
            return True
        return "span.type" in attributes and "entity.id" in attributes

    def role(self, span: SpanRecord) -> Role | None:
        attributes = span.attributes
        kind = attributes.get("lmnr.span.type")
        if isinstance(kind, str):
            return _LAMINAR.get(kind, Role.CHAIN)
        if span.name in _LIVEKIT and any(key.startswith("lk.") for key in attributes):
            return _LIVEKIT[span.name]
        kind = attributes.get("span.type")
        if isinstance(kind, str) and "entity.id" in attributes:
            return _VOLTAGENT.get(kind, Role.CHAIN)
        kind = attributes.get("weave.span.kind", attributes.get("weave.kind"))
        return _WEAVE.get(kind.lower(), Role.CHAIN) if isinstance(kind, str) else None

    def fill(self, draft: Draft, span: SpanRecord, logs: Sequence[LogRecord]) -> None:
        given = _first(draft, "lmnr.span.input", "lk.chat_ctx", "llm.messages", "input", "weave.inputs")
        answer = _first(draft, "lmnr.span.output", "output", "weave.output")
        if draft.role is Role.MODEL_CALL:
            self._model(draft, given, answer)
        elif draft.role is Role.TOOL_EXECUTION:
            self._tool(draft, span, given, answer)
        elif draft.role in (Role.AGENT, Role.CHAIN):
            put_texts(draft, given, answer)

    def _model(self, draft: Draft, given: JsonValue, answer: JsonValue) -> None:
        if isinstance(given, dict) and isinstance(given.get("items"), list):  # LiveKit's chat context
            given = given["items"]
        read_request(draft, given)
        read_response(draft, answer)
        draft.put("text", string(draft.attributes.get("lk.response.text")))
        calls = draft.json("lk.response.function_calls", "tool_calls")
        if isinstance(calls, list):
            parts = [call_part(item) for item in calls if isinstance(item, dict)]
            draft.put("tool_calls", [ToolCall(p.id, p.name, p.value) for p in parts] or None)

    def _tool(self, draft: Draft, span: SpanRecord, given: JsonValue, answer: JsonValue) -> None:
        failed = draft.attributes.get("lk.function_tool.is_error")
        draft.put("is_error", failed if isinstance(failed, bool) else None)
        if "lk.function_tool.name" in draft.attributes:
            return
        draft.put("tool_name", string(draft.attributes.get("tool.name")) or string(span.name))
        draft.put("arguments", tool_input(given))
        result = tool_result(answer)
        if result is not None:
            draft.put("tool_call_id", result.call_id)
            draft.put("result", result.content)


def _first(draft: Draft, *names: str) -> JsonValue:
    for name in names:
        if draft.attributes.get(name) is not None:
            return decode(draft.attributes[name], quoted=name.startswith("lmnr."), repair=False).value
    return None


LAMINAR_LIVEKIT_VOLTAGENT_WEAVE = LaminarLivekitVoltagentWeave()
