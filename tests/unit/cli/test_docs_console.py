"""README, tutorial and how-tos pasted into one shell, page after page, as a newcomer does; what is printed agrees."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path
from typing import Final

ROOT = Path(__file__).parents[3]
PAGES: Final = (
    "README.md",
    "docs/tutorial.md",
    "docs/how-to/read-a-run.md",
    "docs/how-to/compare.md",
    "docs/how-to/export.md",
)
"""In the order in which they are read; each begins where the one before it leaves the shell. The pages on ledgers,
forensic ledgers, provenance and corpora have tests of their own, which begin at the root as these end."""
_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.S | re.M)
_END: Final = "=== end of a command: "
AGENT: Final = "import pathlib; pathlib.Path('notes.txt').write_text('tidy')\n"
"""The reader's own agent, of which README speaks."""


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


def stand_in(command: str) -> str | None:
    """What is run in the place of a command that would fetch packages or run this test again; None for any other.

    An installation puts this checkout and the packages beside it into the environment that the page has made, if the
    page has activated it; an extra must be one of the project's.
    """
    if command == "python -m pytest":
        return "python -m pytest --version >/dev/null 2>&1"
    if command == "python3 -m venv .venv":
        return f"{sys.executable} -m venv --without-pip .venv"
    if command.startswith("pip install"):
        (extras,) = re.fullmatch(r"pip install -e '\.\[([a-z,]+)\]'", command).groups()  # type: ignore[union-attr]
        known = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
        assert set(extras.split(",")) <= set(known), command
        return "python install.py"
    return None


def install_script(target: Path) -> None:
    """Links the packages of this interpreter into the one that runs the script, and writes the console script."""
    places = [str(ROOT), *dict.fromkeys(sysconfig.get_path(name) for name in ("purelib", "platlib"))]
    target.write_text(
        "import pathlib, sys, sysconfig\n"
        "assert sys.prefix != sys.base_prefix, 'no environment is active'\n"
        f"pathlib.Path(sysconfig.get_path('purelib'), 'checkout.pth').write_text({chr(10).join(places)!r})\n"
        "script = pathlib.Path(sysconfig.get_path('scripts'), 'otel2traj')\n"
        "script.write_text(f'#!{sys.executable}\\nfrom otel2traj.cli import main\\nmain()\\n')\n"
        "script.chmod(0o755)\n",
        encoding="utf-8",
    )


def test_the_pages_run_as_printed_one_after_the_other(tmp_path: Path) -> None:
    here = tmp_path / "otel2traj"
    here.mkdir()
    for name in ("README.md", "pyproject.toml"):
        shutil.copy(ROOT / name, here)
    for name in ("docs", "fixtures"):
        shutil.copytree(ROOT / name, here / name)
    (here / "agent.py").write_text(AGENT, encoding="utf-8")
    (profile,) = re.findall(r"```toml\n(.*?)```", (ROOT / "docs/how-to/export.md").read_text("utf-8"), re.S)
    (here / "profile.toml").write_text(profile, encoding="utf-8")  # the file that the page has its reader write
    install_script(here / "install.py")
    shown = [(page, *one) for page in PAGES for one in commands((ROOT / page).read_text("utf-8"))]
    assert len(shown) > 25
    script = ""
    for number, (page, command, _) in enumerate(shown):
        if number == 0 or shown[number - 1][0] != page:
            script += 'test "$PWD" = "$BEGAN" || echo "the page before ends in $PWD"\n'
        line = stand_in(command) or command.replace("/tmp/", f"{tmp_path}/")
        script += f'{line}\necho "{_END}$?"\n'
    pasted = tmp_path / "pasted.sh"
    pasted.write_text(script, encoding="utf-8")
    path = os.pathsep.join(
        part for part in os.environ["PATH"].split(os.pathsep) if part != str(Path(sys.prefix, "bin"))
    )
    environment = {key: value for key, value in os.environ.items() if key not in ("VIRTUAL_ENV", "PYTHONPATH")}
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", str(pasted)],
        stdin=subprocess.DEVNULL,
        cwd=here,
        env={**environment, "PATH": path, "BEGAN": str(here), "NO_COLOR": "1", "LC_ALL": "C.UTF-8"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=240,
        check=False,
    )
    parts = re.split(rf"^{_END}(\d+)\n", done.stdout.replace(f"{tmp_path}/", "/tmp/"), flags=re.M)
    assert len(parts) == 2 * len(shown) + 1, parts[-3:]
    for (page, command, expected), actual, code in zip(shown, parts[::2], parts[1::2], strict=False):
        compares = command.startswith(("otel2traj match", "otel2traj diff"))  # which exit 1 where something differs
        assert code == "0" or (compares and code == "1"), (page, command, actual)
        assert agrees(expected, actual.splitlines()), f"{page}\n$ {command}\n{actual}"
