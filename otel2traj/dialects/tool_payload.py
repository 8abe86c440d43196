"""Tool inputs and outputs out of what frameworks and instrumentations wrap around them.

The wrappers: LangChain's ToolMessage in all its dumps and LangGraph's commands, LlamaIndex's ToolOutput, MCP results,
Gemini function responses, and the argument holders of Traceloop, smolagents, BeeAI and LlamaIndex.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from ..canonical import JsonObject, JsonValue
from ..messages import ToolCall
from ..messages.nested import decode, decode_arguments, decode_repr, fields_of, ident, string
from ..messages.parts import unwrapped


class ToolResult(NamedTuple):
    """What a tool returned, out of its wrappers. `is_error` is None where nothing was said."""

    content: JsonValue
    call_id: str | None = None
    name: str | None = None
    is_error: bool | None = None


def tool_result(output: JsonValue, call_id: str | None = None, tool_name: str | None = None) -> ToolResult | None:
    """A tool's output: the content of a ToolMessage in any wrapper, of an MCP result, or the value as it stands.

    None where there is no output. Messages and commands are looked into for the one ToolMessage they hold, or the one
    that answers `call_id`, or that names this very tool.
    """
    if output is None:
        return None
    value = decode(output, repair=False).value
    if isinstance(value, (dict, list)):
        message = tool_message(value, call_id, tool_name)
        if message is not None:
            fields = fields_of(message)
            status = fields.get("status")
            return ToolResult(
                unwrapped(fields.get("content")),
                ident(fields.get("tool_call_id")),
                string(fields.get("name")),
                None if not isinstance(status, str) else status == "error",
            )
        if isinstance(value, dict):
            if set(value) == {"output"}:
                inner = value["output"]
                return tool_result(inner, call_id, tool_name) if isinstance(inner, (dict, list)) else ToolResult(inner)
            if set(value) <= _LLAMA_INDEX and "raw_output" in value:
                raw = value["raw_output"]
                content = raw if isinstance(raw, str) else unwrapped(value.get("blocks"))
                return ToolResult(content, None, string(value.get("tool_name")), flag(value.get("is_error")))
            if set(value) <= _GEMINI_RESPONSE and isinstance(value.get("response"), dict) and "name" in value:
                return _gemini_result(value)
            if isinstance(value.get("content"), list) and "isError" in value:
                return ToolResult(unwrapped(value["content"]), None, None, flag(value["isError"]))
        return ToolResult(value if not isinstance(output, str) else output)
    return ToolResult(output)


_LLAMA_INDEX: Final = frozenset({"blocks", "tool_name", "raw_input", "raw_output", "is_error", "content"})
_GEMINI_RESPONSE: Final = frozenset({"id", "name", "response", "will_continue", "scheduling", "parts"})


def _gemini_result(value: JsonObject) -> ToolResult:
    response = value["response"]
    failed = None
    if set(response) == {"error"}:
        failed = True
    elif set(response) <= {"result"} or set(response) == {"output"}:
        failed = False
    inner = next(iter(response.values())) if failed is not None and response else response
    return ToolResult(unwrapped(inner), ident(value.get("id")), string(value["name"]), failed)


def flag(value: JsonValue) -> bool | None:
    """True or False as recorded; None for anything else."""
    return value if isinstance(value, bool) else None


def tool_message(value: JsonValue, call_id: str | None = None, tool_name: str | None = None) -> JsonObject | None:
    """The one dumped ToolMessage in a value, or the last that answers `call_id`, or the only one of a tool's name."""
    found = list(_tool_messages(value, 0))
    if call_id is not None:
        answers = [message for message in found if fields_of(message).get("tool_call_id") == call_id]
        if answers:
            return answers[-1]
    if tool_name is not None and len(found) > 1:
        found = [message for message in found if fields_of(message).get("name") == tool_name]
    return found[0] if len(found) == 1 else None


def _tool_messages(value: JsonValue, depth: int) -> Iterator[JsonObject]:
    if depth > 8:
        return
    if isinstance(value, list):
        for item in value:
            yield from _tool_messages(item, depth + 1)
    elif isinstance(value, dict):
        fields = fields_of(value)
        if "tool_call_id" in fields and "content" in fields:
            yield value
            return
        for key in ("output", "update", "messages", "kwargs", "data"):
            inner = value.get(key)
            if isinstance(inner, (dict, list)):
                yield from _tool_messages(inner, depth + 1)


def plain_input(input: JsonValue) -> JsonValue:
    """Tool arguments as an object, out of JSON or of a Python literal; a bare scalar stays as recorded."""
    value = decode_arguments(input)
    return decode_repr(value) if isinstance(value, str) else value


def tool_input(input: JsonValue) -> JsonValue:
    """The same, out of the wrappers that instrumentations put around arguments."""
    value = plain_input(input)
    if not isinstance(value, dict):
        return value
    if isinstance(value.get("inputs"), dict) and "input_str" in value:
        inputs: JsonObject = value["inputs"]
        return inputs
    if "input_str" in value:
        return decode_repr(value["input_str"])
    if "kwargs" in value and set(value) <= {"args", "kwargs", "sanitize_inputs_outputs"}:
        kwargs, args = value["kwargs"], value.get("args")
        if not args and isinstance(kwargs, dict):
            return kwargs
        if isinstance(args, list) and len(args) == 1 and isinstance(args[0], dict) and not kwargs:
            return args[0]
        return value
    if "input" in value and set(value) <= {"input", "options"}:
        inner = value["input"]
        return decode_repr(inner) if isinstance(inner, str) else inner
    return value


def call_input(input: JsonValue) -> ToolCall | None:
    """The tool call, where a tool was given one whole: `{"name", "args", "id", "type": "tool_call"}`, or the same in
    LangGraph's `{"__type": "tool_call_with_context", "tool_call": ...}`."""
    value = decode(input, repair=False).value
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, dict) and isinstance(value.get("tool_call"), dict):
        value = value["tool_call"]
    if not isinstance(value, dict) or value.get("type") != "tool_call" or "args" not in value:
        return None
    return ToolCall(ident(value.get("id")), string(value.get("name")), decode_arguments(value["args"]))
