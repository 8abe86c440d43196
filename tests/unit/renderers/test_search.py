"""Words in a run: where they stand, counted beyond the limit."""

from __future__ import annotations

from pathlib import Path

from otel2traj.renderers.search import Search
from tests.factory import play, step, trajectory

from .helpers import render, stored


def test_every_hit_is_a_line_of_show(fixtures: Path) -> None:
    run = stored(fixtures / "renderers" / "nightly-sync" / "trajectory.json")
    found = Search("sync", 1000)
    play(run, found)
    text = render("text", run)
    assert found.count == len(found.hits) > 5
    for hit in found.hits:
        assert "sync" in hit.line.lower()
        assert hit.line.strip("…") in text
    assert {hit.step_id for hit in found.hits} <= {None, *(one.step_id for one in run.steps)}


def test_a_message_that_is_sent_again_is_found_once() -> None:
    first = {"role": "user", "content": "find the needle"}
    later = [first, {"role": "assistant", "content": "looking"}]
    found = Search("Needle", 10)
    play(trajectory(step(1, input={"messages": [first]}), step(2, input={"messages": later})), found)
    assert [hit.step_id for hit in found.hits if hit.step_id is not None] == [1]


def test_what_is_beyond_the_limit_is_counted_and_long_lines_are_cut() -> None:
    many = "x " * 500 + "needle" + " y" * 500 + "\nneedle\nneedle"
    found = Search("needle", 2)
    play(trajectory(step(1, output={"text": many, "tool_calls": []})), found)
    answer = [hit for hit in found.hits if hit.step_id == 1]
    assert len(found.hits) == 2
    assert found.count > 2
    assert answer[0].line.startswith("…")
    assert len(answer[0].line) < 260
