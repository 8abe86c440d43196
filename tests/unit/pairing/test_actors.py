"""Who acted: checkpoint namespaces, agent spans, and never the name of a span."""

from __future__ import annotations

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
