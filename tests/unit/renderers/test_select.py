"""Which steps are shown."""

from __future__ import annotations

import pytest

from otel2traj.errors import UsageError
from otel2traj.model.link import ExecutionStatus
from otel2traj.model.trajectory import StepStatus
from otel2traj.renderers.select import Selection, parse_ranges
from tests.factory import not_observed, step, tool_log


def test_ranges() -> None:
    assert parse_ranges("3-7,9,12-,-2") == ((3, 7), (9, 9), (12, None), (1, 2))


@pytest.mark.parametrize("text", ["", "x", "7-3", "1,,2", "-", "1-2-3", "--3"])
def test_senseless_ranges_are_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_ranges(text)


def test_all_conditions_must_hold() -> None:
    one = step(4, tool_log(name="search"), agent_name="lead/researcher", input_ordinal="0002")
    assert Selection(ranges=((3, None),), agents=("researcher",), tools=("search",), inputs=("2",)).takes(one)
    assert not Selection(ranges=((1, 3),)).takes(one)
    assert not Selection(agents=("search",)).takes(one)
    assert not Selection(tools=("read",)).takes(one)
    assert not Selection(inputs=("0001",)).takes(one)
    assert not Selection(failed=True).takes(one)


def test_failed_means_recorded_as_failed() -> None:
    wanted = Selection(failed=True)
    assert wanted.takes(step(1, tool_log(execution_status=ExecutionStatus.ERROR)))
    assert wanted.takes(step(1, tool_log(exit_status={"exitCode": 3, "signal": None})))
    assert wanted.takes(step(1, tool_log(exit_status={"exitCode": None, "signal": "SIGKILL"})))
    assert wanted.takes(step(1, status=StepStatus.INCOMPLETE))
    assert not wanted.takes(step(1, tool_log(exit_status={"exitCode": 0, "signal": None})))
    assert not wanted.takes(step(1, not_observed()))


def test_a_step_without_agent_or_input_is_not_taken_for_one() -> None:
    assert not Selection(agents=("lead",)).takes(step(1, agent_name=None))
    assert not Selection(inputs=("0",)).takes(step(1, input_ordinal=None))
