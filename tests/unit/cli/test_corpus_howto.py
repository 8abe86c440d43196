"""The commands of the page on corpora, run as they stand; digests may differ, lines may not."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .test_docs_console import ROOT, commands

PAGE = ROOT / "docs" / "how-to" / "corpus.md"
_NAMES = re.compile(r"[0-9a-f]{64}|ex_[a-z2-7]{26}")


@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="coreutils are not installed")
def test_what_the_page_shows_is_what_is_printed(tmp_path: Path) -> None:
    shim = tmp_path / "bin" / "otel2traj"
    shim.parent.mkdir()
    shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m otel2traj "$@"\n')
    shim.chmod(0o755)
    environment = {**os.environ, "PATH": f"{shim.parent}{os.pathsep}{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}
    here = ROOT
    shown = commands(PAGE.read_text("utf-8"))
    assert len(shown) > 20
    for command, expected in shown:
        line = command.replace("/tmp/", f"{tmp_path}/")
        if command.startswith("cd "):
            here = Path(line[3:])
            continue
        done = subprocess.run(
            ["sh", "-c", line + " 2>&1"], cwd=here, env=environment, capture_output=True, text=True, check=False
        )
        actual = done.stdout.replace(f"{tmp_path}/", "/tmp/").rstrip("\n")
        assert _NAMES.sub("…", actual) == _NAMES.sub("…", "\n".join(expected).rstrip("\n")), command
