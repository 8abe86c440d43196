"""docs/how-to/forensic.md and analyzer.md say what happens: their commands are run, and their outputs compared."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from otel2traj.auditors.triage import RULES, UNOBSERVABLE, named_by
from otel2traj.model.forensic import FailureCategory
from tests.conftest import ROOT

DOCS = ROOT / "docs"
RUN = "import sys; from otel2traj.cli import main; sys.argv[0] = 'otel2traj'; main()"
MARK = "<!-- rules: generated, `pytest tests/unit/cli/test_forensic_howto.py --update-golden` -->\n\n"


def at_hand(folder: Path) -> None:
    (folder / "fixtures").symlink_to(ROOT / "fixtures")
    tool = folder / "otel2traj"
    tool.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "{RUN}" "$@"\n')
    tool.chmod(0o755)


def outcome(command: str, folder: Path) -> str:
    done = subprocess.run(
        f'PATH="{folder}:$PATH"; {command}',
        shell=True,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    return done.stdout.decode()


@pytest.mark.parametrize("page", ["forensic.md", "analyzer.md"])
def test_every_command_of_the_page_gives_what_the_page_shows(
    page: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    at_hand(tmp_path)
    file = DOCS / "how-to" / page
    text = file.read_text(encoding="utf-8")
    count = 0

    def again(block: re.Match[str]) -> str:
        nonlocal count
        out = ""
        for part in re.split(r"^\$ ", block.group(1), flags=re.MULTILINE)[1:]:
            command = part.partition("\n")[0]
            out += f"$ {command}\n{outcome(command, tmp_path)}"
            count += 1
        return f"```console\n{out}```"

    made = re.sub(r"```console\n(.*?)```", again, text, flags=re.DOTALL)
    if request.config.getoption("--update-golden"):
        file.write_text(made, encoding="utf-8")
    assert count >= 2
    assert file.read_text(encoding="utf-8") == made


def test_the_analyzer_of_the_page_is_the_one_that_is_tested() -> None:
    code = (ROOT / "fixtures/forensic/analyzer/slow_turns.py").read_text(encoding="utf-8")
    assert f"```python\n{code}```" in (DOCS / "how-to" / "analyzer.md").read_text(encoding="utf-8")


def recorded(category: FailureCategory) -> str:
    why = UNOBSERVABLE.get(category)
    return ", ".join(named_by(category)) if why is None else f"none: {why}"


def test_the_rules_of_the_reference_page_are_fresh(request: pytest.FixtureRequest) -> None:
    file = DOCS / "reference" / "forensic.md"
    table = "| category | named when | by which recorded failures |\n| --- | --- | --- |\n" + "".join(
        f"| `{rule.category}` | {rule.says} | {recorded(rule.category)} |\n" for rule in RULES
    )
    head, mark, _ = file.read_text(encoding="utf-8").partition(MARK)
    if request.config.getoption("--update-golden"):
        file.write_text(head + MARK + table, encoding="utf-8")
    assert mark
    assert file.read_text(encoding="utf-8") == head + MARK + table, (
        "stale: run pytest --update-golden and read the diff"
    )
