"""Commands in the pages on reading, run as they stand; what they print is compared with the page."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGES = ["docs/tutorial.md", "docs/how-to/read-a-run.md"]
_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.S | re.M)


def commands(text: str) -> list[tuple[str, list[str]]]:
    """Each `$ command` of the console blocks with the lines that follow it."""
    found: list[tuple[str, list[str]]] = []
    for block in _BLOCK.findall(text):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            else:
                found[-1][1].append(line)
    return found


def agrees(expected: list[str], actual: list[str]) -> bool:
    """Whether the lines are the same where `…` stands for any number of lines."""
    pattern = "".join("(?:.*\n)*?" if line == "…" else re.escape(line) + "\n" for line in expected)
    return re.fullmatch(pattern, "".join(line + "\n" for line in actual)) is not None


@pytest.mark.parametrize("page", PAGES)
def test_what_the_page_shows_is_what_is_printed(page: str, tmp_path: Path) -> None:
    shims = tmp_path / "bin"
    shims.mkdir()
    shim = shims / "otel2traj"
    shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "from otel2traj.cli.app import run; run()" "$@"\n')
    shim.chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{shims}{os.pathsep}{os.environ['PATH']}",
        "NO_COLOR": "1",
        "LC_ALL": "C.UTF-8",
    }
    here, made = ROOT, 0
    for command, expected in commands((ROOT / page).read_text("utf-8")):
        if command.startswith("cd "):
            here = (here / command[3:]).resolve()
            continue
        line = command.replace("/tmp/", f"{tmp_path}/")
        done = subprocess.run(
            ["sh", "-c", line + " 2>&1"], cwd=here, env=environment, capture_output=True, timeout=120, check=False
        )
        actual = done.stdout.decode("utf-8").replace(f"{tmp_path}/", "/tmp/").splitlines()
        assert done.returncode == 0, (command, actual)
        assert agrees(expected, actual), "\n".join([f"$ {command}", *actual])
        made += 1
    assert made >= 3
