"""Plain and coloured text."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from otel2traj.renderers.base import Mode
from otel2traj.renderers.blocks import Head, Line, Quote, Tone
from otel2traj.renderers.text import TextPainter
from tests.factory import step, trajectory

from .helpers import render, stored


def test_golden_colour(fixtures: Path, golden: Callable[[Path, bytes], None]) -> None:
    folder = fixtures / "renderers" / "nightly-sync"
    actual = render("text", stored(folder / "trajectory.json"), colour=True, wrap=True, width=72)
    golden(folder / "expected" / "show-colour-72.ansi", actual.encode("utf-8"))


def test_colour_adds_nothing_but_colour(fixtures: Path) -> None:
    what = stored(fixtures / "renderers" / "nightly-sync" / "trajectory.json")
    coloured = re.sub(r"\x1b\[[0-9;]*m", "", render("text", what, colour=True))
    plain = render("text", what)
    assert [line.rstrip() for line in coloured.splitlines()] == [line.rstrip() for line in plain.splitlines()]
    assert "\x1b" not in plain


def test_hostile_names_stay_on_their_line() -> None:
    what = trajectory(step(1, agent_name="a\n── step 2 · root ──\x1b[2J"), header={"run_id": "r\r\x1b]0;x\x07"})
    text = render("text", what)
    assert "\x1b" not in text
    assert "\n── step 2" not in text


def test_response_only_has_the_line_form(fixtures: Path) -> None:
    text = render("text", stored(fixtures / "renderers" / "nightly-sync" / "trajectory.json"), mode=Mode.RESPONSE_ONLY)
    own = [line for line in text.splitlines() if not line.startswith("    ")]
    assert [line.split(":")[0] for line in own] == [
        f"Step {n} - {'lead/researcher' if n == 5 else 'lead'}" for n in range(1, 9)
    ]


def test_content_stands_behind_a_bar_and_is_wrapped_there() -> None:
    painter = TextPainter(colour=False, width=30)
    text = painter.paint([Quote("one two three four five six\n\nseven\n", 1)])
    assert text == "  │ one two three four five\n  │ six\n  │\n  │ seven\n"


def test_a_diff_is_told_by_signs_and_by_colour() -> None:
    painter = TextPainter(colour=True, width=None)
    assert painter.paint([Quote("+a\n-b\n c", 0, "diff")]).splitlines() == [
        "\x1b[2m│ \x1b[0m\x1b[32m+a\x1b[0m",
        "\x1b[2m│ \x1b[0m\x1b[1;31m-b\x1b[0m",
        "\x1b[2m│ \x1b[0m c",
    ]


def test_words_of_a_line_cannot_bring_their_own_colour() -> None:
    painted = TextPainter(colour=True, width=None).paint(
        [Head(2, [("x\x1b[0m", Tone.BAD)]), Line([("y\nz", Tone.PLAIN)])]
    )
    assert "\\x1b[0m" in painted
    assert "y\\nz" in painted
