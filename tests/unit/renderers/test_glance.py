"""What a reader sees first."""

from __future__ import annotations

from otel2traj.model.link import ExecutionStatus, LinkStatus
from otel2traj.model.trajectory import StepKind, StepStatus
from otel2traj.renderers.glance import Glance, Trouble, exit_words, step_problems
from tests.factory import not_observed, step, tool_log


def test_problems_are_told_apart() -> None:
    glance = Glance()
    glance.add(step(1, tool_log(execution_status=ExecutionStatus.ERROR, outputs="boom")))
    glance.add(step(2, tool_log(exit_status={"exitCode": 3, "signal": None})))
    glance.add(step(3, not_observed(), tool_log(link=LinkStatus.AMBIGUOUS, outputs=None)))
    glance.add(step(4, status=StepStatus.FAILED, output={"wire_error": "gone"}))
    glance.add(step(5, status=StepStatus.INCOMPLETE))
    glance.add(step(6, tool_log(outputs="Error: only words")))
    found = [(problem.step_id, problem.trouble) for problem in glance.problems]
    assert found == [
        (1, Trouble.TOOL_ERROR),
        (2, Trouble.EXIT_NONZERO),
        (3, Trouble.NOT_OBSERVED),
        (3, Trouble.AMBIGUOUS),
        (4, Trouble.STEP_FAILED),
        (5, Trouble.STEP_INCOMPLETE),
    ]
    assert glance.problems[1].detail == "exit 3: found"
    assert len(glance.failures) == 4


def test_a_failed_execution_that_is_a_step_counts_once() -> None:
    failed = tool_log(execution_status=ExecutionStatus.ERROR)
    alone = step(1, failed, kind=StepKind.TOOL_ONLY, status=StepStatus.FAILED)
    assert [problem.trouble for problem in step_problems(alone)] == [Trouble.TOOL_ERROR]
    asked = step(1, failed, status=StepStatus.FAILED)
    assert [problem.trouble for problem in step_problems(asked)] == [Trouble.STEP_FAILED, Trouble.TOOL_ERROR]


def test_tokens_keep_nothing_said_and_zero_apart() -> None:
    glance = Glance()
    glance.add(step(1))
    assert glance.tokens_in is None
    glance.add(step(2, output={"usage": {"input_tokens": 0, "output_tokens": True}}))
    assert glance.tokens_in == 0
    assert glance.tokens_out is None


def test_exit_words() -> None:
    assert exit_words(tool_log()) is None
    assert exit_words(tool_log(exit_status={"exitCode": 0, "signal": None})) == "exit 0"
    assert exit_words(tool_log(exit_status={"exitCode": None, "signal": "SIGKILL"})) == "signal SIGKILL"
    assert exit_words(tool_log(exit_status={})) == "exit status without a code"
