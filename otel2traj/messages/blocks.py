"""Content of any provider's or framework's shape becomes parts.

Shapes are told by the keys they have, not by who wrote them: GenAI parts, OpenAI chat and Responses, Anthropic blocks,
Gemini parts, Bedrock Converse blocks, LangChain and Vercel content, Haystack and Pydantic AI content. What none of
these knows is kept as recorded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ..canonical import JsonObject, JsonValue, dumps
from .media import MEDIA_TYPES, media_by_key, media_by_type
from .nested import decode, decode_arguments, ident, string
from .parts import Media, Part, PartKind, text_part

Parts = list[Part]
Value = dict[str, Any]


def read_parts(content: JsonValue) -> Parts:
    """Parts of a message's content: text, a block, or a list of them."""
    if content is None:
        return []
    if isinstance(content, str):
        return [Part(PartKind.TEXT, text=content)]
    if isinstance(content, list):
        return [part for item in content for part in read_parts(item)]
    if isinstance(content, dict):
        inner = content.get("parts")
        return read_parts(inner) if isinstance(inner, list) and "type" not in content else read_block(content)
    return [text_part(str(content))]


def read_block(value: Value) -> Parts:
    """One content block as parts; usually one."""
    kind = value.get("type", value.get("block_type", value.get("part_kind")))
    if kind is None and value.get("kind") in MEDIA_TYPES:
        kind = value["kind"]
    if isinstance(kind, str):
        reader = _BY_TYPE.get(kind)
        if reader is not None:
            return reader(value)
        return _by_word(value, kind)
    for key, read in _BY_KEY:
        if value.get(key) is not None:
            return read(value)
    if "text" in value:
        return _text(value)
    if is_cut(value):
        return [said(PartKind.TEXT, value)]
    media = media_by_key(value)
    if media is not None:
        return [Part(PartKind.MEDIA, media=media, raw=value)]
    return _other(value) if value else []


def is_cut(value: JsonValue) -> bool:
    """Whether a string that was over a limit stood here: `{"truncated", "size", "sha256", "head"}` is left of it."""
    return isinstance(value, dict) and value.get("truncated") is True and "sha256" in value and "head" in value


def said(kind: PartKind, content: JsonValue, raw: JsonValue = None) -> Part:
    """A text, reasoning or refusal; of what was cut the head is known."""
    if isinstance(content, dict):
        return Part(kind, text=str(content.get("head", "")), cut=content, raw=raw)
    return Part(kind, text=str(content), raw=raw)


def _other(value: Value) -> Parts:
    return [Part(PartKind.OTHER, id=ident(value.get("id")), raw=value)]


def _hosted(kind: PartKind, value: Value, name: JsonValue, content: JsonValue, call_id: JsonValue = None) -> Part:
    found = ident(call_id if call_id is not None else value.get("id"))
    return Part(kind, id=found, name=string(name), value=content, hosted=True, raw=value)


def _by_word(value: Value, kind: str) -> Parts:
    """Types that are told by how they end: items of Responses, results of hosted tools, Vercel's tools of the page."""
    if kind in MEDIA_TYPES:
        words = _document_text(value)
        if words is not None:
            return [Part(PartKind.TEXT, text=words, raw=value)]
        media = media_by_type(value, kind)
        return _other(value) if media is None else [Part(PartKind.MEDIA, media=media, raw=value)]
    if kind.endswith("_call_output") or (kind == "output" and "call_id" in value):
        return _response(value)
    if kind.endswith("_call"):
        return _item_call(value, kind)
    if kind.endswith("tool_result") and "tool_use_id" in value:
        failed = value["is_error"] if isinstance(value.get("is_error"), bool) else None
        part = _hosted(PartKind.TOOL_RESULT, value, kind.removesuffix("_tool_result"), value.get("content"))
        part.id, part.is_error = ident(value["tool_use_id"]), failed
        return [part]
    if "toolCallId" in value and (kind.startswith("tool-") or kind == "dynamic-tool"):
        return _page_tool(value, kind)
    return _other(value)


def _document_text(value: Value) -> str | None:
    """The words of a document that was given as text: Anthropic's, Cohere's, MCP's embedded resource."""
    source, document, resource = value.get("source"), value.get("document"), value.get("resource")
    if isinstance(source, dict) and source.get("type") == "text":
        return string(source.get("data"))
    if isinstance(document, dict) and set(document) <= {"data", "id"}:
        return string(document.get("data"))
    return string(resource.get("text")) if isinstance(resource, dict) else None


def sound_parts(value: Value) -> Parts:
    """The sound of a chat answer and what is said in it; elsewhere a sound as any other media."""
    sound = value["audio"]
    if not isinstance(sound, dict) or not any(key in sound for key in ("data", "id", "transcript")):
        media = media_by_key(value)
        return _other(value) if media is None else [Part(PartKind.MEDIA, media=media, raw=value)]
    data = string(sound.get("data"))
    media = Media("audio", data=data, file_id=string(sound.get("id")) if data is None else None)
    parts = [Part(PartKind.MEDIA, media=media, raw=value)]
    if string(sound.get("transcript")) is not None:
        parts.append(Part(PartKind.TEXT, text=sound["transcript"]))
    return parts


def _item_call(value: Value, kind: str) -> Parts:
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
    parts = [_hosted(PartKind.TOOL_CALL, value, name, decode_arguments(arguments))]
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


def _page_tool(value: Value, kind: str) -> Parts:
    """Vercel's tool part of a page: the call, and its result once there is one."""
    name = string(value.get("toolName")) or kind.removeprefix("tool-")
    call_id = ident(value["toolCallId"])
    parts = [Part(PartKind.TOOL_CALL, id=call_id, name=name, value=decode_arguments(value.get("input")))]
    failed = string(value.get("errorText"))
    if value.get("output") is not None or failed is not None:
        result = value["output"] if failed is None else failed
        parts.append(Part(PartKind.TOOL_RESULT, id=call_id, name=name, value=result, is_error=True if failed else None))
    return parts


def _text(value: Value) -> Parts:
    content = value.get("content", value.get("text"))
    if isinstance(content, dict) and not is_cut(content):  # OpenAI Assistants: {"text": {"value": ...}}
        content = content["value"] if "value" in content else dumps(content).decode("utf-8", "surrogatepass")
    if isinstance(content, list):
        return read_parts(content)
    if isinstance(content, (int, float)):  # a value where a text belongs
        content = dumps(content).decode()
    kind = PartKind.REASONING if value.get("thought") is True else PartKind.TEXT
    if isinstance(content, (str, dict)):
        return [said(kind, content, value)]
    return []


def _refusal(value: Value) -> Parts:
    content = value.get("refusal", value.get("content"))
    return [said(PartKind.REFUSAL, content, value)] if isinstance(content, str) or is_cut(content) else []


def _reasoning(value: Value) -> Parts:
    """Reasoning in every spelling; the encrypted form has no text."""
    for key in ("content", "text", "thinking", "reasoning", "summary", "reasoning_text"):
        if is_cut(value.get(key)):
            return [said(PartKind.REASONING, value[key], value)]
        found = flat_text(value.get(key))
        if found:
            return [Part(PartKind.REASONING, text=_summary(found), raw=value)]
    if any(value.get(key) for key in ("data", "encrypted_content", "signature", "redacted_content")):
        return [Part(PartKind.REASONING, raw=value)]
    return []


def _summary(text: str) -> str:
    """The text of a summary list that was written as JSON into the place of a text."""
    if not text.startswith("[{") or "summary_text" not in text:
        return text
    return flat_text(decode(text, repair=False).value) or text


def flat_text(value: JsonValue) -> str | None:
    """The text of a string, of `{"text"}` objects, or of a list of them; lists are joined by a line break."""
    if isinstance(value, str):
        return value or None
    if isinstance(value, dict):
        for key in ("text", "content", "summary_text", "reasoning_text", "thinking"):
            found = flat_text(value.get(key))
            if found:
                return found
        return None
    if isinstance(value, list):
        texts = [text for text in map(flat_text, value) if text]
        return "\n".join(texts) or None
    return None


def _tool_call(value: Value) -> Parts:
    """`{id, name, arguments}` and its many spellings."""
    if value.get("builtin") or "server_tool_call" in value:
        inner = value.get("server_tool_call")
        held = inner if isinstance(inner, dict) else {}
        name = value.get("name", held.get("type"))
        found = call_part(value).value if inner is None else {key: held[key] for key in held if key != "type"}
        return [_hosted(PartKind.TOOL_CALL, value, name, found)]
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


def _response(value: Value) -> Parts:
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


def _server_response(value: Value) -> Parts:
    inner = value.get("server_tool_call_response")
    return [_hosted(PartKind.TOOL_RESULT, value, value.get("name"), inner)]


def _gemini_call(value: Value) -> Parts:
    call = value.get("functionCall", value.get("function_call"))
    return [call_part(call)] if isinstance(call, dict) else _other(value)


def _inside(value: Value, *keys: str) -> Parts:
    answer = next((value[key] for key in keys if value.get(key) is not None), None)
    return _response(answer) if isinstance(answer, dict) else _other(value)


def _gemini_response(value: Value) -> Parts:
    return _inside(value, "functionResponse", "function_response")


def _gemini_code(value: Value) -> Parts:
    code = value.get("executableCode", value.get("executable_code"))
    return [_hosted(PartKind.TOOL_CALL, value, "code_execution", code)]


def _gemini_code_result(value: Value) -> Parts:
    result = value.get("codeExecutionResult", value.get("code_execution_result"))
    return [_hosted(PartKind.TOOL_RESULT, value, "code_execution", result)]


def _bedrock_call(value: Value) -> Parts:
    call = value.get("toolUse", value.get("tool_use"))
    return [call_part(call)] if isinstance(call, dict) else _other(value)


def _bedrock_response(value: Value) -> Parts:
    return _inside(value, "toolResult", "tool_result")


def _bedrock_reasoning(value: Value) -> Parts:
    inner = value.get("reasoningContent")
    if not isinstance(inner, dict):
        return _other(value)
    text = inner.get("reasoningText", inner)
    found = _reasoning(text if isinstance(text, dict) else {"text": text})
    for part in found:
        if part.text is None:
            part.raw = value
    return found


def _haystack_call(value: Value) -> Parts:
    call = value["tool_call"]
    return [call_part(call)] if isinstance(call, dict) else _other(value)


def _haystack_response(value: Value) -> Parts:
    answer = value["tool_call_result"]
    if not isinstance(answer, dict):
        return _other(value)
    origin = answer.get("origin")
    holder = origin if isinstance(origin, dict) else {}
    failed = answer["error"] if isinstance(answer.get("error"), bool) else None
    part = Part(PartKind.TOOL_RESULT, id=ident(holder.get("id")), name=string(holder.get("tool_name")))
    part.value, part.is_error = answer.get("result"), failed
    return [part]


def _haystack_reasoning(value: Value) -> Parts:
    return _reasoning({"content": value.get("reasoning")})


def _nested_message(value: Value) -> Parts:
    return read_parts(value.get("content"))


_BY_TYPE: Final[dict[str, Callable[[Value], Parts]]] = {
    **dict.fromkeys(
        ("text", "input_text", "output_text", "summary_text", "TextContent", "user-prompt", "system-prompt"), _text
    ),
    "refusal": _refusal,
    **dict.fromkeys(
        ("reasoning", "thinking", "redacted_thinking", "redacted-reasoning", "reasoning_content", "thought"), _reasoning
    ),
    **dict.fromkeys(
        (
            "tool_call",
            "tool_use",
            "tool-call",
            "function_call",
            "custom_tool_call",
            "function",
            "custom",
            "server_tool_call",
            "builtin-tool-call",
        ),
        _tool_call,
    ),
    **dict.fromkeys(("server_tool_use", "mcp_tool_use"), lambda value: [_hosted_use(value)]),
    "server_tool_call_response": _server_response,
    **dict.fromkeys(
        (
            "tool_call_response",
            "tool_result",
            "tool-result",
            "tool_response",
            "tool-return",
            "retry-prompt",
            "function_call_output",
            "custom_tool_call_output",
            "function_result",
        ),
        _response,
    ),
}


def _hosted_use(value: Value) -> Part:
    return _hosted(PartKind.TOOL_CALL, value, value.get("name"), decode_arguments(value.get("input")))


_BY_KEY: Final[tuple[tuple[str, Callable[[Value], Parts]], ...]] = (
    ("functionCall", _gemini_call),
    ("function_call", _gemini_call),
    ("functionResponse", _gemini_response),
    ("function_response", _gemini_response),
    ("executableCode", _gemini_code),
    ("executable_code", _gemini_code),
    ("codeExecutionResult", _gemini_code_result),
    ("code_execution_result", _gemini_code_result),
    ("toolUse", _bedrock_call),
    ("toolResult", _bedrock_response),
    ("reasoningContent", _bedrock_reasoning),
    ("tool_call_result", _haystack_response),
    ("tool_call", _haystack_call),
    ("reasoning", _haystack_reasoning),
    ("audio", sound_parts),
)


def result_parts(part: Part) -> Parts:
    """What a tool answered, as parts: its texts and media. Empty where the answer is no content but a value."""
    content = part.value
    if isinstance(content, dict) and isinstance(content.get("content"), list):
        content = content["content"]
    if isinstance(content, list) and all(isinstance(item, (str, dict)) for item in content):
        found = read_parts(content)
    elif isinstance(content, dict) and "type" in content:
        found = read_block(content)
    else:
        return []
    return [] if any(one.kind is PartKind.OTHER for one in found) else found


def is_result(item: JsonObject) -> bool:
    """Whether a block is a tool's result."""
    if any(key in item for key in ("toolResult", "functionResponse", "function_response", "tool_call_result")):
        return True
    return any(part.kind is PartKind.TOOL_RESULT for part in read_block(item)) if "type" in item else False
