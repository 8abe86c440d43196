"""LiteLLM's OpenTelemetry callback: one span a call, and the provider's raw request and response as its child.

The child has what the call's own span loses (tool call ids, cached and reasoning tokens); pairing takes the innermost.
https://github.com/BerriAI/litellm/blob/v1.80.0/litellm/integrations/opentelemetry.py
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ..canonical import JsonObject
from ..messages import ToolCall
from ..messages.flat import family
from ..messages.nested import decode, decode_arguments, decode_repr, string
from ..messages.reader import read_message
from ..model.evidence import LogRecord, SpanRecord
from ..model.reading import Role
from .base import Marks
from .bodies import read_request, read_response, usage_of
from .draft import Draft
from .gen_ai_keys import PARAMETERS, USAGE
from .kit import SpanDialect
from .table import AttributeTable

REQUEST: Final = "litellm_request"
RAW: Final = "raw_gen_ai_request"
_RAW_KEY: Final = re.compile(r"llm\.([^.]+)\.([^.]+)$")
_ANSWERS: Final = ("choices", "content", "candidates", "output", "stop_reason", "usage", "usageMetadata", "id")
_OPERATIONS: Final = ("acompletion", "completion", "responses", "aresponses", "anthropic_messages", "atext_completion")
_ASKED: Final = (
    "messages", "system", "tools", "contents", "input", "instructions", "temperature", "top_p", "top_k", "max_tokens",
    "max_completion_tokens", "max_output_tokens", "stop", "n", "seed", "stream", "tool_choice", "response_format",
    "reasoning_effort", "thinking", "frequency_penalty", "presence_penalty", "parallel_tool_calls",
)  # fmt: skip
"""Members of a request; all others on the child span belong to the response."""
_PROXY: Final = (
    "Received Proxy Server Request", "auth", "proxy_pre_call", "self", "router", "redis", "postgres", "batch_write",
)  # fmt: skip


class Litellm(SpanDialect):
    name = "litellm"
    title = "LiteLLM (SDK and proxy)"
    source = "https://github.com/BerriAI/litellm/blob/v1.80.0/litellm/integrations/opentelemetry.py"
    switch_on = 'litellm.callbacks = ["otel"]; content is on unless turn_off_message_logging is set'
    leaves_out = "Tool call ids on litellm_request (they stand on raw_gen_ai_request); executions of tools."
    namespaces = ("litellm.",)
    marks = Marks(scopes=("litellm",), prefixes=("litellm.",), span_names=(REQUEST, RAW))
    fields = AttributeTable(
        request_model=("gen_ai.request.model",),
        response_model=("gen_ai.response.model",),
        provider=("gen_ai.provider.name", "gen_ai.system"),
        response_id=("gen_ai.response.id",),
        parameters=PARAMETERS,
        usage=USAGE,
        conversation_id=("metadata.session_id", "litellm.session_id"),
        finish_reason=("gen_ai.response.finish_reasons",),
        extra={key: key for key in ("litellm.call_id", "litellm.call_type", "litellm.cache_hit")},
        known=(
            "litellm.",
            "metadata.",
            "hidden_params",
            "llm.",
            "gen_ai.cost.",
            "gen_ai.completion.",
            "gen_ai.prompt.",
        ),
    )
    hides = ("gen_ai.completion.", "gen_ai.prompt.", "llm.")
    """Under these names other producers count answers; here the number is that of the tool call."""

    def role(self, span: SpanRecord) -> Role | None:
        if span.name == RAW:
            told = {key for _, key in map(_raw_name, span.attributes) if key is not None}
            return Role.MODEL_CALL if told & set(_ANSWERS) else Role.NONE
        operation = span.attributes.get("gen_ai.operation.name")
        if span.name == REQUEST or operation in _OPERATIONS:
            return Role.MODEL_CALL
        if operation is None and "mcp.method.name" not in span.attributes and span.name.startswith(_PROXY):
            return Role.NONE
        return None

    def fill(self, draft: Draft, span: SpanRecord, logs: Sequence[LogRecord]) -> None:
        if span.name == RAW:
            _raw(draft)
            return
        if draft.role is Role.TOOL_EXECUTION:
            return
        draft.put_usage(usage_of(decode_repr(draft.attributes.get("metadata.usage_object")), inclusive=True))
        for key, read in (("litellm.response", read_response), ("litellm.request", read_request)):
            if key in draft.attributes:  # the bodies of a logging payload
                read(draft, draft.attributes[key])
        draft.put("tools", _functions(draft.attributes))
        if not _has_parts(draft):
            _completion(draft)
        if "gen_ai.input.messages" not in draft.attributes:
            asked = [fields for _, fields in draft.family("gen_ai.prompt.")]
            draft.put_messages([message for fields in asked for message in read_message(fields)])


def _raw_name(key: str) -> tuple[str | None, str | None]:
    match = _RAW_KEY.match(key)
    return (None, None) if match is None or match[1] in ("request", "usage") else (match[1], match[2])


def _raw(draft: Draft) -> None:
    """Every member of the provider's bodies is an attribute of its own, written as a Python literal."""
    body: JsonObject = {}
    provider: str | None = None
    for key, value in draft.attributes.items():
        named, member = _raw_name(key)
        if named is not None and member is not None:
            provider = named
            body[member] = decode_repr(value)
    draft.put("provider", provider)
    read_response(draft, {key: value for key, value in body.items() if key not in _ASKED})
    read_request(draft, {key: value for key, value in body.items() if key in _ASKED})


def _has_parts(draft: Draft) -> bool:
    told = draft.json("gen_ai.output.messages", "text", "tool_calls")
    return isinstance(told, list) and any(isinstance(m, dict) and m.get("parts") for m in told)


def _completion(draft: Draft) -> None:
    """`gen_ai.completion.N`: N counts tool calls where they have a `function_call`, else answers."""
    calls: list[ToolCall] = []
    for _, fields in draft.family("gen_ai.completion."):
        name = string(fields.get("function_call.name"))
        if name is not None:
            calls.append(ToolCall(None, name, decode_arguments(fields.get("function_call.arguments"))))
        draft.put("text", string(fields.get("content")))
        draft.put("finish_reason", string(fields.get("finish_reason")))
    draft.put("tool_calls", calls or None)


def _functions(attributes: Mapping[str, Any]) -> list[JsonObject] | None:
    """`llm.request.functions.N.{name, description, parameters}` as definitions."""
    tools: list[JsonObject] = []
    for _, fields in family(attributes, "llm.request.functions."):
        tool: JsonObject = {"name": fields.get("name")}
        if fields.get("description"):
            tool["description"] = fields["description"]
        if fields.get("parameters") is not None:
            tool["parameters"] = decode(fields["parameters"]).value
        tools.append(tool)
    return tools or None


LITELLM = Litellm()
