"""Deriving again gives the same bytes in another process, with other settings of the system; a difference is named."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from otel2traj.corpus.importing import ImportOptions, import_root
from otel2traj.corpus.recomputing import recompute
from otel2traj.corpus.sealing import package
from otel2traj.corpus.verifying import verify
from otel2traj.errors import RefusedError

from . import made
from .test_archives import tar_bytes, zip_bytes
from .test_verifying import one


def command(*words: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "otel2traj", "corpus", *map(str, words)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


@pytest.mark.parametrize(
    ("jobs", "environment"),
    [
        ("1", {"PYTHONHASHSEED": "1", "LC_ALL": "C", "TZ": "Asia/Kathmandu"}),
        ("3", {"PYTHONHASHSEED": "77", "LC_ALL": "C.UTF-8", "PYTHONUTF8": "0"}),
    ],
)
def test_recompute_in_another_process(sealed: Path, jobs: str, environment: dict[str, str]) -> None:
    before = made.content(sealed)
    run = command("recompute", sealed, "-j", jobs, "--json", **environment)
    said = json.loads(run.stdout)
    assert (run.returncode, said["same"], said["differing"], said["findings"]) == (0, len(made.SOME), 0, [])
    assert made.content(sealed) == before


def test_the_same_seal_for_any_number_of_workers_hash_seed_locale_and_directory_order(tmp_path: Path) -> None:
    """The second tree of evidence is created in the opposite order, so that the system lists it otherwise."""
    root = made.runs(tmp_path)
    other = tmp_path / "other" / "runs"
    for path, data in reversed(made.content(root).items()):
        (other / path).parent.mkdir(parents=True, exist_ok=True)
        (other / path).write_bytes(data)
    roots = []
    for number, (place, jobs, environment) in enumerate(
        [
            (root, "1", {"PYTHONHASHSEED": "3", "LC_ALL": "C"}),
            (other, "3", {"PYTHONHASHSEED": "9", "LC_ALL": "C.UTF-8"}),
        ]
    ):
        corpus = tmp_path / str(number)
        assert command("import", place, corpus, "-j", jobs, **environment).returncode == 0
        assert command("derive", corpus, "-j", jobs, **environment).returncode == 0
        assert command("validate", corpus, "-j", jobs, "--no-roundtrip", **environment).returncode == 0
        run = command("package", corpus, "--json", **environment)
        roots.append(json.loads(run.stdout)["root"])
    assert roots[0] == roots[1]


def test_out_is_a_new_version_with_the_same_bytes(sealed: Path) -> None:
    out = sealed.with_name("next")
    done = recompute(sealed, out, jobs=2)
    assert (done.same, done.findings) == (len(made.SOME), [])
    package(out, "1.0.1")
    assert verify(out).findings == []
    before, after = made.content(sealed), made.content(out)
    changed = {path for path in after if after[path] != before.get(path)}
    assert changed == {"corpus.json", "DATASHEET.md", "CHANGELOG.md", "checksums.sha256"}
    assert set(before) == set(after)


def test_archives_are_derived_again_from_their_bytes(tmp_path: Path) -> None:
    files = list(made.content(made.runs(tmp_path, ("abb-17a-acp",))).items())
    pack = tmp_path / "pack"
    pack.mkdir()
    (pack / "a.zip").write_bytes(zip_bytes(files))
    (pack / "b.tar").write_bytes(tar_bytes(files))
    from otel2traj.corpus.deriving import derive

    import_root(pack, tmp_path / "corpus", ImportOptions())
    derive(tmp_path / "corpus")
    package(tmp_path / "corpus")
    assert (recompute(tmp_path / "corpus").same, verify(tmp_path / "corpus").findings) == (2, [])
    members = tmp_path / "corpus" / "raw" / "members.jsonl"
    members.write_bytes(members.read_bytes().replace(b'"ordinal":0', b'"ordinal":900', 1))
    assert "recompute.members" in {finding.rule for finding in recompute(tmp_path / "corpus").findings}


@pytest.mark.parametrize("pattern", ["aer/*/*", "sem/injection/*/*", "prov/*/*/*", "views/*/*/*"])
def test_each_derived_file_is_compared(sealed: Path, pattern: str) -> None:
    file = one(sealed, pattern)
    file.write_bytes(file.read_bytes().replace(b"otel2traj", b"otherware").replace(b"1", b"2"))
    found = recompute(sealed).findings
    assert [finding.rule for finding in found] == ["recompute.differs"]
    assert found[0].pointer is not None
    assert found[0].pointer.startswith(file.relative_to(sealed).as_posix())


def test_files_and_rows_that_are_missing_or_too_many(sealed: Path) -> None:
    one(sealed, "prov/*/*/*").unlink()
    assert {finding.rule for finding in recompute(sealed).findings} == {"recompute.missing"}
    index = sealed / "executions.jsonl"
    rows = index.read_bytes().replace(b'"model_calls":', b'"model_calls":9', 1)
    index.write_bytes(rows)
    of_indexes = {"recompute.counts", "recompute.digest"}
    assert {finding.rule for finding in recompute(sealed).findings} == {
        "recompute.missing",
        "recompute.row",
    } | of_indexes


def test_a_missing_raw_object(sealed: Path) -> None:
    for file in (sealed / "raw" / "objects").glob("*/*.jsonl"):
        file.unlink()
    done = recompute(sealed)
    assert {finding.rule for finding in done.findings} == {"recompute.raw"}
    assert done.differing == len(made.SOME)


def test_other_code_is_told(sealed: Path) -> None:
    file = sealed / "derivation.json"
    file.write_bytes(file.read_bytes().replace(b'"code": "sha256:', b'"code": "sha256:0'))
    assert recompute(sealed).remarks == ["code is not the one that made the corpus"]


def test_not_before_the_import_has_ended(working: Path) -> None:
    manifest = Path(f"{working}.partial") / "corpus.json"
    manifest.write_bytes(manifest.read_bytes().replace(b'"state": "complete"', b'"state": "incomplete"'))
    with pytest.raises(RefusedError) as caught:
        recompute(working)
    assert caught.value.error_code == "corpus.incomplete"


def test_without_room_for_links(sealed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On another file system objects are copied; the result is the same."""

    def no_links(*_: object, **__: object) -> None:
        raise OSError

    monkeypatch.setattr(os, "link", no_links)
    assert recompute(sealed).findings == []
    shutil.rmtree(sealed)
