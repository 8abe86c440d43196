"""The segment log: what was written is read, a torn tail is cut, and nothing else ever is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otel2traj.capture.segments import (
    HEADER,
    Content,
    Damage,
    Encoding,
    Signal,
    create_segment,
    end_record,
    header,
    is_live,
    read_from,
    read_record,
    records_from,
    recover,
    segment_files,
)

BODIES = [b"first", b"second o2tr o2tr", b"", b"third" * 100]


def write(body: bytes) -> bytes:
    return header(Signal.TRACES, Content.JSON, Encoding.GZIP, 1_700_000_000_000_000_000, 3, body) + body


def segment(folder: Path, *parts: bytes) -> Path:
    fd, path = create_segment(folder)
    os.write(fd, b"".join(parts))
    os.close(fd)
    return path


def damages(path: Path) -> list[Damage]:
    with path.open("rb") as file:
        return [part for part in read_from(file, 0) if isinstance(part, Damage)]


def bodies(path: Path, **options: bool) -> list[bytes]:
    with path.open("rb") as file:
        return [record.body for record in records_from(file, 0, **options) if record.signal is not Signal.END]


def test_a_record_keeps_everything_about_a_body(tmp_path: Path) -> None:
    path = segment(tmp_path, write(b"body"))
    with path.open("rb") as file:
        record = read_record(file, 0)
    assert record is not None
    assert (record.signal, record.content, record.encoding) == (Signal.TRACES, Content.JSON, Encoding.GZIP)
    assert (record.received_ns, record.items, record.body) == (1_700_000_000_000_000_000, 3, b"body")
    assert record.end == HEADER.size + 4


def test_segments_are_numbered_in_order_past_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "00000041.seg").touch()
    (tmp_path / "notes.txt").touch()
    path = segment(tmp_path)
    assert path.name == "00000042.seg"
    assert [p.name for p in segment_files(tmp_path)] == ["00000041.seg", "00000042.seg"]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 700))
def test_recovery_cuts_a_torn_tail_and_only_that(tmp_path_factory: pytest.TempPathFactory, cut: int) -> None:
    folder = tmp_path_factory.mktemp("log")
    whole = [write(body) for body in BODIES]
    data = b"".join(whole)
    cut = min(cut, len(data))
    path = segment(folder, data[:cut])
    complete = 0
    while complete < len(whole) and sum(map(len, whole[: complete + 1])) <= cut:
        complete += 1
    (found,) = recover(folder)
    assert found.records == complete
    assert found.cut == cut - sum(map(len, whole[:complete]))
    assert bodies(path) == BODIES[:complete]
    assert recover(folder) == []


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 255))
def test_a_flipped_byte_costs_its_own_record_only(tmp_path_factory: pytest.TempPathFactory, at: int, flip: int) -> None:
    folder = tmp_path_factory.mktemp("log")
    whole = [write(body) for body in BODIES]
    data = bytearray(b"".join(whole) + end_record(0))
    at %= len(data) - HEADER.size
    data[at] ^= flip
    hit = next(n for n in range(len(whole)) if at < sum(map(len, whole[: n + 1])))
    path = segment(folder, bytes(data))
    recover(folder)
    assert bodies(path) == BODIES[:hit] + BODIES[hit + 1 :]
    (damage,) = damages(path)
    start = sum(map(len, whole[:hit]))
    assert (damage.offset, damage.offset + damage.length) == (start, start + len(whole[hit]))


def test_damage_at_the_end_is_kept_and_told_of_beside_a_torn_record(tmp_path: Path) -> None:
    hit = bytearray(write(b"acknowledged"))
    hit[-1] ^= 1
    path = segment(tmp_path, write(b"one"), bytes(hit), write(b"torn")[:-1])
    (found,) = recover(tmp_path)
    assert (found.records, found.damaged, found.cut) == (1, len(hit), len(write(b"torn")) - 1)
    (damage,) = damages(path)
    assert (damage.length, damage.signal, damage.items) == (len(hit), Signal.TRACES, 3)
    assert recover(tmp_path) == []


def test_a_record_whose_end_was_never_written_is_torn(tmp_path: Path) -> None:
    whole = write(b"x" * 2000)
    segment(tmp_path, write(b"one"), whole[:900] + bytes(len(whole) - 900))
    (found,) = recover(tmp_path)
    assert (found.records, found.damaged) == (1, 0)


def test_recovery_leaves_a_log_alone_that_is_still_written(tmp_path: Path) -> None:
    fd, path = create_segment(tmp_path)
    os.write(fd, write(b"x") + write(b"torn")[:-2])
    size = path.stat().st_size
    with path.open("rb") as file:
        assert is_live(file)
    assert recover(tmp_path) == []
    assert path.stat().st_size == size
    os.close(fd)
    with path.open("rb") as file:
        assert not is_live(file)
    assert recover(tmp_path)[0].cut == len(write(b"torn")) - 2


def test_a_live_segment_is_read_up_to_what_is_whole(tmp_path: Path) -> None:
    first, second = write(b"one"), write(b"two")
    path = segment(tmp_path, first + second[:-1])
    assert bodies(path, live=True) == [b"one"]
    with path.open("ab") as file:
        file.write(second[-1:])
    assert bodies(path, live=True) == [b"one", b"two"]


def test_a_length_that_lies_does_not_hide_what_follows(tmp_path: Path) -> None:
    data = bytearray(write(b"one") + write(b"two"))
    data[8:12] = (1 << 30).to_bytes(4, "little")
    path = segment(tmp_path, bytes(data))
    assert bodies(path) == [b"two"]
