"""`show` and `view` as commands."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


def run(*words: str | Path) -> subprocess.CompletedProcess[bytes]:
    code = "from otel2traj.cli.app import run; run()"
    return subprocess.run([sys.executable, "-c", code, *map(str, words)], capture_output=True, timeout=60, check=False)


@pytest.fixture
def saved(fixtures: Path) -> Path:
    return fixtures / "renderers" / "nightly-sync" / "trajectory.json"


def test_piped_output_is_plain_and_the_golden_text(saved: Path) -> None:
    done = run("show", saved)
    assert done.returncode == 0, done.stderr
    assert done.stdout == (saved.parent / "expected" / "show-full.txt").read_bytes()
    assert b"\x1b" not in done.stdout


def test_options_reach_the_renderer(saved: Path) -> None:
    done = run(
        "show", saved, "--step", "2-3", "--failed", "--agent", "lead", "--mode", "response_only", "--color", "always"
    )
    lines = done.stdout.decode().splitlines()
    assert next(line for line in lines if "Step" in line).startswith("\x1b[1mStep 2 - lead: \x1b[0m")
    assert sum("Step" in line for line in lines) == 2
    markdown = run("show", saved, "--format", "markdown", "--mode", "truncate_middle").stdout
    assert markdown == (saved.parent / "expected" / "show-truncate_middle.md").read_bytes()
    assert run("show", saved, "--format", "html").stdout.startswith(b"<!doctype html>")
    assert len(run("show", saved, "--budget", "4000").stdout.decode()) <= 4000


@pytest.mark.parametrize(
    "words",
    [
        ("--step", "x"),
        ("--budget", "9", "--budget-tokens", "9"),
        ("--format", "json", "--budget", "9"),
        ("--mode", "half"),
        ("--format", "html", "--budget", "9"),
    ],
)
def test_senseless_options_are_usage(saved: Path, words: tuple[str, ...]) -> None:
    done = run("show", saved, *words)
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr


def test_what_is_not_there_is_unreadable(tmp_path: Path) -> None:
    for words in (("show", tmp_path / "no"), ("view", tmp_path / "no", "-o", tmp_path / "p.html")):
        done = run(*words)
        assert done.returncode == 3, done.stderr
        assert b"hint:" in done.stderr


def test_view_writes_one_file(saved: Path, tmp_path: Path) -> None:
    done = run("view", saved, "-o", tmp_path / "page.html")
    assert done.returncode == 0
    assert b"1 run, 8 steps" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
    assert run("view", saved).returncode == 2
    assert run("view", saved, "--serve", "--host", "0.0.0.0").returncode == 4


def test_show_loads_no_server_and_no_telemetry(saved: Path) -> None:
    code = (
        "import sys\nfrom otel2traj.cli.app import run\n"
        "try:\n    run()\nexcept SystemExit:\n    pass\n"
        "bad = [m for m in sys.modules if m.split('.')[0] in ('opentelemetry', 'grpc', 'google', 'uvicorn')"
        " or m in ('http.server', 'rich.console')]\nprint(bad, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "show", str(saved)], capture_output=True, timeout=60, check=False
    )
    assert done.stderr.strip().endswith(b"[]"), done.stderr
