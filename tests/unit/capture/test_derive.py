"""Deriving: what is quiet is built, what fails is remembered, and nothing an attempt holds stops the loop."""

from __future__ import annotations

import queue
import sqlite3
import threading
import time
from pathlib import Path

import pytest

from otel2traj import canonical
from otel2traj.api.receive import build_attempt
from otel2traj.capture.derive import Deriver
from otel2traj.capture.inspect import check_log
from otel2traj.capture.layout import ATTEMPTS, LOG
from otel2traj.capture.segments import Signal, records_from, segment_files
from otel2traj.capture.state import Lost
from otel2traj.errors import EvidenceError, NothingRecordedError

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


def test_failures_are_remembered_and_others_are_built(tmp_path: Path) -> None:
    told: list[str] = []

    def build(path: Path) -> None:
        if path.name == "bad":
            raise EvidenceError("no model call here")
        if path.name == "worse":
            raise ZeroDivisionError("oops")
        touch(path)

    deriver = Deriver(tmp_path, build, 0.0, tell=lambda event, what: told.append(event))
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
    assert told.count("failed") == 2


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
        end = time.monotonic() + 60
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


def test_a_full_disk_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    deriver = Deriver(tmp_path, touch, 0.0, tell=lambda event, what: told.append(event))
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
    assert [event for event in told if event in ("trouble", "fine")] == ["trouble", "trouble", "fine"]


def test_what_is_due_is_told_by_news_and_not_by_any_wall_clock(tmp_path: Path) -> None:
    now = [1000.0]
    built: list[str] = []
    deriver = Deriver(tmp_path, lambda path: built.append(path.name), 10.0, clock=lambda: now[0])
    far = 4_000_000_000_000_000_000
    feed(tmp_path, traces(span(session__id="future")), received_ns=far)
    feed(tmp_path, traces(span(OTHER, session__id="past")), received_ns=1)
    deriver.router.drain()
    assert not deriver.build_due()
    now[0] += 9.9
    assert not deriver.build_due()
    now[0] += 0.2
    while deriver.build_due():
        pass
    deriver.close()
    assert built == ["future", "past"]


def test_many_that_wait_cost_no_more_each(tmp_path: Path) -> None:
    """One look-up an attempt, however many wait beside it."""
    deriver = Deriver(tmp_path, touch, 0.0)
    feed(tmp_path, traces(*(span(f"{n:032x}", own(n), session__id=f"s{n}") for n in range(1, 301))))
    deriver.router.drain()
    statements: list[str] = []
    deriver.router.state.db.set_trace_callback(statements.append)
    while deriver.build_due():
        pass
    deriver.close()
    assert len(statements) <= 300 * 8


def test_traces_of_no_agent_are_no_failure(tmp_path: Path) -> None:
    def build(path: Path) -> None:
        raise NothingRecordedError("nothing of an agent")

    deriver = Deriver(tmp_path, build, 0.0)
    feed(tmp_path, traces(span(session__id="web")))
    deriver.router.drain()
    deriver.build_all()
    totals = deriver.router.state.totals()
    deriver.close()
    assert (totals["failed"], totals["no_agent"]) == (0, 1)


def flip(root: Path, number: int) -> None:
    """Change one byte in the middle of the body of the record of that number."""
    (path,) = segment_files(root / LOG)
    with path.open("r+b") as file:
        record = list(records_from(file, 0))[number]
        at = record.offset + (record.end - record.offset) // 2
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ 1]))


def test_a_flipped_byte_is_told_in_every_attempt_that_it_may_touch(tmp_path: Path) -> None:
    feed(
        tmp_path,
        traces(span(session__id="a", gen_ai__operation__name="chat")),
        traces(span(OTHER, session__id="b")),
        traces(span("3" * 32, session__id="c", gen_ai__operation__name="chat")),
    )
    assert check_log(tmp_path).whole
    flip(tmp_path, 1)
    told: list[str] = []
    deriver = Deriver(tmp_path, build_attempt, 0.0, tell=lambda event, what: told.append(event))
    assert deriver.router.drain().damaged == 1
    deriver.build_all()
    endings, notes = deriver.router.state.endings(), deriver.router.state.notes()
    deriver.close()
    assert endings == {"routed": 2, "repeated": 0, "rejected": 0, "damaged": 1}
    assert notes["damaged-records"] == 1
    repair = canonical.loads((tmp_path / "repairs.jsonl").read_bytes().splitlines()[0])
    assert isinstance(repair, dict)
    assert (repair["repair"], repair["items"], repair["signal"]) == ("damaged-records", 1, "traces")
    for name in ("a", "c"):
        trajectory = canonical.loads((tmp_path / ATTEMPTS / name / "trajectory.json").read_bytes())
        assert isinstance(trajectory, dict)
        assert trajectory["status"] == "partial"
        assert any("damage in the receiver's log" in str(warning) for warning in trajectory["warnings"])
    found = check_log(tmp_path)
    assert not found.whole
    assert found.unaccounted == 0
    assert [(items_, length > 0) for _, _, length, items_ in found.damage] == [(1, True)]


def test_damage_that_is_found_late_has_built_attempts_built_again(tmp_path: Path) -> None:
    feed(tmp_path, traces(span(session__id="a")))
    deriver = Deriver(tmp_path, touch, 0.0)
    deriver.router.drain()
    deriver.build_all()
    row = deriver.router.state.attempt("a")
    assert row is not None
    deriver.router.state.lose(Lost("00000001.seg", 5, 10, None, row.first_ns, row.last_ns))
    deriver.build_all()
    deriver.close()
    assert b"00000001.seg @5+10" in (tmp_path / ATTEMPTS / "a" / "otel-status.json").read_bytes()


@pytest.mark.parametrize("state", [b"this is no database" * 99, b"SQLite format 3\0" + b"x" * 4000])
def test_an_unreadable_state_is_set_aside_and_derived_again(tmp_path: Path, state: bytes) -> None:
    feed(tmp_path, traces(span(session__id="a")))
    first = Deriver(tmp_path, touch, 0.0)
    first.router.drain()
    first.close()
    for suffix in ("-wal", "-shm"):
        (tmp_path / f"state.sqlite{suffix}").unlink(missing_ok=True)
    (tmp_path / "state.sqlite").write_bytes(state)
    told: list[str] = []
    again = Deriver(tmp_path, touch, 0.0, tell=lambda event, what: told.append(event))
    again.router.drain()
    again.build_all()
    assert by_id(again) == {"a": (True, None)}
    again.close()
    assert told[0] == "aside"
    assert (tmp_path / "state.sqlite.set-aside").read_bytes() == state
    assert len(items(tmp_path / ATTEMPTS / "a" / "otel.jsonl")) == 1
    assert not list((tmp_path / ATTEMPTS / "a").glob("*.old"))


def test_a_state_that_breaks_while_it_runs_is_set_aside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deriver = Deriver(tmp_path, touch, 0.0)
    feed(tmp_path, traces(span(session__id="s")))
    real = deriver.router._flush
    failures = [sqlite3.DatabaseError("database disk image is malformed")]

    def flush() -> None:
        if failures:
            raise failures.pop()
        real()

    monkeypatch.setattr(deriver.router, "_flush", flush)
    commands: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Timer(0.5, commands.put, ("drain",)).start()
    deriver.run(commands)
    deriver.close()
    assert len(items(tmp_path / ATTEMPTS / "s" / "otel.jsonl")) == 1
