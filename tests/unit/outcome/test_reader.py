"""How a run ended, in what order it failed, and what it went on from."""

from __future__ import annotations

from typing import Any

from otel2traj.model.codec import trajectory_from_json, trajectory_to_json
from otel2traj.model.link import ExecutionStatus
from otel2traj.model.trajectory import SdkInput, StepStatus, TrajectoryStatus
from otel2traj.outcome import EndStatus, FailureKind, GapKind, Outcome, OutcomeReader
from tests.factory import play, step, tool_log, trajectory


def read(*steps: Any, **fields: Any) -> Outcome:
    reader = OutcomeReader()
    run = trajectory(*steps, **fields)
    play(run, reader)
    again = OutcomeReader()
    play(trajectory_from_json(trajectory_to_json(run)), again)
    assert again.outcome == reader.outcome, "a saved trajectory tells the same"
    return reader.outcome


def ended(result: Any, **extra: Any) -> list[SdkInput]:
    return [SdkInput("0001", "i", "Do it.", [1, 1], result, [], extra)]


def refused(step_id: int, **fields: Any) -> Any:
    output = {
        "text": None,
        "tool_calls": [],
        "http_status": 401,
        "error": {"code": "invalid_api_key", "message": "No."},
    }
    return step(step_id, status=StepStatus.FAILED, output=output, **fields)


def broken_tool(step_id: int, message: str = "service unavailable", **fields: Any) -> Any:
    return step(step_id, tool_log(execution_status=ExecutionStatus.ERROR, outputs=message), **fields)


def test_success_is_only_what_is_recorded_as_one() -> None:
    assert read(step(1)).ended.status is EndStatus.SUCCEEDED
    silent = read(step(1), inputs=ended(None))
    assert silent.ended.status is EndStatus.NOT_RECORDED
    assert [gap.kind for gap in silent.unknowns] == [GapKind.NO_RESULT]
    other = read(step(1), inputs=ended({"status": "half done"}))
    assert (other.ended.status, other.ended.word, other.is_clean) == (EndStatus.OTHER, "half done", False)


def test_a_failed_input_gives_its_own_error_as_the_reason() -> None:
    error = {"type": "RuntimeError", "message": "service unavailable", "stacktrace": "Traceback"}
    found = read(broken_tool(1), step(2), inputs=ended({"status": "failed", "error": error}))
    assert found.ended.status is EndStatus.FAILED
    assert found.ended.reason is not None
    assert found.ended.reason.reason == "RuntimeError: service unavailable"
    assert found.ended.reason.stack == "Traceback"
    assert [(f.kind, f.recovered) for f in found.failures] == [(FailureKind.TOOL, False), (FailureKind.INPUT, False)]


def test_a_failed_input_without_an_error_ends_with_the_last_that_nobody_recovered_from() -> None:
    found = read(refused(1), step(2), broken_tool(3), inputs=ended({"status": "failed", "error": None}))
    assert [f.recovered for f in found.failures] == [True, False]
    assert found.ended.reason is found.failures[1]
    gone_on = read(refused(1), step(2), inputs=ended({"status": "failed", "error": None}))
    assert gone_on.ended.reason is None, "what the run went on from is no reason"


def test_an_error_without_a_status_is_a_failure() -> None:
    found = read(step(1), inputs=ended({"error": "boom"}))
    assert found.ended.status is EndStatus.FAILED


def test_a_success_recovers_what_went_before_but_not_its_own_last_answer() -> None:
    cut = step(3, output={"text": "It i", "tool_calls": [], "finish_reason": "length"})
    found = read(broken_tool(1, agent_name="helper"), step(2), cut)
    assert [f.recovered for f in found.failures] == [True, None]
    assert found.ended.status is EndStatus.SUCCEEDED
    assert found.ended.caveat is found.failures[1]


def test_another_agents_answer_is_no_proof_of_recovery() -> None:
    found = read(broken_tool(1, agent_name="helper"), step(2), inputs=ended({"status": "failed"}))
    assert [f.recovered for f in found.failures] == [None]


def test_without_a_result_the_last_failure_is_how_it_ended() -> None:
    found = read(refused(1), inputs=ended(None))
    assert found.ended.status is EndStatus.NOT_RECORDED
    assert found.ended.reason is found.failures[0]


def test_the_runs_own_record_counts_where_no_input_has_a_result() -> None:
    run = {"metadata": {"run_result": {"status": "failed", "error": {"type": "Boom", "message": "container died"}}}}
    found = read(step(1), inputs=ended(None), header=run)
    assert (found.ended.status, found.ended.said_by) == (EndStatus.FAILED, "run")
    assert [f.reason for f in found.failures] == ["Boom: container died"]


def test_agent_spans_speak_where_nobody_else_does() -> None:
    spans = [
        {"agent_name": "lead", "type": "RuntimeError", "message": "service unavailable"},
        {"agent_name": "lead/helper", "type": "KeyError", "message": "the plan has no next step"},
    ]
    found = read(broken_tool(1), inputs=ended({"status": "failed"}, evidence={"errors": spans}))
    assert [f.reason for f in found.failures] == ["service unavailable", "KeyError: the plan has no next step"]
    assert found.failures[1].pointer == "/inputs/0/evidence/errors/1"


def test_stop_reasons_and_exits_of_an_input() -> None:
    stopped = read(step(1), inputs=ended({"stop_reason": "max_turn_requests"}))
    assert stopped.ended.reason is not None
    assert stopped.ended.reason.reason == "stop_reason max_turn_requests"
    cancelled = read(step(1), inputs=ended({"stop_reason": "cancelled"}))
    assert cancelled.ended.status is EndStatus.CANCELLED
    killed = read(step(1), inputs=ended({"status": "failed", "exit_code": 137}))
    assert [f.exit_code for f in killed.failures] == [137]


def test_a_trajectory_that_could_not_be_built_failed() -> None:
    error = {"type": "EvidenceError", "message": "nothing could be read"}
    found = read(status=TrajectoryStatus.FAILED, error=error)
    assert found.ended.said_by == "build"
    assert [f.reason for f in found.failures] == ["EvidenceError: nothing could be read"]


def test_a_very_long_message_keeps_both_ends() -> None:
    found = read(broken_tool(1, "first line\n" + "x\n" * 40_000 + "AssertionError: last line"))
    (failure,) = found.failures
    assert failure.message is not None
    assert len(failure.message) < 10_000
    assert failure.reason == "first line … AssertionError: last line"
