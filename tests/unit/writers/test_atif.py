"""ATIF's own rules: ids that exist and are unique, objects as arguments, no model in a step that had none."""

from __future__ import annotations

from typing import Any

from otel2traj.canonical import loads
from otel2traj.model.trajectory import Step, StepKind
from tests.factory import not_observed, step, tool_log, trajectory
from tests.unit.writers.run import written


def document(*steps: Step) -> Any:
    return loads(written("atif", trajectory(*steps)))


def test_step_ids_are_dense_over_prompts_and_steps() -> None:
    got = document(step(1), step(2), step(3, input_ordinal="0002"))["steps"]
    assert [one["step_id"] for one in got] == list(range(1, len(got) + 1))
    assert [one["source"] for one in got] == ["user", "agent", "agent", "user", "agent"]
    assert got[3]["extra"]["otel2traj"]["derived_from"] == "request of step 3"


def test_equal_and_missing_call_ids_become_unique_and_say_what_was_recorded() -> None:
    got = document(step(1, tool_log("c", outputs="one"), tool_log("c", outputs="two"), not_observed(None)))["steps"][1]
    ids = [call["tool_call_id"] for call in got["tool_calls"]]
    assert ids == ["c", "c#2", "step-1-call-3"]
    assert got["tool_calls"][2]["extra"]["otel2traj"]["tool_call_id"] is None
    assert [(one["source_call_id"], one["content"]) for one in got["observation"]["results"]] == [
        ("c", "one"),
        ("c#2", "two"),
    ]


def test_an_execution_that_was_not_observed_has_no_result() -> None:
    got = document(step(1, not_observed("c")))["steps"][1]
    assert "observation" not in got
    assert got["tool_calls"][0]["extra"]["otel2traj"]["execution_status"] == "not_observed"


def test_a_step_without_a_model_call_says_so() -> None:
    got = document(step(1, tool_log("c"), kind=StepKind.TOOL_ONLY, output={"usage": {"input_tokens": 1}}))["steps"][1]
    assert got["llm_call_count"] == 0
    assert not {"metrics", "reasoning_content", "model_name"} & set(got)


def test_totals_count_what_was_recorded() -> None:
    one, two = step(1), step(2)
    one.output["usage"] = {"input_tokens": 4, "output_tokens": 0}
    assert document(one, two)["final_metrics"] == {
        "total_prompt_tokens": 4,
        "total_completion_tokens": 0,
        "total_steps": 3,
    }
