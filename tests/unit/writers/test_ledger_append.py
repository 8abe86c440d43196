"""A line is appended whole, or not at all."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from otel2traj.errors import EvidenceError
from otel2traj.writers.ledger_append import Tail, append_line, read_tail


def tail(path: Path) -> Tail:
    fd = os.open(path, os.O_RDONLY)
    try:
        return read_tail(fd)
    finally:
        os.close(fd)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", Tail()),
        (b"\n \n", Tail()),
        (b"a\n", Tail(b"a", b"a")),
        (b"a", Tail(b"a", b"a", ended=False)),
        (b"a\nb\nc\n", Tail(b"a", b"c")),
        (b"\na\r\nb\r\n\n", Tail(b"a", b"b")),
        (b"a\nb", Tail(b"a", b"b", ended=False)),
        (b"x" * 200_000 + b"\n" + b"y" * 200_000 + b"\n", Tail(b"x" * 200_000, b"y" * 200_000)),
        (b"a\n" * 100_000 + b"end\n" + b"\n" * 100_000, Tail(b"a", b"end")),
    ],
)
def test_the_tail_is_found_from_both_ends(tmp_path: Path, data: bytes, expected: Tail) -> None:
    path = tmp_path / "ledger.jsonl"
    path.write_bytes(data)
    assert tail(path) == expected


def test_a_file_without_its_last_newline_gets_one(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    path.write_bytes(b"a")
    append_line(path, lambda tail: b"b\n")
    assert path.read_bytes() == b"a\nb\n"


@pytest.mark.parametrize("before", [None, b"a\n"])
def test_a_refusal_writes_nothing(tmp_path: Path, before: bytes | None) -> None:
    path = tmp_path / "ledger.jsonl"
    if before is not None:
        path.write_bytes(before)

    def refuse(tail: Tail) -> bytes:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        append_line(path, refuse)
    assert (path.read_bytes() if path.exists() else None) == before


def test_a_short_write_is_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "ledger.jsonl"
    path.write_bytes(b"a\n")
    whole = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: whole(fd, data[:3]))
    with pytest.raises(EvidenceError, match="not written whole"):
        append_line(path, lambda tail: b"0123456789\n")
    assert path.read_bytes() == b"a\n"


def test_one_write_and_a_sync_for_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    write, fsync = os.write, os.fsync

    def counted(name: str, inner: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            calls.append(name)
            return inner(*args)

        return call

    monkeypatch.setattr(os, "write", counted("write", write))
    monkeypatch.setattr(os, "fsync", counted("fsync", fsync))
    path = tmp_path / "ledger.jsonl"
    path.write_bytes(b"a\n")
    append_line(path, lambda tail: b"b\n")
    assert calls == ["write", "fsync"]


def test_appenders_wait_for_each_other(tmp_path: Path) -> None:
    """Each line counts the line before: without the lock two would count the same one."""
    path = tmp_path / "ledger.jsonl"
    path.write_bytes(b"0\n")

    def work() -> None:
        for _ in range(25):
            append_line(path, lambda tail: b"%d\n" % (int(tail.last or b"0") + 1))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert path.read_bytes() == b"".join(b"%d\n" % number for number in range(101))


def test_a_directory_is_no_ledger(tmp_path: Path) -> None:
    with pytest.raises(EvidenceError, match="cannot append"):
        append_line(tmp_path, lambda tail: b"b\n")
