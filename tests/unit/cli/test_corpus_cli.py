"""`otel2traj corpus` from outside: streams, exit codes, and errors that carry their code."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
ATTEMPT = ROOT / "fixtures" / "attempts" / "abb-17a-acp" / "attempt"


def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "otel2traj", "corpus", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def told(*words: str | Path) -> tuple[int, Any]:
    done = run(*words, "--json")
    assert "Traceback" not in done.stderr
    return done.returncode, json.loads(done.stdout)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cli") / "c"
    code, said = told("import", ATTEMPT, path, "--name", "one")
    assert (code, said["origins"], said["mapped"]) == (0, ["dir:one"], 1)
    assert told("verify", path)[1]["error"]["code"] == "corpus.not-sealed"
    assert told("package", path) == (4, told("package", path)[1])
    assert told("package", path)[1]["error"]["code"] == "corpus.underived"
    assert told("derive", path) == (0, {"corpus": "c", "derived": 1, "kept": 0})
    code, said = told("validate", path, "--no-roundtrip")
    assert (code, said["clean"], said["count"]) == (0, True, 1)
    code, said = told("package", path, "--version", "0.3.0")
    assert (code, said["version"]) == (0, "0.3.0")
    return path


def test_a_sealed_corpus_from_outside(corpus: Path) -> None:
    code, said = told("verify", corpus)
    assert (code, said["findings"]) == (0, [])
    assert told("verify", corpus, "--root", said["root"])[0] == 0
    assert told("verify", corpus, "--root", "0" * 64)[0] == 1
    code, found = told("info", corpus)
    assert (code, found["state"], found["root"]) == (0, "sealed", said["root"])
    code, again = told("recompute", corpus)
    assert (code, again["same"], again["differing"]) == (0, 1, 0)


@pytest.mark.parametrize("words", [("derive",), ("package",), ("purge", "0" * 64), ("import",)])
def test_no_command_writes_to_it(corpus: Path, words: tuple[str, ...]) -> None:
    arguments = (words[0], ATTEMPT, corpus) if words[0] == "import" else (words[0], corpus, *words[1:])
    code, said = told(*arguments)
    assert (code, said["error"]["code"]) == (4, "corpus.sealed")
    done = run(*arguments)
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr.startswith("error: corpus.sealed: ")


@pytest.mark.parametrize(
    ("words", "code", "name"),
    [
        (("info", "/nonexistent"), 3, "corpus.missing"),
        (("derive", "/nonexistent"), 3, "corpus.missing"),
        (("import", "/nonexistent", "/tmp/never"), 3, "evidence.unreadable"),
        (("import", "/tmp/empty", "/tmp/never"), 3, "evidence.unreadable"),
        (("import", ATTEMPT, "/dev/null/never"), 3, "corpus.io"),
        (("import", ATTEMPT, "/tmp/never", "-j", "0"), 2, "usage"),
        (("import", ATTEMPT, "/tmp/never", "--profile", "/nonexistent"), 3, "evidence.unreadable"),
    ],
)
def test_errors_carry_their_code(tmp_path: Path, words: tuple[str | Path, ...], code: int, name: str) -> None:
    (tmp_path / "empty").mkdir()
    places = {"/tmp/never": tmp_path / "never", "/tmp/empty": tmp_path / "empty"}
    words = tuple(places.get(str(word), word) for word in words)
    status, said = told(*words)
    assert (status, said["error"]["code"]) == (code, name)


def test_findings_are_exit_1(corpus: Path, tmp_path: Path) -> None:
    import shutil

    copy = tmp_path / "copy"
    shutil.copytree(corpus, copy)
    view = next(copy.glob("views/*/*/*"))
    view.write_bytes(view.read_bytes() + b" ")
    for command in ("verify", "validate", "recompute"):
        done = run(command, copy, *(["--no-roundtrip"] if command == "validate" else []))
        assert done.returncode == 1
        assert "error: " in done.stdout


def test_exports(corpus: Path, tmp_path: Path) -> None:
    code, said = told("export", corpus, "--in-toto", tmp_path / "s.json", "--bagit", tmp_path / "bag")
    assert code == 0
    assert said["in_toto"]["subjects"] == said["bagit"]["files"]
    assert told("export", corpus)[0] == 2
    crate = ("--ro-crate", tmp_path / "crate")
    assert told("export", corpus, *crate)[0] == 2
    code, crated = told("export", corpus, *crate, "--published", "2026-05-01")
    assert (code, crated["ro_crate"]["files"]) == (0, said["bagit"]["files"])
