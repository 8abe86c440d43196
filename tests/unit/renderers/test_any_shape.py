"""Whatever a stored file holds where the contract leaves the shape open, it is shown and nothing raises."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otel2traj.model.link import ExecutionStatus, LinkStatus
from otel2traj.model.trajectory import SdkInput, StepKind, StepStatus, ToolLog, Trajectory
from otel2traj.renderers import RENDERERS
from otel2traj.renderers.base import Mode
from tests.factory import step, trajectory

from .helpers import render

SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8)
)
ANY = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3), max_leaves=6)  # fmt: skip # noqa: E501
TYPES = st.sampled_from(
    ["text", "reasoning", "tool_call", "tool_use", "tool_result", "function_call_output", "refusal", "image"]
)


def some(*keys: str) -> st.SearchStrategy[dict[str, Any]]:
    """Objects with some of these keys, each with any value, and now and then a `type` that means something."""
    known: dict[str, st.SearchStrategy[Any]] = dict.fromkeys(keys, ANY)
    return st.fixed_dictionaries({}, optional=known | ({"type": TYPES} if "type" in keys else {}))


MESSAGES = some(
    "role", "content", "parts", "tool_calls", "tool_call_id", "type", "name", "output", "arguments", "function"
)
CALLS = some("id", "name", "arguments")
RECORDS = some("path", "line", "offset", "length", "sha256", "what")
GUESSES = some("rule", "step_id", "interaction_id", "tool_call_id")
EVIDENCE = st.fixed_dictionaries(
    {},
    optional={
        "records": st.lists(RECORDS | ANY, max_size=3) | ANY,
        "inferred": GUESSES | ANY,
        "inferred_call": GUESSES | ANY,
        "reported_result": GUESSES | ANY,
        "candidates": ANY,
        "started_at": ANY,
        "ended_at": ANY,
    },
)
LOGS = st.builds(
    ToolLog,
    st.none() | st.text(max_size=5),
    st.none() | st.text(max_size=5),
    ANY,
    ANY,
    st.sampled_from(ExecutionStatus),
    st.none() | some("exitCode", "signal"),
    st.sampled_from(LinkStatus),
    EVIDENCE,
    some("started_at", "ended_at"),
)
INPUTS = st.fixed_dictionaries(
    {},
    optional={"messages": st.lists(MESSAGES | ANY, max_size=4) | ANY, "system": ANY, "tools": ANY, "parameters": ANY},
)
OUTPUTS = st.fixed_dictionaries(
    {},
    optional={
        "text": ANY,
        "reasoning": ANY,
        "refusal": ANY,
        "tool_calls": st.lists(CALLS | ANY, max_size=3) | ANY,
        "usage": some("input_tokens", "output_tokens") | ANY,
        "wire_error": ANY,
        "choices": ANY,
        "other_parts": ANY,
        "finish_reason": ANY,
        "output_source": ANY,
    },
)
SDK_INPUTS = st.builds(
    SdkInput,
    st.text(max_size=4),
    st.none(),
    ANY,
    st.none() | st.just([1, 1]),
    st.none() | some("status"),
    st.lists(some("path", "change_type", "diff", "old_path", "before", "after"), max_size=2),
)


@st.composite
def trajectories(draw: st.DrawFn) -> Trajectory:
    steps = [
        step(
            number,
            input=draw(INPUTS),
            output=draw(OUTPUTS),
            evidence=draw(EVIDENCE),
            kind=draw(st.sampled_from(StepKind)),
            status=draw(st.sampled_from(StepStatus)),
        )
        for number in range(1, draw(st.integers(1, 3)) + 1)
    ]
    for one in steps:
        one.tool_logs = draw(st.lists(LOGS, max_size=2))
    metadata = draw(some("task_instruction"))
    inputs = draw(st.lists(SDK_INPUTS, max_size=2))
    return trajectory(
        *steps, header={"metadata": metadata}, inputs=inputs, sources=draw(st.lists(some("path", "sha256"), max_size=2))
    )


@pytest.mark.parametrize("form", RENDERERS.names())
@pytest.mark.parametrize("mode", list(Mode))
@given(what=trajectories())
@settings(max_examples=40, deadline=None)
def test_every_shape_is_shown(form: str, mode: Mode, what: Trajectory) -> None:
    options: dict[str, Any] = {"mode": mode} if form != "html" else {}
    render(form, what, **options)
