"""docs/reference/receiver.md says what the code does: every answer, every repair, every figure, the header."""

from __future__ import annotations

import re
from pathlib import Path

import otel2traj.capture
from otel2traj.capture.outcome import Outcome
from otel2traj.capture.segments import HEADER, Content, Encoding, Signal

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "reference" / "receiver.md").read_text(encoding="utf-8")
CODE = "".join(path.read_text(encoding="utf-8") for path in sorted(Path(otel2traj.capture.__path__[0]).glob("*.py")))


def test_every_answer_is_in_the_table() -> None:
    rows = {
        m[1]: (int(m[2]), int(m[3]), m[4])
        for m in re.finditer(r"^\| ([A-Z_]+) \| (\d+) \| (\d+) \| (\w*) ?\|", PAGE, re.M)
    }
    expected = {}
    for outcome in Outcome:
        again = "" if outcome is Outcome.OK else "yes" if outcome.value.retry else "no"
        expected[outcome.name] = (outcome.value.http, outcome.value.rpc, again)
    assert rows == expected


def test_every_repair_is_in_the_table() -> None:
    named = set(re.findall(r'notes\["([a-z0-9-]+)"\]', CODE)) | set(re.findall(r'\.note\("([a-z-]+)"', CODE))
    named |= set(re.findall(r'Counter\(\{"([a-z-]+)": 1\}\)', CODE))
    canonical = (ROOT / "otel2traj" / "canonical.py").read_text(encoding="utf-8")
    named |= set(re.findall(r'repairs\.append\("([a-z0-9-]+)"\)', canonical))
    section = PAGE.partition("## Repairs")[2].partition("## Pages")[0]
    rows = re.findall(r"^\| (`.*`) \|", section, re.M)
    told = {name for row in rows for name in re.findall(r"`([a-z0-9-]+)`", row)}
    assert "null-values" in named
    assert told - {"non-finite-number"} == named - {"non-finite-number"}


def test_every_figure_is_named() -> None:
    section = PAGE.partition("## Pages")[2].partition("## The log")[0]
    figures = set(re.findall(r'family\(\s*"([a-z_]+)"', CODE)) | set(
        re.findall(r'^\s+\("([a-z_]+_total)",', CODE, re.M)
    )
    assert len(figures) > 12
    for figure in figures:
        assert f"`{figure}" in section, figure


def test_the_header_is_as_drawn() -> None:
    rows = re.findall(r"^\| (\d+) \| (\d) \| ", PAGE, re.M)
    ends = [int(offset) + int(size) for offset, size in rows]
    assert ends[-1] == HEADER.size
    assert [int(offset) for offset, _ in rows][1:] == ends[:-1]
    for member in (*Signal, *Content, *Encoding):
        word = {"END": "end of the segment", "PROTOBUF": "protobuf", "JSON": "JSON"}.get(
            member.name, member.name.lower()
        )
        assert f"{member.value} {word}" in PAGE
