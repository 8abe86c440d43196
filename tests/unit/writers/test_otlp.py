"""OTLP's own rules: spans in one trace an Input, ids of the right size, nothing for what was not observed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from otel2traj.api.source import drive
from otel2traj.canonical import loads
from otel2traj.model.link import ExecutionStatus
from otel2traj.model.trajectory import Collect, SdkInput, Step, StepSink, StepStatus
from otel2traj.outcome import FailureKind, OutcomeReader
from otel2traj.renderers.glance import ended_words
from otel2traj.writers import WRITERS
from tests.conftest import ROOT
from tests.factory import not_observed, step, tool_log, trajectory
from tests.unit.writers.run import written

FAILED = (
    "abb-06a-retry-429-response", "abb-07-transport-error", "abb-15c-error-codes", "abb-17a-acp",
    "acp-none-wirefail-sdkagent", "anthropic-traceloop-retry", "langgraph-toolerror",
    "openai-traceloop-wirefail-stream",
)  # fmt: skip
SUCCEEDED = (
    "abb-02-parallel-tools",
    "abb-09-tool-only",
    "abb-19a-replay-deltas",
    "mcp-builtin-basic",
    "pydanticai-builtin-twins",
)
ATTEMPTS = [ROOT / "fixtures" / "attempts" / name / "attempt" for name in FAILED + SUCCEEDED]


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


def _head(path: Path, *more: StepSink) -> tuple[Collect, list[tuple[object, ...]], tuple[object, ...]]:
    """The run, its failures, and how it and each of its Inputs ended."""
    run, reader = Collect(), OutcomeReader()
    drive(path, run, reader, *more)
    outcome = reader.outcome
    found = [one for one in outcome.failures if one.kind is not FailureKind.AGENT]
    failures = [(str(f.kind), f.code, f.message, f.http_status, f.exit_code, f.signal, f.stack, f.tool) for f in found]
    return run, failures, (ended_words(outcome.ended), [(end.status, end.word) for end in outcome.inputs])


@pytest.mark.parametrize("attempt", ATTEMPTS, ids=lambda path: path.parent.name)
def test_every_failure_and_every_end_comes_back(attempt: Path, tmp_path: Path) -> None:
    file = tmp_path / "run.otlp.jsonl"
    with file.open("wb") as out:
        run, failures, ends = _head(attempt, WRITERS.get("otlp-json").sink(out))
    _, failures_again, ends_again = _head(file)
    assert failures_again == failures
    lost = any(step.input_ordinal is None for step in run.trajectory.steps)  # what the format names as its losses
    if not lost and "run_result" not in run.trajectory.header.metadata:
        assert ends_again == ends


def test_a_failed_input_is_an_error_of_its_root() -> None:
    error = {"type": "TimeoutError", "message": "too slow", "stacktrace": "Traceback: slow"}
    item = SdkInput("0001", "i", "Do it.", [1, 1], {"status": "failed", "error": error}, [])
    lines = written("otlp-json", trajectory(step(1), inputs=[item])).splitlines()
    (root,) = loads(lines[-1])["resourceSpans"][0]["scopeSpans"][0]["spans"]  # type: ignore[call-overload, index]
    assert root["status"] == {"code": 2, "message": "too slow"}
    said = {one["key"]: one["value"]["stringValue"] for one in root["events"][0]["attributes"]}
    assert said == {
        "exception.type": "TimeoutError",
        "exception.message": "too slow",
        "exception.stacktrace": "Traceback: slow",
    }


def test_a_success_comes_back_also_of_an_input_without_a_step(tmp_path: Path) -> None:
    items = [
        SdkInput(
            f"000{n}", "i", "Do it.", [1, 1] if n == 1 else None, {"status": "succeeded", "output": f"done {n}"}, []
        )
        for n in (1, 2)
    ]
    text = written("otlp-json", trajectory(step(1), inputs=items))
    roots: list[Any] = [
        line["resourceSpans"][0]["scopeSpans"][0]["spans"][0] for line in map(json.loads, text.splitlines()[1:])
    ]
    assert [root["status"] for root in roots] == [{"code": 1}, {"code": 1}]
    (tmp_path / "run.jsonl").write_bytes(text)
    run, _, ends = _head(tmp_path / "run.jsonl")
    assert ends[0] == ("✓", "succeeded", "")
    assert [item.result for item in run.trajectory.summary.inputs] == [item.result for item in items]


def test_the_standards_own_attributes_say_it_too() -> None:
    output = {"http_status": 429, "error": {"type": "rate_limit_error", "message": "slow down"}}
    got = spans(step(1, status=StepStatus.FAILED, output=output))[0]
    assert got["status"] == {"code": 2, "message": "slow down"}
    assert attributes(got)["http.response.status_code"] == "429"
    assert attributes(got)["error.type"] == "rate_limit_error"
    assert got["events"][0]["name"] == "exception"
