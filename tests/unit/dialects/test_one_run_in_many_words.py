"""One run, told in several vocabularies by several frameworks, gives equal readings but for what one cannot say."""

from __future__ import annotations

from typing import Any

import pytest

from otel2traj import dialects
from otel2traj.model.reading import Reading, Role

from .cases import ROOT, records

RUNS = (
    "otel_genai_1_37/langgraph-genai-langchain-1.3",
    "otel_genai_1_37/genai-openai-agents-1.3-responses",
    "openinference_langchain/langchain-0.1.80",
    "openinference_openai_agents/openai-agents-2.6.0-chat",
    "openinference_agno/agno-1.0.15",
    "traceloop_genai/langchain-0.62.4",
    "langsmith/langsmith-0.15.1",
    "pydantic_ai/pydantic-ai-2.68-v2",
    "pydantic_ai/pydantic-ai-2.68-v6",
    "strands_legacy/strands-agents-1.62",
    "google_adk_v1/google-adk-2.13",
)
CALLS = [
    {"id": "call_0abc", "name": "get_weather", "arguments": {"city": "Paris"}},
    {"id": "call_1abc", "name": "get_weather", "arguments": {"city": "London"}},
]
ANSWER = "Paris 20C, London 15C."


def calls_of(run: str) -> list[Reading]:
    """The two model calls, in order of time; of ADK's pairs the outer one, which has the content."""
    spans, logs = records(ROOT / run)
    found = []
    for span in sorted(spans, key=lambda span: span.start_ns or 0):
        own = [log for log in logs if log.span_id == span.span_id]
        if dialects.classify(span).role is Role.MODEL_CALL and (reading := dialects.read(span, own)).messages:
            found.append(reading)
    return found


def parts(reading: Reading) -> list[tuple[str, Any]]:
    """The conversation as (role, part), instructions first wherever they stood, names and reasoning left out."""
    out: list[tuple[str, Any]] = []
    if isinstance(reading.system, str):
        out.append(("system", {"type": "text", "content": reading.system}))
    for message in reading.messages or []:
        for part in message.to_json()["parts"]:
            if part["type"] != "reasoning":
                out.append(
                    (message.role, {key: value for key, value in part.items() if key != "name" or "arguments" in part})
                )
    return out


@pytest.mark.parametrize("run", RUNS)
def test_the_answers_are_the_same(run: str) -> None:
    first, second = calls_of(run)
    assert [call.to_json() for call in first.tool_calls or []] == CALLS
    assert (first.text, second.text, second.tool_calls) == (None, ANSWER, None)
    for call in (first, second):
        usage = call.usage
        assert usage is not None
        assert (usage.input_tokens, usage.output_tokens) in ((100, 20), (100, 28))  # ADK counts reasoning twice
        assert usage.cache_read_input_tokens in (64, None)
        assert usage.reasoning_output_tokens in (8, None)


@pytest.mark.parametrize("run", RUNS)
def test_the_requests_are_the_same(run: str) -> None:
    _, second = calls_of(run)
    told = parts(second)
    assert [role for role, _ in told] == ["system", "user", "assistant", "assistant", "tool", "tool"]
    assert told[1][1]["content"] == "weather?"
    assert [part for role, part in told if role == "assistant"] == [{"type": "tool_call", **call} for call in CALLS]
    results = [part for role, part in told if role == "tool"]
    assert [part["id"] for part in results] == ["call_0abc", "call_1abc"]
    assert [_word(part["response"]) for part in results] == ["Paris is fine", "London is fine"]


def _word(response: Any) -> Any:
    """ADK makes an object of every answer."""
    return response.get("report") if isinstance(response, dict) else response


@pytest.mark.parametrize("run", RUNS)
def test_the_executions_are_the_same(run: str) -> None:
    spans, _ = records(ROOT / run)
    found = [dialects.read(span) for span in spans if dialects.classify(span).role is Role.TOOL_EXECUTION]
    assert {reading.tool_name for reading in found} == {"get_weather"}
    assert {_word(reading.result) for reading in found} == {"Paris is fine", "London is fine"}
    assert {reading.tool_call_id for reading in found} in ({"call_0abc", "call_1abc"}, {None})
