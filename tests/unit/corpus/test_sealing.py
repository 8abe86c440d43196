"""The seal: what is in it, that it is always the same, and that nothing is written behind it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from otel2traj.canonical import sha256_hex
from otel2traj.corpus.deriving import derive
from otel2traj.corpus.importing import import_root
from otel2traj.corpus.sealing import package
from otel2traj.corpus.tree import read_json
from otel2traj.corpus.validating import validate
from otel2traj.corpus.verifying import verify
from otel2traj.corpus.withholding import purge
from otel2traj.errors import RefusedError, UsageError
from otel2traj.prov.rules import catalogue_bytes

from . import made


def test_a_seal_is_whole(working: Path, tmp_path: Path) -> None:
    licence = tmp_path / "DATA-LICENCE.txt"
    licence.write_text("as you like")
    done = package(working, "2.1.0", (licence,))
    assert not Path(f"{working}.partial").exists()
    files = made.content(working)
    top = {path.split("/")[0] for path in files}
    assert top == {
        "corpus.json",
        "executions.jsonl",
        "register.jsonl",
        "derivation.json",
        "checksums.sha256",
        "raw",
        "aer",
        "sem",
        "prov",
        "views",
        "rules",
        "schemas",
        "DATASHEET.md",
        "CHANGELOG.md",
        "LICENSES",
    }
    assert done.root == sha256_hex(files["checksums.sha256"])
    assert done.files == len(files) - 1
    lines = dict(reversed(line.split("  ")) for line in files["checksums.sha256"].decode().splitlines())
    assert lines == {path: sha256_hex(data) for path, data in files.items() if path != "checksums.sha256"}
    assert files["rules/aprov.toml"] == catalogue_bytes("aprov")
    assert files["LICENSES/DATA-LICENCE.txt"] == b"as you like"
    manifest = read_json(working / "corpus.json")
    assert (manifest["state"], manifest["version"], manifest["licences"]) == ("sealed", "2.1.0", ["DATA-LICENCE.txt"])
    sheet = files["DATASHEET.md"].decode()
    assert "5 executions" in sheet
    assert "build_failed" in sheet
    assert "Not validated before it was sealed." in sheet


@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="coreutils are not installed")
def test_sha256sum_reads_the_checksums(sealed: Path) -> None:
    run = subprocess.run(
        ["sha256sum", "-c", "--quiet", "checksums.sha256"], cwd=sealed, capture_output=True, check=False
    )
    assert (run.returncode, run.stdout) == (0, b"")


def test_every_write_to_a_sealed_corpus_is_refused(sealed: Path) -> None:
    before = made.content(sealed)
    sha256 = read_json(sealed / "corpus.json")["digests"]["register.jsonl"]
    for name in (sealed, Path(f"{sealed}.partial")):
        for action in (
            lambda: import_root(made.ATTEMPTS / "abb-17a-acp", name),  # noqa: B023
            lambda: derive(name),  # noqa: B023
            lambda: package(name),  # noqa: B023
            lambda: purge(name, sha256),  # noqa: B023
        ):
            with pytest.raises(RefusedError) as caught:
                action()
            assert (caught.value.error_code, caught.value.exit_code) == ("corpus.sealed", 4)
    assert made.content(sealed) == before
    assert not Path(f"{sealed}.partial").exists()
    assert validate(sealed, roundtrip=False).clean
    assert made.content(sealed) == before


def test_not_before_it_is_derived(tmp_path: Path) -> None:
    import_root(made.runs(tmp_path, ("abb-13a-anthropic",)), tmp_path / "c")
    with pytest.raises(RefusedError) as caught:
        package(tmp_path / "c")
    assert caught.value.error_code == "corpus.underived"


def test_a_tree_that_is_not_what_its_indexes_say_is_not_sealed(working: Path) -> None:
    aer = next(Path(f"{working}.partial").glob("aer/*/*"))
    aer.write_bytes(aer.read_bytes() + b"\n")
    with pytest.raises(RefusedError) as caught:
        package(working)
    assert caught.value.error_code == "corpus.damaged"


def test_a_seal_that_was_killed_begins_again(working: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    copy = working.with_name("copy")
    shutil.copytree(f"{working}.partial", f"{copy}.partial")
    expected = package(copy)

    def dies(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "rename", dies)
    with pytest.raises(KeyboardInterrupt):
        package(working)
    monkeypatch.undo()
    again = package(working)
    assert again.root == expected.root, "and the name of the directory does not matter"
    assert verify(working).findings == []
    assert made.content(working) == made.content(copy)


def test_a_version_is_semantic(working: Path) -> None:
    with pytest.raises(UsageError):
        package(working, "1.0")


def test_a_new_version_knows_the_one_before(sealed: Path) -> None:
    root = verify(sealed).root
    out = sealed.with_name("next")
    done = derive(sealed, out)
    assert done.derived == len(made.SOME)
    package(out, "1.0.1")
    assert read_json(out / "corpus.json")["history"] == [
        {"version": "1.0.0", "root": root, "executions": len(made.SOME)}
    ]
    assert root in (out / "CHANGELOG.md").read_text()
    before, after = made.content(sealed), made.content(out)
    derived = [path for path in before if path.startswith(("raw/", "aer/", "sem/", "prov/", "views/"))]
    assert {path: after[path] for path in derived} == {path: before[path] for path in derived}
