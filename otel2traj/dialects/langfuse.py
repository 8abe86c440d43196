"""Langfuse SDK spans: inputs and outputs in the shape of whatever was observed.

https://github.com/langfuse/langfuse-python/blob/v3.10.0/langfuse/_client/attributes.py
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

from ..canonical import JsonObject, JsonValue
from ..messages.nested import decode, ident, string
from ..model.evidence import LogRecord, SpanRecord
from ..model.reading import Classified, Role
from .base import Marks
from .bodies import put_parameters, read_request, read_response, usage_of
from .draft import Draft
from .gen_ai_keys import OPERATIONS
from .kit import SpanDialect
from .mlflow import put_texts
from .table import AttributeTable
from .tool_payload import tool_input, tool_result

_PREFIX: Final = "langfuse.observation."
_INVENTED: Final[Mapping[str, tuple[JsonValue, ...]]] = {
    "max_tokens": ("Infinity", "inf"),
    "top_p": (1, "1"),
    "frequency_penalty": (0, "0"),
    "presence_penalty": (0, "0"),
}
"""Values that the SDK writes where the caller said nothing."""


_NATIVE_ROLES: Final[Mapping[str, Mapping[str, Role]]] = {
    "gen_ai.operation.name": OPERATIONS,
    "openinference.span.kind": {
        "LLM": Role.MODEL_CALL,
        "TOOL": Role.TOOL_EXECUTION,
        "AGENT": Role.AGENT,
        "CHAIN": Role.CHAIN,
    },
}
"""Attributes of other conventions that say what a span is."""
_NATIVE_AGENTS: Final = ("gen_ai.agent.name", "agent.name")
_NATIVE_TOOLS: Final = ("gen_ai.tool.name", "tool.name")


class Langfuse(SpanDialect):
    name = "langfuse"
    title = "Langfuse SDK"
    source = "https://github.com/langfuse/langfuse-python/blob/v3.10.0/langfuse/_client/attributes.py"
    switch_on = "on by default; a mask function may replace content"
    leaves_out = "Finish reasons, response ids and tool call ids."
    namespaces = ("langfuse.",)
    tested: ClassVar[Mapping[str, str]] = {"langfuse-sdk": "5.0.4"}
    marks = Marks(scopes=("langfuse-sdk",), prefixes=(_PREFIX,))
    role_key = "langfuse.observation.type"
    roles: ClassVar[Mapping[str, Role]] = {
        "generation": Role.MODEL_CALL,
        "tool": Role.TOOL_EXECUTION,
        "agent": Role.AGENT,
        "span": Role.CHAIN,
        "chain": Role.CHAIN,
        **dict.fromkeys(("retriever", "embedding", "evaluator", "guardrail", "event"), Role.NONE),
    }
    fields = AttributeTable(
        conversation_id=("session.id", "langfuse.session.id"),
        response_model=("langfuse.observation.model.name",),
        known=("langfuse.", "user.id"),
    )

    def confirms(self, span: SpanRecord) -> bool:
        return any(key.startswith(_PREFIX) for key in span.attributes)

    def role(self, span: SpanRecord) -> Role | None:
        """What came by OTLP keeps its own attributes: where those say what a span is, they are heard."""
        own, native = super().role(span), _native_role(span)
        return own if native is None or native is own else None

    def classify(self, span: SpanRecord) -> Classified:
        found = super().classify(span)
        if found.role is Role.AGENT and not any(key in span.attributes for key in _NATIVE_AGENTS):
            found.agent_name = string(span.name)
        return found

    def fill(self, draft: Draft, span: SpanRecord, logs: Sequence[LogRecord]) -> None:
        given, answer = draft.attributes.get(f"{_PREFIX}input"), draft.attributes.get(f"{_PREFIX}output")
        role = draft.role or _native_role(span)
        if role is Role.MODEL_CALL:
            self._model(draft, given, answer)
        elif role is Role.TOOL_EXECUTION:
            named = next((string(span.attributes[key]) for key in _NATIVE_TOOLS if key in span.attributes), None)
            draft.put("tool_name", named or string(span.name))
            draft.put("tool_call_id", ident(draft.attributes.get("gen_ai.tool.call.id")))
            draft.put("arguments", tool_input(given))
            result = tool_result(answer)
            if result is not None:
                draft.put("tool_call_id", result.call_id)
                draft.put("result", result.content)
                draft.put("is_error", result.is_error)
        elif role in (Role.AGENT, Role.CHAIN):
            put_texts(draft, decode(given, repair=False).value, decode(answer, repair=False).value)

    def _model(self, draft: Draft, given: JsonValue, answer: JsonValue) -> None:
        asked = draft.json(f"{_PREFIX}model.parameters", "parameters")
        if isinstance(asked, dict):
            draft.put("request_model", string(asked.get("model")))
            put_parameters(draft, _said(asked))
        draft.put_usage(usage_of(draft.json(f"{_PREFIX}usage_details"), inclusive=True))
        read_request(draft, draft.json(f"{_PREFIX}input", "messages"))
        read_response(draft, draft.json(f"{_PREFIX}output", "text", "tool_calls"))

    def settle(self, draft: Draft, span: SpanRecord) -> None:
        if draft.attributes.get(f"{_PREFIX}level") == "ERROR":
            draft.reading.is_error = True
            draft.put("error", string(draft.attributes.get(f"{_PREFIX}status_message")))
        super().settle(draft, span)


def _said(parameters: JsonObject) -> JsonObject:
    return {key: value for key, value in parameters.items() if value not in _INVENTED.get(key, ())}


def _native_role(span: SpanRecord) -> Role | None:
    told = ((roles, span.attributes.get(key)) for key, roles in _NATIVE_ROLES.items())
    return next((roles[value] for roles, value in told if isinstance(value, str) and value in roles), None)


LANGFUSE = Langfuse()
