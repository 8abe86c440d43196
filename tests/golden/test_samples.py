"""The weather run, told by the spans of many frameworks alone: what is fixed holds, what is left out is named."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from otel2traj.api.build import build_path

FIXTURES = Path(__file__).parents[2] / "fixtures"
CALLS = [
    {"id": "call_0abc", "name": "get_weather", "arguments": {"city": "Paris"}},
    {"id": "call_1abc", "name": "get_weather", "arguments": {"city": "London"}},
]
RESULTS = ["Paris is fine", "London is fine"]
ANSWER = "Paris 20C, London 15C."
USAGE = {
    "input_tokens": 100,
    "output_tokens": 20,
    "cache_read_input_tokens": 64,
    "reasoning_output_tokens": 8,
}
EXACT, INFERRED, UNTIED, NO_CALL = "exact", "inferred", "untied", "no call"


@dataclass(frozen=True)
class Sample:
    """Where the spans stand, and what of the run they do not tell."""

    path: str
    link: str = EXACT
    calls: int = 2
    """Model calls: the one that asks for tools, and the answers after it."""
    usage: dict[str, int] | None = field(default_factory=lambda: USAGE)
    status: str = "complete"
    conversations: int = 1


def without(*names: str) -> dict[str, int]:
    return {name: count for name, count in USAGE.items() if name not in names}


CACHE, REASONING = "cache_read_input_tokens", "reasoning_output_tokens"
DETAILS = without(CACHE, REASONING)

SAMPLES = {
    # ADK adds the reasoning to an output count that holds it already, and tells no total beside it
    "adk_v1": Sample("dialects/google_adk_v1/google-adk-2.13", usage={**USAGE, "output_tokens": 28}),
    "agent_framework_default": Sample("dialects/agent_framework/agent-framework-1.23"),
    "agno_oi": Sample("dialects/openinference_agno/agno-1.0.15", INFERRED, usage=without(REASONING)),
    # the two calls are two traces without a conversation id, and no tool is instrumented; that the second request
    # reports the result of the first one's call shows that they may be one run
    "azure_ai_inference": Sample(
        "dialects/azure_ai_inference/azure-ai-inference-1.0.0b9",
        UNTIED,
        usage=DETAILS,
        status="partial",
        conversations=2,
    ),
    "haystack": Sample("dialects/haystack/haystack-3.4.1", INFERRED),
    "langfuse": Sample("dialects/langfuse/langfuse-5.0.4", INFERRED, calls=1),
    "langgraph_langsmith": Sample("dialects/langsmith/langsmith-0.15.1"),
    "langgraph_og": Sample("dialects/otel_genai_1_37/langgraph-genai-langchain-1.3"),
    "langgraph_og_both_stream": Sample("samples/langgraph_og_both_stream"),
    "langgraph_oi": Sample("dialects/openinference_langchain/langchain-0.1.80"),
    "langgraph_oi_attrlimit24": Sample(
        "dialects/openinference_langchain/langchain-0.1.80-attribute-limit-24", status="partial"
    ),
    "langgraph_oi_nested_subgraph": Sample("samples/langgraph_oi_nested_subgraph"),
    "langgraph_tl": Sample("dialects/traceloop_genai/langchain-0.62.4", usage=without(REASONING)),
    "langgraph_tl_both_stream": Sample("samples/langgraph_tl_both_stream", usage=without(REASONING)),
    "litellm": Sample("dialects/litellm/litellm-1.110.2", UNTIED, calls=1),
    "llama_index_oi": Sample("samples/llama_index_oi"),
    "mlflow": Sample("dialects/mlflow/mlflow-tracing-3.18", INFERRED, calls=1),
    "mlflow_semconv": Sample("dialects/mlflow_semconv/mlflow-tracing-3.18", INFERRED, calls=1, usage=DETAILS),
    "openai_agents_og_responses": Sample("dialects/otel_genai_1_37/genai-openai-agents-1.3-responses", INFERRED),
    "openai_agents_oi_chat": Sample(
        "dialects/openinference_openai_agents/openai-agents-2.6.0-chat", INFERRED, usage=DETAILS
    ),
    "openai_agents_tl_responses": Sample("samples/openai_agents_tl_responses", INFERRED),
    "pydantic_ai_v2": Sample("dialects/pydantic_ai/pydantic-ai-2.68-v2"),
    "pydantic_ai_v6": Sample("dialects/pydantic_ai/pydantic-ai-2.68-v6"),
    "strands_legacy": Sample("dialects/strands_legacy/strands-agents-1.62", usage=without(REASONING)),
    "vercel_v5_generate": Sample("dialects/vercel_ai_sdk_legacy/ai-5.0", usage=DETAILS),
    "vercel_v6_generate": Sample("dialects/vercel_ai_sdk_legacy/ai-6.0"),
    "vercel_v7_generate_legacy": Sample("dialects/vercel_ai_sdk_legacy/ai-7.0-legacy"),
}


def build(path: str, tmp_path: Path) -> list[dict[str, Any]]:
    """The trajectories of a sample's spans and logs; what is expected of its readings stays out."""
    folder = tmp_path / "spans"
    folder.mkdir()
    for file in (FIXTURES / path).glob("otel*.jsonl"):
        (folder / file.name).write_bytes(file.read_bytes())
    build_path(folder, output=tmp_path / "out" if len(build_path(folder)) > 1 else tmp_path / "out" / "one.json")
    return [json.loads(file.read_bytes()) for file in sorted((tmp_path / "out").iterdir())]


def models(documents: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The model steps, those that call tools first."""
    steps = [step for document in documents for step in document["steps"] if step["kind"] == "model"]
    return sorted(steps, key=lambda step: not step["output"]["tool_calls"])


def result(outputs: Any) -> Any:
    """ADK makes an object of every result."""
    return outputs["report"] if isinstance(outputs, dict) else outputs


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_calls_answers_and_usage(name: str, tmp_path: Path) -> None:
    sample = SAMPLES[name]
    documents = build(sample.path, tmp_path)
    assert len(documents) == sample.conversations
    assert {document["status"] for document in documents} == {sample.status}
    found = models(documents)
    assert len(found) == sample.calls
    assert found[0]["output"]["tool_calls"] == CALLS
    assert [step["output"]["text"] for step in found] == [None, ANSWER][: sample.calls]
    for step in found:
        assert {key: count for key, count in step["output"]["usage"].items() if key in USAGE} == sample.usage
        assert step["status"] == "complete"


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_executions_and_links(name: str, tmp_path: Path) -> None:
    sample = SAMPLES[name]
    documents = build(sample.path, tmp_path)
    logs = models(documents)[0]["tool_logs"]
    alone = [step for document in documents for step in document["steps"] if step["kind"] == "tool_only"]
    if sample.link == EXACT:
        assert [(log["link"], log["execution_status"]) for log in logs] == [("exact", "succeeded")] * 2
        assert ([result(log["outputs"]) for log in logs], alone) == (RESULTS, [])
        return
    assert [(log["link"], log["execution_status"], log["outputs"]) for log in logs] == [
        ("none", "not_observed", None)
    ] * 2
    if sample.link == UNTIED:
        assert alone == []
        return
    assert sorted(step["tool_logs"][0]["outputs"] for step in alone) == sorted(RESULTS)
    by_step = {step["step_id"]: step["tool_logs"][0]["outputs"] for step in alone}
    assert [by_step[log["evidence"]["inferred"]["step_id"]] for log in logs] == RESULTS


@pytest.mark.parametrize(
    "path",
    [
        "dialects/otel_genai_1_37/genai-langchain-1.3-error",
        "samples/langgraph_oi_error",
        "dialects/traceloop_genai/langchain-0.62.4-error",
    ],
)
def test_a_tool_that_raises(path: str, tmp_path: Path) -> None:
    (document,) = build(path, tmp_path)
    (step,) = document["steps"]
    assert step["output"]["tool_calls"] == CALLS
    assert [(log["link"], log["execution_status"]) for log in step["tool_logs"]] == [
        ("exact", "succeeded"),
        ("exact", "error"),
    ]
    assert "boom" in step["tool_logs"][1]["outputs"]


@pytest.mark.parametrize(
    ("path", "executions"),
    [
        (
            "dialects/otel_genai_1_37/genai-langchain-1.3-value-limit-120",
            [("exact", "call_0abc"), ("none", "call_1abc")],
        ),
        ("samples/langgraph_tl_valuelimit120", [("none", None), ("none", None)]),
    ],
)
def test_values_cut_at_120_characters(path: str, executions: list[tuple[str, str | None]], tmp_path: Path) -> None:
    """The second call was cut away; Traceloop's executions lost the id that stood behind the cut."""
    (document,) = build(path, tmp_path)
    found = models([document])
    assert [[call["id"] for call in step["output"]["tool_calls"]] for step in found] == [["call_0abc"], []]
    assert found[1]["output"]["text"] == ANSWER
    told = [
        (log["link"], log["tool_call_id"])
        for step in document["steps"]
        for log in step["tool_logs"]
        if log["execution_status"] == "succeeded"
    ]
    assert told == executions
    assert document["status"] == "partial"
    assert {warning.partition(":")[0] for warning in document["warnings"]} == {"truncated_content"}


def test_ids_that_repeat_each_turn_tie_nothing(tmp_path: Path) -> None:
    (document,) = build("samples/smolagents_oi", tmp_path)
    found = models([document])
    assert [step["output"]["tool_calls"] for step in found] == [CALLS, CALLS, CALLS, []]
    assert found[3]["output"]["text"] == ANSWER
    assert all(step["output"]["usage"]["input_tokens"] == 100 for step in found)
    assert document["coverage"]["unlinked_tool_calls"] == 6
    assert document["coverage"]["inferred_links"] == 0  # three equal twins of each: order is no evidence


def test_claude_code(tmp_path: Path) -> None:
    (document,) = build("dialects/claude_code_traces/claude-code-2.1.332", tmp_path)
    one, other = models([document])
    assert [call["name"] for call in one["output"]["tool_calls"]] == ["Bash"]
    (log,) = one["tool_logs"]
    assert (log["link"], log["execution_status"], log["outputs"]) == ("exact", "succeeded", "hi")
    assert other["output"]["text"] == "done"
    assert document["coverage"]["unlinked_tool_calls"] == 0


def test_dspy(tmp_path: Path) -> None:
    """The instrumentation records no token counts."""
    (document,) = build("dialects/openinference_dspy/dspy", tmp_path)
    assert [step["output"]["text"] for step in document["steps"]] == [ANSWER, ANSWER]
    assert all("usage" not in step["output"] for step in document["steps"])


@pytest.mark.parametrize(
    ("path", "executions"),
    [
        ("dialects/autogen/autogen-0.7.5", [("call_0abc", "get_weather"), ("call_1abc", "get_weather")]),
        ("dialects/openinference_claude_agent_sdk/claude-agent-sdk-0.1.22", [("toolu_1", "Bash")]),
    ],
)
def test_runs_without_model_spans(path: str, executions: list[tuple[str, str]], tmp_path: Path) -> None:
    (document,) = build(path, tmp_path)
    told = [
        (step["kind"], step["tool_logs"][0]["tool_call_id"], step["tool_logs"][0]["tool_name"])
        for step in document["steps"]
    ]
    assert told == [("tool_only", *execution) for execution in executions]


def test_outputs_that_were_never_recorded(tmp_path: Path) -> None:
    """Traceloop's instrumentation of OpenAI Agents writes no output of the chat API."""
    (document,) = build("dialects/traceloop_genai/openai-agents-0.62.4-chat", tmp_path)
    assert [step["output"]["text"] for step in models([document])] == [None, None]
    assert document["coverage"]["unlinked_tool_calls"] == 2
