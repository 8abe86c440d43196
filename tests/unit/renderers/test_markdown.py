"""No recorded word is markup."""

from __future__ import annotations

from otel2traj.renderers.markdown import escape, fenced
from tests.factory import step, trajectory

from .helpers import render


def test_markup_is_switched_off() -> None:
    assert escape("<b>*x*</b> [a](b) `c` a|b ~~d~~ &lt;") == (r"\<b\>\*x\*\</b\> \[a\](b) \`c\` a\|b \~\~d\~\~ \&lt;")
    assert escape("http://x www.x.org a@b.c") == r"http\://x www\.x.org a\@b.c"
    assert escape("read_file _it_") == r"read_file \_it\_"
    assert escape("1. one") == r"1\. one"
    assert escape("- one") == r"\- one"
    assert escape("0.1 s") == "0.1 s"


def test_a_fence_is_longer_than_any_inside() -> None:
    assert fenced("````\nx", "json") == ["`````json", "````", "x", "`````"]


def test_a_fence_closes_before_the_next_heading() -> None:
    text = render("markdown", trajectory(step(1, output={"text": "```\n# step 9\n", "tool_calls": []}), step(2)))
    inside, headings, fence = False, [], ""
    for line in text.splitlines():
        mark = line.strip()
        if mark.startswith("```"):
            if not inside:
                inside, fence = True, mark
            elif mark == fence.rstrip("abcdefghijklmnopqrstuvwxyz"):
                inside = False
        elif not inside and line.startswith("#"):
            headings.append(line)
    assert [line for line in headings if "step" in line] == ["### step 1 · lead", "### step 2 · lead"]
