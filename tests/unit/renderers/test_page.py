"""What the page promises before a browser sees it."""

from __future__ import annotations

import base64
import io
import re
from hashlib import sha256

import pytest

from otel2traj.renderers.bundle import BundleSink
from otel2traj.renderers.page import SCRIPTS, asset, policy, script, write_live_page, write_page
from tests.factory import play, step, trajectory

HOSTILE = "</title><script>alert(1)</script>\x1b\u202e"


def page(title: str) -> str:
    sink = BundleSink("run")
    play(trajectory(step(1), header={"metadata": {"task_instruction": title}}), sink)
    out = io.BytesIO()
    write_page(out, [sink.bundle])
    return out.getvalue().decode("utf-8")


def digest(text: str) -> str:
    return "sha256-" + base64.b64encode(sha256(text.encode("utf-8")).digest()).decode("ascii")


def test_the_policy_allows_this_script_and_this_style_and_nothing_else() -> None:
    text = page("x")
    (rules,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    scripts = re.findall(r"<script>(.*?)</script>", text, re.S)
    styles = re.findall(r"<style>(.*?)</style>", text, re.S)
    assert len(scripts) == len(styles) == 1
    assert f"script-src '{digest(scripts[0])}'" in rules
    assert f"style-src '{digest(styles[0])}'" in rules
    assert rules.startswith("default-src 'none'")
    assert "img-src data:;" in rules
    assert rules.count("data:") == 1, "pictures that the page itself holds, and nothing else"
    assert not re.search(r"unsafe|https?:|\*|connect-src", rules)
    assert "require-trusted-types-for 'script'" in rules
    assert text.index("Content-Security-Policy") < text.index("<style>") < text.index("<script")


def test_the_live_page_may_ask_its_own_server_only() -> None:
    assert policy(live=True) == policy(live=False) + "; connect-src 'self'"
    out = io.BytesIO()
    write_live_page(out)
    assert b'id="mode">live<' in out.getvalue()


def test_nothing_recorded_stands_in_the_page_unpacked() -> None:
    text = page(HOSTILE)
    assert "alert(1)</script>" not in text
    assert "&lt;script&gt;alert(1)" in text, "the title, escaped"
    assert "\x1b" not in text
    data = re.findall(r'<script type="application/octet-stream" id="[a-z0-9-]+">([^<]*)</script>', text)
    assert len(data) >= 4
    assert all(re.fullmatch(r"[A-Za-z0-9+/=]*|file", one) for one in data)


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_script_makes_no_markup_out_of_words(name: str) -> None:
    text = asset(name)
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|DOMParser", text
    )
    assert not re.search(r"setTimeout\(\s*[\"'`]", text)
    assert "style=" not in text


def test_the_script_ends_where_it_ends() -> None:
    assert "</script" not in script().lower()
    assert "<!--" not in script()
    assert not re.search(r"https?://", script() + asset("page.css") + asset("page.html"))


def _luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    r, g, b = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(one: str, other: str) -> float:
    """https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio"""
    a, b = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (a + 0.05) / (b + 0.05)


PAIRS = [
    *((ink, ground) for ink in ("ink", "soft", "accent") for ground in ("bg", "surface", "sunk", "accent-soft")),
    *((tone, f"{tone}-soft") for tone in ("bad", "warn", "good", "note")),
    *((tone, "surface") for tone in ("bad", "warn", "good", "note")),
    *((f"a{n}", ground) for n in range(8) for ground in ("surface", "bg", "accent-soft", "sunk")),
    ("mark-ink", "mark"),
]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_stand_out_from_their_ground(scheme: str) -> None:
    light, dark = re.findall(r":root \{(.*?)\}", asset("page.css"), re.S)[:2]
    colours = dict(re.findall(r"--([a-z0-9-]+): (#[0-9a-f]{6})", light))
    if scheme == "dark":
        colours |= dict(re.findall(r"--([a-z0-9-]+): (#[0-9a-f]{6})", dark))
    weak = {pair: round(contrast(colours[pair[0]], colours[pair[1]]), 2) for pair in PAIRS}
    assert {pair: ratio for pair, ratio in weak.items() if ratio < 4.5} == {}
