"""`otel2traj record --instrument` over real frameworks and a model server on loopback: wire and spans together."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.model_server import TEXT, ModelServer

pytestmark = pytest.mark.interop
AGENTS = Path(__file__).parent / "agents"
KEY = "sk-test-0123456789abcdef"


class Case(NamedTuple):
    """What a framework needs installed, who its agent is, and how its tool execution hangs on its call."""

    needs: tuple[str, ...]
    agent: str
    link: str | None
    without: str = ""
    """Instrumentors that are left out: two of one call make two recordings."""


CASES = {
    "openai_sdk": Case(("openai", "openinference.instrumentation.openai"), Path(sys.executable).name, None),
    "pydantic_ai_agent": Case(("pydantic_ai", "openai"), "reader", "exact", "openai"),
    "langgraph_react": Case(
        ("langgraph", "langchain_openai", "openinference.instrumentation.langchain"), "agent", "exact", "openai"
    ),
    # These two write no call id on a tool's span: the execution stands beside its call, and the link is an inference.
    "openai_agents": Case(("agents", "openinference.instrumentation.openai_agents"), "reader", "inferred"),
    "agno_agent": Case(("agno", "openinference.instrumentation.agno"), "reader", "inferred"),
}


def installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def run(agent: str, mode: str, tmp_path: Path, without: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    (tmp_path / "workspace").mkdir()
    command = [sys.executable, "-m", "otel2traj", "record", "--instrument", "--no-show", "--input", "Read the note."]
    command += ["--out", str(tmp_path / "run"), "--", sys.executable, str(AGENTS / f"{agent}.py"), mode]
    with ModelServer() as server:
        env = {**os.environ, "OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": KEY}
        env["OTEL_PYTHON_DISABLED_INSTRUMENTATIONS"] = without
        done = subprocess.run(command, cwd=tmp_path / "workspace", env=env, capture_output=True, text=True, timeout=180)
        assert done.returncode == 0, done.stderr
    return json.loads((tmp_path / "run" / "trajectory.json").read_bytes()), server.requests


@pytest.mark.parametrize("mode", ["whole", "stream"])
@pytest.mark.parametrize("agent", CASES)
def test_a_framework_is_recorded_on_the_wire_and_in_spans(agent: str, mode: str, tmp_path: Path) -> None:
    case = CASES[agent]
    missing = [
        module
        for module in (*case.needs, "opentelemetry.distro", "opentelemetry.instrumentation.httpx")
        if not installed(module)
    ]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")
    trajectory, requests = run(agent, mode, tmp_path, case.without)
    calls = [step for step in trajectory["steps"] if step["kind"] == "model"]
    assert [step["source"] for step in calls] == ["wire+framework"] * 2
    assert [step["agent_name"] for step in calls] == [case.agent] * 2
    assert len(requests) == 2
    for step, sent in zip(calls, requests, strict=True):
        assert step["input"]["messages"] == sent["messages"]
    assert calls[1]["output"]["text"] == TEXT
    (called,) = calls[0]["output"]["tool_calls"]
    assert (called["name"], called["arguments"]) == ("read_note", {"path": "a.txt"})
    executions = [log for step in trajectory["steps"] for log in step["tool_logs"]]
    if case.link == "exact":
        (log,) = executions
        assert (log["link"], log["tool_call_id"], log["outputs"]) == (
            "exact",
            called["id"],
            "note of a.txt",
        )
    elif case.link == "inferred":
        assert [step["kind"] for step in trajectory["steps"]] == ["model", "tool_only", "model"]
        assert trajectory["coverage"]["inferred_links"] == 1
        assert [log["link"] for log in executions] == ["none", "none"]
        assert executions[1]["outputs"] == "note of a.txt"
    else:
        assert [log["execution_status"] for log in executions] == ["not_observed"]
    (ended,) = trajectory["inputs"]
    assert ended["prompt"] == "Read the note."
    assert ended["result"]["exit_status"] == {"exitCode": 0, "signal": None}
    assert [change["path"] for change in ended["file_changes"]] == ["made.txt"]
    assert (trajectory["status"], trajectory["warnings"]) == ("complete", [])
    for file in (tmp_path / "run").rglob("*"):
        assert not file.is_file() or KEY.encode() not in file.read_bytes(), file
