"""The spool: acknowledged means written and synced; a failing disk refuses, and recovers by itself."""

from __future__ import annotations

import errno
import os
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from otel2traj.capture.segments import Content, Encoding, Signal, records_from, segment_files
from otel2traj.capture.spool import Busy, Spool

KIND = (Signal.TRACES, Content.PROTOBUF, Encoding.IDENTITY)


def stored(folder: Path) -> list[bytes]:
    out = []
    for path in segment_files(folder):
        with path.open("rb") as file:
            out += [record.body for record in records_from(file, 0) if record.signal is not Signal.END]
    return out


def test_a_body_is_synced_before_it_is_acknowledged(tmp_path: Path) -> None:
    synced: list[bytes] = []

    def sync(fd: int) -> None:
        synced.append(segment_files(tmp_path)[-1].read_bytes())

    spool = Spool(tmp_path, min_free=0, sync_call=sync)
    spool.append_and_wait(*KIND, 1, b"precious")
    assert b"precious" in synced[-1]
    spool.close()
    assert stored(tmp_path) == [b"precious"]


def test_those_who_wait_share_one_sync(tmp_path: Path) -> None:
    gate = threading.Event()
    syncs = []

    def sync(fd: int) -> None:
        gate.wait(5)
        syncs.append(fd)

    spool = Spool(tmp_path, min_free=0, sync_call=sync)
    done = threading.Semaphore(0)
    for n in range(20):
        spool.append(*KIND, 1, b"%d" % n, lambda reason: done.release())
        if n == 0:
            time.sleep(0.1)  # the first is on its way to the disk; the others wait behind it
    gate.set()
    for _ in range(20):
        assert done.acquire(timeout=5)
    assert len(syncs) == 2
    spool.close()
    assert stored(tmp_path) == [b"%d" % n for n in range(20)]


def test_senders_that_wait_for_their_answers_share_every_sync(tmp_path: Path) -> None:
    spool = Spool(tmp_path, min_free=0, sync_call=lambda fd: time.sleep(0.01))

    def send() -> None:
        for _ in range(20):
            spool.append_and_wait(*KIND, 1, b"x")

    senders = [threading.Thread(target=send) for _ in range(4)]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join()
    together = spool.records / spool.syncs
    alone = spool.syncs
    for _ in range(3):
        spool.append_and_wait(*KIND, 1, b"x")
    assert together > 2.5  # without waiting for each other it is 2: one, then the other three
    assert spool.syncs == alone + 3
    spool.close()


def test_a_full_disk_refuses_and_heals_by_itself(tmp_path: Path) -> None:
    full = threading.Event()

    def write(fd: int, parts: Sequence[bytes]) -> int:
        if full.is_set():
            os.writev(fd, [parts[0][:5]])  # a full disk takes a part
            raise OSError(errno.ENOSPC, "No space left on device")
        return os.writev(fd, parts)

    spool = Spool(tmp_path, min_free=0, write=write, pause=0.05)
    spool.append_and_wait(*KIND, 1, b"before")
    full.set()
    with pytest.raises(Busy, match="No space") as refused:
        spool.append_and_wait(*KIND, 1, b"lost")
    assert refused.value.retry_after > 0
    assert spool.failing == "No space left on device"
    full.clear()
    time.sleep(0.06)
    spool.append_and_wait(*KIND, 1, b"after")
    assert spool.failing is None
    spool.close()
    assert stored(tmp_path) == [b"before", b"after"]


def test_a_failed_sync_leaves_the_segment_behind(tmp_path: Path) -> None:
    broken = threading.Event()

    def sync(fd: int) -> None:
        if broken.is_set():
            raise OSError(errno.EIO, "Input/output error")

    spool = Spool(tmp_path, min_free=0, sync_call=sync, pause=0.0)
    spool.append_and_wait(*KIND, 1, b"one")
    first = spool.path
    broken.set()
    with pytest.raises(Busy):
        spool.append_and_wait(*KIND, 1, b"unknown")
    broken.clear()
    spool.append_and_wait(*KIND, 1, b"two")
    assert spool.path != first
    spool.close()
    assert stored(tmp_path) == [b"one", b"two"]


def test_too_little_free_space_is_a_full_disk(tmp_path: Path) -> None:
    spool = Spool(tmp_path, min_free=1 << 62, pause=0.0)
    with pytest.raises(Busy, match="nearly full"):
        spool.append_and_wait(*KIND, 1, b"x")
    spool.close()
    assert segment_files(tmp_path) == []


def test_a_queue_over_its_mark_refuses_at_once(tmp_path: Path) -> None:
    gate = threading.Event()
    spool = Spool(tmp_path, min_free=0, high_water=100, sync_call=lambda fd: gate.wait(5) and None)
    done = threading.Semaphore(0)
    spool.append(*KIND, 1, b"x" * 60, lambda reason: done.release())
    time.sleep(0.1)
    spool.append(*KIND, 1, b"y" * 60, lambda reason: done.release())
    with pytest.raises(Busy):
        spool.append(*KIND, 1, b"z" * 60, lambda reason: done.release())
    assert spool.refused == 1
    gate.set()
    assert done.acquire(timeout=5)
    assert done.acquire(timeout=5)
    spool.append_and_wait(*KIND, 1, b"z" * 60)
    spool.close()
    assert len(stored(tmp_path)) == 3


def test_segments_turn_over_at_their_size(tmp_path: Path) -> None:
    spool = Spool(tmp_path, min_free=0, segment_bytes=1000)
    for n in range(10):
        spool.append_and_wait(*KIND, 1, b"%03d" % n * 100)
    spool.close()
    assert len(segment_files(tmp_path)) == 3
    assert [body[:3] for body in stored(tmp_path)] == [b"%03d" % n for n in range(10)]


def test_a_partial_write_is_finished(tmp_path: Path) -> None:
    def write(fd: int, parts: Sequence[bytes]) -> int:
        return os.write(fd, b"".join(parts)[:7])

    spool = Spool(tmp_path, min_free=0, write=write)
    spool.append_and_wait(*KIND, 1, b"a long body")
    spool.close()
    assert stored(tmp_path) == [b"a long body"]


def test_closing_writes_what_waits_and_refuses_what_comes(tmp_path: Path) -> None:
    spool = Spool(tmp_path, min_free=0)
    seen: list[Exception | None] = []
    for n in range(50):
        spool.append(*KIND, 1, b"%d" % n, seen.append)
    spool.close()
    assert seen == [None] * 50
    with pytest.raises(Busy, match="stopping"):
        spool.append(*KIND, 1, b"late", seen.append)
    assert len(stored(tmp_path)) == 50
