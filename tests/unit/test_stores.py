"""Evidence and results behind URLs: the bytes are those of a folder, and so are the rules for links and paths."""

from __future__ import annotations

import io
import json
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest
import typer

import otel2traj
from otel2traj import stores
from otel2traj.api.build import build_bytes, build_path
from otel2traj.cli import app as command_line
from otel2traj.cli import main
from otel2traj.errors import EvidenceError, RefusedError, UsageError, WriteError
from otel2traj.writers import FOLDERS

ATTEMPT = Path(__file__).parents[2] / "fixtures" / "attempts" / "abb-02-parallel-tools" / "attempt"


@pytest.fixture
def memory() -> Iterator[Any]:
    found = fsspec.filesystem("memory")
    found.store.clear()
    found.pseudo_dirs[:] = [""]
    yield found
    found.store.clear()


@pytest.fixture
def remote(memory: Any) -> str:
    memory.put(f"{ATTEMPT}/", "/lab/attempt", recursive=True)
    return "memory://lab/attempt"


def zipped(file: Path, prefix: str = "attempt/") -> Path:
    with zipfile.ZipFile(file, "w") as archive:
        for one in sorted(ATTEMPT.rglob("*")):
            if one.is_file():
                archive.write(one, prefix + one.relative_to(ATTEMPT).as_posix())
    return file


def run(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    program = typer.Typer(pretty_exceptions_enable=False, rich_markup_mode=None)
    program.callback()(command_line._root)
    monkeypatch.setattr(command_line, "app", program)
    monkeypatch.setattr(sys, "argv", ["otel2traj", *words])
    with pytest.raises(SystemExit) as end:
        main()
    assert isinstance(end.value.code, int)
    return end.value.code


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("s3://b/k", True),
        ("zip://a::s3://b/k.zip", True),
        ("simplecache::s3://b/k", True),
        ("/a/b", False),
        ("a::b", False),
        ("1://b", False),
        ("C:\\x", False),
        ("", False),
    ],
)
def test_what_is_a_url(text: str, url: bool) -> None:
    assert stores.is_url(text) is url


def test_the_bytes_are_those_of_the_folder(remote: str, tmp_path: Path) -> None:
    for path in (remote, f"zip://attempt::{zipped(tmp_path / 'a.zip')}", f"zip://::{zipped(tmp_path / 'b.zip', '')}"):
        if "::" in path and "://attempt" not in path:
            path = path.replace("::", "::file://")
        with stores.local(path) as local:
            assert build_bytes(local) == build_bytes(ATTEMPT)
        assert not local.exists()
    assert otel2traj.load(remote) == otel2traj.load(ATTEMPT)
    assert [step.step_id for step in otel2traj.stream(remote)] == [1, 2]
    (built,) = otel2traj.build(remote, output="memory://out/deep/run.json")
    assert (built.failed, built.file) == (False, None)
    assert fsspec.filesystem("memory").cat_file("/out/deep/run.json") == build_bytes(ATTEMPT)


def test_a_command_reads_and_writes_urls(remote: str, memory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(monkeypatch, "build", remote, "-o", "memory://out/run.json") == 0
    assert memory.cat_file("/out/run.json") == build_bytes(ATTEMPT)
    assert run(monkeypatch, "export", "memory://out/run.json", "--to", "atif", "-o", "memory://out/run.atif.json") == 0
    assert json.loads(memory.cat_file("/out/run.atif.json"))["schema_version"].startswith("ATIF")
    assert run(monkeypatch, "export", remote, "--to", "parquet", "-o", "memory://out/tables") == 0
    assert sorted(memory.ls("/out/tables", detail=False)) == [
        f"/out/tables/{name}" for name in sorted(FOLDERS["parquet"])
    ]
    assert run(monkeypatch, "info", remote) == 0
    assert run(monkeypatch, "validate", "memory://out/run.json", "--evidence", remote) == 0


def test_messages_name_the_url_and_not_the_copy(
    remote: str, memory: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "build", remote, "-o", "memory://out/run.json") == 0
    assert capsys.readouterr().err.endswith("-> memory://out/run.json\n")
    with (
        pytest.raises(EvidenceError, match=r"^there is no memory://lab/attempt/nosuch$") as end,
        stores.local(remote) as path,
    ):
        build_path(path / "nosuch")
    assert "otel2traj-" not in str(end.value)


def test_a_target_that_cannot_be_is_refused_before_the_work(
    remote: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for target in ("file:///tmp/run.json", "nosuch://out/run.json"):
        assert run(monkeypatch, "build", remote, "-o", target) == 2
        assert "steps" not in capsys.readouterr().err


def test_nothing_is_written_where_a_command_fails(memory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    memory.pipe_file("/lab/notes.txt", b"no trace")
    assert run(monkeypatch, "export", "memory://lab/notes.txt", "--to", "atif", "-o", "memory://out/x.json") == 3
    assert not memory.exists("/out/x.json")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("build", "memory://nowhere/at/all"), 3, "there is nothing at memory://nowhere/at/all"),
        (("build", "nosuch://x"), 2, "nosuch"),
        (("build", "file:///etc"), 2, "is a path of this machine"),
        (("corpus", "info", "memory://lab/attempt"), 2, "corpus info works on this machine"),
        (("build", "memory://lab/attempt", "--write"), 2, "say where with -o"),
    ],
)
def test_what_cannot_be_is_said(
    words: tuple[str, ...],
    code: int,
    said: str,
    remote: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(monkeypatch, *words) == code
    assert said in capsys.readouterr().err


def test_names_that_leave_are_refused(tmp_path: Path) -> None:
    for name in ("../../outside.json", "a/../../outside.json"):
        file = tmp_path / "bad.zip"
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("run.json", "{}")
            archive.writestr(name, "{}")
        with pytest.raises((RefusedError, EvidenceError)), stores.local(f"zip://::file://{file}"):
            pass
        assert [one.name for one in tmp_path.parent.rglob("outside.json")] == []


def test_links_in_archives_are_refused_as_on_disks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    secret = tmp_path / "secret.jsonl"
    secret.write_text('{"secret": true}\n')
    packed, tarred = tmp_path / "bad.zip", tmp_path / "bad.tar"
    link = zipfile.ZipInfo("attempt/logs/network.jsonl")
    link.external_attr = 0o120777 << 16
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("attempt/steps/0001/input.json", "{}")
        archive.writestr(link, str(secret))
    with tarfile.open(tarred, "w") as tar:
        entry = tarfile.TarInfo("attempt/steps/0001/input.json")
        entry.size = 2
        tar.addfile(entry, io.BytesIO(b"{}"))
        entry = tarfile.TarInfo("attempt/logs/network.jsonl")
        entry.type, entry.linkname = tarfile.SYMTYPE, str(secret)
        tar.addfile(entry)
    for url in (f"zip://attempt::file://{packed}", f"tar://attempt::file://{tarred}"):
        with stores.local(url) as local:
            assert (local / "logs" / "network.jsonl").is_symlink()
            with pytest.raises(EvidenceError, match="symbolic link"):
                build_bytes(local)


def test_a_name_that_is_file_and_folder_is_an_error(memory: Any) -> None:
    files = {"a": {"key": "/lab/a", "size": 3}, "a/b": {"key": "/lab/a/b", "size": 1}}
    with pytest.raises(EvidenceError, match="is a file and a folder"):
        stores.fetch("memory://lab", files, Path("/nowhere"))


def test_what_is_secret_in_a_url_is_not_shown() -> None:
    assert stores.shown("sftp://me:pw@host/a?key=1") == "sftp://host/a"
    assert stores.shown("zip://x::https://tok@host/a.zip?sig=1") == "zip://x::https://host/a.zip"


def test_a_failed_put_is_an_error_of_writing(memory: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    (tmp_path / "x").write_text("x")
    monkeypatch.setattr(type(memory), "put_file", full)
    with pytest.raises(WriteError, match="No space left"):
        stores.put("memory://out/x", tmp_path / "x")


def test_a_store_that_writes_in_place_gets_a_file_beside_that_is_renamed(
    memory: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stores, "_WHOLE", frozenset())
    seen: list[str] = []
    real = type(memory).put_file

    def put_file(self: Any, local: str, path: str, **options: Any) -> None:
        seen.append(path)
        real(self, local, path, **options)

    monkeypatch.setattr(type(memory), "put_file", put_file)
    (tmp_path / "x").write_text("x")
    stores.put("memory://out/x", tmp_path / "x")
    assert memory.find("/out") == ["/out/x"]
    assert ".otel2traj-" in seen[0]


def test_without_fsspec_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(UsageError, match="URLs need fsspec"):
        stores.filesystem("memory://x")
