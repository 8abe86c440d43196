"""Token counts in a provider's own object become counts under the GenAI convention's names and meaning."""

from __future__ import annotations

from ..canonical import JsonObject, JsonValue
from ..messages import Usage
from ..messages.nested import decode
from .table import count, make_usage


def _dict(value: JsonValue) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _first(*values: JsonValue) -> int | None:
    return next((number for number in map(count, values) if number is not None), None)


def provider_usage(value: JsonValue) -> Usage | None:
    """Counts of OpenAI (chat, Responses), Anthropic, Gemini, Bedrock and LangChain objects; None without any.

    Anthropic and Bedrock leave cached tokens out of their input count, Gemini leaves thoughts out of its output count:
    both are added, so that input includes cached tokens and output includes reasoning. Gemini counts that another
    provider's were put into (ADK through LiteLLM) hold the thoughts already; their own total tells.
    """
    usage = _dict(decode(value, repair=False).value)
    if not usage:
        return None
    if "promptTokenCount" in usage or "prompt_token_count" in usage:
        prompt = _first(usage.get("promptTokenCount"), usage.get("prompt_token_count"))
        candidates = _first(usage.get("candidatesTokenCount"), usage.get("candidates_token_count"))
        total = _first(usage.get("totalTokenCount"), usage.get("total_token_count"))
        thoughts_inside = None not in (prompt, candidates) and total == (prompt or 0) + (candidates or 0)
        return make_usage(
            prompt,
            candidates,
            _first(usage.get("cachedContentTokenCount"), usage.get("cached_content_token_count")),
            None,
            _first(usage.get("thoughtsTokenCount"), usage.get("thoughts_token_count")),
            output_excludes_reasoning=not thoughts_inside,
        )
    if "inputTokens" in usage and ("cacheReadInputTokens" in usage or "cacheWriteInputTokens" in usage):
        return make_usage(
            count(usage.get("inputTokens")),
            count(usage.get("outputTokens")),
            count(usage.get("cacheReadInputTokens")),
            count(usage.get("cacheWriteInputTokens")),
            input_excludes_cache=True,
        )
    ins = _dict(usage.get("prompt_tokens_details")) or _dict(usage.get("input_tokens_details"))
    outs = _dict(usage.get("completion_tokens_details")) or _dict(usage.get("output_tokens_details"))
    langchain_in, langchain_out = _dict(usage.get("input_token_details")), _dict(usage.get("output_token_details"))
    return make_usage(
        _first(usage.get("prompt_tokens"), usage.get("input_tokens"), usage.get("inputTokens")),
        _first(usage.get("completion_tokens"), usage.get("output_tokens"), usage.get("outputTokens")),
        _first(ins.get("cached_tokens"), langchain_in.get("cache_read"), usage.get("cache_read_input_tokens")),
        _first(
            ins.get("cache_write_tokens"),
            langchain_in.get("cache_creation"),
            usage.get("cache_creation_input_tokens"),
        ),
        _first(outs.get("reasoning_tokens"), langchain_out.get("reasoning")),
        input_excludes_cache="cache_read_input_tokens" in usage or "cache_creation_input_tokens" in usage,
    )
