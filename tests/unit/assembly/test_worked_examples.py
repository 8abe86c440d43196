"""The worked examples of the trajectory page, and each variant of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from otel2traj.api.source import load
from otel2traj.assembly.evidence import interaction_id
from otel2traj.model.trajectory import Step, StepKind, StepSource, StepStatus, ToolLog, Trajectory, TrajectoryStatus
from tests.attempt_factory import AttemptFactory, chat_response

SEARCH = [("c1", "search", '{"q": "x"}')]


@pytest.fixture
def attempt(tmp_path: Path) -> AttemptFactory:
    return AttemptFactory(tmp_path).input("0001")


def raw(attempt: AttemptFactory, header: str | None = "U1") -> AttemptFactory:
    """The page's raw records: a model span and the wire call that names it."""
    metadata = {"langgraph_checkpoint_ns": "agent:9f1c"}
    attempt.start("0001", "U1", "llm", 1, metadata=metadata).end("0001", "U1", 2)
    return attempt.request("call_a", 1.1, span=header).response("call_a", 1.9, chat_response(calls=SEARCH))


def built(attempt: AttemptFactory) -> Trajectory:
    return load(attempt.write())


def log(step: Step) -> ToolLog:
    assert len(step.tool_logs) == 1
    return step.tool_logs[0]


def test_the_example_itself(attempt: AttemptFactory) -> None:
    raw(attempt).tool("0001", "U2", "c1", 3)
    trajectory = built(attempt)
    (step,) = trajectory.steps
    assert (step.kind, step.source, step.agent_name) == (StepKind.MODEL, StepSource.BOTH, "agent")
    assert step.input["messages"] == [{"role": "user", "content": "go"}]
    assert step.output["tool_calls"] == [{"id": "c1", "name": "search", "arguments": {"q": "x"}}]
    found = log(step)
    assert (found.tool_call_id, found.execution_status, found.link, found.exit_status, found.outputs) == (
        "c1",
        "succeeded",
        "exact",
        None,
        "found",
    )
    coverage = trajectory.summary.coverage
    assert (coverage.model_calls, coverage.tool_calls, coverage.ambiguous_links) == (1, 1, 0)
    assert (coverage.unlinked_tool_calls, coverage.unobserved_tool_executions) == (0, 0)
    assert trajectory.summary.inputs[0].step_range == [1, 1]
    assert trajectory.summary.status is TrajectoryStatus.COMPLETE


def test_a_lost_header_makes_two_steps_and_a_warning(attempt: AttemptFactory) -> None:
    trajectory = built(raw(attempt, header=None).tool("0001", "U2", "c1", 3))
    assert [step.source for step in trajectory.steps] == [StepSource.FRAMEWORK, StepSource.WIRE]
    assert any(warning.startswith("unjoined_wire_call") for warning in trajectory.summary.warnings)


def test_b_no_execution_is_not_observed(attempt: AttemptFactory) -> None:
    trajectory = built(raw(attempt))
    found = log(trajectory.steps[0])
    assert (found.execution_status, found.link, found.outputs) == ("not_observed", "none", None)
    assert trajectory.summary.coverage.unobserved_tool_executions == 1


def test_c_two_emitters_are_ambiguous_and_nothing_is_attached(attempt: AttemptFactory) -> None:
    raw(attempt).start("0001", "U3", "llm", 4).end("0001", "U3", 5)
    attempt.request("call_b", 4.1, span="U3").response("call_b", 4.9, chat_response("chatcmpl-2", calls=SEARCH))
    trajectory = built(attempt.tool("0001", "U2", "c1", 6))
    for step in trajectory.steps:
        found = log(step)
        assert (found.link, found.execution_status, found.outputs) == ("ambiguous", "not_observed", None)
        assert [c["outputs"] for c in found.evidence["candidates"]] == ["found"]
    assert trajectory.summary.coverage.ambiguous_links == 2
    assert trajectory.summary.status is TrajectoryStatus.PARTIAL


def test_d_an_id_nobody_emitted_is_a_step_of_its_own(attempt: AttemptFactory) -> None:
    trajectory = built(raw(attempt).tool("0001", "U2", "other", 3))
    model, tool = trajectory.steps
    assert log(model).link == "none"
    assert (tool.kind, tool.source, log(tool).tool_call_id) == (StepKind.TOOL_ONLY, StepSource.FRAMEWORK, "other")
    assert trajectory.summary.coverage.unlinked_tool_calls == 1


def test_e_a_broken_wire_takes_the_framework_output(attempt: AttemptFactory) -> None:
    output = {"generations": [[{"text": "kept", "message": {"type": "ai", "content": "kept"}}]]}
    attempt.start("0001", "U1", "llm", 1).end("0001", "U1", 2, output)
    attempt.request("call_a", 1.1, span="U1").error("call_a", 1.9, "transport_error")
    (step,) = built(attempt).steps
    assert (step.output["text"], step.output["output_source"]) == ("kept", "framework")
    assert step.output["wire_error"]["error_code"] == "transport_error"


def test_f_the_same_id_in_another_input_is_no_candidate(attempt: AttemptFactory) -> None:
    attempt.input("0002")
    trajectory = built(raw(attempt).tool("0002", "U2", "c1", 3))
    assert log(trajectory.steps[0]).link == "none"
    assert trajectory.steps[1].kind is StepKind.TOOL_ONLY


def test_g_history_is_never_an_emission(attempt: AttemptFactory) -> None:
    call = {"id": "c0", "type": "function", "function": {"name": "search", "arguments": "{}"}}
    history = [{"role": "assistant", "content": None, "tool_calls": [call]}]
    attempt.start("0001", "U1", "llm", 1).end("0001", "U1", 2)
    attempt.request("call_a", 1.1, span="U1", messages=history).response("call_a", 1.9, chat_response(text="hi"))
    trajectory = built(attempt.tool("0001", "U2", "c0", 3))
    assert trajectory.steps[0].output["tool_calls"] == []
    assert trajectory.steps[1].kind is StepKind.TOOL_ONLY


def test_h_an_acp_terminal_gives_the_exit_status(attempt: AttemptFactory) -> None:
    acp = "steps/0001/acp-events.jsonl"
    attempt.request("call_a", 1).response("call_a", 2, chat_response(calls=SEARCH))
    started = {"sessionUpdate": "tool_call", "toolCallId": "c1", "title": "run", "status": "pending"}
    terminal = {"content": [{"type": "terminal", "terminalId": "t1"}], "status": "in_progress"}
    ended = {"status": "completed", "rawOutput": {"exitCode": 99}}
    update = {"sessionUpdate": "tool_call_update", "toolCallId": "c1"}
    attempt.event(acp, "session_update", 3, {"session_id": "s", "update": started}, "acp")
    attempt.event(acp, "session_update", 4, {"session_id": "s", "update": {**update, **terminal}}, "acp")
    attempt.event(acp, "terminal_exited", 5, {"terminal_id": "t1", "exit_code": 2, "signal": None}, "acp")
    attempt.event(acp, "session_update", 6, {"session_id": "s", "update": {**update, **ended}}, "acp")
    found = log(built(attempt).steps[0])
    assert (found.link, found.exit_status) == ("exact", {"exitCode": 2, "signal": None})


@pytest.mark.parametrize(("size", "cut"), [(1 << 20, False), ((1 << 20) + 1, True)])
def test_i_a_value_over_the_limit_is_replaced(attempt: AttemptFactory, size: int, cut: bool) -> None:
    from otel2traj.api.build import build_bytes
    from otel2traj.canonical import loads

    text = "é" * (size // 2) + "x" * (size % 2)
    attempt.request("call_a", 1).response("call_a", 2, chat_response(text=text))
    document = loads(build_bytes(attempt.write()))
    assert isinstance(document, dict)
    stored = document["steps"][0]["output"]["text"]
    if cut:
        assert (stored["truncated"], stored["size"]) == (True, size)
        assert stored["head"] == "é" * 2048
    else:
        assert stored == text


def test_interaction_ids_are_the_index_rule() -> None:
    assert interaction_id("network:call_x") == "11a7077fdea6d07916778299"
    assert interaction_id("span:evaluation/inputs/0001/framework.jsonl:span-x") == "b3c4d2df89e8b14513785649"


def test_retries_share_a_span_and_the_last_success_owns_its_output(attempt: AttemptFactory) -> None:
    attempt.start("0001", "U1", "llm", 1).end("0001", "U1", 4)
    attempt.request("call_a", 1.1, span="U1").response("call_a", 1.9, {"error": {"message": "slow down"}}, status=429)
    attempt.request("call_b", 2.1, span="U1").response("call_b", 3, chat_response(calls=SEARCH))
    first, second = built(attempt.tool("0001", "U2", "c1", 5)).steps
    assert (first.status, first.output["http_status"], first.tool_logs) == (StepStatus.FAILED, 429, [])
    assert (second.status, log(second).link) == (StepStatus.COMPLETE, "exact")


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("transport_error", TrajectoryStatus.COMPLETE),
        ("upstream_error", TrajectoryStatus.COMPLETE),
        ("egress_denied", TrajectoryStatus.PARTIAL),
        ("stream_processing_failed", TrajectoryStatus.PARTIAL),
    ],
)
def test_error_codes_decide_the_standing(attempt: AttemptFactory, code: str, status: TrajectoryStatus) -> None:
    attempt.request("call_a", 1).error("call_a", 2, code)
    trajectory = built(attempt)
    assert trajectory.steps[0].status is StepStatus.FAILED
    assert trajectory.summary.status is status


def test_the_historical_layout_reads_the_same(tmp_path: Path) -> None:
    both = []
    for layout in ("current", "historical"):
        root = tmp_path / layout
        root.mkdir()
        both.append(built(raw(AttemptFactory(root, layout).input("0001")).tool("0001", "U2", "c1", 3)))
    current, historical = both
    for one, other in zip(current.steps, historical.steps, strict=True):
        assert (one.input, one.output, one.agent_name) == (other.input, other.output, other.agent_name)
        assert [x.outputs for x in one.tool_logs] == [x.outputs for x in other.tool_logs]
