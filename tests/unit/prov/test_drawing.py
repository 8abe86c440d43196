"""A step and what is stated around it as SVG: inert, escaped, bounded, and the same every time."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from otel2traj.api import prov as api
from otel2traj.canonical import dumps
from otel2traj.errors import EvidenceError
from otel2traj.model.link import LinkStatus
from otel2traj.prov.drawing import MAX_NODES, draw
from otel2traj.prov.engine import derive_prov
from tests.factory import step, tool_log, trajectory

from .made import aer, prov, rich_aer

SVG = "{http://www.w3.org/2000/svg}"


def test_a_call_is_drawn_with_what_it_used_and_what_it_made() -> None:
    document = prov(rich_aer())
    svg = draw(document, "mc0")
    root = ElementTree.fromstring(svg)
    words = {one.text for one in root.iter(f"{SVG}text")}
    assert {"x:mc0", "x:rq0", "x:m0", "x:m2", "x:m2-0", "x:te0", "x:d0", "used", "wasGeneratedBy", "hadMember"} <= words
    assert svg == draw(document, "x:mc0")
    places = {one.text: float(one.get("x", "0")) for one in root.iter(f"{SVG}text")}
    assert places["x:m0"] < places["x:rq0"] < places["x:mc0"] < places["x:m2"]
    assert 'stroke-dasharray="2 3"' in draw(document, "rq1")  # that it continues rq0 is inferred


def test_nothing_of_a_drawing_acts(tmp_path: Path) -> None:
    name = "</text><script>alert(1)</script>\x1b"
    lines = aer(trajectory(step(1, tool_log("c", name))))
    file = tmp_path / "prov.json"
    file.write_bytes(derive_prov(lines))
    svg = api.draw(file, "mc0")
    ElementTree.fromstring(svg)
    for word in ("<script", "href", "onload", "\x1b", "url(http"):
        assert word not in svg


def test_a_large_neighbourhood_is_bounded_and_says_so() -> None:
    calls = [tool_log(f"c{number}", link=LinkStatus.NONE) for number in range(200)]
    svg = draw(prov(aer(trajectory(step(1, *calls)))), "mc0")
    assert svg.count("<rect") == MAX_NODES + 1
    assert "more nodes are not drawn" in svg


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(EvidenceError):
        draw(prov(rich_aer()), "mc99")
    file = tmp_path / "other.json"
    file.write_bytes(dumps({"prefix": {}}))
    with pytest.raises(EvidenceError):
        api.draw(file, "mc0")


def test_no_word_stands_on_another() -> None:
    document = prov(rich_aer())
    found = re.findall(r'<text x="(\d+)" y="(\d+)"[^>]*text-anchor="(\w+)">(\w+)</text>', draw(document, "x:mc0"))
    spans: dict[int, list[tuple[float, float]]] = {}
    for x, y, anchor, word in found:
        width = 4.6 * len(word)
        start = int(x) - (width if anchor == "end" else 0)
        for first, last in spans.get(int(y), []):
            assert start + width <= first or start >= last, (word, x, y)
        spans.setdefault(int(y), []).append((start, start + width))
    assert len(found) > 5
