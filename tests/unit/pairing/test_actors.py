"""Who acted: checkpoint namespaces, agent spans, and never the name of a span."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from otel2traj.api.source import load
from otel2traj.pairing.actors import checkpoint_path
from tests.attempt_factory import AttemptFactory, model_span, otlp, span


@pytest.mark.parametrize(
    ("namespace", "path"),
    [
        ("agent:9f1c", "agent"),
        ("researcher:1b2c|agent:9f", "researcher/agent"),
        ("team:1|2|writer:3", "team/writer"),
        ("7", None),
        ("", None),
    ],
)
def test_checkpoint_path(namespace: str, path: str | None) -> None:
    assert checkpoint_path(namespace) == path


@pytest.mark.parametrize(
    ("namespace", "name", "path"),
    [
        ("model:9f1c", "lead", "lead"),
        ("tools:1|model:2", "writer", "tools/writer"),
        ("researcher:1|model:2", "researcher", "researcher"),
        ("lead:1|agent:2", None, "lead/agent"),
        ("7", "lead", "lead"),
    ],
)
def test_the_name_that_a_span_gives_its_agent_stands_for_the_node(namespace: str, name: str | None, path: str) -> None:
    assert checkpoint_path(namespace, name) == path


def agent_name(root: Path, *spans: dict[str, object]) -> str | None:
    attempt = AttemptFactory(root).input("0001")
    attempt.line("steps/0001/otel.jsonl", otlp(list(spans)))
    return load(attempt.write()).steps[0].agent_name


def agent(span_id: str, name: str, parent: str | None = None) -> dict[str, object]:
    return span(span_id, 0, {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name}, parent=parent)


def test_nested_agents_are_joined(tmp_path: Path) -> None:
    one, two, three = (f"{n:016x}" for n in (1, 2, 3))
    assert agent_name(
        tmp_path, agent(one, "lead"), agent(two, "writer", one), model_span(three, 1, text="x", parent=two)
    ) == ("lead/writer")


def test_without_an_agent_span_it_is_the_attempt_s_agent(tmp_path: Path) -> None:
    named = model_span(f"{1:016x}", 1, text="x", name="invoke_agent impostor")
    assert agent_name(tmp_path, named) == "agent-1"


CHECKPOINTS: dict[str, dict[str, object]] = {
    "openinference": {
        "metadata": json.dumps({"lc_agent_name": "writer", "langgraph_checkpoint_ns": "tools:1|model:2"})
    },
    "traceloop": {
        "traceloop.association.properties.lc_agent_name": "writer",
        "traceloop.association.properties.langgraph_checkpoint_ns": "tools:1|model:2",
    },
    "langsmith": {
        "langsmith.metadata.lc_agent_name": "writer",
        "langsmith.metadata.langgraph_checkpoint_ns": "tools:1|model:2",
    },
}
KINDS: dict[str, dict[str, object]] = {
    "openinference": {"openinference.span.kind": "LLM", "llm.model_name": "m", "llm.token_count.total": 3},
    "traceloop": {"llm.request.type": "chat", "gen_ai.request.model": "m", "gen_ai.completion.0.content": "x"},
    "langsmith": {"langsmith.span.kind": "llm", "gen_ai.request.model": "m"},
}


@pytest.mark.parametrize("dialect", sorted(KINDS))
def test_a_sub_agent_in_a_tool_is_named_by_its_span(tmp_path: Path, dialect: str) -> None:
    assert agent_name(tmp_path, span(f"{1:016x}", 1, KINDS[dialect] | CHECKPOINTS[dialect])) == "tools/writer"


def test_the_framework_recorder_names_the_agent_in_its_metadata(tmp_path: Path) -> None:
    attempt = AttemptFactory(tmp_path).input("0001")
    for n, name in enumerate(("writer", "researcher")):
        metadata = {"lc_agent_name": name, "langgraph_checkpoint_ns": "tools:1|model:2"}
        attempt.start("0001", f"s{n}", "llm", n + 1.0, metadata=metadata).end("0001", f"s{n}", n + 1.5)
    trajectory = load(attempt.write())
    assert [step.agent_name for step in trajectory.steps] == ["tools/writer", "tools/researcher"]
    assert all(
        "agent_name" not in step.evidence.get("said_by", {}) or step.evidence["said_by"]["agent_name"] != "attempt"
        for step in trajectory.steps
    )


def test_a_fallback_to_the_attempt_s_agent_is_said(tmp_path: Path) -> None:
    attempt = AttemptFactory(tmp_path).input("0001")
    tool = span(f"{2:016x}", 2, {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search"})
    attempt.line("steps/0001/otel.jsonl", otlp([model_span(f"{1:016x}", 1, text="x"), tool]))
    model, alone = load(attempt.write()).steps
    assert (model.agent_name, model.evidence["said_by"]["agent_name"]) == ("agent-1", "attempt")
    assert (alone.agent_name, alone.evidence["said_by"]) == ("agent-1", {"agent_name": "attempt"})


SMOL = "openinference.instrumentation.smolagents"


@pytest.mark.parametrize(
    ("root", "inner", "actor"),
    [
        ("manager.run", "searcher.run", "manager/searcher"),
        ("CodeAgent.run", "searcher.run", "searcher"),
        ("CodeAgent.run", "ToolCallingAgent.run", "agent-1"),
    ],
)
def test_smolagents_names_an_agent_in_the_name_of_its_run(tmp_path: Path, root: str, inner: str, actor: str) -> None:
    one, two, three = (f"{n:016x}" for n in (1, 2, 3))
    listed = {"openinference.span.kind": "AGENT", "smolagents.managed_agents.0.name": "searcher"}
    spans = [
        span(one, 0, listed, name=root),
        span(two, 0.1, {"openinference.span.kind": "AGENT"}, parent=one, name=inner),
        span(three, 0.2, KINDS["openinference"], parent=two, name="OpenAIModel.generate"),
    ]
    attempt = AttemptFactory(tmp_path).input("0001").line("steps/0001/otel.jsonl", otlp(spans, scope=SMOL))
    assert [step.agent_name for step in load(attempt.write()).steps] == [actor]


@pytest.mark.parametrize(
    ("event", "actor"),
    [
        ("AgentSetup(input=[4 items], current_agent_name='researcher')", "researcher"),
        ("AgentSetup(input=[4 items], current_agent_na", "agent-1"),
        ("ToolCall(tool_name='x', current_agent_name='researcher')", "agent-1"),
    ],
)
def test_llama_index_names_the_agent_in_the_step_that_calls_the_model(tmp_path: Path, event: str, actor: str) -> None:
    one, two = (f"{n:016x}" for n in (1, 2))
    step = {"openinference.span.kind": "CHAIN", "input.value": json.dumps({"ctx": "<Context>", "ev": event})}
    spans = [span(one, 0, step), span(two, 0.1, KINDS["openinference"], parent=one)]
    scope = "openinference.instrumentation.llama_index"
    attempt = AttemptFactory(tmp_path).input("0001").line("steps/0001/otel.jsonl", otlp(spans, scope=scope))
    assert [step.agent_name for step in load(attempt.write()).steps] == [actor]
