"""The face of the package: what `import otel2traj` gives, and that it costs nothing until it is used."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import otel2traj
from otel2traj.api.build import build_path
from otel2traj.errors import EvidenceError, UsageError
from tests.bench.attempts import many_traces


def test_load_stream_and_build_tell_the_same(fixtures: Path, tmp_path: Path) -> None:
    attempt = fixtures / "attempts" / "abb-02-parallel-tools" / "attempt"
    whole = otel2traj.load(attempt)
    assert isinstance(whole, otel2traj.Trajectory)
    steps = list(otel2traj.stream(str(attempt)))
    assert steps == whole.steps
    assert all(isinstance(step, otel2traj.Step) for step in steps)
    [built] = otel2traj.build(attempt, output=tmp_path / "out.json")
    assert built.file == tmp_path / "out.json"
    saved = otel2traj.load(tmp_path / "out.json")
    assert [step.step_id for step in saved.steps] == [step.step_id for step in whole.steps]
    assert saved.header == whole.header


def test_a_stream_makes_a_step_when_it_is_asked_for(fixtures: Path) -> None:
    steps = otel2traj.stream(fixtures / "attempts" / "abb-02-parallel-tools" / "attempt")
    assert next(steps).step_id == 1
    steps.close()  # type: ignore[attr-defined]


def test_one_of_several_conversations_must_be_named(tmp_path: Path) -> None:
    many_traces(tmp_path / "traces.jsonl", 40, per_trace=10)
    with pytest.raises(UsageError, match="4 conversations"):
        otel2traj.load(tmp_path / "traces.jsonl")
    named = otel2traj.load(tmp_path / "traces.jsonl", conversation=f"{2:032x}")
    assert named.header.run_id == f"{2:032x}"
    with pytest.raises(EvidenceError):
        otel2traj.load(tmp_path / "nothing")


def test_processes_that_share_conversations_write_the_bytes_of_one(tmp_path: Path) -> None:
    many_traces(tmp_path / "traces.jsonl", 300, per_trace=20)
    alone = build_path(tmp_path / "traces.jsonl", output=tmp_path / "alone")
    shared = build_path(tmp_path / "traces.jsonl", output=tmp_path / "shared", jobs=2)
    assert [one.describe() for one in shared] == [one.describe() for one in alone]
    files = sorted(file.name for file in (tmp_path / "alone").iterdir())
    assert len(files) == 15
    assert files == sorted(file.name for file in (tmp_path / "shared").iterdir())
    for name in files:
        assert (tmp_path / "alone" / name).read_bytes() == (tmp_path / "shared" / name).read_bytes()


def test_the_package_itself_imports_nothing_of_its_rooms() -> None:
    code = "import sys, otel2traj; print([n for n in sys.modules if n.startswith('otel2traj.')])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[]"
    with pytest.raises(AttributeError):
        otel2traj.nothing  # noqa: B018
