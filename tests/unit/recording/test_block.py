"""Recording in process, the pytest fixture, and the assertions."""

from __future__ import annotations

import json
import os
import urllib.request
from pathlib import Path

import pytest
from opentelemetry import trace

import otel2traj
from otel2traj import testing
from otel2traj.api.block import Run
from tests.model_server import ModelServer


def model_call_span() -> None:
    attributes = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.response.id": "r-1"}
    with trace.get_tracer("test").start_as_current_span("chat m", attributes=attributes):
        pass


def ask() -> None:
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "go"}]}).encode()
    url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
    urllib.request.urlopen(urllib.request.Request(url, body, {"Content-Type": "application/json"})).read()


def test_a_block_is_recorded_and_the_environment_is_as_it_was(tmp_path: Path) -> None:
    before = dict(os.environ)
    with ModelServer() as server, otel2traj.record(out=tmp_path / "run", upstreams={"openai": server.url}) as run:
        ask()
        model_call_span()
    assert dict(os.environ) == before
    assert [str(step.source) for step in run.trajectory.steps] == ["wire", "framework"]
    assert (tmp_path / "run/trajectory.json").is_file()


def test_an_exception_goes_on_its_way_and_the_run_is_kept(tmp_path: Path) -> None:
    def fail() -> None:
        with otel2traj.record(out=tmp_path / "run"):
            model_call_span()
            raise ZeroDivisionError("division by zero")

    with pytest.raises(ZeroDivisionError):
        fail()
    result = json.loads((tmp_path / "run/steps/0001/result.json").read_text())
    assert (result["status"], result["error"]) == ("failed", "ZeroDivisionError: division by zero")
    assert len(json.loads((tmp_path / "run/trajectory.json").read_text())["steps"]) == 1


def test_the_fixture_records_a_test(otel2traj_record: Run) -> None:
    model_call_span()
    testing.assert_max_model_calls(otel2traj_record, 1)


@pytest.fixture
def attempt(fixtures: Path) -> Path:
    return fixtures / "attempts/langgraph-toolerror/attempt"


def test_assertions_that_hold(attempt: Path) -> None:
    testing.assert_tool_called(attempt, "flaky_service", {"reason": "nightly sync"}, times=1)
    testing.assert_tool_not_called(attempt, "delete_database")
    testing.assert_tool_order(attempt, ["flaky_service", "read_file"])
    testing.assert_max_model_calls(attempt, 4)
    testing.assert_max_tokens(attempt, 794)
    testing.assert_all_linked(attempt)


def test_assertions_that_fail_print_the_steps_that_matter(attempt: Path) -> None:
    with pytest.raises(AssertionError, match=r"never called\n  step 1: flaky_service .*nightly sync"):
        testing.assert_tool_called(attempt, "flaky_service", {"reason": "other"})
    with pytest.raises(AssertionError, match=r"1 times, not 2\n  step 1"):
        testing.assert_tool_called(attempt, "flaky_service", times=2)
    with pytest.raises(AssertionError, match=r"was called\n  step 2"):
        testing.assert_tool_not_called(attempt, "read_file")
    with pytest.raises(AssertionError, match="not called at its place"):
        testing.assert_tool_order(attempt, ["read_file", "flaky_service"])
    with pytest.raises(AssertionError, match=r"2 tool executions failed(.|\n)*step 1: flaky_service"):
        testing.assert_no_failure(attempt)
    with pytest.raises(AssertionError, match="4 model calls, more than 3"):
        testing.assert_max_model_calls(attempt, 3)
    with pytest.raises(AssertionError, match="794 tokens, more than 793"):
        testing.assert_max_tokens(attempt, 793)


def test_a_call_that_nobody_executed_is_not_linked(fixtures: Path) -> None:
    with pytest.raises(AssertionError, match="without an exact link"):
        testing.assert_all_linked(fixtures / "attempts/vercelai-builtin-badcall/attempt")
