"""`otel2traj prov` from outside: streams, exit codes and what the lines say."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
ATTEMPT = ROOT / "fixtures" / "attempts" / "abb-02-parallel-tools" / "attempt"
CASES = ROOT / "fixtures" / "prov" / "constraints"


def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "otel2traj", "prov", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def test_export_and_validate(tmp_path: Path) -> None:
    document, aer, sem = tmp_path / "p.json", tmp_path / "a.jsonl", tmp_path / "s.jsonl"
    done = run("export", ATTEMPT, "-o", document, "--aer", aer, "--sem", sem, "--profile", "injection")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.startswith("ex_")
    found = run("validate", document, "--aer", aer, "--sem", sem, "--evidence", ATTEMPT, "--no-roundtrip", "--json")
    assert found.returncode == 0
    tiers = [json.loads(line) for line in found.stdout.splitlines()]
    assert [one["tier"] for one in tiers] == ["1", "2", "3a", "3b", "3c", "3d", "4", "5", "6"]
    assert {one["status"] for one in tiers if one["tier"] != "4"} == {"passed"}
    assert found.stderr == "p.json: 8 of 9 tiers ran, 0 failed\n"
    assert run("export", ATTEMPT, "--profile", "injection").stdout == document.read_text()


@pytest.mark.parametrize(
    ("case", "code"), [("unification/usage-fail2", 1), ("unification/usage-success1", 0), ("type/type-fail1", 1)]
)
def test_prov_n_is_decided(case: str, code: int) -> None:
    done = run("validate", CASES / f"{case}.provn")
    assert done.returncode == code
    assert ("tier 3b passed" in done.stdout) == (code == 0)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("validate", "/nonexistent.json"), 3),
        (("export", "/nonexistent"), 3),
        (("export", ATTEMPT, "--profile", "nonsense"), 2),
        (("export",), 2),
    ],
)
def test_exit_codes(words: tuple[str | Path, ...], code: int) -> None:
    done = run(*words)
    assert done.returncode == code
    assert "Traceback" not in done.stderr
