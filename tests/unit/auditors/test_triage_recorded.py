"""Causes from recorded fields: what fires, and what must not."""

from __future__ import annotations

from typing import Any

import pytest

from otel2traj.auditors.triage import UNOBSERVABLE, diagnose, named_by
from otel2traj.canonical import JsonObject
from otel2traj.model.forensic import FailureCategory as Category
from otel2traj.outcome.failure import FailureKind
from otel2traj.outcome.signs import Sign


def ledger(*failures: JsonObject, status: str = "failed", steps: int = 3, **more: Any) -> JsonObject:
    """A ledger of `steps` agent entries with an outcome."""
    history: list[JsonObject] = [{"identity": "user_id", "role": "user", "content": "Do it."}]
    for step in range(1, steps + 1):
        history.append(
            {"identity": "agent_id:a", "role": "agent", "content": f"step {step}", "evidence": {"step_id": step}}
        )
    outcome = {
        "ended": {"status": status, "word": status, "said_by": "input_result"},
        "inputs": [{"ordinal": "0001", "status": status, "word": status}],
        "failures": [{"recovered": False, "input_ordinal": "0001", "records": [], **failure} for failure in failures],
        "unknowns": [],
    }
    return {"conversation_history": history, "metrics": [], "outcome": outcome, "turns_taken": steps, **more}


def cause(*failures: JsonObject, **more: Any) -> str:
    report, _ = diagnose(ledger(*failures, **more))
    return str(report["root_cause"])


@pytest.mark.parametrize(
    ("failure", "category"),
    [
        ({"kind": "refusal", "code": "refusal"}, Category.LOGIC_REFUSAL),
        ({"kind": "content filter", "code": "content_filter"}, Category.POLICY_VIOLATION),
        ({"kind": "answer cut at a length limit", "code": "length"}, Category.INFRA_RESOURCE_EXHAUSTED),
        ({"kind": "empty answer"}, Category.LOGIC_ABANDONMENT),
        ({"kind": "arguments are not JSON"}, Category.POLICY_HALLUCINATION),
        ({"kind": "arguments against the offered schema"}, Category.POLICY_HALLUCINATION),
        ({"kind": "tool was not offered"}, Category.POLICY_HALLUCINATION),
        ({"kind": "response cut off"}, Category.INFRA_CONNECTION_FAILED),
        ({"kind": "provider error", "sign": "rate limit"}, Category.INFRA_RESOURCE_EXHAUSTED),
        ({"kind": "provider error", "sign": "quota"}, Category.INFRA_RESOURCE_EXHAUSTED),
        ({"kind": "provider error", "sign": "authentication"}, Category.SECURITY_UNAUTHORIZED_ACCESS),
        ({"kind": "provider error", "sign": "server error"}, Category.INFRA_SIMULATOR_EXCEPTION),
        ({"kind": "provider error", "sign": "context length"}, Category.INFRA_RESOURCE_EXHAUSTED),
        (
            {"kind": "provider error", "sign": "bad request", "message": "prompt is too long: 210000 tokens > 200000"},
            Category.INFRA_RESOURCE_EXHAUSTED,
        ),
        ({"kind": "provider error", "sign": "bad request", "message": "bad role"}, Category.INFRA_SIMULATOR_EXCEPTION),
        ({"kind": "wire error", "sign": "timeout"}, Category.INFRA_TIMEOUT),
        ({"kind": "wire error", "sign": "connection"}, Category.INFRA_CONNECTION_FAILED),
        ({"kind": "wire error", "sign": "egress denied"}, Category.POLICY_VIOLATION),
        ({"kind": "tool error", "sign": "no space left"}, Category.INFRA_DISK_QUOTA),
        ({"kind": "tool error", "sign": "out of memory"}, Category.INFRA_OOM),
        ({"kind": "tool error", "sign": "permission"}, Category.SECURITY_UNAUTHORIZED_ACCESS),
        ({"kind": "tool error", "sign": "validation"}, Category.POLICY_HALLUCINATION),
        ({"kind": "tool error", "message": "Agent bob not found in the team"}, Category.POLICY_HALLUCINATION),
        ({"kind": "tool error", "message": "service unavailable"}, Category.INFRA_SIMULATOR_EXCEPTION),
        ({"kind": "tool error", "sign": "not found", "message": "no such file"}, Category.INFRA_SIMULATOR_EXCEPTION),
        ({"kind": "non-zero exit", "exit_code": 124}, Category.INFRA_TIMEOUT),
        ({"kind": "non-zero exit", "exit_code": 137, "message": "oom-kill: task a"}, Category.INFRA_OOM),
        ({"kind": "ended by a signal", "signal": "SIGXCPU", "sign": "CPU limit"}, Category.INFRA_RESOURCE_EXHAUSTED),
        ({"kind": "ended by a signal", "signal": "SIGSEGV"}, Category.INFRA_SANDBOX_FAILURE),
        ({"kind": "input failed", "sign": "limit of steps or turns"}, Category.LOGIC_STALL),
        ({"kind": "input failed", "code": "SimulatorError"}, Category.INFRA_SIMULATOR_EXCEPTION),
        ({"kind": "input failed", "code": "StateVerificationError"}, Category.LOGIC_STATE_MISMATCH),
        ({"kind": "input failed", "code": "DockerException"}, Category.INFRA_SANDBOX_FAILURE),
        ({"kind": "input failed", "message": "parity_check: outputs differ"}, Category.PARITY_STATE_DIVERGENCE),
    ],
)
def test_a_recorded_field_names_its_cause(failure: JsonObject, category: Category) -> None:
    assert cause({"step_id": 3, **failure}) == category


@pytest.mark.parametrize(
    "failure",
    [
        {"kind": "non-zero exit", "exit_code": 1},
        {"kind": "non-zero exit", "exit_code": 137},
        {"kind": "ended by a signal", "signal": "SIGKILL"},
        {"kind": "input failed", "code": "RuntimeError", "message": "it did not work out"},
        {"kind": "tool error", "sign": "permission", "message": "permission rejected by user"},
        {"kind": "provider error", "sign": "rate limit", "recovered": True},
    ],
)
def test_what_names_nothing_stays_unknown(failure: JsonObject) -> None:
    assert cause({"step_id": 3, **failure}) == Category.UNKNOWN_FAILURE


def test_words_decide_nothing_where_an_end_was_recorded() -> None:
    spoken = ledger(status="failed", steps=1)
    said = "I'm sorry, I can't help with that. Error 403 at line 403, card 4111 1111 1111 1111, timeout, out of memory."
    spoken["conversation_history"].append({"identity": "agent_id:a", "role": "agent", "content": said})
    assert diagnose(spoken)[0]["root_cause"] == Category.UNKNOWN_FAILURE
    spoken["outcome"]["ended"]["status"] = "succeeded"
    assert diagnose(spoken)[0]["root_cause"] == Category.SUCCESS


def test_no_verdict_is_no_success_and_no_cause() -> None:
    assert cause(status="not recorded") == Category.UNKNOWN_FAILURE
    lost = {"kind": "provider error", "sign": "server error", "step_id": 1}
    assert cause(lost, status="not recorded") == Category.UNKNOWN_FAILURE  # something followed it
    assert cause({**lost, "step_id": 3}, status="not recorded") == Category.INFRA_SIMULATOR_EXCEPTION


def test_the_fault_of_a_call_comes_before_the_error_of_its_execution() -> None:
    fault = {"kind": "tool was not offered", "step_id": 2, "tool_call_id": "c"}
    error = {"kind": "tool error", "step_id": 2, "tool_call_id": "c", "message": "boom"}
    assert cause(fault, error) == Category.POLICY_HALLUCINATION
    assert cause({**fault, "tool_call_id": "d", "recovered": True}, error) == Category.INFRA_SIMULATOR_EXCEPTION


def test_the_last_unrecovered_failure_decides_and_is_pointed_at() -> None:
    early = {"kind": "provider error", "sign": "rate limit", "step_id": 1, "recovered": True}
    late = {"kind": "provider error", "sign": "server error", "step_id": 3}
    report, _ = diagnose(ledger(early, late))
    assert report["root_cause"] == Category.INFRA_SIMULATOR_EXCEPTION
    assert report["index"] == 3
    end = {"kind": "input failed", "sign": "timeout", "message": "Request timed out."}
    step = {"kind": "wire error", "sign": "timeout", "step_id": 2, "message": "ReadTimeout: Request timed out."}
    report, _ = diagnose(ledger(step, end))
    assert (report["root_cause"], report["index"]) == (Category.INFRA_TIMEOUT, 2)


def test_a_run_recorded_as_timed_out_is_a_timeout() -> None:
    assert cause(status="timed out") == Category.INFRA_TIMEOUT


def test_a_loop_is_a_cause_where_nothing_else_was_recorded() -> None:
    looping = ledger(status="failed", steps=0)
    for step in range(1, 6):
        call = {"id": f"c{step}", "name": "search", "arguments": {"q": "x"}}
        looping["conversation_history"].append(
            {"identity": "agent_id:a", "role": "agent", "content": None, "tool_calls": [call]}
        )
    assert diagnose(looping)[0]["root_cause"] in (Category.LOGIC_STATE_STALL, Category.LOGIC_PLANNING_ERROR)


WITHOUT_A_FAILURE = {
    Category.SUCCESS, Category.PARTIAL_PASS, Category.UNKNOWN_FAILURE,  # what metrics and records do not decide
    Category.LOGIC_PLANNING_ERROR, Category.LOGIC_STATE_STALL, Category.SECURITY_PII_LEAK,
    Category.SECURITY_SANDBOX_ESCAPE,  # what agents said and called, turn by turn
}  # fmt: skip


def test_every_category_has_a_recorded_fact_or_a_reason_why_there_is_none() -> None:
    named = {category for category in Category if named_by(category)}
    assert named & UNOBSERVABLE.keys() == set()
    assert named | UNOBSERVABLE.keys() | WITHOUT_A_FAILURE == set(Category)
    assert all(UNOBSERVABLE.values())


@pytest.mark.parametrize(
    ("failure", "category"),
    [
        *(
            ({"kind": kind}, category)
            for category in Category
            for kind in named_by(category)
            if kind in set(FailureKind)
        ),
        *(
            ({"kind": "provider error", "sign": sign}, category)
            for category in Category
            for sign in named_by(category)
            if sign in set(Sign)
        ),
        *(
            ({"kind": "input failed", "code": word.split("`")[1]}, category)
            for category in Category
            for word in named_by(category)
            if word.startswith("`")
        ),
    ],
)
def test_what_the_page_lists_names_its_category(failure: JsonObject, category: Category) -> None:
    assert cause({**failure, "step_id": 3}) == category
