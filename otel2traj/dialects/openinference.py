"""OpenInference: the conventions that all its instrumentors share.

https://github.com/Arize-ai/openinference/blob/python-openinference-semantic-conventions-v0.1.42/spec/semantic_conventions.md
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ..canonical import JsonObject, JsonValue
from ..model.evidence import LogRecord, SpanRecord
from ..model.message import Message, ToolCall
from ..model.reading import Role
from .base import Marks
from .bodies import read_response
from .draft import Draft
from .kit import STATUS_ERROR, SpanDialect
from .langchain_dump import call_input, response_id, tool_input, tool_result
from .messages import read_messages, system_value
from .nested import REDACTED, decode, ident, is_cut, string
from .oi_messages import oi_messages
from .otel_genai_1_37 import tool_definitions
from .output import output_of
from .table import AttributeTable, UsageKeys, family
from .whole import answered, asked

SOURCE: Final = (
    "https://github.com/Arize-ai/openinference/blob/python-openinference-semantic-conventions-v0.1.42"
    "/spec/semantic_conventions.md"
)
SWITCH: Final = "on by default; OPENINFERENCE_HIDE_INPUTS, _HIDE_OUTPUTS and their kin replace it by __REDACTED__"
KIND: Final = "openinference.span.kind"
ROLES: Final[dict[str, Role]] = {
    "LLM": Role.MODEL_CALL,
    "TOOL": Role.TOOL_EXECUTION,
    "AGENT": Role.AGENT,
    **dict.fromkeys(("CHAIN", "PROMPT", "DECISION", "UNKNOWN"), Role.CHAIN),
    **dict.fromkeys(("RETRIEVER", "EMBEDDING", "RERANKER", "GUARDRAIL", "EVALUATOR"), Role.NONE),
}
MODEL_EVIDENCE: Final = (
    "llm.input_messages.",
    "llm.output_messages.",
    "llm.prompts.",
    "llm.choices.",
    "llm.token_count.",
)
USAGE: Final = UsageKeys(
    input=("llm.token_count.prompt",),
    output=("llm.token_count.completion",),
    cache_read=("llm.token_count.prompt_details.cache_read", "llm.token_count.prompt_details.cache_input"),
    cache_write=("llm.token_count.prompt_details.cache_write",),
    reasoning=("llm.token_count.completion_details.reasoning",),
)
_NOT_PARAMETERS: Final = frozenset(
    {
        "model",
        "model_name",
        "messages",
        "tools",
        "functions",
        "input",
        "instructions",
        "contents",
        "system",
        "prompt",
        "system_instruction",
        "labels",
        "id",
        "created_at",
        "completed_at",
        "object",
        "status",
        "output",
        "usage",
        "error",
        "incomplete_details",
        "base_url",
        "api_key",
    }
)


def kind_of(span: SpanRecord) -> str | None:
    """The span kind in capitals, as the convention writes it."""
    kind = span.attributes.get(KIND)
    return kind.upper() if isinstance(kind, str) else None


class OpenInference(SpanDialect):
    name = "openinference"
    title = "OpenInference"
    source = SOURCE
    switch_on = SWITCH
    leaves_out = "in most instrumentors the tool call id of an execution, and the response id"
    marks = Marks(keys=(KIND,), prefixes=MODEL_EVIDENCE, scopes=("openinference.", "@arizeai/openinference"))
    fields = AttributeTable(
        request_model=("llm.request.model_name", "llm.invocation_parameters#model", "llm.model_name"),
        response_model=("llm.response.model_name", "llm.model_name"),
        provider=("llm.provider", "llm.system"),
        conversation_id=("session.id", "metadata#thread_id", "metadata.thread_id"),
        agent_name=("agent.name", "metadata#lc_agent_name", "metadata.lc_agent_name"),
        agent_path=("metadata#langgraph_checkpoint_ns", "metadata#checkpoint_ns", "metadata.langgraph_checkpoint_ns"),
        finish_reason=("llm.finish_reason",),
        usage=USAGE,
        tool_name=("tool.name",),
        tool_call_id=("tool.id", "tool.call_id", "tool_call.id"),
        known=(
            "llm.",
            "input.",
            "output.",
            "tool.",
            "metadata",
            "graph.node.",
            "agent.",
            "session.",
            "user.",
            "openinference.",
            "embedding.",
            "reranker.",
            "retrieval.",
            "tag.",
        ),
    )

    def role(self, span: SpanRecord) -> Role | None:
        kind = kind_of(span)
        if kind is None:
            # The kind is among the first attributes that a limit drops; what only model calls have is left.
            dropped = any(key.startswith(("llm.output_messages.", "llm.token_count.")) for key in span.attributes)
            return Role.MODEL_CALL if dropped and span.dropped_attributes else None
        role = ROLES.get(kind, Role.CHAIN)
        if role is Role.MODEL_CALL and not has_model_evidence(span):
            return Role.CHAIN
        return role

    def who(self, span: SpanRecord) -> str | None:
        """Instrumentors without `agent.name` give an agent as the node of their display graph."""
        found = super().who(span)
        attributes = span.attributes
        if found is not None or kind_of(span) != "AGENT" or "gen_ai.agent.name" in attributes:
            return found
        return string(attributes.get("graph.node.name")) or string(attributes.get("graph.node.id"))

    def fill(self, draft: Draft, span: SpanRecord, logs: Sequence[LogRecord]) -> None:
        if draft.role is Role.MODEL_CALL:
            read_model(draft)
        elif draft.role is Role.TOOL_EXECUTION:
            read_tool(draft)
            draft.put("tool_name", string(span.attributes.get("tool.name")))
            draft.put("tool_name", string(span.name), "span name")
        else:
            read_whole(draft)


def has_model_evidence(span: SpanRecord) -> bool:
    """Whether an LLM span tells of a call: messages, prompts or tokens; a failed or hidden one at least a model."""
    attributes = span.attributes
    if any(key.startswith(MODEL_EVIDENCE) for key in attributes):
        return True
    return "llm.model_name" in attributes and span.status_code == STATUS_ERROR


def visible(value: JsonValue) -> JsonValue:
    """The value, or None where the instrumentation hid it."""
    return None if isinstance(value, str) and value in REDACTED else value


def read_model(draft: Draft) -> None:
    """A model call: indexed messages first, then the JSON of the whole request and response."""
    attributes = draft.attributes
    messages, gap = oi_messages(attributes, "llm.input_messages.")
    answers, lost = oi_messages(attributes, "llm.output_messages.")
    if gap and visible(attributes.get("input.value")) is not None:
        whole = _body_messages(draft.json("input.value"))
        if len(whole) >= len(messages):
            messages, gap = whole, False
    draft.put_messages(messages)
    if gap:
        draft.cut("messages")
    if lost:
        draft.cut("text", "tool_calls")
    body = draft.json("output.value") if visible(attributes.get("output.value")) is not None else None
    several = _choices(body)
    output = output_of(answers, choices=len(answers) > 1 and several == len(answers))
    if output is not None and output.choices is not None:
        inner = Draft(draft.dialect, {}, draft.role)
        read_response(inner, body)
        output.choices = inner.reading.choices or output.choices
    draft.put_output(output)
    if not draft.reading.has_output():
        texts = [fields.get("completion.text") for _, fields in family(attributes, "llm.choices.")]
        draft.put_output(output_of([m for text in texts if text for m in read_messages(text, "assistant")]))
    if messages:
        _read_prompt_fallback(draft, only_system=True)
    else:
        _read_prompt_fallback(draft, only_system=False)
    read_response_body(draft, body)
    if draft.reading.refusal is not None and draft.reading.text == draft.reading.refusal:
        draft.reading.text = None  # a refusal that was flattened into the place of the text
        draft.reading.said_by.pop("text", None)
    _read_tools(draft)
    parameters = draft.json("llm.invocation_parameters", "parameters")
    if isinstance(parameters, dict):
        draft.put(
            "parameters", {k: v for k, v in parameters.items() if k not in _NOT_PARAMETERS and v is not None} or None
        )


def _choices(body: JsonValue) -> int:
    """How many choices a response body has."""
    if isinstance(body, dict):
        for key in ("choices", "candidates"):
            if isinstance(body.get(key), list):
                return len(body[key])
        generations = body.get("generations")
        if isinstance(generations, list) and generations and isinstance(generations[0], list):
            return len(generations[0])
    return 0


def _read_prompt_fallback(draft: Draft, *, only_system: bool) -> None:
    value = visible(draft.attributes.get("input.value"))
    body = draft.json("input.value", *(() if only_system else ("messages",))) if value is not None else None
    if isinstance(body, dict):
        for key in ("system", "instructions", "system_instruction"):
            if body.get(key) is not None and not _has_system(draft.reading.messages):
                draft.put("system", system_value(body[key]))
        if not only_system:
            draft.put_messages(_body_messages(body))
        draft.put("request_model", string(body.get("model")))
    elif not only_system and isinstance(body, list):
        draft.put_messages(_body_messages(body))
    if not only_system and draft.reading.messages is None:
        prompts = [fields.get("prompt.text") for _, fields in family(draft.attributes, "llm.prompts.")]
        draft.put_messages([message for text in prompts if text for message in read_messages(text)])
    if (
        not only_system
        and draft.reading.messages is None
        and isinstance(value, str)
        and not isinstance(body, (dict, list))
    ):
        draft.put_messages(read_messages(value))


def _body_messages(body: JsonValue) -> list[Message]:
    """The messages of a request body."""
    if isinstance(body, list):
        return read_messages(body)
    if isinstance(body, dict):
        for key in ("messages", "input", "contents"):
            if body.get(key) is not None:
                return read_messages(body[key])
    return []


def _has_system(messages: list[Message] | None) -> bool:
    return any(message.role == "system" for message in messages or ())


def read_response_body(draft: Draft, body: JsonValue) -> None:
    """What the JSON of a response adds: its id, finish reason, counts, and the answer where nothing else told it."""
    first = body[0] if isinstance(body, list) and body else None
    if isinstance(first, dict) and any(key in first for key in ("output", "choices", "generations", "candidates")):
        body = first
    if not isinstance(body, (dict, list)):
        return
    inner = Draft(draft.dialect, {}, draft.role)
    read_response(inner, body)
    said = inner.reading
    for item in body["output"] if isinstance(body, dict) and isinstance(body.get("output"), list) else ():
        if isinstance(item, dict) and isinstance(item.get("provider_data"), dict):
            inner.put("response_id", response_id(item["provider_data"].get("response_id")))
    if not draft.reading.has_output():
        for name in ("text", "tool_calls", "other_parts", "choices"):
            draft.put(name, getattr(said, name))
    for name in ("response_id", "response_model", "finish_reason", "reasoning", "refusal"):
        draft.put(name, getattr(said, name))
    draft.put_usage(said.usage)
    _complete_calls(draft.reading.tool_calls, said.tool_calls)


def _complete_calls(calls: list[ToolCall] | None, others: list[ToolCall] | None) -> None:
    """Arguments that the indexed attributes left out (empty ones are never written), from the calls of equal id."""
    for call in calls or ():
        if call.arguments is None and call.id is not None:
            same = [other for other in others or () if other.id == call.id]
            if len(same) == 1:
                call.arguments = same[0].arguments


def _read_tools(draft: Draft) -> None:
    tools: list[JsonObject] = []
    for _, fields in family(draft.attributes, "llm.tools."):
        schema = decode(fields.get("tool.json_schema", fields.get("json_schema")))
        if isinstance(schema.value, dict):
            name = fields.get("tool.name")
            bare = name is not None and not any(key in schema.value for key in ("name", "function", "toolSpec"))
            tools.append(_named(name, fields.get("tool.description"), schema.value) if bare else schema.value)
            if schema.cut:
                draft.cut("tools")
        elif fields.get("tool.name") is not None:
            tools.append({"name": fields["tool.name"], "description": fields.get("tool.description")})
    draft.put("tools", tools or None)
    for key in ("llm.invocation_parameters", "input.value"):
        if draft.reading.tools is None and key in draft.attributes:
            body = draft.json(key)
            if isinstance(body, dict):
                draft.put("tools", tool_definitions(body.get("tools")))


def _named(name: JsonValue, description: JsonValue, schema: JsonObject) -> JsonObject:
    tool: JsonObject = {"name": name}
    if description is not None:
        tool["description"] = description
    tool["parameters"] = schema
    return tool


def read_tool(draft: Draft) -> None:
    """A tool execution: id, arguments and result, out of whatever the framework wrapped them in."""
    attributes = draft.attributes
    given = visible(attributes.get("input.value"))
    call = call_input(given)
    if call is not None:
        draft.put("arguments", call.arguments)
        draft.put("tool_name", call.name)
    draft.put("arguments", tool_input(given))
    parameters = decode(attributes.get("tool.parameters"), repair=False).value
    if isinstance(parameters, dict) and not is_schema(parameters):
        draft.put("arguments", parameters)
    output = visible(attributes.get("output.value"))
    result = tool_result(output, ident(attributes.get("tool.id")), string(attributes.get("tool.name")))
    for key in ("tool.id", "tool.call_id", "tool_call.id", "gen_ai.tool.call.id"):
        draft.put("tool_call_id", ident(attributes.get(key)))
    if result is not None:
        draft.put("tool_call_id", result.call_id)
        draft.put("result", result.content)
        draft.put("is_error", result.is_error)
        draft.put("tool_name", string(attributes.get("tool.name")) or result.name)
    if call is not None:
        draft.put("tool_call_id", call.id)
    for field, value in (("arguments", given), ("result", output)):
        if isinstance(value, str) and is_cut(value):
            draft.cut(field)


def is_schema(value: Mapping[str, Any]) -> bool:
    """Whether an object is a JSON Schema of arguments rather than arguments."""
    return "properties" in value and ("type" in value or isinstance(value["properties"], dict))


def read_whole(draft: Draft) -> None:
    """What a root, agent or chain span was asked and answered."""
    draft.put("input_text", asked(draft.attributes.get("input.value")))
    draft.put("output_text", answered(draft.attributes.get("output.value")))


OPENINFERENCE = OpenInference()
