"""What goes wrong around a recording: the command sees what it would have seen, and what was recorded stays."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.model_server import TEXT, ModelServer

from .test_record import AGENT, KEY, SPANS, read, record, start, wire

ASKS = 30
MANY = f"""
for number in range({ASKS}):
    body = json.loads(ask(pad="x" * 40_000).read())
    print(body["choices"][0]["message"]["content"])
sys.exit(7)
"""


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as running:
        yield running


def on_a_small_disk(tmp_path: Path, url: str, size: str) -> tuple[int, str, str]:
    """Record into a file system of its own, which is full soon, and copy what lies there then to `run`."""
    unshare = shutil.which("unshare")
    small = tmp_path / "small"
    small.mkdir()
    mount = f"mount -t tmpfs -o size={size} none {small}"
    if unshare is None or subprocess.run([unshare, "-rm", "sh", "-c", mount], capture_output=True).returncode != 0:
        pytest.skip("no file system can be mounted here (unshare -rm)")
    (tmp_path / "agent.py").write_text(AGENT + SPANS + MANY)
    recorded = f"{sys.executable} -m otel2traj record --out {small}/run --no-files -- {sys.executable} agent.py"
    script = f"{mount} && {recorded}; code=$?; cp -r {small}/run {tmp_path}/run; exit $code"
    env = {**os.environ, "OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": url}
    done = subprocess.run(
        [unshare, "-rm", "sh", "-c", script], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60
    )
    return done.returncode, done.stdout, done.stderr


def with_a_limit(tmp_path: Path, url: str, size: int) -> tuple[int, str, str]:
    """Record where no file may grow beyond `size` bytes."""
    code = f"import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))\n"
    code += "from otel2traj.cli import main\nmain()\n"
    (tmp_path / "agent.py").write_text(AGENT + SPANS + MANY)
    command = [sys.executable, "-c", code, "record", "--out", str(tmp_path / "run"), "--no-files", "--"]
    env = {**os.environ, "OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": url}
    done = subprocess.run(
        [*command, sys.executable, "agent.py"], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("how", ["disk", "limit"])
def test_a_full_disk_costs_records_and_nothing_else(tmp_path: Path, server: ModelServer, how: str) -> None:
    if how == "disk":
        status, out, err = on_a_small_disk(tmp_path, server.url, "3m")
    else:
        status, out, err = with_a_limit(tmp_path, server.url, 2_000_000)
    assert (status, out) == (7, f"{TEXT}\n" * ASKS), err
    assert "wire records could not be written" in err
    requests = [one for one in wire(tmp_path) if one["event"] == "llm_request"]
    assert 5 < len(requests) < ASKS
    assert read(tmp_path, "steps/0001/result.json")["exit_status"] == {"exitCode": 7, "signal": None}
    trajectory = read(tmp_path, "trajectory.json")
    assert sum(step["input"].get("messages") is not None for step in trajectory["steps"]) >= len(requests) - 1
    assert any(step["source"] == "wire+framework" for step in trajectory["steps"])


def test_a_trajectory_that_finds_no_room_is_told(tmp_path: Path, server: ModelServer) -> None:
    status, out, err = on_a_small_disk(tmp_path, server.url, "600k")
    assert (status, out) == (7, f"{TEXT}\n" * ASKS), err
    assert "what was recorded stands: otel2traj build --write" in err
    assert read(tmp_path, "steps/0001/result.json")["exit_status"]["exitCode"] == 7
    again = subprocess.run(
        [sys.executable, "-m", "otel2traj", "build", "--write", str(tmp_path / "run")], capture_output=True, timeout=60
    )
    assert again.returncode == 0
    assert len(read(tmp_path, "trajectory.json")["steps"]) >= 1


def test_sigterm_is_the_command_s(tmp_path: Path, server: ModelServer) -> None:
    process = start(tmp_path, server.url, "ask().read()\nprint('ready', flush=True)\ntime.sleep(60)\n")
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.1)
    os.kill(process.pid, signal.SIGTERM)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 143, err
    assert len(read(tmp_path, "trajectory.json")["steps"]) == 1
    assert read(tmp_path, "steps/0001/result.json")["exit_status"] == {"exitCode": None, "signal": "SIGTERM"}


def test_a_call_under_way_when_the_command_dies_is_kept(tmp_path: Path, server: ModelServer) -> None:
    server.delay = 1.5
    code = "import threading\nthreading.Timer(0.7, lambda: os.kill(os.getpid(), 9)).start()\nask().read()\n"
    status, _, err = record(tmp_path, server.url, code)
    assert status == 137, err
    assert [one["event"] for one in wire(tmp_path)][:2] == ["interceptor_ready", "llm_request"]
    (step,) = read(tmp_path, "trajectory.json")["steps"]
    assert step["input"]["messages"][0]["role"] == "user"


def test_a_command_that_leaves_in_the_middle_of_a_stream_leaves_what_came(tmp_path: Path, server: ModelServer) -> None:
    server.pause = 0.3
    status, _, err = record(tmp_path, server.url, "answer = ask(stream=True)\nanswer.readline()\nos._exit(0)\n")
    assert status == 0, err
    records: list[dict[str, Any]] = wire(tmp_path)
    (response,) = [one["data"] for one in records if one["event"] == "llm_response"]
    assert 1 <= len(response["payload"]["events"]) < 3
    (error,) = [one["data"] for one in records if one["event"] == "llm_error"]
    assert error["error"] == "the client went away before the answer was whole"


def test_recordings_side_by_side_take_ports_of_their_own(tmp_path: Path, server: ModelServer) -> None:
    code = (
        "print(os.environ['OPENAI_BASE_URL'], os.environ['OTEL_EXPORTER_OTLP_ENDPOINT'], flush=True)\ntime.sleep(1)\n"
    )
    first, second = (start(tmp_path / name, server.url, code) for name in ("a", "b"))
    said = [process.communicate(timeout=60)[0].split() for process in (first, second)]
    assert len({*said[0], *said[1]}) == 4
