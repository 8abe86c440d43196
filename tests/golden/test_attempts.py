"""Every attempt of fixtures/attempts, built and compared with the file that was read and accepted."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from otel2traj.api.build import build_path
from otel2traj.api.validate import validate

ATTEMPTS = sorted((Path(__file__).parents[2] / "fixtures" / "attempts").glob("*/attempt"))


@pytest.mark.parametrize("attempt", ATTEMPTS, ids=lambda path: path.parent.name)
def test_trajectory(attempt: Path, tmp_path: Path, golden: Callable[[Path, bytes], None]) -> None:
    out = tmp_path / "trajectory.json"
    build_path(attempt, output=out)
    golden(attempt.parent / "expected" / "trajectory.json", out.read_bytes())
    assert validate(out, evidence=attempt) == []


def test_there_are_attempts_to_check() -> None:
    assert len(ATTEMPTS) >= 30


@pytest.mark.parametrize("name", ["abb-20b-case-not-json", "abb-20c-steps-symlink"])
def test_a_build_that_cannot_be_done_is_still_written(name: str, tmp_path: Path) -> None:
    attempt = next(path for path in ATTEMPTS if path.parent.name == name)
    out = tmp_path / "t.json"
    run = subprocess.run(
        [sys.executable, "-m", "otel2traj", "build", str(attempt), "-o", str(out)], capture_output=True
    )
    document = out.read_bytes()
    if name == "abb-20c-steps-symlink":
        assert run.returncode == 1
        assert b'"status": "failed"' in document
    else:
        assert run.returncode == 0
        assert b"unreadable_document" in document
