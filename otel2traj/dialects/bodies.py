"""A provider's request or response, kept whole in one attribute or log record, becomes the fields of a reading.

The API is told by the keys a body has: OpenAI chat and Responses, Anthropic Messages, Gemini, Bedrock Converse,
LangChain results, a bare message. https://platform.openai.com/docs/api-reference,
https://docs.anthropic.com/en/api/messages, https://ai.google.dev/api/generate-content,
https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ..canonical import JsonObject, JsonValue
from ..messages import Message, Usage
from ..messages.answer import output_of
from ..messages.nested import decode, string
from ..messages.reader import read_message, read_messages, system_value
from .draft import Draft, fill_usage
from .langchain_dump import read_result, response_id
from .table import count, finish
from .usage import provider_usage

_MESSAGES: Final = ("messages", "input", "contents", "prompt", "inputs")
_SYSTEM: Final = ("system", "instructions", "system_instruction", "systemInstruction")
_TOOLS: Final = ("tools", "functions")
_NO_PARAMETER: Final = frozenset(
    {
        *_MESSAGES, *_SYSTEM, *_TOOLS, "model", "self", "client", "timeout", "metadata", "user", "api_key", "headers",
        "extra_headers", "extra_query", "extra_body", "http_options", "authorization", "api_base", "base_url",
        "litellm_params", "callbacks", "streaming_callback",
    }
)  # fmt: skip
"""Content, and what may hold secrets or objects of the caller's: never copied into the parameters."""


def read_request(draft: Draft, value: JsonValue, carrier: str | None = None) -> None:
    """Model, system, messages, tools and parameters of a request body, or of the arguments of a client's method."""
    body = decode(value).value
    if isinstance(body, list):
        draft.put_messages(read_messages(body), carrier)
        return
    if not isinstance(body, dict):
        return
    draft.put("request_model", string(body.get("model")), carrier)
    config = body.get("config") if isinstance(body.get("config"), dict) else {}
    assert isinstance(config, dict)
    for key in _SYSTEM:
        told = body[key] if body.get(key) is not None else config.get(key)
        if told is not None:
            draft.put("system", system_value(told), carrier)
            break
    for key in _MESSAGES:
        if body.get(key) is not None:
            draft.put_messages(read_messages(body[key], "user"), carrier)
            break
    for key in _TOOLS:
        tools = body[key] if body.get(key) is not None else config.get(key)
        if isinstance(tools, list):
            draft.put("tools", [tool for tool in tools if isinstance(tool, dict)] or None, carrier)
            break
    put_parameters(draft, body, carrier)


def put_parameters(draft: Draft, body: Mapping[str, Any], carrier: str | None = None) -> None:
    """All but content and what may hold secrets; null values say nothing."""
    found = {key: value for key, value in body.items() if key not in _NO_PARAMETER and value is not None}
    draft.put("parameters", found or None, carrier)


def read_response(draft: Draft, value: JsonValue, carrier: str | None = None) -> None:
    """Answer, finish reason, usage, model and response id of a response body, of a bare message, or of plain text."""
    body = decode(value).value
    if isinstance(body, str):
        draft.put("text", body or None, carrier)
        return
    if isinstance(body, list):
        draft.put_output(output_of(read_messages(body, "assistant"), choices=False), carrier)
        return
    if not isinstance(body, dict):
        return
    if isinstance(body.get("response"), dict) and "choices" not in body and "content" not in body:
        body = body["response"]
    if "generations" in body:
        read_result(draft, body)
        return
    answers, several = _answers(body)
    draft.put_output(output_of(answers, choices=several), carrier)
    draft.put("finish_reason", _finish(body), carrier)
    draft.put("response_id", response_id(body.get("id") or body.get("responseId") or body.get("response_id")), carrier)
    model = string(body.get("model")) or string(body.get("modelVersion")) or string(body.get("model_version"))
    draft.put("response_model", model, carrier)
    draft.put_usage(usage_of(_usage(body)), carrier)


def _answers(body: JsonObject) -> tuple[list[Message], bool]:
    """The assistant's messages, and whether they are choices of one call."""
    for key in ("choices", "candidates"):
        found = body.get(key)
        if isinstance(found, list):
            out = [message for item in found if isinstance(item, dict) for message in _choice(item)]
            return out, len(found) > 1
    output = body.get("output")
    if isinstance(output, list):
        return read_messages(output, "assistant"), False
    if isinstance(output, dict) and isinstance(output.get("message"), dict):
        return read_message(output["message"], "assistant"), False
    if isinstance(body.get("replies"), list):
        return read_messages(body["replies"], "assistant"), len(body["replies"]) > 1
    if "thought" in body and "content" in body:
        return read_message(_create_result(body), "assistant"), False
    if any(key in body for key in ("content", "tool_calls", "parts", "message", "role", "text")):
        return read_message(body, "assistant"), False
    if isinstance(body.get("output_text"), str):
        return read_message(body["output_text"], "assistant"), False
    return [], False


def _create_result(body: JsonObject) -> JsonObject:
    """AutoGen's answer as a chat message. Beside calls, which stand in place of the content, the thought is the text
    that the model gave with them; beside a text it is the reasoning before it.

    https://github.com/microsoft/autogen/blob/python-v0.7.5/python/packages/autogen-core/src/autogen_core/models/_types.py
    """
    content = body["content"]
    if not isinstance(content, list):
        return {"role": "assistant", "content": content, "reasoning_content": body["thought"]}
    calls = [{"id": c.get("id"), "type": "function", "function": c} for c in content if isinstance(c, dict)]
    return {"role": "assistant", "content": body["thought"], "tool_calls": calls}


def _choice(item: JsonObject) -> list[Message]:
    inner = item.get("message", item.get("content", item.get("delta")))
    if inner is None:
        inner = item.get("text")
    found = read_message(inner, "assistant")
    reason = finish(item.get("finish_reason", item.get("finishReason")))
    if reason is not None:
        if not found:
            found = [Message("assistant", [])]
        found[-1].finish_reason = reason
    return found


def _finish(body: JsonObject) -> str | None:
    for key in ("stop_reason", "stopReason", "finish_reason", "finishReason"):
        found = finish(body.get(key))
        if found is not None:
            return found
    details = body.get("incomplete_details")
    if isinstance(details, dict) and string(details.get("reason")) is not None:
        return string(details.get("reason"))
    return string(body.get("status")) if body.get("object") == "response" else None


def _usage(body: JsonObject) -> JsonValue:
    for key in ("usage", "usageMetadata", "usage_metadata"):
        if isinstance(body.get(key), dict):
            found: JsonObject = body[key]
            return found
    return None


_FLAT: Final[Mapping[str, tuple[str, ...]]] = {
    "input_tokens": ("input", "inputTokens", "input_tokens"),
    "output_tokens": ("output", "outputTokens", "output_tokens"),
    "cache_read_input_tokens": ("cachedInputTokens", "input_cached_tokens", "cache_read_input_tokens", "cached_tokens"),
    "cache_creation_input_tokens": ("input_cache_creation", "cache_creation_input_tokens"),
    "reasoning_output_tokens": ("reasoningTokens", "output_reasoning_tokens", "reasoning_tokens"),
}
"""Names that frameworks give the counts when they write them flat."""
_EXCLUSIVE: Final = ("cache_read_input_tokens", "cache_creation_input_tokens")


def usage_of(value: JsonValue, *, inclusive: bool = False) -> Usage | None:
    """A usage object under the convention's meaning, kept as `raw`.

    `inclusive`: a framework has already put the cached tokens into the input, whatever the names say.
    """
    if not isinstance(value, dict):
        return None
    own = {key: count for key, count in value.items() if not inclusive or key not in _EXCLUSIVE}
    usage = provider_usage(own) or Usage()
    fill_usage(usage, Usage(**{name: _first(value, keys) for name, keys in _FLAT.items()}))
    if usage.is_empty():
        return None
    usage.raw = value
    return usage


def _first(value: JsonObject, keys: Sequence[str]) -> int | None:
    return next((found for key in keys if (found := count(value.get(key))) is not None), None)
