"""JSON Lines: one object a line, streamed."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from otel2traj.canonical import loads
from otel2traj.errors import UsageError
from otel2traj.outcome import OutcomeReader
from otel2traj.renderers.base import Mode, Part, RenderOptions
from otel2traj.renderers.jsonl import JsonLines
from otel2traj.renderers.select import Selection
from tests.factory import play, step, trajectory

from .helpers import render, stored


def objects(text: str) -> list[dict[str, object]]:
    values = [loads(line) for line in text.splitlines()]
    assert all(isinstance(value, dict) for value in values)
    return values  # type: ignore[return-value]


def test_records_say_what_they_are() -> None:
    got = objects(render("json", trajectory(step(1), step(2)), selection=Selection(ranges=((2, 2),))))
    assert [one["record"] for one in got] == ["header", "step", "summary"]
    assert (got[1]["step_id"], got[2]["steps"], got[2]["shown"]) == (2, 2, 1)


def test_the_summary_bears_the_outcome(fixtures: Path) -> None:
    run = stored(fixtures / "renderers" / "nightly-sync" / "trajectory.json")
    reader = OutcomeReader()
    play(run, reader)
    told: Any = objects(render("json", run, part=Part.HEAD))
    assert [one["record"] for one in told] == ["header", "summary"]
    outcome = told[1]["outcome"]
    assert outcome["ended"]["status"] == reader.outcome.ended.status
    assert [one["reason"] for one in outcome["failures"]] == [one.reason for one in reader.outcome.failures] != []
    assert all("recovered" in one and one["pointer"] for one in outcome["failures"])
    assert len(outcome["unknowns"]) == len(reader.outcome.unknowns)
    assert {one["record"] for one in objects(render("json", run, part=Part.STEPS))} == {"step"}


def test_a_step_is_written_before_the_next_is_read() -> None:
    out = io.BytesIO()
    what = trajectory(step(1))
    sink = JsonLines().sink(out, RenderOptions())
    sink.begin(what.header)
    sink.step(what.steps[0])
    assert out.getvalue().count(b"\n") == 2


def test_a_cut_request_says_how_much_is_gone() -> None:
    big = step(1, input={"messages": [{"role": "user", "content": "ä" * 1000}]})
    (_, one, _) = objects(render("json", trajectory(big), mode=Mode.TRUNCATE_MIDDLE))
    cut = one["input"]
    assert isinstance(cut, dict)
    assert cut["characters"] == 3000 + cut["left_out"]
    assert cut["left_out"] > 3000
    assert big.input["messages"][0]["content"] == "ä" * 1000


def test_a_budget_is_refused() -> None:
    with pytest.raises(UsageError):
        JsonLines().sink(io.BytesIO(), RenderOptions(budget=10))
