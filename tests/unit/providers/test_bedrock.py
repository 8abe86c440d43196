"""Converse's own rules: token counts, tools in a configuration, errors by event name."""

from __future__ import annotations

from otel2traj.providers.bedrock import BedrockConverse, usage_of


def test_input_tokens_leave_cached_ones_out() -> None:
    usage = usage_of({"inputTokens": 5, "cacheReadInputTokens": 3, "cacheWriteInputTokens": 2, "outputTokens": 1})
    assert usage is not None
    assert (usage.input_tokens, usage.output_tokens) == (10, 1)


def test_an_exception_frame_is_an_error() -> None:
    got = BedrockConverse().response({"events": [{"throttlingException": {"message": "slow down"}}]})
    assert (got.error, got.complete) == ({"message": "slow down"}, False)


def test_an_error_body_is_an_error() -> None:
    assert BedrockConverse().response({"message": "no access"}).error == {"message": "no access"}


def test_a_request_without_tools() -> None:
    got = BedrockConverse().request({"messages": [], "inferenceConfig": {"maxTokens": 1}})
    assert (got.tools, got.parameters) == (None, {"inferenceConfig": {"maxTokens": 1}})
