"""Content of any provider's or framework's shape becomes parts.

Shapes are told by the keys they have, not by who wrote them: GenAI parts, OpenAI chat and Responses, Anthropic blocks,
Gemini parts, Bedrock Converse blocks, LangChain and Vercel content, Haystack and Pydantic AI content. What none of
these knows is kept as recorded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ..canonical import JsonObject, JsonValue, dumps
from .media import MEDIA_TYPES, media_by_key, media_by_type
from .nested import decode, ident, string
from .parts import Media, Part, PartKind, text_part
from .tool_blocks import (
    Parts,
    Value,
    bedrock_call,
    bedrock_response,
    gemini_call,
    gemini_code,
    gemini_code_result,
    gemini_response,
    haystack_call,
    haystack_response,
    hosted,
    hosted_use,
    item_call,
    other,
    page_tool,
    response,
    server_response,
    tool_call,
)


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
    return other(value) if value else []


def is_cut(value: JsonValue) -> bool:
    """Whether a string that was over a limit stood here: `{"truncated", "size", "sha256", "head"}` is left of it."""
    return isinstance(value, dict) and value.get("truncated") is True and "sha256" in value and "head" in value


def said(kind: PartKind, content: JsonValue, raw: JsonValue = None) -> Part:
    """A text, reasoning or refusal; of what was cut the head is known."""
    if isinstance(content, dict):
        return Part(kind, text=str(content.get("head", "")), cut=content, raw=raw)
    return Part(kind, text=str(content), raw=raw)


def _by_word(value: Value, kind: str) -> Parts:
    """Types that are told by how they end: items of Responses, results of hosted tools, Vercel's tools of the page."""
    if kind in MEDIA_TYPES:
        words = _document_text(value)
        if words is not None:
            return [Part(PartKind.TEXT, text=words, raw=value)]
        media = media_by_type(value, kind)
        return other(value) if media is None else [Part(PartKind.MEDIA, media=media, raw=value)]
    if kind.endswith("_call_output") or (kind == "output" and "call_id" in value):
        return response(value)
    if kind.endswith("_call"):
        return item_call(value, kind)
    if kind.endswith("tool_result") and "tool_use_id" in value:
        failed = value["is_error"] if isinstance(value.get("is_error"), bool) else None
        part = hosted(PartKind.TOOL_RESULT, value, kind.removesuffix("_tool_result"), value.get("content"))
        part.id, part.is_error = ident(value["tool_use_id"]), failed
        return [part]
    if "toolCallId" in value and (kind.startswith("tool-") or kind == "dynamic-tool"):
        return page_tool(value, kind)
    return other(value)


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
        return other(value) if media is None else [Part(PartKind.MEDIA, media=media, raw=value)]
    data = string(sound.get("data"))
    media = Media("audio", data=data, file_id=string(sound.get("id")) if data is None else None)
    parts = [Part(PartKind.MEDIA, media=media, raw=value)]
    if string(sound.get("transcript")) is not None:
        parts.append(Part(PartKind.TEXT, text=sound["transcript"]))
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


def _bedrock_reasoning(value: Value) -> Parts:
    inner = value.get("reasoningContent")
    if not isinstance(inner, dict):
        return other(value)
    text = inner.get("reasoningText", inner)
    found = _reasoning(text if isinstance(text, dict) else {"text": text})
    for part in found:
        if part.text is None:
            part.raw = value
    return found


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
        tool_call,
    ),
    **dict.fromkeys(("server_tool_use", "mcp_tool_use"), lambda value: [hosted_use(value)]),
    "server_tool_call_response": server_response,
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
        response,
    ),
}


_BY_KEY: Final[tuple[tuple[str, Callable[[Value], Parts]], ...]] = (
    ("functionCall", gemini_call),
    ("function_call", gemini_call),
    ("functionResponse", gemini_response),
    ("function_response", gemini_response),
    ("executableCode", gemini_code),
    ("executable_code", gemini_code),
    ("codeExecutionResult", gemini_code_result),
    ("code_execution_result", gemini_code_result),
    ("toolUse", bedrock_call),
    ("toolResult", bedrock_response),
    ("reasoningContent", _bedrock_reasoning),
    ("tool_call_result", haystack_response),
    ("tool_call", haystack_call),
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
