"""Google ADK, both schemas of its spans.

Each `source` has the version that was read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

from ..canonical import JsonObject, JsonValue
from ..messages.nested import decode
from ..model.evidence import LogRecord, SpanRecord
from ..model.reading import Role
from .base import Marks
from .bodies import read_request, read_response
from .draft import Draft
from .kit import SpanDialect
from .table import AttributeTable
from .tool_payload import tool_result

SCOPE: Final = "gcp.vertex.agent"
PREFIX: Final = "gcp.vertex.agent."
MERGED: Final = "(merged tools)"
_NO_PARAMETER: Final = ("labels", "http_options")
_SAID_NOTHING: Final = ("N/A", "<not serializable>", "{}", "")


def is_merged(span: SpanRecord) -> bool:
    """Whether a span stands for several parallel executions that have spans of their own."""
    return span.attributes.get("gen_ai.tool.name") == MERGED


class GoogleAdkV1(SpanDialect):
    """Google ADK, first schema: whole Gemini requests and responses as JSON on `call_llm`."""

    name = "google_adk_v1"
    title = "Google ADK, first schema"
    source = "https://github.com/google/adk-python/blob/v1.14.1/src/google/adk/telemetry.py"
    switch_on = "on by default; ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS=false switches it off"
    leaves_out = "the agent's name on model spans of early versions; response ids"
    namespaces = ("gcp.vertex.agent.",)
    marks = Marks(scopes=(SCOPE,), prefixes=(PREFIX,))
    fields = AttributeTable(
        agent_name=("gen_ai.agent.name",),
        conversation_id=(f"{PREFIX}session_id", "gen_ai.conversation.id"),
        tool_name=("gen_ai.tool.name",),
        known=(PREFIX, "gen_ai.workflow."),
    )

    def role(self, span: SpanRecord) -> Role | None:
        attributes = span.attributes
        if is_merged(span):
            return Role.NONE
        if "gen_ai.operation.name" in attributes:
            return None
        if f"{PREFIX}llm_request" in attributes:
            return Role.MODEL_CALL
        return Role.CHAIN if span.scope_name == SCOPE else None

    def fill(self, draft: Draft, span: SpanRecord, logs: Sequence[LogRecord]) -> None:
        attributes = span.attributes
        if attributes.get("gen_ai.operation.name") == "execute_tool":
            given = attributes.get(f"{PREFIX}tool_call_args")
            answered = self._said(attributes.get(f"{PREFIX}tool_response"))
            if answered is not None or given != "{}":  # with both empty, the content was switched off
                draft.put("arguments", self._said(decode(given, repair=False).value))
            result = tool_result(adk_result(answered))
            if result is not None:
                draft.put("result", result.content)
                draft.put("is_error", result.is_error)
        elif draft.role is Role.MODEL_CALL:
            for key, fields in (("llm_request", ("messages",)), ("llm_response", ("text", "tool_calls"))):
                value = draft.json(PREFIX + key, *fields)
                if not isinstance(value, dict) or not value:
                    continue
                if key == "llm_response":
                    read_response(draft, value)
                    continue
                read_request(draft, _flat_request(value))

    def _said(self, value: JsonValue) -> JsonValue:
        return None if isinstance(value, str) and value in _SAID_NOTHING else value


def _flat_request(value: JsonObject) -> JsonObject:
    """A request with the fields of its `config` beside the rest, as a Gemini body has them."""
    config = value.get("config")
    out = {name: item for name, item in value.items() if name != "config"}
    if isinstance(config, dict):
        out.update((name, item) for name, item in config.items() if name not in _NO_PARAMETER)
    return out


def adk_result(value: JsonValue) -> JsonValue:
    """A function response out of ADK's wrapper: what is no object was put under `result`."""
    found = decode(value, repair=False).value
    if isinstance(found, dict):
        if isinstance(found.get("response"), dict) and "name" in found:
            found = found["response"]
        if set(found) == {"result"}:
            inner: JsonValue = found["result"]
            return inner
        return found
    return value


GOOGLE_ADK_V1 = GoogleAdkV1()


class GoogleAdkV2(SpanDialect):
    """Google ADK, second schema: the GenAI conventions, with ids of its own where Gemini gave none."""

    name = "google_adk_v2"
    title = "Google ADK, second schema"
    source = "https://github.com/google/adk-python/blob/v2.13.0/src/google/adk/telemetry/tracing.py"
    switch_on = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true (off by default)"
    leaves_out = "response ids; the provider's finish reason (`stop` also stands for tool calls)"
    tested: ClassVar[Mapping[str, str]] = {"gcp.vertex.agent": "2.13.0"}
    marks = Marks(scopes=(SCOPE,), keys=(f"{PREFIX}event_id",))
    fields = AttributeTable(agent_name=("gen_ai.agent.name",), known=("gen_ai.workflow.", PREFIX))

    def confirms(self, span: SpanRecord) -> bool:
        return f"{PREFIX}llm_request" not in span.attributes

    def role(self, span: SpanRecord) -> Role | None:
        return Role.NONE if is_merged(span) else None

    def fill(self, draft: Draft, span: SpanRecord, logs: Sequence[LogRecord]) -> None:
        if span.attributes.get("gen_ai.operation.name") == "execute_tool" and draft.role is not Role.NONE:
            result = tool_result(adk_result(span.attributes.get("gen_ai.tool.call.result")))
            if result is not None:
                draft.put("result", result.content)
                draft.put("is_error", result.is_error)


GOOGLE_ADK_V2 = GoogleAdkV2()
