"""What stands before and after the steps."""

from __future__ import annotations

from otel2traj.canonical import JsonObject
from otel2traj.model.link import ExecutionStatus
from otel2traj.model.trajectory import Coverage, SdkInput
from otel2traj.renderers.overview import LISTED
from tests.factory import not_observed, step, tool_log, trajectory

from .helpers import render


def failing(number: int) -> str:
    steps = [step(n, tool_log(execution_status=ExecutionStatus.ERROR)) for n in range(1, number + 1)]
    return render("text", trajectory(*steps))


def test_many_failures_are_listed_in_part_and_counted() -> None:
    text = failing(LISTED + 3)
    assert text.count("✗ tool error  step") == LISTED
    assert f"and 3 more: failures (steps {LISTED + 1} to {LISTED + 3})" in text
    assert f"{LISTED + 3} failures" in text
    assert "1 failure ==" in failing(1)


def test_failures_come_before_what_is_unsure_and_in_their_order() -> None:
    error = tool_log(execution_status=ExecutionStatus.ERROR, name="late")
    lines = render("text", trajectory(step(1, not_observed(name="early")), step(2, error))).splitlines()
    listed = [line.split()[-1] for line in lines if "  step " in line and ("✗" in line or "? not" in line)]
    assert listed[0] == "found"
    assert [line for line in lines if "? not observed  step 1" in line]


def test_one_is_one() -> None:
    text = render("text", trajectory(step(1, tool_log())))
    assert "1 step, 1 model call, 1 tool call, 1 exact link, 0 ambiguous" in text


def test_inference_that_was_off_is_not_none_found() -> None:
    assert "inference off" in render("text", trajectory(step(1), coverage=Coverage(inferred_links=None)))
    assert "0 inferred" in render("text", trajectory(step(1), coverage=Coverage(inferred_links=0)))


def test_an_input_without_a_result_or_a_step_says_so() -> None:
    text = render("text", trajectory(inputs=[SdkInput("0001", None, None, None, None, [])]))
    assert "input 0001 · no step · no result recorded" in text
    assert "(prompt not recorded)" in text


def test_changes_without_a_text_diff_say_so() -> None:
    changes: list[JsonObject] = [
        {"path": "a.bin", "before": None, "after": {"blob": "x"}},
        {"path": "b", "change_type": "renamed", "old_path": "c", "diff": None},
    ]
    text = render("text", trajectory(inputs=[SdkInput("0001", None, "p", None, None, changes)]))
    assert "+ created a.bin no text diff recorded" in text
    assert "> renamed b (was c)" in text
