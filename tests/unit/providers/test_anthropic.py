"""Anthropic's own rules: what its token counts leave out, and blocks that the end of a stream completes."""

from __future__ import annotations

from otel2traj.providers.anthropic import Anthropic, merge, usage_of


def test_input_tokens_leave_cached_ones_out() -> None:
    usage = usage_of({"input_tokens": 3, "cache_read_input_tokens": 10, "cache_creation_input_tokens": 4})
    assert usage is not None
    assert (usage.input_tokens, usage.cache_read_input_tokens, usage.cache_creation_input_tokens) == (17, 10, 4)
    assert usage.output_tokens is None


def test_cached_tokens_alone_are_no_input_count() -> None:
    usage = usage_of({"cache_read_input_tokens": 10})
    assert usage is not None
    assert usage.input_tokens is None


def test_a_tool_block_has_empty_arguments_only_once_it_ended() -> None:
    start = {"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "t", "input": {}}}
    stop = {"type": "content_block_stop", "index": 0}
    assert "input" not in merge([start])[0]["content"][0]
    assert merge([start, stop])[0]["content"][0]["input"] == {}


def test_usage_of_the_end_is_laid_over_that_of_the_start() -> None:
    events = [
        {"type": "message_start", "message": {"usage": {"input_tokens": 5, "output_tokens": 1}}},
        {"type": "message_delta", "delta": {}, "usage": {"output_tokens": 9, "input_tokens": None}},
    ]
    assert merge(events)[0]["usage"] == {"input_tokens": 5, "output_tokens": 9}


def test_an_error_event_ends_a_stream_that_had_begun() -> None:
    events = [
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Half"}},
        {"type": "error", "error": {"type": "overloaded_error"}},
    ]
    got = Anthropic().response({"events": events})
    assert (got.output.text, got.complete, got.error) == ("Half", False, {"type": "overloaded_error"})
