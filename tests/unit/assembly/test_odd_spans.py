"""Spans that are not where the convention has them, ids that stand in several Inputs, values of no known kind."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from otel2traj.api.build import build_bytes
from tests.attempt_factory import model_span, otlp, span, tool_span

A, B, C = "1" * 16, "2" * 16, "3" * 16
SECOND = 1_000_000_000
START = 1_779_962_400 * SECOND


def build(root: Path, *spans: dict[str, Any]) -> dict[str, Any]:
    (root / "trace.jsonl").write_bytes(b"".join(otlp([made], "lib") + b"\n" for made in spans))
    document: dict[str, Any] = json.loads(build_bytes(root))
    return document


def until(second: float) -> dict[str, str]:
    return {"endTimeUnixNano": str(START + int(second * SECOND))}


CHAINS = {
    "each began later": ((1, 2), (3, 4), (5, 6)),
    "each began as the one before ended": ((1, 2), (2, 3), (3, 4)),
    "each inside the one before": ((1, 9), (2, 8), (3, 7)),
}


@pytest.mark.parametrize("times", CHAINS.values(), ids=CHAINS)
def test_calls_that_hang_below_one_another_are_calls(times: Any, tmp_path: Path) -> None:
    (a, z), (b, y), (c, x) = times
    document = build(
        tmp_path,
        model_span(A, a, text="one", **until(z)),
        model_span(B, b, text="two", parent=A, **until(y)),
        model_span(C, c, text="three", parent=B, **until(x)),
    )
    assert [step["output"]["text"] for step in document["steps"]] == ["one", "two", "three"]


def test_the_span_around_a_call_that_tells_the_same_is_no_call(tmp_path: Path) -> None:
    document = build(
        tmp_path, model_span(A, 1, text="one", **until(9)), model_span(B, 2, text="one", parent=A, **until(8))
    )
    (step,) = document["steps"]
    assert [record["what"] for record in step["evidence"]["records"]] == ["span", "span"]


def test_a_span_around_several_calls_stands_with_each(tmp_path: Path) -> None:
    document = build(
        tmp_path,
        span(A, 1, {"gen_ai.operation.name": "chat"}, **until(9)),
        model_span(B, 2, text="two", parent=A),
        model_span(C, 3, text="three", parent=A),
    )
    around = [step["evidence"]["wrappers"] for step in document["steps"]]
    assert [[wrapper["otel_span_id"] for wrapper in found] for found in around] == [[A], [A]]


@pytest.mark.parametrize("executed", [True, False])
def test_one_call_id_in_two_inputs_is_told(executed: bool, tmp_path: Path) -> None:
    conversation = {"key": "gen_ai.conversation.id", "value": {"stringValue": "conv"}}
    made = []
    for number, trace in enumerate(("aa" * 16, "bb" * 16)):
        spans = [model_span(A, 10 * number, calls=[("toolu_x", "read", {})], traceId=trace)]
        if executed or number == 0:
            spans.append(tool_span(B, 10 * number + 1, "read", call_id="toolu_x", result=str(number), traceId=trace))
        for one in spans:
            one["attributes"].append(conversation)
        made += spans
    document = build(tmp_path, *made)
    logs = [log for step in document["steps"] for log in step["tool_logs"]]
    assert [log["outputs"] for log in logs] == (["0", "1"] if executed else ["0", None])
    assert document["warnings"] == [
        "repeated_tool_call: tool call ids of several Inputs of one conversation, told apart: toolu_x (0001, 0002)"
    ]


ODD = [{"fooValue": 3}, {"arrayValue": "x"}, {"kvlistValue": [1]}, {"arrayValue": {"values": [{"fooValue": 3}]}}]


@pytest.mark.parametrize("value", ODD, ids=str)
def test_a_value_of_no_known_kind_is_kept_and_told(value: Any, tmp_path: Path) -> None:
    tool = tool_span(A, 1, "read", call_id="c1", arguments={"k": 1})
    tool["attributes"].append({"key": "gen_ai.tool.call.result", "value": value})
    document = build(tmp_path, tool)
    (log,) = document["steps"][0]["tool_logs"]
    assert log["input_arguments"] == {"k": 1}
    assert "fooValue" in str(log["outputs"]) or log["outputs"] == value
    assert document["status"] == "partial"
    told = "gen_ai.tool.call.result of no known kind of value, kept as recorded"
    assert document["warnings"] == [f"unreadable_value: span {A}: {told} (trace.jsonl:1)"]


RESULTS = [
    ({"intValue": "7"}, 7),
    ({"boolValue": False}, False),
    ({"stringValue": ""}, ""),
    ({"bytesValue": "AAEC"}, {"base64": "AAEC"}),
    ({"arrayValue": {"values": [{"doubleValue": 1.5}, {}]}}, [1.5, None]),
]


@pytest.mark.parametrize(("value", "told"), RESULTS, ids=str)
def test_a_result_that_is_no_text_is_told(value: Any, told: Any, tmp_path: Path) -> None:
    tool = tool_span(A, 1, "read", call_id="c1")
    tool["attributes"].append({"key": "gen_ai.tool.call.result", "value": value})
    document = build(tmp_path, tool)
    (log,) = document["steps"][0]["tool_logs"]
    assert (log["outputs"], log["execution_status"], document["warnings"]) == (told, "succeeded", [])


@pytest.mark.parametrize("start", [2**70, str(2**70), 10**21])
def test_a_time_beyond_every_calendar_is_told(start: Any, tmp_path: Path) -> None:
    document = build(tmp_path, model_span(A, 1, text="one", startTimeUnixNano=start))
    (step,) = document["steps"]
    assert (document.get("error"), step["started_at"]) == (None, None)
    assert "unreadable_time: step 1 has no readable start time" in document["warnings"]
