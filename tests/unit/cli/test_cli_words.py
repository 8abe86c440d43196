"""Words that a stranger tries first: help, version, explain, a folder, a filter that matches nothing."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import typer

from otel2traj.assembly.warnings import CODES
from otel2traj.cli.app import COMMANDS, app

FIXTURES = Path(__file__).parents[3] / "fixtures"
ATTEMPT = FIXTURES / "attempts" / "langgraph-toolerror" / "attempt"


def otel2traj(*words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "otel2traj", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def test_help_has_its_short_form_everywhere() -> None:
    for words in (["-h"], ["show", "-h"], ["prov", "validate", "-h"]):
        done = otel2traj(*words)
        assert done.returncode == 0
        assert "Usage: " in done.stdout
    assert "--install-completion" in otel2traj("-h").stdout


def test_the_version_for_a_report() -> None:
    told = json.loads(otel2traj("version", "--json").stdout)
    assert {"otel2traj", "schema", "python", "platform", "libraries"} <= told.keys()
    assert otel2traj("version").stdout == f"otel2traj {told['otel2traj']}\n"


def test_every_warning_is_explained() -> None:
    assert otel2traj("explain").stdout.split() == sorted(CODES)
    done = otel2traj("explain", "ambiguous_link: call_1 (logs/network.jsonl:3)")
    assert CODES["ambiguous_link"] in done.stdout
    assert "partial" in done.stdout
    wrong = otel2traj("explain", "ambiguous")
    assert wrong.returncode == 2
    assert "ambiguous_link" in wrong.stderr


def test_a_folder_of_runs_is_listed() -> None:
    done = otel2traj("show", FIXTURES / "attempts")
    assert done.returncode == 1  # one of them cannot be read
    assert "unreadable: abb-20c-steps-symlink" in done.stderr
    assert len(done.stdout.splitlines()) == len(list((FIXTURES / "attempts").glob("*/attempt"))) - 1
    failed = otel2traj("show", FIXTURES / "attempts", "--failed", "--format", "json", "--sort", "steps")
    rows = [json.loads(line) for line in failed.stdout.splitlines()]
    assert all(row["ended"] != "succeeded" for row in rows)
    assert "openai-traceloop-wirefail-stream" in [row["name"] for row in rows]
    assert [row["steps"] for row in rows] == sorted((row["steps"] for row in rows), reverse=True)


def test_a_filter_that_matches_nothing_lists_what_there_is() -> None:
    for words, said in (
        (("--tool", "nosuch"), "flaky_service"),
        (("--agent", "x"), "agents "),
        (("--step", "99"), "steps 1 to 4"),
    ):
        done = otel2traj("show", ATTEMPT, *words)
        assert done.returncode == 2, words
        assert said in done.stderr


def _commands(group: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    for name, command in group.commands.items():
        inner = (*words, name)
        if hasattr(command, "commands"):
            yield from _commands(command, inner)
        else:
            yield " ".join(inner), command


@cache
def _all_commands() -> dict[str, Any]:
    for name in COMMANDS:
        import_module(f"otel2traj.cli.{name}").register(app)
    return dict(_commands(typer.main.get_command(app)))


def test_every_command_has_an_example_that_its_own_parser_takes() -> None:
    assert len(_all_commands()) > 30
    for name, command in _all_commands().items():
        examples = re.findall(r"^Example: (otel2traj .+)$", command.help or "", re.M)
        assert examples, name
        for example in examples:
            words = shlex.split(example)[1:]
            assert words[: len(name.split())] == name.split(), example
            command.make_context(name, words[len(name.split()) :])  # raises for a word that it does not know


def test_quiet_leaves_errors_and_verbose_tells_what_is_read(tmp_path: Path) -> None:
    built = tmp_path / "t.json"
    quiet = otel2traj("build", ATTEMPT, "-o", built, "-q")
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (0, "", "")
    assert built.exists()
    told = otel2traj("build", ATTEMPT, "-o", built, "-v").stderr
    assert "steps/0001/otel.jsonl  otlp-json" in told
    assert "tool calls by link: 2 enclosing_task, 2 tool_call_id" in told
    assert "complete: 4 steps" in told
    assert re.search(r"^took \d+\.\d\d s$", told, re.M)
    (tmp_path / "junk").mkdir()
    failed = otel2traj("build", tmp_path / "junk", "-o", tmp_path / "junk.json", "-q")
    assert failed.returncode == 1
    assert failed.stderr.startswith("failed: no file is in junk")
    missing = otel2traj("show", "no/such", "-q")
    assert (missing.returncode, missing.stderr.splitlines()[0]) == (3, "error: there is no no/such")
    assert otel2traj("show", ATTEMPT, "-q", "-v").returncode == 2


def test_two_runs_side_by_side_are_one_page_by_either_word(tmp_path: Path) -> None:
    runs = [FIXTURES / "matching" / name for name in ("good.json", "bad.json")]
    pages = [tmp_path / "view.html", tmp_path / "diff.html"]
    assert otel2traj("view", *runs, "--diff", "-o", pages[0]).returncode == 1
    assert otel2traj("diff", *runs, "--html", pages[1]).returncode == 1
    assert pages[0].read_bytes() == pages[1].read_bytes()
    assert b"There are 8 items." in pages[0].read_bytes()
    assert otel2traj("view", runs[0], "--diff", "-o", pages[0]).returncode == 2


def test_nothing_is_served_of_nothing(tmp_path: Path) -> None:
    for path in (tmp_path / "nosuch", tmp_path):
        done = otel2traj("view", "--serve", path)
        assert done.returncode == 3
        assert "error: " in done.stderr
