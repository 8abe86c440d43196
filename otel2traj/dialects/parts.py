"""Content of any provider's or framework's shape becomes parts of the GenAI conventions.

Shapes are told by the keys they have, not by who wrote them: GenAI parts, OpenAI chat and Responses, Anthropic blocks,
Gemini parts, Bedrock Converse blocks, LangChain and Vercel content, Haystack content. What none of these knows is kept
as recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from ..canonical import JsonObject, JsonValue
from ..model.message import reasoning_part, refusal_part, text_part, tool_call_part, tool_call_response_part
from .nested import REDACTED, decode, decode_arguments, ident, string

Parts = list[JsonObject]

HOSTED: Final = frozenset({"server_tool_call", "server_tool_call_response", "server_tool_use", "mcp_tool_use"})


def parts_of(content: JsonValue) -> Parts:
    """Parts of a message's content: text, a block, or a list of them. Empty texts say nothing and are left out."""
    if content is None:
        return []
    if isinstance(content, str):
        return [text_part(content)] if content and content not in REDACTED else []
    if isinstance(content, list):
        return [part for item in content for part in parts_of(item)]
    if isinstance(content, dict):
        inner = content.get("parts")
        return parts_of(inner) if isinstance(inner, list) and "type" not in content else block(content)
    return [text_part(str(content))]


def block(value: Mapping[str, Any]) -> Parts:
    """One content block as parts; usually one, none for an empty text."""
    kind = value.get("type", value.get("block_type"))
    if isinstance(kind, str):
        reader = _BY_TYPE.get(kind)
        if reader is not None:
            return reader(value)
        if kind.endswith("tool_result") and "tool_use_id" in value:
            return [dict(value)]
    else:
        for key, read in _BY_KEY:
            if value.get(key) is not None:
                return read(value)
        if "text" in value:
            return _text(value)
    return [dict(value)] if value else []


def _text(value: Mapping[str, Any]) -> Parts:
    content = value.get("content", value.get("text"))
    if isinstance(content, dict):  # OpenAI Assistants: {"text": {"value": ...}}
        content = content.get("value")
    if isinstance(content, list):
        return parts_of(content)
    if value.get("thought") is True:
        return [reasoning_part(content)] if isinstance(content, str) and content else []
    return parts_of(content) if isinstance(content, str) else []


def _refusal(value: Mapping[str, Any]) -> Parts:
    content = value.get("refusal", value.get("content"))
    return [refusal_part(content)] if isinstance(content, str) and content else []


def _reasoning(value: Mapping[str, Any]) -> Parts:
    """Reasoning in every spelling; the encrypted form is kept as recorded."""
    for key in ("content", "text", "thinking", "reasoning", "summary", "reasoning_text"):
        found = flat_text(value.get(key))
        if found:
            return [reasoning_part(_summary(found))]
    if any(value.get(key) for key in ("data", "encrypted_content", "signature", "redacted_content")):
        return [dict(value)]
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


def _tool_call(value: Mapping[str, Any]) -> Parts:
    """`{id, name, arguments}` and its many spellings."""
    if value.get("builtin") or "server_tool_call" in value:
        return [dict(value)]
    inner = value.get("tool_call")
    if isinstance(inner, dict):
        value = inner
    return [call_part(value)]


def call_part(value: Mapping[str, Any]) -> JsonObject:
    """A tool call in any spelling as a `tool_call` part."""
    function: Mapping[str, Any] = {}
    for key in ("function", "custom"):
        if isinstance(value.get(key), dict):
            function = value[key]
            break
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
    arguments: JsonValue = None
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
            arguments = holder[key]
            break
    return tool_call_part(call_id, name, decode_arguments(arguments))


def _response(value: Mapping[str, Any]) -> Parts:
    """A tool's result in any spelling as a `tool_call_response` part."""
    if value.get("builtin"):
        return [dict(value)]
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
    name = string(value.get("name")) or string(value.get("toolName"))
    return [tool_call_response_part(call_id, response_value(content), name)]


def response_value(content: JsonValue) -> JsonValue:
    """What a tool answered: the text where it is one text in whatever wrapping, else the value as recorded."""
    if isinstance(content, dict):
        kind = content.get("type", content.get("block_type"))
        if kind in ("text", "error-text") and set(content) <= {"type", "value"} and "value" in content:
            plain: JsonValue = content["value"]
            return plain
        if kind in ("json", "error-json", "content") and set(content) <= {"type", "value"} and "value" in content:
            inner: JsonValue = content["value"]
            return response_value(inner) if kind == "content" else inner
        if set(content) == {"text"} or (kind == "text" and isinstance(content.get("text"), str)):
            return str(content["text"]) if isinstance(content["text"], str) else content
        if set(content) == {"json"}:
            document: JsonValue = content["json"]
            return document
        return content
    if isinstance(content, list) and len(content) == 1 and isinstance(content[0], dict):
        only = response_value(content[0])
        return only if isinstance(only, str) else content
    if isinstance(content, list) and len(content) > 1:
        texts = [response_value(item) if isinstance(item, dict) else None for item in content]
        if all(isinstance(text, str) for text in texts):
            return "\n".join(text for text in texts if isinstance(text, str))
    return content


def _gemini_call(value: Mapping[str, Any]) -> Parts:
    call = value.get("functionCall", value.get("function_call"))
    return [call_part(call)] if isinstance(call, dict) else [dict(value)]


def _gemini_response(value: Mapping[str, Any]) -> Parts:
    answer = value.get("functionResponse", value.get("function_response"))
    return _response(answer) if isinstance(answer, dict) else [dict(value)]


def _bedrock_call(value: Mapping[str, Any]) -> Parts:
    call = value.get("toolUse", value.get("tool_use"))
    return [call_part(call)] if isinstance(call, dict) else [dict(value)]


def _bedrock_response(value: Mapping[str, Any]) -> Parts:
    answer = value.get("toolResult", value.get("tool_result"))
    return _response(answer) if isinstance(answer, dict) else [dict(value)]


def _bedrock_reasoning(value: Mapping[str, Any]) -> Parts:
    inner = value.get("reasoningContent")
    if not isinstance(inner, dict):
        return [dict(value)]
    text = inner.get("reasoningText", inner)
    return _reasoning(text if isinstance(text, dict) else {"text": text})


def _haystack_call(value: Mapping[str, Any]) -> Parts:
    call = value["tool_call"]
    return [call_part(call)] if isinstance(call, dict) else [dict(value)]


def _haystack_response(value: Mapping[str, Any]) -> Parts:
    answer = value["tool_call_result"]
    if not isinstance(answer, dict):
        return [dict(value)]
    origin = answer.get("origin")
    holder = origin if isinstance(origin, dict) else {}
    name = string(holder.get("tool_name"))
    return [tool_call_response_part(ident(holder.get("id")), response_value(answer.get("result")), name)]


def _haystack_reasoning(value: Mapping[str, Any]) -> Parts:
    return _reasoning({"content": value.get("reasoning")})


_BY_TYPE: Final[dict[str, Callable[[Mapping[str, Any]], Parts]]] = {
    **dict.fromkeys(("text", "input_text", "output_text", "summary_text", "TextContent"), _text),
    "refusal": _refusal,
    **dict.fromkeys(
        ("reasoning", "thinking", "redacted_thinking", "redacted-reasoning", "reasoning_content"), _reasoning
    ),
    **dict.fromkeys(
        ("tool_call", "tool_use", "tool-call", "function_call", "custom_tool_call", "function"), _tool_call
    ),
    **dict.fromkeys(
        (
            "tool_call_response",
            "tool_result",
            "tool-result",
            "tool_response",
            "function_call_output",
            "custom_tool_call_output",
            "function_result",
        ),
        _response,
    ),
}

_BY_KEY: Final[tuple[tuple[str, Callable[[Mapping[str, Any]], Parts]], ...]] = (
    ("functionCall", _gemini_call),
    ("function_call", _gemini_call),
    ("functionResponse", _gemini_response),
    ("function_response", _gemini_response),
    ("toolUse", _bedrock_call),
    ("toolResult", _bedrock_response),
    ("reasoningContent", _bedrock_reasoning),
    ("tool_call_result", _haystack_response),
    ("tool_call", _haystack_call),
    ("reasoning", _haystack_reasoning),
)
