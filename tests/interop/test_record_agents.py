"""`otel2traj record` over real agents on the command line, from npm, and a model server on loopback.

Wire, telemetry and session file are one trajectory. These run where `interop` is asked for by name
(`pytest -m interop`): the installation is 900 MB, once, in pytest's cache.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from otel2traj.recording.recipes import recipes
from tests.model_apis import MISSING, TEXT, shell_then_missing_file
from tests.model_server import ModelServer

pytestmark = pytest.mark.interop
KEY = "sk-test-0123456789abcdef"
TASK = "Make a file, then read missing.txt."
CODEX = ("-m", "gpt-5", "--skip-git-repo-check", "-s", "danger-full-access")


class Case(NamedTuple):
    """How an agent is installed and asked, and what its record holds."""

    package: str
    arguments: tuple[str, ...]
    calls: int
    session: str
    """How the name of the session file begins."""


CASES = {
    "codex": Case("@openai/codex", ("exec", *CODEX, TASK), 3, "rollout-"),
    "gemini": Case("@google/gemini-cli", ("-m", "gemini-2.5-flash", "-y", "--skip-trust", "-p", TASK), 3, "session-"),
    "opencode": Case("opencode-ai", ("run", "-m", "openai/gpt-5", TASK), 4, "ses_"),
}


@pytest.fixture
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """An empty home. Not below the temporary folder: Gemini CLI refuses one whose parents others can write."""
    folder = Path.home() / ".cache" / "otel2traj-tests" / tmp_path_factory.mktemp("home").parent.name / str(os.getpid())
    folder.mkdir(mode=0o700, parents=True)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def installed(program: str, pytestconfig: pytest.Config) -> Path:
    """The program, from npm by the version that its recipe was tried with."""
    if "interop" not in pytestconfig.getoption("markexpr"):
        pytest.skip("installs agents from npm: run with -m interop")
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed")
    assert pytestconfig.cache is not None
    wanted = f"{CASES[program].package}@{recipes()[program]['tried']}"
    folder = pytestconfig.cache.mkdir("agents") / wanted.replace("/", "-")
    if not folder.exists():
        partial = folder.with_name(f"{folder.name}.{os.getpid()}")
        command = [npm, "install", "--no-audit", "--no-fund", "--loglevel=error", "--prefix", str(partial), wanted]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        if done.returncode != 0:
            shutil.rmtree(partial, ignore_errors=True)
            pytest.skip(f"npm cannot install {wanted}: {done.stderr.strip()[-300:]}")
        partial.replace(folder)
    return folder / "node_modules" / ".bin" / program


@pytest.mark.parametrize("program", CASES)
def test_wire_telemetry_and_session_are_one_trajectory(
    program: str, tmp_path: Path, home: Path, pytestconfig: pytest.Config
) -> None:
    case = CASES[program]
    executable = installed(program, pytestconfig)
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    run = tmp_path / "run"
    command = [sys.executable, "-m", "otel2traj", "record", "--no-show", "--input", TASK, "--out", str(run), "--"]
    with ModelServer(shell_then_missing_file) as server:
        env = {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8"}
        env |= {"OPENAI_API_KEY": KEY, "CODEX_API_KEY": KEY, "GEMINI_API_KEY": KEY}
        env |= {"OPENAI_BASE_URL": server.url, "GOOGLE_GEMINI_BASE_URL": server.origin}
        done = subprocess.run(
            [*command, str(executable), *case.arguments],
            cwd=workspace, env=env, capture_output=True, text=True, timeout=180, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        trajectory = json.loads((run / "trajectory.json").read_bytes())
        calls = [step for step in trajectory["steps"] if step["kind"] == "model"]
        assert len(calls) == len(trajectory["steps"]) == case.calls == len(server.requests)
        assert all(KEY in str(headers) for headers in server.headers)
    assert [step["source"] for step in calls] == ["wire+framework"] * case.calls
    assert calls[-1]["output"]["text"] == TEXT
    told = [execution(step, log) for step in calls for log in step["tool_logs"]]
    assert [(one["link"], one["status"], one["id"] == one["asked"]) for one in told] == [
        ("exact", "succeeded", True),
        ("exact", "error", True),
    ]
    assert "hello from the agent" in told[0]["outputs"]
    assert MISSING in told[1]["arguments"]
    (session,) = (run / "steps/0001").glob(f"session-{case.session}*")
    name = session.relative_to(run).as_posix()
    assert any(record["path"] == name for step in calls for record in step["evidence"]["records"])
    (ended,) = trajectory["inputs"]
    assert ended["prompt"] == TASK
    assert ended["result"]["exit_status"] == {"exitCode": 0, "signal": None}
    assert [(one["path"], one["change_type"]) for one in ended["file_changes"]] == [("made.txt", "created")]
    assert trajectory["status"] == "complete"
    assert {warning.split(":")[0] for warning in trajectory["warnings"]} <= {"lossy_form", "retold_call"}
    for file in run.rglob("*"):
        assert not file.is_file() or KEY.encode() not in file.read_bytes(), file
    assert list((home / ".cache").glob("otel2traj/*")) == []


def execution(step: dict[str, Any], log: dict[str, Any]) -> dict[str, Any]:
    (call,) = step["output"]["tool_calls"]
    return {
        "link": log["link"],
        "status": log["execution_status"],
        "id": log["tool_call_id"],
        "asked": call["id"],
        "outputs": json.dumps(log["outputs"]),
        "arguments": json.dumps(call["arguments"]),
    }
