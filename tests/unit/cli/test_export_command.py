"""`otel2traj export`: results to stdout, remarks to stderr, usage errors as such."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from otel2traj.cli.export import register
from otel2traj.errors import UsageError
from otel2traj.writers import FOLDERS, WRITERS
from tests.factory import play
from tests.unit.writers.run import rich, written


@pytest.fixture
def app() -> typer.Typer:
    made = typer.Typer()
    register(made)
    made.command("other")(lambda: None)
    return made


@pytest.fixture
def saved(tmp_path: Path) -> str:
    file = tmp_path / "trajectory.json"
    with file.open("wb") as out:
        play(rich(), WRITERS.get("trajectory").sink(out))
    return str(file)


def test_list(app: typer.Typer) -> None:
    result = CliRunner().invoke(app, ["export", "--list"])
    assert result.stdout.split() == [*WRITERS.names(), *FOLDERS]


def test_stdout_holds_the_result_and_nothing_else(app: typer.Typer, saved: str) -> None:
    result = CliRunner().invoke(app, ["export", saved, "--to", "openai-chat"])
    assert (result.exit_code, result.stdout_bytes) == (0, written("openai-chat", rich()))
    assert "rejected 1 step: tool_only" in result.stderr


def test_no_format_is_a_usage_error(app: typer.Typer, saved: str) -> None:
    result = CliRunner().invoke(app, ["export", saved])
    assert isinstance(result.exception, UsageError)
