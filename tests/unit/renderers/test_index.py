"""Rows of the index."""

from __future__ import annotations

from otel2traj.renderers.index import milliseconds, preview
from tests.factory import step, tool_log


def test_times_in_any_zone_and_none() -> None:
    assert milliseconds("1970-01-01T00:00:01.5Z") == 1500
    assert milliseconds("1970-01-01T01:00:00+01:00") == 0
    assert milliseconds("1970-01-01T00:00:00") == 0
    assert milliseconds("soon") is None
    assert milliseconds(None) is None


def test_a_preview_is_the_answer_or_what_the_tools_were_given() -> None:
    assert preview(step(1, output={"text": "x" * 500})) == "x" * 160
    assert preview(step(1, output={"text": "", "wire_error": {"status": 429}})) == '{"status":429}'
    logs = [tool_log(input_arguments={"q": 1}), tool_log(input_arguments=None), tool_log(input_arguments="ls")]
    assert preview(step(1, *logs)) == '{"q":1}; ls'
    assert preview(step(1, output={})) == ""
