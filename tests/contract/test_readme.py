"""What the README promises: its example is what is printed, its commands are what CI runs, its links lead somewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def test_the_rendered_run_is_what_show_prints() -> None:
    (block,) = re.findall(r"```console\n\$ otel2traj (show [^\n]+)\n(.*?)```", README, re.S)
    command, expected = block
    run = subprocess.run(
        [sys.executable, "-m", "otel2traj", *command.split()], cwd=ROOT, capture_output=True, check=True
    )
    assert run.stdout.decode() == expected


def test_the_build_command_is_the_one_that_ci_runs() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    (attempt,) = re.findall(r"\$ otel2traj build (\S+) -o", README)
    assert f"build {attempt}" in script
    assert "pip install" in script
    assert "-e '.[dev" in README
    assert "-e '.[dev" in script


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_relative_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.S)
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
        if "://" not in target and not target.startswith("mailto:"):
            assert (page.parent / target).exists(), target
