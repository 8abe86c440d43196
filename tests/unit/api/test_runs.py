"""Which runs a path stands for; every command that takes a folder asks here."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from otel2traj.api.runs import find_attempts, is_folder_of_runs, runs_at

ATTEMPT = "langgraph-toolerror"


@pytest.fixture
def mixed(tmp_path: Path, fixtures: Path) -> Path:
    """Attempts `a` and `c/d`, saved trajectories `b/saved.json` and `z.json`, and files that are neither."""
    one = fixtures / "attempts" / ATTEMPT
    for name in ("a", "c/d"):
        shutil.copytree(one / "attempt", tmp_path / name)
    saved = one / "expected" / "trajectory.json"
    (tmp_path / "b").mkdir()
    for place in ("b/saved.json", "z.json", "a/trajectory.json"):
        shutil.copy(saved, tmp_path / place)
    (tmp_path / "notes.json").write_text("{}")
    return tmp_path


def names(path: Path) -> list[str]:
    return [run.relative_to(path).as_posix() for run in runs_at(path)]


def test_where_there_are_attempts_nothing_that_was_saved_is_a_run(mixed: Path) -> None:
    assert names(mixed) == ["a", "c/d"]
    assert [path.name for path in find_attempts(mixed)] == ["a", "d"]
    assert is_folder_of_runs(mixed)
    assert names(mixed / "a") == ["."]
    assert not is_folder_of_runs(mixed / "a")
    assert list(runs_at(mixed / "z.json")) == [mixed / "z.json"]


def test_saved_trajectories_alone(mixed: Path) -> None:
    assert names(mixed / "b") == ["saved.json"]
    assert is_folder_of_runs(mixed / "b")


def test_what_is_saved_beside_its_evidence_is_no_other_run(mixed: Path, fixtures: Path) -> None:
    shutil.copy(fixtures / "attempts" / ATTEMPT / "attempt/steps/0001/otel.jsonl", mixed / "b" / "traces.jsonl")
    assert names(mixed / "b") == ["."]


def test_neither_is_the_folder_itself(tmp_path: Path) -> None:
    assert list(runs_at(tmp_path)) == [tmp_path]
    assert not is_folder_of_runs(tmp_path)


def otel2traj(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "otel2traj", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (0, ("show", "b")),
        (1, ("compare", "b")),  # without a verdict there is nothing to compare
        (0, ("view", "b", "-o", "page.html")),
        (0, ("export", "b", "--to", "openai-chat", "-o", "out")),
    ],
)
def test_commands_take_a_folder_of_saved_trajectories(mixed: Path, code: int, words: tuple[str, ...]) -> None:
    shutil.copy(mixed / "z.json", mixed / "b" / "two.json")
    done = otel2traj(mixed, *words)
    assert done.returncode == code, done.stderr
    if words[0] in ("show", "compare"):
        assert "two" in done.stdout
        assert "saved" in done.stdout
    elif words[0] == "view":
        assert "2 runs" in done.stderr
    else:
        assert sorted(file.name.split(".")[0] for file in (mixed / "out").iterdir()) == ["saved", "two"]


def test_a_build_of_saved_trajectories_says_what_they_are(mixed: Path) -> None:
    done = otel2traj(mixed, "build", "b", "-o", "out.json")
    assert done.returncode == 1
    assert "no evidence in b: 1 files are saved trajectories" in done.stderr
