"""A saved trajectory drives the same sinks, whatever its layout on the page."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from otel2traj.api.source import load
from otel2traj.errors import EvidenceError
from otel2traj.model.codec import trajectory_to_json
from otel2traj.stored import is_stored, replay
from otel2traj.writers.trajectory import TrajectoryWriter

CASES = ["abb-08-duplicate-ids", "abb-13a-anthropic", "agno-openinference-twins", "abb-20c-steps-symlink"]


@pytest.mark.parametrize("case", CASES)
def test_write_read_write_is_the_identity(case: str, fixtures: Path) -> None:
    file = fixtures / "attempts" / case / "expected" / "trajectory.json"
    out = io.BytesIO()
    replay(file, TrajectoryWriter().sink(out))
    assert out.getvalue() == file.read_bytes()


@pytest.mark.parametrize("case", CASES[:3])
def test_a_reformatted_file_reads_the_same(case: str, fixtures: Path, tmp_path: Path) -> None:
    file = fixtures / "attempts" / case / "expected" / "trajectory.json"
    other = tmp_path / "pretty.json"
    other.write_text(json.dumps(json.loads(file.read_bytes()), indent=3), encoding="utf-8")
    assert trajectory_to_json(load(other)) == trajectory_to_json(load(file))


def test_unknown_members_survive(fixtures: Path, tmp_path: Path) -> None:
    document = json.loads((fixtures / "attempts" / CASES[1] / "expected" / "trajectory.json").read_bytes())
    document["steps"][0]["later"] = {"a": 1}
    document["steps"][0]["tool_logs"][0]["later"] = [2]
    document["coverage"]["later"] = 3
    document["inputs"][0]["later"] = 4
    document["later"] = 5
    file = tmp_path / "t.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    assert trajectory_to_json(load(file)) == document


@pytest.mark.parametrize("version", [2, 0, "1", None, True])
def test_a_version_of_the_future_is_refused(version: object, fixtures: Path, tmp_path: Path) -> None:
    document = json.loads((fixtures / "attempts" / CASES[1] / "expected" / "trajectory.json").read_bytes())
    file = tmp_path / "t.json"
    file.write_text(json.dumps({**document, "builder_version": version}), encoding="utf-8")
    with pytest.raises(EvidenceError):
        replay(file)


@pytest.mark.parametrize("keep", [200, 2000, 6000])
def test_a_cut_file_is_an_error_with_words(keep: int, fixtures: Path, tmp_path: Path) -> None:
    file = tmp_path / "t.json"
    file.write_bytes((fixtures / "attempts" / CASES[1] / "expected" / "trajectory.json").read_bytes()[:keep])
    with pytest.raises(EvidenceError):
        replay(file)


def test_what_is_no_trajectory(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    file.write_text('{"schema": "something else"}')
    assert not is_stored(file)
    assert not is_stored(tmp_path)
