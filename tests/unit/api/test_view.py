"""Paths into one page."""

from __future__ import annotations

import io
import shutil
from pathlib import Path

import pytest

from otel2traj.api.view import bundles_of, places_of, view
from otel2traj.errors import EvidenceError
from otel2traj.writers.trajectory import TrajectoryWriter
from tests.factory import play, step, trajectory


def save(path: Path, count: int = 1) -> Path:
    out = io.BytesIO()
    play(trajectory(*(step(n) for n in range(1, count + 1))), TrajectoryWriter().sink(out))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(out.getvalue())
    return path


def test_saved_files_are_named_after_their_place(tmp_path: Path) -> None:
    assert places_of(save(tmp_path / "run-7" / "trajectory.json")) == [
        ("run-7", tmp_path / "run-7" / "trajectory.json")
    ]
    assert places_of(save(tmp_path / "x.json")) == [("x.json", tmp_path / "x.json")]


def test_a_folder_of_attempts_is_every_attempt(tmp_path: Path) -> None:
    for name in ("b", "a"):
        (tmp_path / name / "steps" / "0001").mkdir(parents=True)
    assert places_of(tmp_path) == [("a", tmp_path / "a"), ("b", tmp_path / "b")]
    (tmp_path / "a" / "attempts" / "x").mkdir(parents=True)
    assert places_of(tmp_path / "a") == [("a", tmp_path / "a")], "an attempt is no receiver's folder"


def test_what_a_receiver_writes_is_one_run_an_attempt(tmp_path: Path) -> None:
    (tmp_path / "receiver.lock").touch()
    assert places_of(tmp_path) == [], "nothing has arrived yet"
    for name in ("thread-2", "thread-1"):
        (tmp_path / "attempts" / name).mkdir(parents=True)
    assert [label for label, _ in places_of(tmp_path)] == ["thread-1", "thread-2"]


def test_one_page_for_several_and_what_could_not_be_read(tmp_path: Path) -> None:
    good, bad = save(tmp_path / "good.json", 3), tmp_path / "bad.json"
    bad.write_bytes(b'{"schema": "abb.agent-trajectory.v1", "steps": 1')
    made = view([good, bad], tmp_path / "page.html")
    assert (made.runs, made.steps) == (2, 3)
    assert [label for label, _ in made.unread] == ["bad.json"]
    assert (tmp_path / "page.html").read_bytes().startswith(b"<!doctype html>")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bad.json", "good.json", "page.html"]


def test_nothing_readable_writes_nothing(tmp_path: Path) -> None:
    with pytest.raises(EvidenceError):
        view([tmp_path / "missing"], tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()


def test_the_same_page_wherever_the_evidence_lies(tmp_path: Path) -> None:
    first = save(tmp_path / "one" / "run" / "trajectory.json", 4)
    second = tmp_path / "two" / "elsewhere" / "run" / "trajectory.json"
    second.parent.mkdir(parents=True)
    shutil.copy(first, second)
    pages = []
    for path in (first, second):
        view([path], tmp_path / "page.html")
        pages.append((tmp_path / "page.html").read_bytes())
    assert pages[0] == pages[1]


def test_inference_is_left_out_of_a_saved_file_too(fixtures: Path) -> None:
    path = fixtures / "renderers" / "nightly-sync" / "trajectory.json"
    (with_it,), (without,) = (list(bundles_of(path, raw=False, inference=on)) for on in (True, False))
    assert any(row[13] for row in with_it.index["steps"])
    assert not any(row[13] for row in without.index["steps"])
