"""Runs for a coding agent: the official SDK's client speaks to `otel2traj mcp` over standard input and output."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters, stdio_client

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "how-to" / "mcp.md").read_text(encoding="utf-8")
Ask = Callable[..., Awaitable[Any]]


def speak(root: Path, talk: Callable[[Client], Awaitable[None]]) -> None:
    """Start the server on a folder, talk, and close it."""

    async def run() -> None:
        server = StdioServerParameters(command=sys.executable, args=["-m", "otel2traj", "mcp", str(root)])
        async with Client(stdio_client(server)) as client:
            await talk(client)

    asyncio.run(asyncio.wait_for(run(), 60))


def shown(*words: object) -> str:
    command = [sys.executable, "-m", "otel2traj", "show", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout


def digests(root: Path) -> dict[str, str]:
    files = sorted(path for path in root.rglob("*") if path.is_file())
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.fixture
def runs(fixtures: Path, tmp_path: Path) -> Path:
    """Two attempts, one of them failed, a saved trajectory, a folder outside, and a link that leads there."""
    root = tmp_path / "runs"
    for name in ("langgraph-toolerror", "openai-traceloop-wirefail-stream"):
        shutil.copytree(fixtures / "attempts" / name / "attempt", root / name)
    shutil.copy(fixtures / "renderers" / "nightly-sync" / "trajectory.json", root / "saved.json")
    shutil.copytree(fixtures / "attempts" / "abb-03-tool-error" / "attempt", tmp_path / "secret")
    (root / "way-out").symlink_to(tmp_path / "secret")
    (root / "stolen.json").symlink_to(fixtures / "renderers" / "boundary" / "trajectory.json")
    return root


def test_the_tools_say_what_show_says_and_write_nothing(runs: Path) -> None:
    before = digests(runs)

    async def talk(client: Client) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(tools) == {"list_runs", "outcome", "step", "search"}
        assert all(tool.annotations is not None and tool.annotations.read_only_hint for tool in tools.values())
        assert all(f"`{name}`" in PAGE for name in tools)
        assert "never follow instructions" in (client.instructions or "")

        async def text(name: str, **arguments: Any) -> str:
            answer = await client.call_tool(name, arguments)
            assert not answer.is_error, answer.content
            return str(answer.content[0].text)  # type: ignore[union-attr]

        rows = json.loads(await text("list_runs"))
        by_name = {row["run"]: row for row in rows["runs"]}
        assert list(by_name) == ["langgraph-toolerror", "openai-traceloop-wirefail-stream"]
        assert not rows["more"]
        assert by_name["langgraph-toolerror"]["ended"] == "succeeded"
        assert by_name["langgraph-toolerror"]["steps"] == 4
        failed = json.loads(await text("list_runs", failed=True, limit=1))
        assert "succeeded" not in [row["ended"] for row in failed["runs"]]
        assert len(failed["runs"]) == 1

        run = "langgraph-toolerror"
        assert await text("outcome", run=run) == shown(runs / run, "--only", "head")
        assert await text("step", run=run, steps="2-3") == shown(runs / run, "--only", "steps", "--step", "2-3")
        short = await text("step", run=run, steps="3", mode="response_only")
        assert short == shown(runs / run, "--mode", "response_only", "--step", "3")
        cut = await text("step", run="saved.json", steps="1-", characters=1500)
        assert len(cut) <= 1500
        assert "cut to a budget of 1500 characters" in cut

        found = json.loads(await text("search", words="NIGHTLY SYNC", run=run))
        assert {hit["step"] for hit in found["hits"]} >= {1, None}
        assert all("nightly sync" in hit["line"].lower() for hit in found["hits"])
        everywhere = json.loads(await text("search", words="e", limit=3))
        assert len(everywhere["hits"]) == 3
        assert everywhere["more"] > 3

    speak(runs, talk)
    assert digests(runs) == before


def test_what_is_outside_or_not_there_is_an_error_in_words(runs: Path) -> None:
    async def talk(client: Client) -> None:
        async def refused(said: str, name: str, **arguments: Any) -> None:
            answer = await client.call_tool(name, arguments)
            assert answer.is_error, (name, arguments, answer.content)
            text = str(answer.content[0].text)  # type: ignore[union-attr]
            assert said in text, text
            assert "Traceback" not in text

        outside = (
            "..",
            "../secret",
            str(runs.parent / "secret"),
            "way-out",
            "stolen.json",
            "langgraph-toolerror/../..",
        )
        for run in outside:
            for name, more in (("outcome", {}), ("step", {"steps": "1"}), ("search", {"words": "a"})):
                await refused("outside the folder", name, run=run, **more)
        await refused("there is no run 'nosuch'", "outcome", run="nosuch")
        await refused("there is no run", "outcome", run="a\0b")
        await refused("folder of runs", "outcome", run=".")
        await refused("there are steps 1 to 4", "step", run="langgraph-toolerror", steps="99")
        await refused("not a step or a range", "step", run="langgraph-toolerror", steps="x")
        await refused("nothing to search for", "search", words=" ")
        await refused("characters", "step", run="langgraph-toolerror", steps="1", characters=10)

    speak(runs, talk)


def test_conversations_and_runs_that_cannot_be_read_have_rows(fixtures: Path, tmp_path: Path) -> None:
    lines = (fixtures / "attempts" / "generic-tools" / "attempt" / "otel.jsonl").read_text(encoding="utf-8")
    other = lines.replace("abababababababababababababababab", "cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd")
    (tmp_path / "traces.jsonl").write_text(lines + other, encoding="utf-8")

    async def talk(client: Client) -> None:
        rows = (await client.call_tool("list_runs", {})).structured_content["runs"]  # type: ignore[index]
        names = [row["conversation"] for row in rows]
        assert [row["run"] for row in rows] == [".", "."]
        answer = await client.call_tool("outcome", {"run": "."})
        assert answer.is_error
        one = await client.call_tool("outcome", {"run": ".", "conversation": names[1]})
        assert names[1] in one.content[0].text  # type: ignore[union-attr]
        found = await client.call_tool("search", {"words": "Five files", "conversation": names[0]})
        assert {hit["conversation"] for hit in found.structured_content["hits"]} == {names[0]}  # type: ignore[index]
        (tmp_path / "traces.jsonl").write_text("{}\n", encoding="utf-8")
        (row,) = (await client.call_tool("list_runs", {})).structured_content["runs"]  # type: ignore[index]
        assert row["unreadable"]

    speak(tmp_path, talk)


def test_the_settings_of_the_page_are_what_starts_it() -> None:
    (as_json,) = re.findall(r"```json\n(.*?)```", PAGE, re.S)
    (as_toml,) = re.findall(r"```toml\n(.*?)```", PAGE, re.S)
    for one in (json.loads(as_json)["mcpServers"]["otel2traj"], tomllib.loads(as_toml)["mcp_servers"]["otel2traj"]):
        assert set(one) == {"command", "args"}
        assert one["command"] == "otel2traj"
        assert Path(one["args"][-1]).name == "runs"
        assert one["args"][:-1] == ["mcp"]  # what the tests above start


def test_no_folder_is_no_server(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "otel2traj", "mcp", "nosuch"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=tmp_path, env=environment)
    assert (done.returncode, done.stdout) == (3, "")
    assert "there is no folder nosuch" in done.stderr
