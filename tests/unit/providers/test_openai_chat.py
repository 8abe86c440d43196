"""Chat's own rules: deltas, several choices, and servers that stretch the form."""

from __future__ import annotations

from typing import Any

import pytest

from otel2traj.providers.openai_chat import OpenAIChat, usage_of


def chunk(index: int, delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": index, "delta": delta, "finish_reason": reason}]}


def test_choices_of_a_stream_stay_apart() -> None:
    events = [chunk(1, {"content": "B"}), chunk(0, {"content": "A"}), chunk(1, {}, "stop"), chunk(0, {}, "length")]
    got = OpenAIChat().response({"events": events})
    assert (got.output.text, got.output.finish_reason, got.complete) == ("A", "length", True)
    assert got.output.choices is not None
    assert [choice["text"] for choice in got.output.choices] == ["A", "B"]


def test_a_stream_with_one_choice_unfinished_is_not_complete() -> None:
    assert not OpenAIChat().response({"events": [chunk(0, {}, "stop"), chunk(1, {"content": "x"})]}).complete


@pytest.mark.parametrize("key", ["reasoning_content", "reasoning"])
def test_reasoning_under_either_key(key: str) -> None:
    body = {"choices": [{"message": {"content": "a", key: "hm"}}]}
    assert OpenAIChat().response(body).output.reasoning == "hm"
    assert OpenAIChat().response({"events": [chunk(0, {key: "h"}), chunk(0, {key: "m"})]}).output.reasoning == "hm"


def test_a_legacy_function_call_has_no_id() -> None:
    got = OpenAIChat().response({"choices": [{"message": {"function_call": {"name": "f", "arguments": '{"a":1}'}}}]})
    assert [(call.id, call.name, call.arguments) for call in got.output.tool_calls] == [(None, "f", {"a": 1})]


def test_counts_of_other_servers() -> None:
    usage = usage_of({"prompt_tokens": 12.0, "completion_tokens": True, "prompt_cache_hit_tokens": 4})
    assert usage is not None
    assert (usage.input_tokens, usage.output_tokens, usage.cache_read_input_tokens) == (12, None, 4)
