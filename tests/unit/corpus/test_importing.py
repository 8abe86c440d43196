"""Imports: the layout, the register, resuming after a kill, what changed, what is refused."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import zstandard

from otel2traj.canonical import sha256_hex
from otel2traj.corpus.deriving import derive
from otel2traj.corpus.importing import ImportOptions, import_root
from otel2traj.corpus.sealing import package
from otel2traj.corpus.summary import info
from otel2traj.corpus.tree import read_json, read_rows
from otel2traj.errors import EvidenceError, RefusedError, UsageError
from otel2traj.prov.identity import shard

from . import made
from .test_archives import tar_bytes, zip_bytes


def test_the_layout_of_the_contract(working: Path) -> None:
    tree = Path(f"{working}.partial")
    rows = read_rows(tree / "executions.jsonl")
    assert len(rows) == len(made.SOME)
    for row in rows:
        name = str(row["execution"])
        part = shard(name)
        assert {kind: file["path"] for kind, file in row["files"].items()} == {
            "aer": f"aer/{part}/{name}.aer.jsonl",
            "view": f"views/trajectory-v1/{part}/{name}.trajectory.json",
            "sem/default": f"sem/default/{part}/{name}.sem.jsonl",
            "sem/injection": f"sem/injection/{part}/{name}.sem.jsonl",
            "prov": f"prov/agentprov-prov-0.1/{part}/{name}.prov.json",
        }
        for file in row["files"].values():
            data = (tree / file["path"]).read_bytes()
            assert (sha256_hex(data), len(data)) == (file["sha256"], file["bytes"])


def test_raw_bytes_are_stored_unchanged_under_their_digest(working: Path) -> None:
    tree = Path(f"{working}.partial")
    rows = read_rows(tree / "raw" / "origins.jsonl")
    files = dict(made.content(tree / "raw" / "objects").items())
    by_digest = {path.rpartition("/")[2].partition(".")[0]: data for path, data in files.items()}
    originals = made.ATTEMPTS
    assert len(rows) > 30
    for row in rows:
        name, _, inner = str(row["path"]).partition("/")
        assert by_digest[row["object"]] == (originals / name / "attempt" / inner).read_bytes()
    for path, data in files.items():
        sha256 = sha256_hex(data)
        assert path.startswith(f"{sha256[:2]}/{sha256}.")


def test_an_attempt_that_cannot_be_built_is_kept_and_says_why(working: Path) -> None:
    tree = Path(f"{working}.partial")
    failed = [row for row in read_rows(tree / "executions.jsonl") if row["status"] == "failed"]
    assert [row["attempt"] for row in failed] == ["abb-20c-steps-symlink"]
    assert failed[0]["issues"] == 1
    row = next(row for row in read_rows(tree / "register.jsonl") if row["candidate"] == "abb-20c-steps-symlink")
    assert (row["status"], row["reason"], row["detail"]) == ("mapped", "build_failed", "steps is not a directory")
    seal = (tree / failed[0]["files"]["aer"]["path"]).read_bytes().splitlines()[-1]
    assert b"steps is not a directory" in seal


def test_no_path_of_this_machine_is_written(working: Path) -> None:
    for path, data in made.content(Path(f"{working}.partial")).items():
        if not path.startswith(("raw/objects", "aer/", "views/", ".work")):
            assert b"/tmp/" not in data, path
            assert str(working.parent).encode() not in data, path


def test_every_candidate_is_registered_with_its_reason(tmp_path: Path) -> None:
    root = made.runs(tmp_path, ("abb-13a-anthropic",))
    (root / "notes.txt").write_text("nothing")
    (root / "trajectory.json").write_text("{}")
    (root / "traces").mkdir()
    (root / "traces" / "junk.jsonl").write_text("not json\n")
    (root / "abb-13a-anthropic" / "link.json").symlink_to("/etc/passwd")
    os.mkfifo(root / "pipe")
    import_root(root, tmp_path / "c")
    rows = read_rows(tmp_path / "c.partial" / "register.jsonl")
    assert {str(row["candidate"]): (row["kind"], row["status"], row["reason"]) for row in rows} == {
        "abb-13a-anthropic": ("attempt", "mapped", None),
        "abb-13a-anthropic/link.json": ("link", "refused", "symbolic_link"),
        "notes.txt": ("file", "not_mapped", "not_a_trace"),
        "pipe": ("file", "refused", "special_file"),
        "traces": ("folder", "not_mapped", "no_evidence"),
        "trajectory.json": ("file", "not_mapped", "derived_output"),
    }
    assert b"root:" not in b"".join(made.content(tmp_path / "c.partial").values())


def test_loose_traces_are_executions_by_conversation(tmp_path: Path) -> None:
    trace = made.ATTEMPTS / "pydanticai-builtin-twins" / "attempt" / "steps" / "0001" / "otel.jsonl"
    done = import_root(trace, tmp_path / "c")
    assert done.origins == ["file:otel.jsonl"]
    assert done.counts["executions"] >= 1
    row = read_rows(tmp_path / "c.partial" / "executions.jsonl")[0]
    assert row["attempt"] == "."
    assert row["conversation"] is not None


def test_one_archive_gives_what_the_directory_gives(tmp_path: Path) -> None:
    """Members are read in memory; only the archive itself is in the raw store."""
    root = made.runs(tmp_path, ("abb-17a-acp", "pydanticai-builtin-twins"))
    files = [(path, data) for path, data in made.content(root).items()]
    pack = tmp_path / "pack"
    pack.mkdir()
    for name, data in (
        ("a.zip", zip_bytes([*files, ("../evil", b"x")])),
        ("b.tar", tar_bytes(files)),
        ("c.tar.zst", zstandard.compress(tar_bytes(files))),
    ):
        (pack / name).write_bytes(data)
    import_root(root, tmp_path / "plain")
    import_root(pack, tmp_path / "packed", ImportOptions(jobs=2))
    views = {}
    for corpus in ("plain", "packed"):
        tree = tmp_path / f"{corpus}.partial"
        for row in read_rows(tree / "executions.jsonl"):
            views[(row["origin"], row["attempt"])] = (tree / row["files"]["view"]["path"]).read_bytes()
    origins = {"dir:runs", "archive:pack/a.zip", "archive:pack/b.tar", "archive:pack/c.tar.zst"}
    assert {origin for origin, _ in views} == origins
    for (_, attempt), data in views.items():
        assert data == views[("dir:runs", attempt)]
    raw = made.content(tmp_path / "packed.partial" / "raw" / "objects")
    assert sorted(raw.values()) == sorted((pack / name).read_bytes() for name in ("a.zip", "b.tar", "c.tar.zst"))
    members = read_rows(tmp_path / "packed.partial" / "raw" / "members.jsonl")
    assert [row["path"] for row in members if row["reason"] == "unsafe_name"] == ["../evil"]
    assert sum(row["status"] == "accepted" for row in members) == 3 * len(files)


def test_the_same_import_again_maps_nothing(working: Path) -> None:
    before = made.content(Path(f"{working}.partial"))
    root = made.runs(working.parent)
    done = import_root(root, working)
    assert (done.mapped, done.kept) == (0, len(made.SOME))
    after = made.content(Path(f"{working}.partial"))
    assert {path: data for path, data in after.items() if after[path] != before.get(path)} == {}


def test_a_new_attempt_is_added_and_a_changed_one_refused(working: Path) -> None:
    root = made.runs(working.parent, (*made.SOME, "abb-13a-anthropic"))
    assert import_root(root, working).mapped == 1
    (root / "abb-17a-acp" / "run.json").write_text("{}")
    with pytest.raises(RefusedError) as caught:
        import_root(root, working)
    assert caught.value.error_code == "corpus.origin-changed"
    assert info(working)["state"] == "incomplete"
    assert import_root(root, working, ImportOptions(name="second")).mapped == 6 or info(working)["counts"]


def test_an_incomplete_import_is_refused_by_what_needs_it_whole(working: Path) -> None:
    manifest = Path(f"{working}.partial") / "corpus.json"
    manifest.write_bytes(manifest.read_bytes().replace(b'"state": "complete"', b'"state": "incomplete"'))
    for action in (derive, package):
        with pytest.raises(RefusedError) as caught:
            action(working)
        assert (caught.value.error_code, caught.value.exit_code) == ("corpus.incomplete", 4)


def test_what_is_no_root_and_no_corpus(tmp_path: Path) -> None:
    with pytest.raises(EvidenceError):
        import_root(tmp_path / "nothing", tmp_path / "c")
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "file").write_text("mine")
    with pytest.raises(UsageError):
        import_root(made.ATTEMPTS / "abb-17a-acp", tmp_path / "taken")
    assert (tmp_path / "taken" / "file").read_text() == "mine"
    root = made.runs(tmp_path, ("abb-13a-anthropic",))
    with pytest.raises(UsageError):
        import_root(root, root)


def test_a_corpus_below_its_own_root_is_left_out(tmp_path: Path) -> None:
    root = made.runs(tmp_path, ("abb-13a-anthropic",))
    import_root(root, root / "corpus")
    done = import_root(root, root / "corpus")
    assert done.counts["candidates"] == 1


def test_two_writers_at_once(working: Path) -> None:
    import fcntl

    with (Path(f"{working}.partial") / ".work" / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(RefusedError) as caught:
            derive(working)
    assert caught.value.error_code == "corpus.busy"


def test_killed_at_any_moment_it_goes_on_to_the_same_bytes(tmp_path: Path) -> None:
    """SIGKILL at random points of import and derive, several times; the seal is that of a run left in peace."""
    names = (*made.SOME, "abb-13a-anthropic", "abb-24-spans-with-payloads", "openai-openinference-nchoices")
    root = made.runs(tmp_path, names)
    import_root(root, tmp_path / "calm" / "corpus")
    derive(tmp_path / "calm" / "corpus")
    expected = package(tmp_path / "calm" / "corpus").root
    corpus = tmp_path / "killed" / "corpus"
    chance = random.Random(7)
    kills = 0
    for words in (["import", str(root), str(corpus), "-j", "2"], ["derive", str(corpus), "-j", "2"]):
        for _ in range(4):
            process = subprocess.Popen([sys.executable, "-m", "otel2traj", "corpus", *words], stdout=subprocess.DEVNULL)
            time.sleep(chance.uniform(0.3, 1.6))
            process.send_signal(signal.SIGKILL)
            kills += process.wait() == -signal.SIGKILL
        subprocess.run(
            [sys.executable, "-m", "otel2traj", "corpus", *words], check=True, stdout=subprocess.DEVNULL, timeout=120
        )
    assert kills >= 2
    assert package(corpus).root == expected
    assert made.content(corpus) == made.content(tmp_path / "calm" / "corpus")


def test_a_half_done_import_is_continued_from_its_notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An import that dies after two attempts: the next one maps only the others."""
    from otel2traj.corpus import importing

    root = made.runs(tmp_path)
    whole = importing.map_candidate
    seen: list[str] = []

    def dies(task: importing.MapTask) -> importing.Mapped:
        if len(seen) == 2:
            raise KeyboardInterrupt
        seen.append(task.path)
        return whole(task)

    monkeypatch.setattr(importing, "map_candidate", dies)
    with pytest.raises(KeyboardInterrupt):
        import_root(root, tmp_path / "c")
    assert read_json(tmp_path / "c.partial" / "corpus.json")["sources"][0]["state"] == "incomplete"
    monkeypatch.setattr(importing, "map_candidate", whole)
    done = import_root(root, tmp_path / "c")
    assert (done.mapped, done.kept) == (3, 2)
    import_root(root, tmp_path / "d")
    shutil.rmtree(tmp_path / "c.partial" / ".work")
    shutil.rmtree(tmp_path / "d.partial" / ".work")
    assert made.content(tmp_path / "c.partial") == made.content(tmp_path / "d.partial")


def test_what_a_killed_process_left_in_memory_is_swept(tmp_path: Path) -> None:
    from otel2traj.corpus import store

    if not store._in_memory(0):
        pytest.skip("no file system in memory")
    left = store._MEMORY / f"{store._PREFIX}left-by-a-test"
    (left / "files").mkdir(parents=True)
    (left / "lock").touch()
    files = list(made.content(made.runs(tmp_path, ("abb-17a-acp",))).items())
    (tmp_path / "a.zip").write_bytes(zip_bytes(files))
    store._sweep.cache_clear()
    import_root(tmp_path / "a.zip", tmp_path / "c")
    assert not left.exists()
    assert info(tmp_path / "c")["counts"]["executions"] == 1


def test_hostile_archives_are_registered_and_write_nothing(tmp_path: Path) -> None:
    """Names that climb, links, a bomb: each has its reason, nothing appears outside, and the good attempt is there."""
    from otel2traj.corpus.limits import Limits
    from otel2traj.corpus.reasons import REASONS

    pack = tmp_path / "pack"
    pack.mkdir()
    files = [(f"ok/{path}", data) for path, data in made.content(made.ATTEMPTS / "abb-17a-acp" / "attempt").items()]
    bad = [
        ("../../evil.json", b"x"),
        ("/abs.json", b"x"),
        ("ok/../../evil2.json", b"x"),
        ("bomb.json", b"\0" * 9_000_000),
    ]
    (pack / "a.zip").write_bytes(zip_bytes([*bad, *files]))
    (pack / "b.tar.zst").write_bytes(zstandard.compress(tar_bytes([*files, *bad])))
    (pack / "cut.zip").write_bytes(zip_bytes(files)[:-40])
    import_root(pack, tmp_path / "c", ImportOptions(limits=Limits(member_bytes=1 << 20)))
    rows = read_rows(tmp_path / "c.partial" / "register.jsonl")
    reasons = {(row["origin"], row["candidate"]): row["reason"] for row in rows}
    for origin in ("archive:pack/a.zip", "archive:pack/b.tar.zst"):
        assert reasons[(origin, "../../evil.json")] == "unsafe_name"
        assert reasons[(origin, "/abs.json")] == "unsafe_name"
        assert reasons[(origin, "bomb.json")] == "too_large"
        assert reasons[(origin, "ok")] is None
    assert reasons[("dir:pack", "cut.zip")] == "unreadable_archive"
    assert {reason for reason in reasons.values() if reason is not None} <= set(REASONS)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.partial", "pack"]
    assert not [path for path in made.content(tmp_path / "c.partial") if "evil" in path]
