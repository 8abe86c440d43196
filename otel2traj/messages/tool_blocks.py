"""Calls of tools and what they answered, in any provider's or framework's spelling, as parts."""

from __future__ import annotations

from typing import Any, Final

from ..canonical import JsonValue, dumps
from .nested import decode_arguments, ident, string
from .parts import Media, Part, PartKind

Parts = list[Part]
Value = dict[str, Any]


def other(value: Value) -> Parts:
    return [Part(PartKind.OTHER, id=ident(value.get("id")), raw=value)]


def hosted(kind: PartKind, value: Value, name: JsonValue, content: JsonValue, call_id: JsonValue = None) -> Part:
    found = ident(call_id if call_id is not None else value.get("id"))
    return Part(kind, id=found, name=string(name), value=content, hosted=True, raw=value)


def item_call(value: Value, kind: str) -> Parts:
    """An item with a `call_id` is one that the client answers; without one its provider has run it."""
    name = string(value.get("name")) or kind.removesuffix("_call")
    arguments = next((value[key] for key in _ARGUMENTS if value.get(key) is not None), None)
    if "call_id" in value:
        call = Part(PartKind.TOOL_CALL, id=ident(value["call_id"]), name=name, value=decode_arguments(arguments))
        call.raw = value
        return [call]
    if kind == "file_search_call" and arguments is None and "queries" in value:
        arguments = {"queries": value["queries"]}
    elif kind == "code_interpreter_call" and arguments is None and "code" in value:
        arguments = {"code": value["code"]}
    parts = [hosted(PartKind.TOOL_CALL, value, name, decode_arguments(arguments))]
    if kind == "image_generation_call":
        if string(value.get("result")) is not None:
            word = value.get("output_format")
            mime = f"image/{word}" if isinstance(word, str) else None
            parts.append(Part(PartKind.MEDIA, media=Media("image", mime, data=value["result"])))
        return parts
    result = next((value[key] for key in ("output", "outputs", "results") if value.get(key) is not None), None)
    failed = value.get("error")
    if result is not None or failed is not None:
        inside = Part(PartKind.TOOL_RESULT, id=parts[0].id, name=name, hosted=True)
        inside.value = result if result is not None else failed
        inside.is_error = True if failed is not None else None
        parts.append(inside)
    return parts


_ARGUMENTS: Final = ("arguments", "action", "actions", "operation", "input")


def page_tool(value: Value, kind: str) -> Parts:
    """Vercel's tool part of a page: the call, and its result once there is one."""
    name = string(value.get("toolName")) or kind.removeprefix("tool-")
    call_id = ident(value["toolCallId"])
    parts = [Part(PartKind.TOOL_CALL, id=call_id, name=name, value=decode_arguments(value.get("input")))]
    failed = string(value.get("errorText"))
    if value.get("output") is not None or failed is not None:
        result = value["output"] if failed is None else failed
        parts.append(Part(PartKind.TOOL_RESULT, id=call_id, name=name, value=result, is_error=True if failed else None))
    return parts


def tool_call(value: Value) -> Parts:
    """`{id, name, arguments}` and its many spellings."""
    if value.get("builtin") or "server_tool_call" in value:
        inner = value.get("server_tool_call")
        held = inner if isinstance(inner, dict) else {}
        name = value.get("name", held.get("type"))
        found = call_part(value).value if inner is None else {key: held[key] for key in held if key != "type"}
        return [hosted(PartKind.TOOL_CALL, value, name, found)]
    inner = value.get("tool_call")
    if isinstance(inner, dict):
        value = inner
    return [call_part(value)]


def call_part(value: Value) -> Part:
    """A tool call in any spelling. What a custom tool is given is text, JSON or not."""
    inner = value.get("tool_call")
    if isinstance(inner, dict):
        value = inner
    function = _function_of(value)
    call_id = None
    for key in ("call_id", "id", "tool_call_id", "toolCallId", "toolUseId"):
        call_id = ident(value.get(key))
        if call_id is not None:
            break
    name = None
    for holder, key in ((value, "name"), (function, "name"), (value, "tool_name"), (value, "toolName")):
        name = string(holder.get(key))
        if name is not None:
            break
    if name is None and isinstance(value.get("function"), str):
        name = value["function"]
    arguments = _given(value, function)
    custom = value.get("type") in ("custom", "custom_tool_call")
    given = arguments if custom else decode_arguments(arguments)
    return Part(PartKind.TOOL_CALL, id=call_id, name=name, value=given, raw=value)


def _function_of(value: Value) -> Value:
    for key in ("function", "custom"):
        if isinstance(value.get(key), dict):
            return value[key]  # type: ignore[no-any-return]
    return {}


def _given(value: Value, function: Value) -> JsonValue:
    """The arguments of a call, wherever a spelling has them."""
    for holder, key in (
        (value, "arguments"),
        (function, "arguments"),
        (value, "args"),
        (value, "input"),
        (function, "input"),
        (value, "parameters"),
        (value, "tool_args"),
        (value, "tool_kwargs"),
    ):
        if holder.get(key) is not None:
            return holder[key]  # type: ignore[no-any-return]
    return None


def arguments_text(call: Part) -> str:
    """The arguments of a call as the model wrote them, where they were recorded as text; else as JSON."""
    raw = call.raw
    given = _given(raw, _function_of(raw)) if isinstance(raw, dict) else None
    text = given if isinstance(given, str) else call.value
    return text if isinstance(text, str) else dumps({} if text is None else text).decode("utf-8", "surrogatepass")


def response(value: Value) -> Parts:
    """A tool's result in any spelling."""
    call_id = None
    for key in ("tool_use_id", "call_id", "tool_call_id", "toolCallId", "toolUseId", "id"):
        call_id = ident(value.get(key))
        if call_id is not None:
            break
    content: JsonValue = None
    for key in ("response", "result", "output", "content"):
        if value.get(key) is not None:
            content = value[key]
            break
    name = string(value.get("name")) or string(value.get("toolName")) or string(value.get("tool_name"))
    hosted = bool(value.get("builtin"))
    failed = _failed(value, content)
    return [Part(PartKind.TOOL_RESULT, None, call_id, name, content, None, hosted, failed, None, value)]


def _failed(value: Value, content: JsonValue) -> bool | None:
    for key in ("is_error", "isError"):
        if isinstance(value.get(key), bool):
            return bool(value[key])
    if isinstance(content, dict) and content.get("type") in ("error-text", "error-json"):
        return True
    status = value.get("status")
    return status == "error" if status in ("error", "success") else None


def server_response(value: Value) -> Parts:
    inner = value.get("server_tool_call_response")
    return [hosted(PartKind.TOOL_RESULT, value, value.get("name"), inner)]


def gemini_call(value: Value) -> Parts:
    call = value.get("functionCall", value.get("function_call"))
    return [call_part(call)] if isinstance(call, dict) else other(value)


def _inside(value: Value, *keys: str) -> Parts:
    answer = next((value[key] for key in keys if value.get(key) is not None), None)
    return response(answer) if isinstance(answer, dict) else other(value)


def gemini_response(value: Value) -> Parts:
    return _inside(value, "functionResponse", "function_response")


def gemini_code(value: Value) -> Parts:
    code = value.get("executableCode", value.get("executable_code"))
    return [hosted(PartKind.TOOL_CALL, value, "code_execution", code)]


def gemini_code_result(value: Value) -> Parts:
    result = value.get("codeExecutionResult", value.get("code_execution_result"))
    return [hosted(PartKind.TOOL_RESULT, value, "code_execution", result)]


def bedrock_call(value: Value) -> Parts:
    call = value.get("toolUse", value.get("tool_use"))
    return [call_part(call)] if isinstance(call, dict) else other(value)


def bedrock_response(value: Value) -> Parts:
    return _inside(value, "toolResult", "tool_result")


def haystack_call(value: Value) -> Parts:
    call = value["tool_call"]
    return [call_part(call)] if isinstance(call, dict) else other(value)


def haystack_response(value: Value) -> Parts:
    answer = value["tool_call_result"]
    if not isinstance(answer, dict):
        return other(value)
    origin = answer.get("origin")
    holder = origin if isinstance(origin, dict) else {}
    failed = answer["error"] if isinstance(answer.get("error"), bool) else None
    part = Part(PartKind.TOOL_RESULT, id=ident(holder.get("id")), name=string(holder.get("tool_name")))
    part.value, part.is_error = answer.get("result"), failed
    return [part]


def hosted_use(value: Value) -> Part:
    return hosted(PartKind.TOOL_CALL, value, value.get("name"), decode_arguments(value.get("input")))
