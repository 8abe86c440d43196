"""What ends a command, in words and exit codes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from otel2traj.cli import guard
from otel2traj.errors import EvidenceError, Otel2TrajError, RefusedError, UsageError, WriteError


def run(
    *words: str, stdout: int | None = subprocess.PIPE, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "otel2traj", *words]
    return subprocess.run(
        command, stdout=stdout, stderr=subprocess.PIPE, env={**os.environ, **(env or {})}, check=False
    )


@pytest.fixture
def attempt(fixtures: Path) -> str:
    return str(fixtures / "attempts" / "abb-02-parallel-tools" / "attempt")


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UsageError("x"), 2),
        (EvidenceError("x"), 3),
        (WriteError("x"), 3),
        (RefusedError("x"), 4),
        (OSError(28, "No space left on device"), 3),
        (MemoryError(), 3),
        (Otel2TrajError("x"), 5),
        (KeyError("x"), 5),
    ],
)
def test_exit_codes(error: Exception, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert guard.tell(error) == code
    told = capsys.readouterr().err
    assert told.startswith("error: ")
    assert ("please report it" in told) == (code == 5)


def test_a_bug_shows_its_place_when_asked(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv(guard.TRACEBACK, "1")
    guard.tell(KeyError("x"))
    assert "KeyError: 'x'" in capsys.readouterr().err


def test_a_full_standard_output(attempt: str) -> None:
    with open("/dev/full", "wb") as full:
        done = run("build", attempt, stdout=full.fileno())
    assert (done.returncode, done.stderr) == (3, b"error: No space left on device\n")


def test_a_reader_that_goes_away(attempt: str) -> None:
    end, begin = os.pipe()
    os.close(end)
    done = run("show", attempt, stdout=begin)
    os.close(begin)
    assert done.returncode in (0, 1)
    assert done.stderr == b""


def test_a_closed_standard_output(attempt: str) -> None:
    command = f'"{sys.executable}" -m otel2traj build "{attempt}" >&-'
    done = subprocess.run(command, shell=True, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (3, b"error: Bad file descriptor\n")


def test_a_console_of_another_encoding(tmp_path: Path) -> None:
    done = run("show", str(tmp_path / "fehlt-ä"), env={"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 3
    assert done.stderr.startswith(b"error: ")


def test_a_port_out_of_range(tmp_path: Path) -> None:
    done = run("receive", "--out", str(tmp_path), "--http-port", "99999")
    assert done.returncode == 2


def test_a_target_that_is_a_directory(attempt: str, tmp_path: Path) -> None:
    done = run("ledger", "export", attempt, "-o", str(tmp_path))
    assert (done.returncode, done.stderr.splitlines()[0]) == (
        3,
        f"error: cannot write {tmp_path.name}: Is a directory".encode(),
    )
