"""`show` at a terminal goes through the pager; into a pipe or a file it never does."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

SAVED = Path(__file__).parents[3] / "fixtures" / "renderers" / "nightly-sync" / "trajectory.json"
MARK = f"{sys.executable} -c \"import sys; [print('P|' + line, end='') for line in sys.stdin]\""


def at_a_terminal(*words: object, **environment: str) -> str:
    """What a terminal shows of a command."""
    told = {"TERM": "xterm", "NO_COLOR": "1", "PATH": os.environ["PATH"], **environment}
    child, terminal = pty.fork()
    if child == 0:
        os.execve(sys.executable, [sys.executable, "-m", "otel2traj", *map(str, words)], told)
    shown, end = b"", time.monotonic() + 60
    while time.monotonic() < end:
        if not select.select([terminal], [], [], 0.2)[0]:
            continue
        try:
            data = os.read(terminal, 65536)
        except OSError:  # the other side is closed
            break
        if not data:
            break
        shown += data
    os.close(terminal)
    os.waitpid(child, 0)
    return shown.decode().replace("\r\n", "\n")


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_every_line_goes_through_the_pager(form: str) -> None:
    lines = at_a_terminal("show", SAVED, "--format", form, PAGER=MARK).splitlines()
    assert len(lines) > 100
    assert all(line.startswith("P|") for line in lines)


@pytest.mark.parametrize(
    ("words", "environment"),
    [
        (("--no-pager",), {"PAGER": MARK}),
        (("--format", "json"), {"PAGER": MARK}),
        ((), {"PAGER": ""}),
        ((), {"PAGER": MARK, "TERM": "dumb"}),
        ((), {"PAGER": "no-such-program"}),
    ],
)
def test_no_pager(words: tuple[str, ...], environment: dict[str, str]) -> None:
    shown = at_a_terminal("show", SAVED, *words, **environment)
    assert "P|" not in shown
    assert len(shown) > 4000


def test_a_reader_who_leaves_early_ends_it_without_words() -> None:
    assert at_a_terminal("show", SAVED, PAGER="head -n 1").count("\n") == 1


def test_an_error_stands_on_the_terminal_itself() -> None:
    assert "P|" not in at_a_terminal("show", SAVED, "--tool", "nosuch", PAGER=MARK)


def test_a_pipe_sees_no_pager() -> None:
    command = [sys.executable, "-m", "otel2traj", "show", str(SAVED)]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PAGER": MARK}, check=True)
    assert "P|" not in done.stdout
