"""Deriving: what is quiet is built, what fails is remembered, and nothing an attempt holds stops the loop."""

from __future__ import annotations

import queue
import sqlite3
import threading
import time
from pathlib import Path

import pytest

from otel2traj.capture.derive import Deriver
from otel2traj.capture.router import ATTEMPTS
from otel2traj.capture.segments import Signal
from otel2traj.errors import EvidenceError

from .requests import items, logs, span, traces
from .test_router import OTHER, feed, own


def touch(path: Path) -> None:
    (path / "trajectory.json").write_text("{}")


def by_id(deriver: Deriver) -> dict[str, tuple[bool, str | None]]:
    """Whether each attempt is up to date, and its error."""
    return {row.id: (row.built >= row.changed, row.build_error) for row in deriver.router.state.attempts()}


def test_an_attempt_is_built_once_per_news(tmp_path: Path) -> None:
    calls: list[str] = []
    deriver = Deriver(tmp_path, lambda path: calls.append(path.name), 0.0)
    feed(tmp_path, traces(span(session__id="s")))
    deriver.router.drain()
    assert deriver.build_due()
    assert not deriver.build_due()
    feed(tmp_path, traces(span(own=own(2), session__id="s")))
    deriver.router.drain()
    deriver.build_all()
    deriver.close()
    assert calls == ["s", "s"]


def test_what_is_not_quiet_yet_waits(tmp_path: Path) -> None:
    deriver = Deriver(tmp_path, touch, 60.0)
    feed(tmp_path, traces(span(session__id="s")))
    deriver.router.drain()
    assert not deriver.build_due()
    deriver.build_all()
    assert by_id(deriver) == {"s": (True, None)}
    deriver.close()


def test_a_slow_build_makes_the_next_one_wait_longer(tmp_path: Path) -> None:
    deriver = Deriver(tmp_path, touch, 0.0)
    feed(tmp_path, traces(span(session__id="s")))
    deriver.router.drain()
    deriver.router.state.set_built("s", 0, 3_600_000, None)
    assert not deriver.build_due()
    deriver.close()


def test_failures_are_remembered_and_others_are_built(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def build(path: Path) -> None:
        if path.name == "bad":
            raise EvidenceError("no model call here")
        if path.name == "worse":
            raise ZeroDivisionError("oops")
        touch(path)

    deriver = Deriver(tmp_path, build, 0.0)
    feed(
        tmp_path,
        traces(span(session__id="bad"), span(OTHER, session__id="good"), span("3" * 32, session__id="worse")),
    )
    deriver.router.drain()
    deriver.build_all()
    assert by_id(deriver) == {
        "good": (True, None),
        "bad": (True, "no model call here"),
        "worse": (True, "ZeroDivisionError: oops"),
    }
    deriver.build_all()
    deriver.close()
    assert capsys.readouterr().err.count("build failed") == 2


def test_files_are_whole_when_they_are_built(tmp_path: Path) -> None:
    """Lines that moved away are cut out before a build reads the file."""
    seen: dict[str, int] = {}
    deriver = Deriver(
        tmp_path, lambda path: seen.update({path.name: (path / "otel.jsonl").read_bytes().count(b"\n")}), 0.0
    )
    first = traces(span(own=own(1), session__id="s"), *(span(OTHER, own(n), session__id="s") for n in range(2, 9)))
    feed(tmp_path, first, traces(span(own=own(20), gen_ai__conversation__id="c")))
    deriver.router.drain()
    deriver.build_all()
    deriver.close()
    assert seen == {"s": 1, "c": 2}


def test_the_loop_routes_builds_and_drains(tmp_path: Path) -> None:
    commands: queue.SimpleQueue[str] = queue.SimpleQueue()
    deriver = Deriver(tmp_path, touch, 0.0)
    feed(tmp_path, traces(span(session__id="s")))

    def stop_later() -> None:
        end = time.monotonic() + 10
        while not (tmp_path / ATTEMPTS / "s" / "trajectory.json").exists() and time.monotonic() < end:
            time.sleep(0.02)
        feed(tmp_path, logs(), signal=Signal.LOGS)
        feed(tmp_path, traces(span(OTHER, session__id="late")))
        commands.put("drain")

    thread = threading.Thread(target=stop_later)
    thread.start()
    deriver.run(commands)
    thread.join(10)
    deriver.close()
    assert (tmp_path / ATTEMPTS / "late" / "trajectory.json").exists()


def test_stop_leaves_the_rest_for_next_time(tmp_path: Path) -> None:
    commands: queue.SimpleQueue[str] = queue.SimpleQueue()
    commands.put("stop")
    deriver = Deriver(tmp_path, touch, 0.0)
    deriver.run(commands)
    deriver.close()
    feed(tmp_path, traces(span(session__id="s")))
    again = Deriver(tmp_path, touch, None)
    again.router.drain()
    assert by_id(again) == {"s": (False, None)}
    again.close()


def test_a_full_disk_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    deriver = Deriver(tmp_path, touch, 0.0)
    feed(tmp_path, traces(span(session__id="s")))
    real = deriver.router._flush
    failures = [sqlite3.OperationalError("database or disk is full"), OSError(28, "No space left on device")]

    def flush() -> None:
        if failures:
            raise failures.pop()
        real()

    monkeypatch.setattr(deriver.router, "_flush", flush)
    monkeypatch.setattr("otel2traj.capture.derive.time.sleep", lambda seconds: None)
    commands: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Timer(1.0, commands.put, ("drain",)).start()
    deriver.run(commands)
    deriver.close()
    assert len(items(tmp_path / ATTEMPTS / "s" / "otel.jsonl")) == 1
    assert capsys.readouterr().err.count("cannot be written") == 2
