"""Documents whose lists have an entry a line, and lines that look like such a list and are none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .reading import read, written

SPAN = {"trace_id": "a" * 32, "span_id": "b" * 16, "name": "x", "start_time": 1790000000, "attributes": {}}


def row(number: int) -> str:
    return json.dumps({**SPAN, "span_id": f"{number:016x}"})


@pytest.mark.parametrize("head", ['{"spans":[\n', '[\n{"spans":[\n', '{"about": {"a": [1]}, "spans": [\n'])
def test_a_list_may_have_an_entry_a_line(head: str, tmp_path: Path) -> None:
    data = head + ",\n".join(row(number) for number in (1, 2, 3)) + "\n]}\n" + ("]\n" if head[0] == "[" else "")
    records, notices, file = read(written(tmp_path, data.encode()))
    assert [record.span_id for record in records] == [f"{number:016x}" for number in (1, 2, 3)]
    assert [notice.code for notice in notices] == ["lossy_form"]
    for record in records:
        assert json.loads(file.raw(record.ref))["span_id"] == record.span_id


@pytest.mark.parametrize("cut", ['"events":[{"name":"a"},', '"events":[', '"name":"x",', '"name":"'])
def test_a_line_that_was_cut_costs_no_other(cut: str, tmp_path: Path) -> None:
    lines = [row(1), row(2).split('"name"')[0] + cut, row(3), row(4), row(5)]
    records, notices, file = read(written(tmp_path, "\n".join(lines).encode()))
    assert [int(record.span_id, 16) for record in records] == [1, 3, 4, 5]
    assert [(notice.code, notice.line) for notice in notices] == [("unreadable_line", 2), ("lossy_form", None)]
    for record in records:
        assert json.loads(file.raw(record.ref))["span_id"] == record.span_id
