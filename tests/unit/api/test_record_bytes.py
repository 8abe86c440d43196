"""Addresses into bytes, and never out of the attempt."""

from __future__ import annotations

import gzip
from pathlib import Path

from otel2traj.api.record_bytes import RecordBytes


def test_plain_and_compressed_files_give_the_bytes_inside(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "a.jsonl").write_bytes(b'{"a":1}\n{"b":2}\n')
    (tmp_path / "t.jsonl.gz").write_bytes(gzip.compress(b'{"a":1}\n{"b":2}\n'))
    with RecordBytes(tmp_path) as read:
        assert read("logs/a.jsonl", 8, 7) == b'{"b":2}'
        assert read("t.jsonl.gz", 8, 7) == b'{"b":2}'
        assert read("logs/a.jsonl", 16, 0) == b""


def test_what_is_not_there_is_none(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"12345")
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "a.jsonl")
    outside = tmp_path.parent / "outside.jsonl"
    outside.write_bytes(b"secret")
    with RecordBytes(tmp_path) as read:
        assert read("a.jsonl", 3, 3) is None, "beyond the end"
        assert read("a.jsonl", -1, 2) is None
        assert read("b.jsonl", 0, 1) is None
        assert read("link.jsonl", 0, 1) is None
        assert read("../outside.jsonl", 0, 6) is None
        assert read(str(outside), 0, 6) is None


def test_many_files_do_not_stay_open(tmp_path: Path) -> None:
    for n in range(100):
        (tmp_path / f"{n}.jsonl").write_bytes(b"%03d" % n)
    with RecordBytes(tmp_path) as read:
        assert [read(f"{n}.jsonl", 0, 3) for n in range(100)] == [b"%03d" % n for n in range(100)]
        assert len(read._streams) <= 32
