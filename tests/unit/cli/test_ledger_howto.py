"""docs/how-to/ledger.md says what happens: each of its commands is run, and its output compared."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent.parent
PAGE = ROOT / "docs" / "how-to" / "ledger.md"
RUN = "import sys; from otel2traj.cli import main; sys.argv[0] = 'otel2traj'; main()"


def blocks() -> list[tuple[str, str]]:
    """(command, the output the page shows) in the page's order."""
    found: list[tuple[str, str]] = []
    for block in re.findall(r"```console\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            found.append((command, output))
    return found


def test_every_command_of_the_page_gives_what_the_page_shows(tmp_path: Path) -> None:
    (tmp_path / "fixtures").symlink_to(ROOT / "fixtures")
    tool = tmp_path / "otel2traj"
    tool.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "{RUN}" "$@"\n')
    tool.chmod(0o755)
    commands = blocks()
    assert len(commands) >= 15
    for command, shown in commands:
        done = subprocess.run(
            f'PATH="{tmp_path}:$PATH"; {command}',
            shell=True,
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        said = re.sub(r"sha256:[0-9a-f]{64}", "sha256:…", done.stdout.decode())
        assert said == shown, command
