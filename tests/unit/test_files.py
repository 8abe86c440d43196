"""Writing: never through a link, never half, never over what another writer makes."""

from __future__ import annotations

import os
import shutil
import socket
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from otel2traj.api.build import build_path
from otel2traj.api.export import export
from otel2traj.errors import WriteError
from otel2traj.files import PREFIX, beside, replacing, whole
from otel2traj.model.trajectory import TrajectoryStatus


@pytest.fixture
def attempt(fixtures: Path, tmp_path: Path) -> Path:
    shutil.copytree(fixtures / "attempts" / "abb-02-parallel-tools" / "attempt", tmp_path / "attempt")
    return tmp_path / "attempt"


def test_a_planted_link_is_not_written_through(attempt: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (attempt / "trajectory.json.tmp").symlink_to(victim)
    build_path(attempt, write=True)
    export(attempt, "steps-jsonl", output=attempt / "trajectory.json")
    assert victim.read_text() == "mine"


def test_no_two_temporary_files_share_a_name(tmp_path: Path) -> None:
    (one, first), (two, second) = beside(tmp_path / "x"), beside(tmp_path / "x")
    first.close()
    second.close()
    assert one != two
    assert one.name.startswith(PREFIX)


def test_builds_of_one_attempt_at_once_both_end_well(attempt: Path) -> None:
    failed: list[Exception] = []

    def build() -> None:
        try:
            build_path(attempt, write=True)
        except Exception as err:
            failed.append(err)

    threads = [threading.Thread(target=build) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert not list(attempt.rglob(f"{PREFIX}*"))


def _half(file: Path) -> None:
    with replacing(file) as out:
        out.write(b"half")
        raise RuntimeError


def test_a_failed_write_leaves_the_file_that_stood(tmp_path: Path) -> None:
    file = tmp_path / "good"
    file.write_text("good")
    with pytest.raises(RuntimeError):
        _half(file)
    assert (file.read_text(), os.listdir(tmp_path)) == ("good", ["good"])


def test_a_full_disk_is_no_failed_build(attempt: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "good.json"
    (built,) = build_path(attempt, output=file)
    before = file.read_bytes()
    assert built.summary.status is TrajectoryStatus.COMPLETE

    def full(fd: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(WriteError, match="No space left"):
        build_path(attempt, output=file)
    assert file.read_bytes() == before
    assert not list(tmp_path.glob(f"{PREFIX}*"))


def test_a_limit_that_a_seek_meets_is_no_failed_build_either(attempt: Path, tmp_path: Path) -> None:
    """A seek writes what the buffer holds; the file that stood is not replaced by one that says `failed`."""
    good = tmp_path / "good.json"
    good.write_text("good")
    code = (
        "import resource, sys\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "from otel2traj.cli import main\nmain()"
    )
    asked = [sys.executable, "-c", code, "build", str(attempt), "-o", str(good)]
    run = subprocess.run(asked, capture_output=True, text=True)
    assert (run.returncode, run.stderr.split("\n")[0]) == (3, "error: cannot write good.json: File too large")
    assert good.read_text() == "good"


@pytest.mark.parametrize("target", ["-", "/dev/stdout", "/proc/self/fd/1"])
def test_a_closed_standard_output_is_told_and_no_file_gets_its_number(attempt: Path, target: str) -> None:
    before = {path: path.read_bytes() for path in attempt.rglob("*") if path.is_file()}
    asked = f'exec "{sys.executable}" -m otel2traj build "{attempt}" -o {target} >&-'
    run = subprocess.run(["sh", "-c", asked], capture_output=True, text=True)
    assert run.returncode == 3
    assert "Bad file descriptor" in run.stderr
    assert {path: path.read_bytes() for path in attempt.rglob("*") if path.is_file()} == before


def test_a_socket_as_standard_output_is_written_through(attempt: Path) -> None:
    ours, theirs = socket.socketpair()
    asked = [sys.executable, "-m", "otel2traj", "build", str(attempt), "-o", "-"]
    with ours, subprocess.Popen(asked, stdout=theirs, stderr=subprocess.DEVNULL) as run:
        theirs.close()
        told = b"".join(iter(lambda: ours.recv(1 << 16), b""))
    assert run.returncode == 0
    assert told.startswith(b'{\n"schema"')
    assert told.endswith(b"}\n")


def test_the_mode_of_a_file_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "x"
    file.write_text("old")
    file.chmod(0o640)
    with replacing(file) as out:
        out.write(b"new")
    assert (file.read_text(), stat.S_IMODE(file.stat().st_mode)) == ("new", 0o640)


def test_a_pipe_is_written_through(attempt: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    build_path(attempt, output=pipe)
    reader.join()
    build_path(attempt, output=tmp_path / "file")
    assert got == [(tmp_path / "file").read_bytes()]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_targets_that_cannot_be(tmp_path: Path) -> None:
    with pytest.raises(WriteError, match="Is a directory"), whole(tmp_path):
        pass
    with pytest.raises(WriteError, match="No such file"), whole(tmp_path / "none" / "x"):
        pass
    with pytest.raises(WriteError, match="No space left"), replacing(Path("/dev/full")) as out:
        out.write(b"x")
