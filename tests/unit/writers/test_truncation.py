"""A limit shortens recorded content, and nothing by which things are found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from otel2traj.api.build import build_path
from otel2traj.api.validate_trajectory import validate

ATTEMPTS = sorted((Path(__file__).parents[3] / "fixtures" / "attempts").glob("*/attempt"))


@pytest.mark.parametrize("attempt", ATTEMPTS, ids=lambda path: path.parent.name)
def test_any_limit_leaves_a_valid_file(attempt: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build_path(attempt, output=tmp_path / "whole.json")
    whole = json.loads((tmp_path / "whole.json").read_bytes())
    monkeypatch.setenv("ABB_TRAJECTORY_MAX_VALUE_BYTES", "1")
    build_path(attempt, output=tmp_path / "short.json")
    short = json.loads((tmp_path / "short.json").read_bytes())
    assert validate(tmp_path / "short.json") == []
    assert (short["sources"], short["warnings"], short["coverage"]) == (
        whole["sources"],
        whole["warnings"],
        whole["coverage"],
    )
    for one, other in zip(short["steps"], whole["steps"], strict=True):
        for key in ("step_id", "agent_name", "started_at", "ended_at", "model", "evidence"):
            assert one[key] == other[key]
        assert [log["tool_call_id"] for log in one["tool_logs"]] == [log["tool_call_id"] for log in other["tool_logs"]]
        calls = [[(call["id"], call["name"]) for call in step["output"].get("tool_calls", [])] for step in (one, other)]
        assert calls[0] == calls[1]
