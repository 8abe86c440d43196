"""OTLP's own rules: spans in one trace an Input, ids of the right size, nothing for what was not observed."""

from __future__ import annotations

from typing import Any

from otel2traj.canonical import loads
from otel2traj.model.link import ExecutionStatus
from otel2traj.model.trajectory import Step, StepStatus
from tests.factory import not_observed, step, tool_log, trajectory
from tests.unit.writers.run import written


def spans(*steps: Step) -> list[Any]:
    lines: list[Any] = [loads(line) for line in written("otlp-json", trajectory(*steps)).splitlines()]
    return [span for line in lines for span in line["resourceSpans"][0]["scopeSpans"][0]["spans"]]


def attributes(span: Any) -> dict[str, Any]:
    return {item["key"]: next(iter(item["value"].values())) for item in span["attributes"]}


def test_one_trace_an_input_with_its_root_last() -> None:
    got = spans(step(1, tool_log()), step(2), step(3, input_ordinal="0002"))
    assert [span["name"].split()[0] for span in got] == ["chat", "execute_tool", "chat", "chat"] + ["invoke_agent"] * 2
    roots = {span["traceId"]: span["spanId"] for span in got if "parentSpanId" not in span}
    assert len(roots) == 2
    assert all(span.get("parentSpanId", roots[span["traceId"]]) == roots[span["traceId"]] for span in got)
    assert {(len(span["traceId"]), len(span["spanId"])) for span in got} == {(32, 16)}
    assert len({span["spanId"] for span in got}) == len(got)


def test_what_was_not_observed_has_no_span() -> None:
    assert [span["name"] for span in spans(step(1, not_observed()))] == ["chat model-1", "invoke_agent agent-1"]


def test_failures_are_errors() -> None:
    failed = step(1, status=StepStatus.FAILED, output={"wire_error": "reset"})
    assert spans(failed)[0]["status"] == {"code": 2, "message": "reset"}
    broken = spans(step(1, tool_log(execution_status=ExecutionStatus.ERROR)))[1]
    assert broken["status"] == {"code": 2}


def test_a_step_without_times_keeps_its_place() -> None:
    got = spans(step(1), step(2, started_at=None, ended_at=None), step(3))
    starts = [int(span["startTimeUnixNano"]) for span in got if span["name"].startswith("chat")]
    assert starts == sorted(starts)
    assert int(got[-1]["endTimeUnixNano"]) >= max(int(span["endTimeUnixNano"]) for span in got[:-1])


def test_numbers_and_zero_counts_stay_numbers() -> None:
    one = step(1)
    one.input["parameters"] = {"temperature": 0, "max_tokens": 5, "seed": True}
    one.output["usage"] = {"input_tokens": 0}
    got = attributes(spans(one)[0])
    assert got["gen_ai.usage.input_tokens"] == "0"
    assert got["gen_ai.request.temperature"] == "0"
    assert "gen_ai.request.seed" not in got
