"""What OpenInference says of calls, executions and wholes: indexed attributes first, then the JSON of the whole."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ..canonical import JsonObject, JsonValue
from ..messages import Message, ToolCall
from ..messages.answer import output_of
from ..messages.nested import REDACTED, decode, ident, is_cut, literal, string
from ..messages.reader import read_messages, system_value
from .bodies import read_response
from .draft import Draft
from .histories import decoded, tool_definitions
from .langchain_dump import response_id
from .oi_messages import oi_messages
from .tool_payload import call_input, tool_input, tool_result
from .whole import answered, asked

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


def visible(value: JsonValue) -> JsonValue:
    """The value, or None where the instrumentation hid it."""
    return None if isinstance(value, str) and value in REDACTED else value


def read_model(draft: Draft) -> None:
    """A model call: indexed messages first, then the JSON of the whole request and response."""
    attributes = draft.attributes
    messages, gap, shared = oi_messages(draft, "llm.input_messages.")
    answers, lost, _ = oi_messages(draft, "llm.output_messages.")
    draft.reading.shared += shared
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
        texts = [fields.get("completion.text") for _, fields in draft.family("llm.choices.")]
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
        prompts = [fields.get("prompt.text") for _, fields in draft.family("llm.prompts.")]
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
    elif draft.reading.tool_calls and _ids(draft.reading.tool_calls) == _ids(said.tool_calls):
        draft.put("text", said.text)
    for name in ("response_id", "response_model", "finish_reason", "reasoning", "refusal"):
        draft.put(name, getattr(said, name))
    draft.put_usage(said.usage)
    _complete_calls(draft.reading.tool_calls, said.tool_calls)


def _ids(calls: list[ToolCall] | None) -> list[str | None]:
    return [call.id for call in calls or ()]


def _complete_calls(calls: list[ToolCall] | None, others: list[ToolCall] | None) -> None:
    """Arguments that the indexed attributes left out (empty ones are never written), from the calls of equal id."""
    for call in calls or ():
        if call.arguments is None and call.id is not None:
            same = [other for other in others or () if other.id == call.id]
            if len(same) == 1:
                call.arguments = same[0].arguments


def _read_tools(draft: Draft) -> None:
    tools: list[JsonObject] = []
    for _, fields in draft.family("llm.tools."):
        schema = decoded(fields.get("tool.json_schema", fields.get("json_schema")))
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
    if attributes.get("output.mime_type") == "application/json":
        output = literal(output)
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
    output = draft.attributes.get("output.value")
    if draft.attributes.get("output.mime_type") == "application/json":
        output = literal(output)
    draft.put("output_text", answered(output))
