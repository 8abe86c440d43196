"""A folder is a folder everywhere, and `-` is standard input."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

ATTEMPTS = ROOT / "fixtures" / "attempts"
SAVED = ROOT / "fixtures" / "renderers" / "nightly-sync" / "trajectory.json"
GOOD, BAD = ("abb-02-parallel-tools", "langgraph-toolerror"), "abb-20c-steps-symlink"


def otel2traj(*words: object, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "otel2traj", *map(str, words)]
    return subprocess.run(command, input=given, capture_output=True, timeout=120, check=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    out = tmp_path / "runs"
    for name in GOOD:
        shutil.copytree(ATTEMPTS / name / "attempt", out / name)
    return out


@pytest.mark.parametrize(
    ("words", "ending"),
    [
        (("export", "--to", "atif"), ".atif.json"),
        (("ledger", "export"), ".ledger.jsonl"),
        (("forensic", "export"), ".forensic.json"),
        (("prov", "export"), ".prov.json"),
    ],
)
def test_a_folder_of_runs_is_written_side_by_side(
    folder: Path, tmp_path: Path, words: tuple[str, ...], ending: str
) -> None:
    out = tmp_path / "out"
    done = otel2traj(*words, folder, "-o", out)
    assert done.returncode == 0, done.stderr
    written = sorted(file for file in out.rglob("*") if file.is_file())
    assert [file.name for file in written] == [f"{name}{ending}" for name in GOOD]
    alone = otel2traj(*words, folder / GOOD[0])
    assert written[0].read_bytes() == alone.stdout
    without = otel2traj(*words, folder)
    assert (without.returncode, b"is a folder of 2 runs" in without.stderr) == (2, True)


def test_a_run_that_cannot_be_read_costs_itself_alone(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(ATTEMPTS / BAD / "attempt", folder / BAD, symlinks=True)
    done = otel2traj("export", folder, "--to", "atif", "-o", tmp_path / "out")
    assert done.returncode == 1
    assert f"{folder / BAD}:".encode() in done.stderr
    assert len(list((tmp_path / "out").glob("*.atif.json"))) == 2


def test_a_folder_is_built_and_its_saved_files_validated(folder: Path, tmp_path: Path) -> None:
    assert otel2traj("build", folder, "-o", tmp_path / "built").returncode == 0
    done = otel2traj("validate", tmp_path / "built")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count(b"trajectory, 0 errors") == 2
    broken = next((tmp_path / "built").glob("*.json"))
    data = json.loads(broken.read_bytes())
    broken.write_bytes(json.dumps({**data, "status": "splendid"}).encode())
    assert otel2traj("validate", tmp_path / "built").returncode == 1


@pytest.mark.parametrize(
    "words",
    [("show", "-"), ("validate", "-"), ("export", "-", "--to", "steps-jsonl"), ("ledger", "export", "-"),
     ("forensic", "export", "-"), ("forensic", "triage", "-"), ("prov", "export", "-")],
)  # fmt: skip
def test_a_saved_file_comes_in_by_standard_input(words: tuple[str, ...]) -> None:
    done = otel2traj(*words, given=SAVED.read_bytes())
    assert done.returncode in (0, 1), done.stderr
    assert done.stdout or words[0] == "validate"
    assert b"error: " not in done.stderr


def test_a_trace_comes_in_by_standard_input() -> None:
    file = ROOT / "fixtures" / "samples" / "langgraph_oi_error" / "otel.jsonl"
    done = otel2traj("build", "-", given=file.read_bytes())
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["sources"][0]["path"] == "stdin"


def test_nothing_at_all_is_no_run() -> None:
    done = otel2traj("show", "-")
    assert (done.returncode, b"standard input is empty" in done.stderr) == (3, True)


def test_a_folder_is_diagnosed_explained_and_its_provenance_validated(folder: Path, tmp_path: Path) -> None:
    ledgers = tmp_path / "ledgers"
    assert otel2traj("forensic", "triage", folder, "-o", ledgers).returncode in (0, 1)
    assert sorted(file.name for file in ledgers.iterdir()) == [f"{name}.forensic.json" for name in GOOD]
    for runs, ending in ((folder, ""), (ledgers, ".forensic.json")):
        told = otel2traj("forensic", "explain", runs)
        assert told.returncode == 0, told.stderr
        lines = told.stdout.decode().splitlines()
        assert [line for line in lines if line.endswith(":") and line[:-1] in {f"{name}{ending}" for name in GOOD}]
        assert sum(line.startswith("root cause") for line in lines) == 2
    assert otel2traj("prov", "export", folder, "-o", tmp_path / "prov").returncode == 0
    checked = otel2traj("prov", "validate", tmp_path / "prov", "--no-roundtrip")
    assert checked.returncode == 0, checked.stderr
    assert checked.stderr.count(b"0 failed") == 2
    (tmp_path / "prov" / f"{GOOD[0]}.prov.json").write_text('{"prefix": {}, "entity": {"x:a": {}}}', encoding="utf-8")
    assert otel2traj("prov", "validate", tmp_path / "prov", "--no-roundtrip").returncode == 1


def test_a_dash_after_o_is_standard_output_and_no_file(tmp_path: Path) -> None:
    attempt = str(ROOT / "fixtures/attempts/abb-02-parallel-tools/attempt")
    done = subprocess.run(
        [sys.executable, "-m", "otel2traj", "build", attempt, "-o", "-"], cwd=tmp_path, capture_output=True, check=True
    )
    assert json.loads(done.stdout)["schema"] == "abb.agent-trajectory.v1"
    assert list(tmp_path.iterdir()) == []
