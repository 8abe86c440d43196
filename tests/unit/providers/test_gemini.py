"""Gemini's own rules: thoughts are counted apart, the model stands in the path, calls may have no id."""

from __future__ import annotations

from otel2traj.providers.gemini import Gemini, merge, usage_of


def test_thoughts_are_added_to_the_output() -> None:
    usage = usage_of({"promptTokenCount": 10, "candidatesTokenCount": 5, "thoughtsTokenCount": 3})
    assert usage is not None
    assert (usage.input_tokens, usage.output_tokens, usage.reasoning_output_tokens) == (10, 8, 3)
    none = usage_of({"promptTokenCount": 10})
    assert none is not None
    assert none.output_tokens is None


def test_a_list_of_chunks_is_a_stream_too() -> None:
    chunk = {"candidates": [{"content": {"parts": [{"text": "a"}]}}]}
    last = {"candidates": [{"content": {"parts": [{"text": "b"}]}, "finishReason": "STOP"}]}
    got = Gemini().response([chunk, last])
    assert (got.output.text, got.complete) == ("ab", True)
    assert not Gemini().response([chunk]).complete


def test_merging_leaves_the_frames_as_they_were() -> None:
    part = {"text": "a", "thought": True}
    merge([{"candidates": [{"content": {"parts": [part]}}]}, {"candidates": [{"content": {"parts": [part]}}]}])
    assert part == {"text": "a", "thought": True}


def test_one_content_alone_is_a_message() -> None:
    assert Gemini().request({"contents": "Hi"}).messages == [{"role": "user", "parts": [{"text": "Hi"}]}]
