"""Each rule that joins a wire call with a model span, and what keeps it from joining."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from otel2traj.api.source import load
from otel2traj.model.trajectory import Step, StepSource, Trajectory
from tests.attempt_factory import AttemptFactory, chat_response, model_span, otlp, span, tool_span

A, B, C = "00000000000000aa", "00000000000000bb", "00000000000000cc"
CALL = [("c1", "read", '{"p": 1}')]
CALLS = [("c1", "read", {"p": 1})]


def built(root: Path, spans: list[dict[str, Any]], wires: list[dict[str, Any]], scope: str = "test") -> Trajectory:
    """One Input with these spans, and wire calls told as `{"id", "header"?, "payload"?, "traceparent"?}`."""
    attempt = AttemptFactory(root).input("0001")
    if spans:
        attempt.line("steps/0001/otel.jsonl", otlp(spans, scope))
    for number, wire in enumerate(wires):
        extra = {"traceparent": wire["traceparent"]} if "traceparent" in wire else {}
        attempt.request(wire["id"], 1 + number, span=wire.get("header"), **extra)
        attempt.response(wire["id"], 1.5 + number, wire.get("payload") or chat_response(calls=CALL))
    return load(attempt.write())


def joins(trajectory: Trajectory) -> list[tuple[str, str | None]]:
    return [(step.source, step.evidence.get("join")) for step in trajectory.steps]


def the_step(trajectory: Trajectory) -> Step:
    (step,) = trajectory.steps
    return step


def test_the_header_names_the_span(tmp_path: Path) -> None:
    trajectory = built(tmp_path, [model_span(A, 1, calls=CALLS)], [{"id": "w", "header": A}])
    assert joins(trajectory) == [("wire+framework", "framework_span_id")]
    assert the_step(trajectory).evidence["otel_span_id"] == A


def test_the_header_in_upper_case(tmp_path: Path) -> None:
    trajectory = built(tmp_path, [model_span(A, 1, calls=CALLS)], [{"id": "w", "header": A.upper()}])
    assert joins(trajectory) == [("wire+framework", "framework_span_id")]


def test_the_header_names_a_wrapper_with_one_leaf(tmp_path: Path) -> None:
    spans = [model_span(A, 1, text="hi"), model_span(B, 1.1, calls=CALLS, parent=A)]
    trajectory = built(tmp_path, spans, [{"id": "w", "header": A}])
    assert joins(trajectory) == [("wire+framework", "framework_span_id")]
    assert the_step(trajectory).evidence["otel_span_id"] == B


def test_the_trace_context_names_a_span_below_the_model_span(tmp_path: Path) -> None:
    http = span(B, 1.1, {"http.request.method": "POST"}, parent=A)
    context = f"00-{'ab' * 16}-{B}-01"
    trajectory = built(tmp_path, [model_span(A, 1, calls=CALLS), http], [{"id": "w", "traceparent": context}])
    assert joins(trajectory) == [("wire+framework", "traceparent")]


def test_the_trace_context_of_another_trace_names_nothing(tmp_path: Path) -> None:
    context = f"00-{'cd' * 16}-{A}-01"
    spans = [model_span(A, 1, text="hi")]
    trajectory = built(tmp_path, spans, [{"id": "w", "traceparent": context, "payload": chat_response(text="hi")}])
    assert sorted(source for source, _ in joins(trajectory)) == ["framework", "wire"]


def test_one_response_id_on_both_sides(tmp_path: Path) -> None:
    payload = chat_response("chatcmpl-7", text="hi")
    trajectory = built(
        tmp_path, [model_span(A, 1, text="hi", response_id="chatcmpl-7")], [{"id": "w", "payload": payload}]
    )
    assert joins(trajectory) == [("wire+framework", "response_id")]


def test_a_response_id_that_stands_twice_joins_nothing(tmp_path: Path) -> None:
    payload = chat_response("chatcmpl-7", text="hi")
    spans = [
        model_span(A, 1, text="hi", response_id="chatcmpl-7"),
        model_span(B, 2, text="hi", response_id="chatcmpl-7"),
    ]
    trajectory = built(tmp_path, spans, [{"id": "w", "payload": payload}])
    assert sorted(source for source, _ in joins(trajectory)) == ["framework", "framework", "wire"]


def test_equal_tool_call_ids(tmp_path: Path) -> None:
    spans = [model_span(A, 1, calls=CALLS), tool_span(B, 2, "read", call_id="c1", result="one")]
    trajectory = built(tmp_path, spans, [{"id": "w"}])
    assert joins(trajectory) == [("wire+framework", "tool_call_ids")]
    assert the_step(trajectory).tool_logs[0].link == "exact"


def test_tool_call_ids_that_a_server_uses_again_join_nothing(tmp_path: Path) -> None:
    spans = [model_span(A, 1, calls=CALLS), model_span(B, 3, calls=CALLS)]
    trajectory = built(tmp_path, spans, [{"id": "w"}, {"id": "x", "payload": chat_response("r2", calls=CALL)}])
    assert all(join is None for _, join in joins(trajectory))
    assert all(log.link == "none" for step in trajectory.steps for log in step.tool_logs)


def test_one_each_under_a_task_is_no_identity(tmp_path: Path) -> None:
    task = span(A, 0.9, {"openinference.span.kind": "CHAIN"})
    trajectory = built(
        tmp_path,
        [task, model_span(B, 1, text="hi", parent=A)],
        [{"id": "w", "header": A, "payload": chat_response(text="hi")}],
    )
    assert sorted(source for source, _ in joins(trajectory)) == ["framework", "wire"]
    assert any(warning.startswith("calls_may_stand_twice") for warning in trajectory.summary.warnings)
    assert trajectory.summary.status == "partial"


@pytest.mark.parametrize("wires", [["w", "x"], ["w"]])
def test_a_task_with_two_calls_tells_nothing(tmp_path: Path, wires: list[str]) -> None:
    task = span(A, 0.9, {"openinference.span.kind": "CHAIN"})
    spans = [task, model_span(B, 1, text="one", parent=A)]
    if len(wires) == 1:
        spans.append(model_span(C, 2, text="two", parent=A))
    told = [{"id": name, "header": A, "payload": chat_response(f"r-{name}", text="hi")} for name in wires]
    trajectory = built(tmp_path, spans, told)
    assert all(join is None for _, join in joins(trajectory))


def test_a_response_id_below_another_agent_may_be_a_cached_one(tmp_path: Path) -> None:
    attempt = AttemptFactory(tmp_path).input("0001")
    lead = span(C, 0, {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "lead"})
    other = model_span(B, 1, text="hi", response_id="chatcmpl-7", parent=C)
    attempt.line("steps/0001/otel.jsonl", otlp([model_span(A, 1, response_id="chatcmpl-7")], "sdk"))
    attempt.line("steps/0001/otel.jsonl", otlp([lead, other], "instrumentor"))
    trajectory = load(attempt.write())
    assert len(trajectory.steps) == 2
    assert any(warning.startswith("calls_may_stand_twice") for warning in trajectory.summary.warnings)


def test_a_second_instrumentation_with_the_response_id_is_no_second_step(tmp_path: Path) -> None:
    attempt = AttemptFactory(tmp_path).input("0001")
    attempt.line("steps/0001/otel.jsonl", otlp([model_span(A, 1, response_id="chatcmpl-7")], "sdk"))
    other = {**model_span(B, 1, text="hi", response_id="chatcmpl-7"), "traceId": "ef" * 16}
    attempt.line("steps/0001/otel.jsonl", otlp([other], "instrumentor"))
    attempt.request("w", 1, span=A).response("w", 1.5, chat_response("chatcmpl-7", text="hi"))
    step = the_step(load(attempt.write()))
    assert step.source is StepSource.BOTH
    assert {record["what"] for record in step.evidence["records"]} == {"request", "response", "span"}
    assert len([record for record in step.evidence["records"] if record["what"] == "span"]) == 2


def test_a_wrapper_lends_what_its_only_leaf_lacks(tmp_path: Path) -> None:
    outer = model_span(A, 1, text="hi")
    inner = span(
        B,
        1.1,
        {"gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.request.model": "m"},
        parent=A,
    )
    step = the_step(built(tmp_path, [outer, inner], []))
    assert (step.output["text"], step.evidence["otel_span_id"]) == ("hi", B)


def test_wire_and_framework_disagree_and_the_wire_stands(tmp_path: Path) -> None:
    trajectory = built(
        tmp_path,
        [model_span(A, 1, text="other words")],
        [{"id": "w", "header": A, "payload": chat_response(text="hi")}],
    )
    assert the_step(trajectory).output["text"] == "hi"
    (warning,) = [text for text in trajectory.summary.warnings if text.startswith("wire_framework_disagree")]
    assert "'hi'" in warning
    assert "'other words'" in warning


def test_a_span_that_had_ended_is_no_wrapper(tmp_path: Path) -> None:
    """A second call that hangs below the first is a call beside it: nothing acts inside what is over."""
    first = model_span(A, 1, text="one")
    second = model_span(B, 5, text="two")
    second["parentSpanId"] = A
    steps = built(tmp_path, [first, second], []).steps
    assert [step.output["text"] for step in steps] == ["one", "two"]


@pytest.mark.parametrize(("parent", "steps"), [(None, 1), (C, 2)])
def test_a_span_in_a_trace_of_its_own_with_the_response_id_of_a_joined_call_is_that_call(
    tmp_path: Path, parent: str | None, steps: int
) -> None:
    agent = span(C, 0.5, {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "lead"})
    inside = model_span(A, 1, text="hi", parent=C)
    own = model_span(B, 1.1, response_id="chatcmpl-7", parent=parent)
    own["traceId"] = "cd" * 16
    attempt = AttemptFactory(tmp_path).input("0001")
    for made, scope in ((agent, "lib"), (inside, "lib"), (own, "client")):
        attempt.line("steps/0001/otel.jsonl", otlp([made], scope))
    attempt.request("w", 1.2, span=A).response("w", 1.4, chat_response("chatcmpl-7", text="hi"))
    assert len(load(attempt.write()).steps) == steps
