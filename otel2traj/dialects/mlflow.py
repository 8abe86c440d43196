"""MLflow tracing, with its own attributes and in the GenAI conventions.

Each `source` has the version that was read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from ..canonical import JsonError, JsonValue
from ..messages.answer import output_of
from ..messages.nested import decode, ident, load, string
from ..messages.reader import read_messages
from ..model.evidence import LogRecord, SpanRecord
from ..model.reading import Classified, Role
from .base import Marks
from .bodies import read_request, read_response, usage_of
from .draft import Draft
from .kit import SpanDialect
from .table import AttributeTable
from .tool_payload import tool_input, tool_result
from .vercel_ai_sdk import unquote

ROLES: Final[Mapping[str, Role]] = {
    **dict.fromkeys(("CHAT_MODEL", "LLM"), Role.MODEL_CALL),
    "TOOL": Role.TOOL_EXECUTION,
    "AGENT": Role.AGENT,
    **dict.fromkeys(("CHAIN", "WORKFLOW", "TASK", "UNKNOWN", "PARSER"), Role.CHAIN),
    **dict.fromkeys(("EMBEDDING", "RETRIEVER", "RERANKER", "MEMORY", "EVALUATOR", "GUARDRAIL"), Role.NONE),
}
_EXCLUSIVE_FORMATS: Final = ("anthropic", "bedrock")
"""Providers whose own counts leave cached tokens out of the input."""


def plain(value: JsonValue) -> JsonValue:
    """What an attribute stands for: every value is one JSON document, texts, numbers and null too."""
    if not isinstance(value, str):
        return value
    try:
        return load(value)
    except JsonError:
        return decode(value).value


class Mlflow(SpanDialect):
    """MLflow tracing exported over OTLP: every attribute value is a JSON document, strings included."""

    name = "mlflow"
    conversation_keys = ("mlflow.trace.session", "metadata#thread_id")
    title = "MLflow tracing (OTLP export)"
    source = "https://github.com/mlflow/mlflow/tree/v3.6.0/mlflow/tracing"
    switch_on = "on by default"
    leaves_out = "A tool call id on @mlflow.trace tools; finish reason and response id under LangChain."
    namespaces = ("mlflow.",)
    marks = Marks(keys=("mlflow.spanType",))
    fields = AttributeTable(
        agent_path=("metadata#langgraph_checkpoint_ns",),
        known=("mlflow.", "model", "tools", "temperature", "invocation_params", "metadata"),
    )

    def role(self, span: SpanRecord) -> Role | None:
        kind = plain(span.attributes.get("mlflow.spanType"))
        return ROLES.get(kind, Role.CHAIN) if isinstance(kind, str) else None

    def classify(self, span: SpanRecord) -> Classified:
        found = super().classify(span)
        found.conversation_id = _conversation(span.attributes)
        if found.role in (Role.MODEL_CALL, Role.TOOL_EXECUTION):
            found.agent_name = _metadata(span.attributes, "lc_agent_name")
        elif found.role is Role.AGENT:
            found.agent_name = string(plain(span.attributes.get("mlflow.spanFunctionName"))) or span.name or None
        return found

    def fill(self, draft: Draft, span: SpanRecord, logs: Sequence[LogRecord]) -> None:
        attributes = draft.attributes
        draft.put("conversation_id", _conversation(attributes))
        given, answer = plain(attributes.get("mlflow.spanInputs")), plain(attributes.get("mlflow.spanOutputs"))
        if draft.role is Role.MODEL_CALL:
            self._model(draft, given, answer)
        elif draft.role is Role.TOOL_EXECUTION:
            self._tool(draft, span, given, answer)
        elif draft.role in (Role.AGENT, Role.CHAIN):
            put_texts(draft, given, answer)

    def _model(self, draft: Draft, given: JsonValue, answer: JsonValue) -> None:
        attributes = draft.attributes
        draft.put("response_model", _model_of(answer) or string(plain(attributes.get("mlflow.llm.model"))))
        provider = plain(attributes.get("mlflow.llm.provider")) or plain(attributes.get("mlflow.message.format"))
        draft.put("provider", string(provider))
        read_request(draft, given)
        read_response(draft, answer)
        inclusive = plain(attributes.get("mlflow.message.format")) not in _EXCLUSIVE_FORMATS
        draft.put_usage(usage_of(plain(attributes.get("mlflow.chat.tokenUsage")), inclusive=inclusive))
        more = plain(attributes.get("invocation_params"))
        if isinstance(more, dict):
            read_request(draft, more)
        draft.put("request_model", string(plain(attributes.get("model"))) or draft.reading.response_model)
        tools = plain(attributes.get("mlflow.chat.tools"))
        draft.put("tools", [t for t in tools if isinstance(t, dict)] or None if isinstance(tools, list) else None)

    def _tool(self, draft: Draft, span: SpanRecord, given: JsonValue, answer: JsonValue) -> None:
        attributes = draft.attributes
        named = string(plain(attributes.get("mlflow.spanFunctionName")))
        call_id = ident(plain(attributes.get("tool_call_id")))
        result = tool_result(answer, call_id)
        if result is not None:
            draft.put("result", result.content)
            draft.put("is_error", result.is_error)
            call_id = call_id or result.call_id
            named = named or result.name
        draft.put("tool_call_id", call_id)
        draft.put("tool_name", named or string(span.name))
        draft.put("arguments", tool_input(given))


def _model_of(answer: JsonValue) -> str | None:
    return string(answer.get("model")) if isinstance(answer, dict) else None


def _metadata(attributes: Mapping[str, JsonValue], key: str) -> str | None:
    metadata = plain(attributes.get("metadata"))
    return string(metadata.get(key)) if isinstance(metadata, dict) else None


def _conversation(attributes: Mapping[str, JsonValue]) -> str | None:
    return ident(plain(attributes.get("mlflow.trace.session"))) or ident(_metadata(attributes, "thread_id"))


def put_texts(draft: Draft, given: JsonValue, answer: JsonValue) -> None:
    """What an agent or chain span was asked and answered: a text, the one text among its arguments, or messages."""
    draft.put("input_text", _asked(given))
    if isinstance(answer, str):
        draft.put("output_text", answer)
    elif isinstance(answer, (dict, list)):
        output = output_of(read_messages(answer)[-1:], choices=False)
        draft.put("output_text", None if output is None else output.text)


def _asked(given: JsonValue) -> str | None:
    if isinstance(given, str):
        return given or None
    if isinstance(given, dict):
        if isinstance(given.get("messages"), list):
            given = given["messages"]
        else:
            values = [*_list(given.get("args")), *_dict(given.get("kwargs")).values()] if "kwargs" in given else []
            values = values or list(given.values())
            return values[0] if len(values) == 1 and isinstance(values[0], str) else None
    for message in reversed(read_messages(given)):
        if message.role == "user":
            return "\n".join(message.texts()) or None
    return None


def _list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []


def _dict(value: JsonValue) -> dict[str, JsonValue]:
    return value if isinstance(value, dict) else {}


MLFLOW = Mlflow()


class MlflowSemconv(SpanDialect):
    """MLflow tracing in the GenAI conventions (`MLFLOW_ENABLE_OTEL_GENAI_SEMCONV`)."""

    name = "mlflow_semconv"
    title = "MLflow tracing in GenAI conventions"
    source = "https://github.com/mlflow/mlflow/tree/v3.6.0/mlflow/tracing/otel"
    switch_on = "MLFLOW_ENABLE_OTEL_GENAI_SEMCONV=true; content is on by default"
    leaves_out = "Cache and reasoning tokens; the requested model, but for a copy of the call's own arguments."
    marks = Marks(scopes=("mlflow.tracing.provider",))
    fields = AttributeTable(known=("model", "temperature", "tools", "messages"))
    hides = ("gen_ai.request.model",)
    """It holds the response's model; the model that was asked for stands under the bare name `model`."""

    def confirms(self, span: SpanRecord) -> bool:
        return "gen_ai.operation.name" in span.attributes and "mlflow.spanType" not in span.attributes

    def fill(self, draft: Draft, span: SpanRecord, logs: Sequence[LogRecord]) -> None:
        operation = draft.attributes.get("gen_ai.operation.name")
        if operation == "execute_tool":
            draft.put("result", unquote(draft, "gen_ai.tool.call.result", "result"))
        elif operation != "invoke_agent":
            asked = string(plain(draft.attributes.get("model")))
            draft.put("request_model", asked or string(draft.attributes.get("gen_ai.request.model")))


MLFLOW_SEMCONV = MlflowSemconv()
