"""Executions that are one, links that are ambiguous, and inference that never becomes a link."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from otel2traj.api.source import load
from otel2traj.model.trajectory import StepKind, ToolLog, Trajectory
from tests.attempt_factory import AttemptFactory, model_span, otlp, span, tool_span

ROOT, M1, M2, T1, T2, T3, S1, S2 = (f"{n:016x}" for n in range(1, 9))


def run(root: Path, *spans: dict[str, Any], inference: bool = True) -> Trajectory:
    attempt = AttemptFactory(root).input("0001")
    attempt.line("steps/0001/otel.jsonl", otlp(list(spans)))
    return load(attempt.write(), inference=inference)


def logs(trajectory: Trajectory) -> list[ToolLog]:
    return [log for step in trajectory.steps if step.kind is StepKind.MODEL for log in step.tool_logs]


def test_nested_spans_of_one_id_are_one_execution_the_innermost(tmp_path: Path) -> None:
    trajectory = run(
        tmp_path,
        model_span(M1, 1, calls=[("c1", "read", {})]),
        tool_span(T1, 2, "read", call_id="c1", result="wrapped"),
        tool_span(T2, 2.1, "read", call_id="c1", result="inner", parent=T1),
    )
    (log,) = logs(trajectory)
    assert (log.link, log.outputs, log.evidence["otel_span_id"]) == ("exact", "inner", T2)
    assert len(log.evidence["wrappers"]) == 1


def test_the_two_sides_of_an_mcp_call_are_one_execution_and_the_tool_around_them_is_another(tmp_path: Path) -> None:
    mcp = {"mcp.method.name": "tools/call", "gen_ai.tool.name": "read"}
    trajectory = run(
        tmp_path,
        model_span(M1, 1, calls=[("c1", "read", {})]),
        tool_span(T1, 2, "read", call_id="c1"),
        span(T2, 2.1, {**mcp, "gen_ai.tool.call.result": "found"}, parent=T1, kind=3),
        span(T3, 2.2, mcp, parent=T2, kind=2),
    )
    assert [step.kind for step in trajectory.steps] == [StepKind.MODEL, StepKind.TOOL_ONLY]
    assert [log.outputs for step in trajectory.steps for log in step.tool_logs] == [None, "found"]


def test_a_tool_below_a_sub_agent_is_its_own(tmp_path: Path) -> None:
    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "sub"}
    trajectory = run(
        tmp_path,
        model_span(M1, 1, calls=[("c1", "ask", {})]),
        tool_span(T1, 2, "ask", call_id="c1", result="all"),
        span(S1, 2.1, agent, parent=T1),
        model_span(M2, 2.2, calls=[("c2", "ask", {})], parent=S1),
        tool_span(T2, 2.3, "ask", call_id="c2", result="part", parent=S1),
    )
    assert [(log.tool_call_id, log.link, log.outputs) for log in logs(trajectory)] == [
        ("c1", "exact", "all"),
        ("c2", "exact", "part"),
    ]


def test_the_candidate_in_an_emitter_s_scope_is_noted_and_stays_a_candidate(tmp_path: Path) -> None:
    turn = {"openinference.span.kind": "CHAIN"}
    trajectory = run(
        tmp_path,
        span(S1, 1, turn),
        model_span(M1, 1.1, calls=[("c0", "read", {})], parent=S1),
        tool_span(T1, 1.2, "read", call_id="c0", result="one", parent=S1),
        span(S2, 2, turn),
        model_span(M2, 2.1, calls=[("c0", "read", {})], parent=S2),
        tool_span(T2, 2.2, "read", call_id="c0", result="two", parent=S2),
    )
    first, second = logs(trajectory)
    assert (first.link, first.outputs) == ("ambiguous", None)
    assert [(c["outputs"], c["in_scope"]) for c in first.evidence["candidates"]] == [("one", True), ("two", False)]
    assert [(c["outputs"], c["in_scope"]) for c in second.evidence["candidates"]] == [("one", False), ("two", True)]


@pytest.mark.parametrize(
    ("call", "execution", "rule"),
    [
        (("c1", "read", {"p": 1}), {"name": "read", "arguments": {"p": 1}}, "name_arguments"),
        (("c1", "read", {"p": 1}), {"name": "read", "arguments": {"p": 2}}, "name"),
        (("c1", "read", {"p": 1}), {"name": "list", "arguments": {"p": 1}}, None),
    ],
)
def test_inference_stands_beside_and_is_no_link(
    tmp_path: Path, call: tuple[str, str, Any], execution: dict[str, Any], rule: str | None
) -> None:
    trajectory = run(tmp_path, model_span(M1, 1, calls=[call]), tool_span(T1, 2, result="one", **execution))
    (log,) = logs(trajectory)
    assert (log.link, log.execution_status, log.outputs) == ("none", "not_observed", None)
    tool = trajectory.steps[1]
    assert tool.kind is StepKind.TOOL_ONLY
    if rule is None:
        assert "inferred" not in log.evidence
        assert trajectory.summary.coverage.inferred_links == 0
    else:
        assert log.evidence["inferred"]["rule"] == rule
        assert log.evidence["inferred"]["step_id"] == tool.step_id
        assert tool.evidence["inferred_call"]["tool_call_id"] == "c1"
        assert trajectory.summary.coverage.inferred_links == 1


def test_equal_twins_stay_unpaired(tmp_path: Path) -> None:
    trajectory = run(
        tmp_path,
        model_span(M1, 1, calls=[("c1", "read", {"p": 1}), ("c2", "read", {"p": 1})]),
        tool_span(T1, 2, "read", arguments={"p": 1}, result="same"),
        tool_span(T2, 3, "read", arguments={"p": 1}, result="same"),
    )
    assert all("inferred" not in log.evidence for log in logs(trajectory))


def test_inference_can_be_left_out(tmp_path: Path) -> None:
    trajectory = run(
        tmp_path, model_span(M1, 1, calls=[("c1", "read", {})]), tool_span(T1, 2, "read", arguments={}), inference=False
    )
    assert "inferred" not in logs(trajectory)[0].evidence
    assert trajectory.summary.coverage.inferred_links is None


def test_empty_call_ids_are_no_identifiers(tmp_path: Path) -> None:
    trajectory = run(
        tmp_path, model_span(M1, 1, calls=[("", "read", {})]), tool_span(T1, 2, "read", call_id="", result="one")
    )
    assert logs(trajectory)[0].link == "none"


def test_an_unfinished_execution_is_linked_and_its_outcome_not_observed(tmp_path: Path) -> None:
    attempt = AttemptFactory(tmp_path).input("0001")
    attempt.line("steps/0001/otel.jsonl", otlp([model_span(M1, 1, calls=[("c1", "read", {})])]))
    attempt.start("0001", "U2", "tool", 2, tool_call_id="c1", name="read")
    trajectory = load(attempt.write())
    (log,) = logs(trajectory)
    assert (log.link, log.execution_status, log.outputs) == ("exact", "not_observed", None)
    assert any(warning.startswith("unfinished_span") for warning in trajectory.summary.warnings)
    assert trajectory.summary.status == "partial"


def chained(parent: str, arguments: Any, inner: Any) -> list[dict[str, Any]]:
    """Two calls of one answer with numbered ids; the second execution hangs below `parent`."""
    return [
        model_span(M1, 1, calls=[("t1", "read", {"p": "a"}), ("t2", "read", arguments)]),
        tool_span(T1, 2, "read", call_id="t1", arguments={"p": "a"}, result="A"),
        span(S1, 2.1, {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "sub"}, parent=T1),
        tool_span(T2, 2.2, "read", call_id="t2", arguments=inner, result="B", parent=parent),
    ]


def test_parallel_tools_that_hang_below_one_another_are_of_one_answer(tmp_path: Path) -> None:
    two = logs(run(tmp_path, *chained(T1, {"p": "b"}, {"p": "b"})))
    assert [(log.link, log.outputs) for log in two] == [("exact", "A"), ("exact", "B")]


@pytest.mark.parametrize(
    ("parent", "arguments", "inner"),
    [(T1, None, {"p": "b"}), (T1, {"p": "b"}, {"p": "c"}), (S1, {"p": "b"}, {"p": "b"})],
)
def test_a_numbered_id_inside_another_execution_may_be_another_answers(
    tmp_path: Path, parent: str, arguments: Any, inner: Any
) -> None:
    two = logs(run(tmp_path, *chained(parent, arguments, inner)))
    assert [log.link for log in two] == ["exact", "ambiguous"]


def test_an_execution_that_had_ended_is_no_scope(tmp_path: Path) -> None:
    trajectory = run(
        tmp_path,
        model_span(M1, 1, calls=[("t1", "read", {"p": "a"})]),
        tool_span(T1, 2, "read", call_id="t1", arguments={"p": "a"}, result="A"),
        model_span(M2, 3, calls=[("t2", "list", {})]),
        tool_span(T2, 4, "list", call_id="t2", result="B", parent=T1),
    )
    assert [(log.link, log.outputs) for log in logs(trajectory)] == [("exact", "A"), ("exact", "B")]


@pytest.mark.parametrize(("inner_model", "tool_at", "steps"), [("m-1", 2, 1), ("m-2", 2, 2), ("m-1", 1.2, 2)])
def test_a_wrapper_tells_what_the_call_in_it_asked_for(
    tmp_path: Path, inner_model: str, tool_at: float, steps: int
) -> None:
    inner = {"gen_ai.operation.name": "chat", "gen_ai.request.model": inner_model}
    trajectory = run(
        tmp_path,
        model_span(M1, 1, calls=[("c1", "read", {})], endTimeUnixNano="1779962405000000000"),
        span(M2, 1, inner, parent=M1),
        tool_span(T1, tool_at, "read", call_id="c1", result="R", parent=M1),
    )
    assert [step.kind for step in trajectory.steps] == [StepKind.MODEL] * steps
    assert [(log.link, log.outputs) for log in logs(trajectory)] == [("exact", "R")]


def test_a_responses_item_named_by_its_own_id_is_linked_by_it(tmp_path: Path) -> None:
    item = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "read", "arguments": '{"p": "a"}'}
    response = {"id": "resp_1", "object": "response", "model": "m-1", "status": "completed", "output": [item]}
    attempt = AttemptFactory(tmp_path).input("0001")
    attempt.request("w1", 1, path="/v1/responses", input_id="in-0001")
    attempt.response("w1", 1.5, response, path="/v1/responses")
    attempt.line("steps/0001/otel.jsonl", otlp([tool_span(T1, 2, "read", call_id="fc_1", arguments={"p": "a"})]))
    (log,) = logs(load(attempt.write()))
    assert (log.link, log.evidence["link_rule"], log.tool_call_id) == ("exact", "item_id", "call_1")


def test_a_call_and_an_execution_in_two_inputs_are_told_and_not_linked(tmp_path: Path) -> None:
    call = model_span(M1, 1, calls=[("c1", "read", {})])
    ran = tool_span(T1, 2, "read", call_id="c1", result="one")
    for number, one in enumerate((call, ran), 1):
        one["traceId"] = f"{number:032x}"
        one["attributes"].append({"key": "gen_ai.conversation.id", "value": {"stringValue": "conv"}})
    (tmp_path / "trace.json").write_bytes(otlp([call, ran]))
    trajectory = load(tmp_path / "trace.json")
    told = [one for one in trajectory.summary.warnings if "call_in_another_input" in str(one)]
    assert len(told) == 1
    assert "tool call c1 of Input 0001 was executed in Input 0002 of the same conversation" in str(told[0])
    assert [log.link for step in trajectory.steps for log in step.tool_logs] == ["none", "none"]


@pytest.mark.parametrize(("reason", "told"), [("tool_calls", 1), ("tool_use", 1), ("stop", 0)])
def test_a_stop_for_tools_of_which_none_is_recorded_is_told(tmp_path: Path, reason: str, told: int) -> None:
    call = model_span(M1, 1)
    reasons = {"arrayValue": {"values": [{"stringValue": reason}]}}
    call["attributes"] = [
        one for one in call["attributes"] if "finish" not in one["key"] and "output" not in one["key"]
    ]
    call["attributes"].append({"key": "gen_ai.response.finish_reasons", "value": reasons})
    warnings = run(tmp_path, call).summary.warnings
    assert sum("unrecorded_tool_calls: step 1 stopped for tools" in str(one) for one in warnings) == told


@pytest.mark.parametrize(("began", "link"), [(0.5, "ambiguous"), (2, "exact"), (4, "ambiguous")])
def test_a_numbered_id_is_answered_after_its_call_and_before_its_result_is_reported(
    tmp_path: Path, began: float, link: str
) -> None:
    told = [{"role": "tool", "parts": [{"type": "tool_call_response", "id": "call_0", "response": "R"}]}]
    asked = {"gen_ai.operation.name": "chat", "gen_ai.input.messages": told}
    trajectory = run(
        tmp_path,
        model_span(M1, 1, calls=[("call_0", "read", {"key": "a"})]),
        span(M2, 3, asked),
        tool_span(T1, began, "read", call_id="call_0", arguments={"key": "a"}, result="R"),
    )
    (log,) = [log for log in logs(trajectory) if log.tool_call_id == "call_0"]
    assert log.link == link
    if link == "ambiguous":
        assert log.evidence["candidates"][0]["witness"]["order"] == "contradicts"


@pytest.mark.parametrize(("tasks", "link"), [(1, "exact"), (2, "ambiguous")])
def test_two_tasks_started_with_one_numbered_id_show_that_an_answer_is_lost(
    tmp_path: Path, tasks: int, link: str
) -> None:
    given = [{"name": "read", "args": {"key": "a"}, "id": "call_0", "type": "tool_call"}]
    task = {"openinference.span.kind": "CHAIN", "input.value": given}
    spans = [span(f"{number:016x}", number, task, parent="f" * 16) for number in range(0x20, 0x20 + tasks)]
    trajectory = run(
        tmp_path,
        span("f" * 16, 0, {"openinference.span.kind": "CHAIN"}),
        model_span(M1, 1, calls=[("call_0", "read", {"key": "a"})], parent="f" * 16),
        *spans,
        tool_span(T1, 40, "read", call_id="call_0", arguments={"key": "a"}, result="R", parent=f"{0x20:016x}"),
    )
    assert [log.link for log in logs(trajectory)] == [link]


def two_scopes(root: Path, outer: dict[str, Any], *inner: dict[str, Any]) -> Trajectory:
    attempt = AttemptFactory(root).input("0001")
    made = model_span(M1, 1, calls=[("c1", "walk", {"at": "a"})])
    attempt.line("steps/0001/otel.jsonl", otlp([made, outer], "framework"))
    attempt.line("steps/0001/otel.jsonl", otlp(list(inner), "instrumentor"))
    return load(attempt.write())


def test_a_tool_lends_its_id_to_no_recursion_that_another_instrumentor_tells(tmp_path: Path) -> None:
    outer = tool_span(T1, 2, "walk", call_id="c1", arguments={"at": "a"})
    trajectory = two_scopes(tmp_path, outer, tool_span(T2, 2.1, "walk", result="of the child", parent=T1))
    (log,) = logs(trajectory)
    assert (log.link, log.outputs, log.evidence["otel_span_id"]) == ("exact", None, T1)
    assert [step.kind for step in trajectory.steps] == [StepKind.MODEL, StepKind.TOOL_ONLY]


def test_two_instrumentors_spans_of_one_tool_are_one_where_both_tell_the_same(tmp_path: Path) -> None:
    outer = tool_span(T1, 2, "walk", call_id="c1", arguments={"at": "a"}, result="done")
    inner = tool_span(T2, 2.1, "walk", arguments={"at": "a"}, result="done", parent=T1)
    assert [step.kind for step in two_scopes(tmp_path / "one", outer, inner).steps] == [StepKind.MODEL]
    again = tool_span(T3, 2.2, "walk", arguments={"at": "b"}, result="other", parent=T1)
    kinds = [step.kind for step in two_scopes(tmp_path / "retry", outer, inner, again).steps]
    assert kinds == [StepKind.MODEL, StepKind.TOOL_ONLY, StepKind.TOOL_ONLY]


def test_an_instrumentor_around_the_span_with_the_id_tells_what_that_lacks(tmp_path: Path) -> None:
    outer = tool_span(T1, 2, "walk", arguments={"at": "a"}, result="done")
    (log,) = logs(two_scopes(tmp_path, outer, tool_span(T2, 2.1, "walk", call_id="c1", parent=T1)))
    assert (log.link, log.outputs) == ("exact", "done")
