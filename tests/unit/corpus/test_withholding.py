"""What is withheld is gone and listed, and everything else can still be checked."""

from __future__ import annotations

from pathlib import Path

import pytest

from otel2traj.corpus.deriving import derive
from otel2traj.corpus.importing import ImportOptions, import_root
from otel2traj.corpus.profile import read_profile
from otel2traj.corpus.recomputing import recompute
from otel2traj.corpus.sealing import package
from otel2traj.corpus.tree import read_json, read_rows
from otel2traj.corpus.validating import validate
from otel2traj.corpus.verifying import verify
from otel2traj.corpus.withholding import purge
from otel2traj.errors import UsageError

from . import made
from .test_archives import zip_bytes


def object_of(corpus: Path, path: str) -> str:
    rows = read_rows(Path(f"{corpus}.partial") / "raw" / "origins.jsonl")
    return next(str(row["object"]) for row in rows if row["path"] == path)


def checked(corpus: Path, executions: int, skipped: int) -> None:
    """The rest of a sealed corpus: whole, clean in every tier, and derived again to the same bytes."""
    assert verify(corpus).findings == []
    done = validate(corpus, roundtrip=False)
    assert (done.clean, done.count) == (True, executions)
    again = recompute(corpus)
    assert (again.findings, again.same, again.skipped) == ([], executions - skipped, skipped)


WIRE = "abb-17a-acp/logs/network.jsonl"


def test_a_purged_object_goes_with_what_cites_it(working: Path) -> None:
    sha256 = object_of(working, WIRE)
    raw = (made.ATTEMPTS / "abb-17a-acp" / "attempt" / "logs" / "network.jsonl").read_bytes()
    said = purge(working, f"sha256:{sha256}")
    assert [row["origins"] for row in said["objects"]] == [[{"origin": "dir:runs", "path": WIRE}]]
    assert [row["attempt"] for row in said["executions"]] == ["abb-17a-acp"]
    package(working)
    assert raw not in made.content(working / "raw").values()
    assert read_json(working / "WITHHELD.json") == said
    sheet = (working / "DATASHEET.md").read_text()
    assert "1 raw objects and 1 executions" in sheet
    row = next(row for row in read_rows(working / "register.jsonl") if row["candidate"] == "abb-17a-acp")
    assert (row["status"], row["reason"]) == ("withheld", "purged")
    execution = str(row["executions"][0])
    assert not [path for path in made.content(working) if execution in path]
    checked(working, len(made.SOME) - 1, 0)


def test_what_cites_it_may_stay(working: Path) -> None:
    purge(working, object_of(working, WIRE), keep_executions=True)
    package(working)
    checked(working, len(made.SOME), 1)
    out = working.with_name("next")
    recompute(working, out)
    package(out)
    checked(out, len(made.SOME), 1)


def test_a_purged_object_does_not_come_back(working: Path) -> None:
    sha256 = object_of(working, WIRE)
    purge(working, sha256)
    import_root(made.runs(working.parent), working)
    import_root(working.parent / "runs", working, ImportOptions(name="again"))
    assert not list(Path(f"{working}.partial").glob(f"raw/objects/*/{sha256}*"))
    derive(working)
    package(working)
    rows = {
        (row["origin"], row["status"])
        for row in read_rows(working / "register.jsonl")
        if row["candidate"] == "abb-17a-acp"
    }
    assert rows == {("dir:runs", "withheld"), ("dir:again", "withheld")}
    checked(working, 2 * len(made.SOME) - 2, 0)


def test_a_purge_that_was_killed_is_finished_by_the_seal(working: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from otel2traj.corpus.manifest import Manifest

    def dies(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Manifest, "save", dies)
    with pytest.raises(KeyboardInterrupt):
        purge(working, object_of(working, WIRE))
    monkeypatch.undo()
    package(working)
    checked(working, len(made.SOME) - 1, 0)


def test_what_cannot_be_purged(working: Path) -> None:
    for sha256 in ("abc", "0" * 64):
        with pytest.raises(UsageError):
            purge(working, sha256)


def test_a_purge_takes_the_archive_that_holds_the_bytes(tmp_path: Path) -> None:
    """The archive goes whole, and neither it nor another one with the same member is stored again."""
    pack = tmp_path / "pack"
    pack.mkdir()
    files = made.content(made.runs(tmp_path, ("abb-17a-acp",)))
    (pack / "a.zip").write_bytes(zip_bytes(files.items()))
    corpus, raw = tmp_path / "packed", tmp_path / "packed.partial" / "raw"
    import_root(pack, corpus)
    member = read_rows(raw / "members.jsonl")[0]
    gone = {str(row["sha256"]) for row in purge(corpus, str(member["sha256"]))["objects"]}
    assert gone == {member["sha256"], member["archive"]}
    assert not [path for path in (raw / "objects").rglob("*") if path.is_file()]
    other = tmp_path / "other"
    other.mkdir()
    (other / "b.zip").write_bytes(zip_bytes([*files.items(), ("more.txt", b"x")]))
    import_root(other, corpus)
    assert not [path for path in (raw / "objects").rglob("*") if path.is_file()]
    derive(corpus)
    package(corpus)
    checked(corpus, 0, 0)


def test_rules_of_a_profile(tmp_path: Path) -> None:
    file = tmp_path / "profile.toml"
    file.write_text(
        'name = "lab"\nversion = 1\n[[withhold]]\npath = "abb-17a-acp/*/network.jsonl"\nreason = "embargo"\n'
        '[[withhold]]\npath = "pydanticai-*/run.json"\nexecutions = false\n'
    )
    corpus = made.working(tmp_path, options=ImportOptions(profile=read_profile(file)))
    package(corpus)
    said = read_json(corpus / "WITHHELD.json")
    assert {row["origins"][0]["path"]: (row["by"], row["reason"]) for row in said["objects"]} == {
        WIRE: ("profile:lab@1", "embargo"),
        "pydanticai-builtin-twins/run.json": ("profile:lab@1", "withheld_by_profile"),
    }
    assert [row["attempt"] for row in said["executions"]] == ["abb-17a-acp"]
    checked(corpus, len(made.SOME) - 1, 1)


def test_a_snapshot_whose_raw_objects_are_withheld(tmp_path: Path) -> None:
    corpus = made.working(tmp_path, ("abb-17a-acp", "abb-02-parallel-tools"), ImportOptions(withhold_raw=True))
    package(corpus)
    assert not [path for path in made.content(corpus) if path.startswith("raw/objects")]
    checked(corpus, 2, 2)
