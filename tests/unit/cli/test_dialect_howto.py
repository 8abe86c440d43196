"""docs/how-to/dialect.md says what happens: its files are written, its commands run, their output compared."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "how-to" / "dialect.md"
RUN = "import sys; from otel2traj.cli import main; sys.argv[0] = 'otel2traj'; main()"
INSTALL = "python -m pip install -q -e ."


def files(text: str) -> dict[str, str]:
    """The files that the page shows, by name."""
    return dict(re.findall(r"^`([\w.]+)`:\n\n```\w+\n(.*?)^```$", text, re.S | re.M))


def installed(folder: Path) -> Path:
    """What an editable installation leaves: the module on the path and the metadata of its pyproject.toml."""
    project = (folder / "pyproject.toml").read_text("utf-8")
    name, version = (re.findall(rf'^{key} = "(.*)"$', project, re.M)[0] for key in ("name", "version"))
    ((group, points),) = re.findall(r'^\[project\.entry-points\."(.*)"\]\n((?:.+\n)+)', project, re.M)
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", "utf-8")
    (info / "entry_points.txt").write_text(f"[{group}]\n{points.replace(chr(34), '')}", "utf-8")
    return folder


def test_the_page_leads_from_an_unknown_file_to_a_dialect(tmp_path: Path) -> None:
    text = PAGE.read_text("utf-8")
    shown = files(text)
    assert set(shown) == {"trace.json", "acme_otel.py", "pyproject.toml", "test_acme.py"}
    for name, content in shown.items():
        (tmp_path / name).write_text(content, "utf-8")
    tool = tmp_path / "bin" / "otel2traj"
    tool.parent.mkdir()
    tool.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "{RUN}" "$@"\n')
    tool.chmod(0o755)
    python = str(Path(sys.executable).parent)
    environment = {**os.environ, "PATH": f"{tool.parent}{os.pathsep}{python}{os.pathsep}{os.environ['PATH']}"}
    for name in ("PYTHONPATH", "PYTEST_ADDOPTS"):
        environment.pop(name, None)
    ran: list[str] = []
    for block in re.findall(r"```console\n(.*?)```", text, re.S):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, output = part.partition("\n")
            ran.append(command)
            if command == INSTALL:
                environment["PYTHONPATH"] = str(installed(tmp_path))
                continue
            done = subprocess.run(
                ["sh", "-c", command + " 2>&1"], cwd=tmp_path, env=environment, capture_output=True, check=False
            )
            said = re.sub(r" in [0-9.]+s", "", done.stdout.decode())
            assert (done.returncode, said) == (0, output), command
    assert INSTALL in ran
    assert len(ran) == 5
