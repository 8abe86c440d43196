"""Which recorded field says what, for one step at a time."""

from __future__ import annotations

from typing import Any

import pytest

from otel2traj.model.link import ExecutionStatus, LinkStatus
from otel2traj.model.trajectory import StepKind, StepSource, StepStatus
from otel2traj.outcome import FailureKind, GapKind, Sign, step_failures, step_gaps
from tests.factory import not_observed, step, tool_log

REQUEST = {"path": "logs/network.jsonl", "line": 1, "sha256": "1" * 64, "what": "request"}
RESPONSE = {"path": "logs/network.jsonl", "line": 2, "sha256": "2" * 64, "what": "response"}
EVIDENCE = {"interaction_id": "0" * 24, "records": [REQUEST, RESPONSE]}
SEARCH = {
    "type": "function",
    "function": {
        "name": "search",
        "parameters": {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]},
    },
}


def failed(**output: Any) -> Any:
    return step(3, status=StepStatus.FAILED, output={"text": None, "tool_calls": [], **output}, evidence=EVIDENCE)


def test_a_refused_call_gives_status_code_and_the_providers_words_with_the_bytes_of_the_answer() -> None:
    (found,) = step_failures(failed(http_status=429, error={"type": "rate_limit_error", "message": "slow down"}))
    assert (found.kind, found.http_status, found.sign) == (FailureKind.PROVIDER, 429, Sign.RATE_LIMIT)
    assert found.reason == "429 rate_limit_error: slow down"
    assert found.pointer == "/steps/2/output/error"
    assert found.records == [RESPONSE]
    assert (found.step_id, found.input_ordinal, found.agent) == (3, "0001", "lead")


def test_a_status_alone_is_a_reason() -> None:
    (found,) = step_failures(failed(http_status=502))
    assert (found.reason, found.sign) == ("502", Sign.SERVER)


def test_the_interceptors_error_stands_before_what_others_say_of_it() -> None:
    wire = {"error": "ReadTimeout: no byte within 60 s", "error_code": "transport_error"}
    (found,) = step_failures(failed(wire_error=wire, error={"message": "Request timed out."}))
    assert found.kind is FailureKind.WIRE
    assert found.reason == "transport_error: ReadTimeout: no byte within 60 s"
    assert found.sign is Sign.TIMEOUT


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("length", FailureKind.LENGTH),
        ("max_tokens", FailureKind.LENGTH),
        ("MAX_TOKENS", FailureKind.LENGTH),
        ("FinishReason.SAFETY", FailureKind.CONTENT_FILTER),
        ("content_filter", FailureKind.CONTENT_FILTER),
        ("refusal", FailureKind.REFUSAL),
        ("MALFORMED_FUNCTION_CALL", FailureKind.MODEL),
    ],
)
def test_a_finish_reason_that_is_no_end(word: str, kind: FailureKind) -> None:
    (found,) = step_failures(step(output={"text": "It is", "tool_calls": [], "finish_reason": word}))
    assert found.kind is kind
    assert word in (found.code or "")


@pytest.mark.parametrize("word", ["stop", "end_turn", "tool_calls", "STOP", "completed", None])
def test_a_finish_reason_that_is_an_end(word: str | None) -> None:
    assert step_failures(step(output={"text": "It is done.", "tool_calls": [], "finish_reason": word})) == []


def test_a_refusal_is_told_once_and_in_the_models_words() -> None:
    output = {"text": None, "tool_calls": [], "refusal": "I cannot do that.", "finish_reason": "stop"}
    (found,) = step_failures(step(output=output))
    assert (found.kind, found.reason) == (FailureKind.REFUSAL, "refusal: I cannot do that.")


def test_an_empty_answer_is_told_and_content_that_was_not_recorded_is_none() -> None:
    empty: dict[str, Any] = {"text": "", "tool_calls": [], "finish_reason": "stop"}
    unrecorded: dict[str, Any] = {**empty, "text": None}
    assert [f.kind for f in step_failures(step(output=empty))] == [FailureKind.EMPTY]
    assert step_failures(step(output=unrecorded, source=StepSource.FRAMEWORK)) == []


def test_a_response_that_breaks_off_is_a_failure_and_one_never_recorded_is_a_gap() -> None:
    broken = step(status=StepStatus.INCOMPLETE, output={"text": "It i", "tool_calls": []}, evidence=EVIDENCE)
    assert [f.kind for f in step_failures(broken)] == [FailureKind.CUT]
    assert step_gaps(broken) == []
    missing = step(status=StepStatus.INCOMPLETE, output={}, evidence={**EVIDENCE, "records": [REQUEST]})
    assert step_failures(missing) == []
    assert [gap.kind for gap in step_gaps(missing)] == [GapKind.NO_RESPONSE]


def test_a_tool_that_was_not_offered() -> None:
    asked = step(1, not_observed("c1", "drop"), input={"tools": [SEARCH]})
    (found,) = step_failures(asked)
    assert (found.kind, found.tool, found.tool_call_id) == (FailureKind.UNKNOWN_TOOL, "drop", "c1")
    assert found.pointer == "/steps/0/output/tool_calls/0"
    assert step_failures(step(1, not_observed("c1", "drop"))) == [], "no tools were recorded: nothing can be said"
    ran = step(1, tool_log("c1", "drop"), input={"tools": [SEARCH]})
    assert step_failures(ran) == [], "it was carried out all the same"


def test_arguments_that_are_no_json_and_tools_that_take_text() -> None:
    log = not_observed("c1", "search", input_arguments='{"q": "x')
    assert [f.kind for f in step_failures(step(1, log, input={"tools": [SEARCH]}))] == [FailureKind.ARGUMENTS]
    free = {"type": "custom", "name": "search"}
    assert step_failures(step(1, log, input={"tools": [free]})) == []
    nothing = not_observed("c1", "search", input_arguments="")
    assert step_failures(step(1, nothing, input={"tools": [SEARCH]})) == []


def test_arguments_against_the_schema_count_only_where_the_tool_failed() -> None:
    error = {"execution_status": ExecutionStatus.ERROR, "outputs": "bad"}
    log = tool_log("c1", "search", input_arguments={"query": "x"}, **error)
    kinds = [f.kind for f in step_failures(step(1, log, input={"tools": [SEARCH]}))]
    assert kinds == [FailureKind.UNDECLARED, FailureKind.TOOL]
    fine = tool_log("c1", "search", input_arguments={"query": "x"})
    assert step_failures(step(1, fine, input={"tools": [SEARCH]})) == []


def test_a_tool_error_with_class_and_stack() -> None:
    trace = "Traceback (most recent call last):\n  File 'a.py'\nRuntimeError: down"
    log = tool_log(
        execution_status=ExecutionStatus.ERROR,
        outputs="down",
        evidence={"exception": {"type": "RuntimeError", "message": "down", "stacktrace": trace}},
    )
    (found,) = step_failures(step(2, log))
    assert (found.kind, found.code, found.reason) == (FailureKind.TOOL, "RuntimeError", "RuntimeError: down")
    assert found.stack == trace
    assert found.pointer == "/steps/1/tool_logs/0/outputs"


def test_exit_codes_and_signals() -> None:
    exited = tool_log(outputs="checking\n\ncp: No space left on device", exit_status={"exitCode": 1, "signal": None})
    (found,) = step_failures(step(1, exited))
    assert (found.kind, found.exit_code, found.sign) == (FailureKind.EXIT, 1, Sign.DISK)
    assert found.reason == "exit 1: checking … cp: No space left on device"
    killed = tool_log(outputs=None, exit_status={"exitCode": None, "signal": "SIGXCPU"})
    (found,) = step_failures(step(1, killed))
    assert (found.kind, found.reason, found.sign) == (FailureKind.SIGNAL, "signal SIGXCPU", Sign.CPU)


def test_an_ambiguous_link_and_a_tool_that_never_ended_are_gaps_of_their_own() -> None:
    ambiguous = not_observed("c1", link=LinkStatus.AMBIGUOUS, evidence={"candidates": [{}, {}]})
    begun = not_observed("c2", link=LinkStatus.EXACT)
    found = step_gaps(step(1, ambiguous, begun, not_observed("c3")))
    assert [gap.kind for gap in found] == [GapKind.AMBIGUOUS, GapKind.NEVER_ENDED, GapKind.NOT_OBSERVED]
    assert [gap.pointer for gap in found] == [f"/steps/0/tool_logs/{n}" for n in range(3)]


def test_an_execution_without_a_call_has_only_what_its_log_says() -> None:
    log = tool_log(execution_status=ExecutionStatus.ERROR, outputs={"error": {"code": "E1", "message": "no"}})
    alone = step(1, log, kind=StepKind.TOOL_ONLY, status=StepStatus.FAILED, input={}, output={})
    assert [f.reason for f in step_failures(alone)] == ["E1: no"]
