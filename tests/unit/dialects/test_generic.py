"""Names of no convention: heard last, on tools alone, and told of where nothing is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from otel2traj.api.info import info
from otel2traj.api.source import load
from otel2traj.dialects.generic import is_tool, likeness
from tests.attempt_factory import AttemptFactory, otlp, span

ATTEMPT = Path(__file__).parents[3] / "fixtures" / "attempts" / "generic-tools" / "attempt"


@pytest.mark.parametrize(
    ("attributes", "tool"),
    [
        ({"tool.name": "read", "tool.call.id": "c1"}, True),
        ({"tool.name": "read", "tool.result": "x"}, True),
        ({"tool.name": "read", "tool.parameters": "{}"}, False),
        ({"tool.name": "read", "tool.call.id": "c1", "gen_ai.operation.name": "approve"}, False),
        ({"gen_ai.operation.name": "execute_tool"}, True),
        ({"openinference.span.kind": "CHAIN", "tool.name": "read", "tool.call.id": "c1"}, False),
        ({"input.value": "x", "output.value": "y"}, False),
    ],
)
def test_what_is_a_tool(attributes: dict[str, Any], tool: bool) -> None:
    assert is_tool(attributes) is tool


def test_a_convention_s_own_word_stands(tmp_path: Path) -> None:
    told = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "read",
        "gen_ai.tool.call.arguments": '{"path": "own"}',
        "tool.parameters": '{"path": "other"}',
        "tool.result": "found",
    }
    attempt = AttemptFactory(tmp_path).input("0001").line("steps/0001/otel.jsonl", otlp([span(f"{1:016x}", 1, told)]))
    ((log,),) = [step.tool_logs for step in load(attempt.write()).steps]
    assert (log.input_arguments, log.outputs) == ({"path": "own"}, "found")
    assert log.evidence["said_by"]["arguments"] == "otel_genai_1_37"
    assert log.evidence["said_by"]["result"] == "generic"


def test_spans_that_look_like_calls_are_told_of() -> None:
    found = info(ATTEMPT)
    assert found["counts"]["spans.unread_model_like"] == 1
    assert found["counts"]["spans.unread_tool_like"] == 1
    assert ["unknown_operation" in notice for notice in found["notices"]] == [True]
    assert likeness({"http.method": "GET"}) is None
