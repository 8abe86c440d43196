"""Writing past the page cache: the same log, whatever mixture of sizes went into it."""

from __future__ import annotations

import errno
import random
import time
from pathlib import Path

import pytest

from otel2traj.capture.direct import DirectFile, aligned_buffer, open_direct
from otel2traj.capture.layout import LOG
from otel2traj.capture.router import Router
from otel2traj.capture.segments import BLOCK, create_segment, recover, segment_files
from otel2traj.capture.spool import Busy, Spool

from .requests import as_json, span, traces
from .test_spool import KIND, stored

SIZES = [10, 300_000, 5, 1_000_000, 262_144, 20_000_000, 3, 4096]


@pytest.mark.parametrize("direct", [True, False])
def test_bodies_of_any_size_come_back(tmp_path: Path, direct: bool) -> None:
    rng = random.Random(3)
    sent = [rng.randbytes(size) for size in SIZES]
    spool = Spool(tmp_path, min_free=0, direct=direct)
    for body in sent:
        spool.append_and_wait(*KIND, 1, body)
    spool.close()
    assert stored(tmp_path) == sent
    assert recover(tmp_path) == []


@pytest.mark.parametrize("seed", range(8))
def test_recovery_finds_every_whole_record_between_the_padding(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    sent = [rng.randbytes(rng.choice([7, 3000, 270_000, 300_001])) for _ in range(12)]
    spool = Spool(tmp_path, min_free=0)
    ends = []
    for body in sent:
        spool.append_and_wait(*KIND, 1, body)
        ends.append(segment_files(tmp_path)[0].stat().st_size)
    spool.close()
    (path,) = segment_files(tmp_path)
    cut = rng.randrange(ends[-1])
    with path.open("r+b") as file:
        file.truncate(cut)
    whole = sum(end <= cut for end in ends)
    (found,) = recover(tmp_path)
    assert found.records >= whole
    assert found.damaged == 0
    assert stored(tmp_path) == sent[: found.records]
    assert recover(tmp_path) == []


def test_padding_is_no_backlog(tmp_path: Path) -> None:
    body = as_json(traces(span(text="x" * 300_001, session__id="s")))
    spool = Spool(tmp_path / LOG, min_free=0)
    spool.append_and_wait(*KIND, 1, body)
    router = Router(tmp_path)
    router.drain()
    (path,) = segment_files(tmp_path / LOG)
    assert router.state.position(path.name) == (path.stat().st_size, False)
    spool.append_and_wait(*KIND, 1, b"small")
    assert router.drain().records == 1
    spool.append_and_wait(*KIND, 1, body[:-1] + b" }")
    assert router.drain().records == 1
    router.close()
    spool.close()


def test_a_file_system_that_wants_other_blocks_is_written_the_plain_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: DirectFile, offset: int, parts: object) -> int:
        raise OSError(errno.EINVAL, "Invalid argument")

    monkeypatch.setattr(DirectFile, "write", refuse)
    spool = Spool(tmp_path, min_free=0)
    sent = [b"small", b"x" * 300_000, b"y" * 300_000]
    for body in sent:
        spool.append_and_wait(*KIND, 1, body)
    spool.close()
    assert stored(tmp_path) == sent


def test_a_full_disk_in_the_middle_of_a_direct_write_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = DirectFile.write
    full = [True]

    def write(self: DirectFile, offset: int, parts: list[bytes]) -> int:
        if full[0]:
            real(self, offset, [parts[0]])
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(self, offset, parts)

    spool = Spool(tmp_path, min_free=0, pause=0.0)
    spool.append_and_wait(*KIND, 1, b"before")
    monkeypatch.setattr(DirectFile, "write", write)
    if open_direct(segment_files(tmp_path)[0], aligned_buffer()) is None:
        pytest.skip("no direct writes on this file system")
    with pytest.raises(Busy):
        spool.append_and_wait(*KIND, 1, b"z" * 300_000)
    full[0] = False
    spool.append_and_wait(*KIND, 1, b"z" * 300_001)
    spool.close()
    assert stored(tmp_path) == [b"before", b"z" * 300_001]


def test_a_direct_write_ends_on_a_block(tmp_path: Path) -> None:
    fd, path = create_segment(tmp_path)
    direct = open_direct(path, aligned_buffer())
    if direct is None:
        pytest.skip("no direct writes on this file system")
    assert direct.write(0, [b"a" * 5000, b"b"]) == 2 * BLOCK
    direct.close()
    assert path.read_bytes() == (b"a" * 5000 + b"b").ljust(2 * BLOCK, b"\0")
    assert fd > 0


def test_refusing_without_end_does_not_put_the_next_try_off(tmp_path: Path) -> None:
    """Bodies that come while the log rests must not lengthen its rest."""
    broken = [True]

    def sync(fd: int) -> None:
        if broken[0]:
            raise OSError(errno.EIO, "Input/output error")

    spool = Spool(tmp_path, min_free=0, pause=0.3, sync_call=sync)
    with pytest.raises(Busy):
        spool.append_and_wait(*KIND, 1, b"one")
    broken[0] = False
    begin = time.monotonic()
    while True:
        try:
            spool.append_and_wait(*KIND, 1, b"two")
            break
        except Busy:
            assert time.monotonic() - begin < 60
            time.sleep(0.02)
    spool.close()
    assert stored(tmp_path) == [b"two"]
