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
    assert f"and 3 more: steps {LISTED + 1}–{LISTED + 3}; see --failed" in text
    assert f"{LISTED + 3} failures" in text
    assert "1 failure, 1 of them recovered ==" in failing(1)


def test_what_nobody_recovered_from_is_among_those_that_are_listed() -> None:
    error = tool_log(execution_status=ExecutionStatus.ERROR, outputs="it was this")
    steps = [step(n, tool_log(execution_status=ExecutionStatus.ERROR)) for n in range(1, LISTED + 3)]
    last = step(LISTED + 3, error)
    failed = SdkInput("0001", None, "Do it.", [1, LISTED + 3], {"status": "failed"}, [])
    lines = render("text", trajectory(*steps, last, inputs=[failed])).splitlines()
    assert lines[0] == f"✗ failed: step {LISTED + 3}: tool error: it was this"
    assert any("it was this" in line for line in lines[2:15])


def test_failures_come_before_what_is_not_known() -> None:
    error = tool_log(execution_status=ExecutionStatus.ERROR, name="late", outputs="boom")
    lines = render("text", trajectory(step(1, not_observed(name="early")), step(2, error))).splitlines()
    assert lines.index("  ✗ tool error  step 2  lead  late  boom  (recovered)") < lines.index(
        "  ? execution not observed  step 1  early"
    )


def test_no_failure_is_said_only_where_nothing_says_otherwise() -> None:
    assert "no failure recorded" in render("text", trajectory(step(1)))
    failed = SdkInput("0001", None, "Do it.", [1, 1], {"status": "failed"}, [])
    text = render("text", trajectory(step(1), inputs=[failed]))
    assert text.startswith("✗ failed: no reason was recorded\n")
    assert "no failure recorded" not in text


def test_zeros_are_folded() -> None:
    text = render("text", trajectory(step(1, tool_log())))
    assert "coverage 1 model call, 1 tool call, 1 exact link\n" in text


def test_inference_that_was_off_is_said() -> None:
    assert "inference off" in render("text", trajectory(step(1), coverage=Coverage(inferred_links=None)))
    assert "infer" not in render("text", trajectory(step(1), coverage=Coverage(inferred_links=0)))


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
