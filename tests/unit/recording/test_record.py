"""`otel2traj record` as a whole: a command that talks to a model server, and everything that can go wrong with it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.model_server import TEXT, ModelServer

KEY = "sk-test-0123456789abcdef"
AGENT = """
import json, os, sys, time, urllib.request
def ask(**more):
    body = {"model": "m", "messages": [{"role": "user", "content": "go " + os.environ["OPENAI_API_KEY"]}], **more}
    headers = {"Content-Type": "application/json", "Authorization": "Bearer " + os.environ["OPENAI_API_KEY"],
               "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}
    url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
    return urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), headers))
"""
SPANS = """
body = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "0af7651916cd43dd8448eb211c80319c",
    "spanId": "b7ad6b7169203331", "name": "chat m", "kind": 3, "startTimeUnixNano": "1700000000000000000",
    "endTimeUnixNano": "1700000001000000000", "attributes": [
    {"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}},
    {"key": "gen_ai.request.model", "value": {"stringValue": "m " + os.environ["OPENAI_API_KEY"]}}]}]}]}]}).encode()
urllib.request.urlopen(urllib.request.Request(os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"] + "/v1/traces", body,
    {"Content-Type": "application/json"}))
"""


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as running:
        yield running


def start(
    tmp_path: Path, url: str, code: str, *options: str, env: dict[str, str] | None = None
) -> subprocess.Popen[str]:
    folder = tmp_path / "workspace"
    folder.mkdir(parents=True, exist_ok=True)
    agent = tmp_path / "agent.py"
    agent.write_text(AGENT + code)
    command = [sys.executable, "-m", "otel2traj", "record", "--out", str(tmp_path / "run"), *options]
    given = {**os.environ, "OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": url, **(env or {})}
    for name in ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_TRACES_EXPORTER"):
        if name not in (env or {}):
            given.pop(name, None)
    return subprocess.Popen(
        [*command, "--", sys.executable, str(agent)],
        cwd=folder, env=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def record(tmp_path: Path, url: str, code: str, *options: str, **more: Any) -> tuple[int, str, str]:
    process = start(tmp_path, url, code, *options, **more)
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


def read(tmp_path: Path, name: str) -> Any:
    return json.loads((tmp_path / "run" / name).read_text())


def wire(tmp_path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (tmp_path / "run/logs/network.jsonl").read_text().split("\n") if line]


def test_wire_and_telemetry_are_one_exact_step_without_a_credential(tmp_path: Path, server: ModelServer) -> None:
    code = SPANS + "print(ask().read().decode())\nopen('made.txt', 'w').write(os.environ['OPENAI_API_KEY'])\n"
    status, out, err = record(tmp_path, server.url, code, "--input", "say it")
    assert status == 0, err
    assert json.loads(out)["choices"][0]["message"]["content"] == TEXT
    assert "no model call" not in err
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    trajectory = read(tmp_path, "trajectory.json")
    assert [step["source"] for step in trajectory["steps"]] == ["wire+framework"]
    assert trajectory["inputs"][0]["prompt"] == "say it"
    assert trajectory["inputs"][0]["result"]["exit_status"] == {"exitCode": 0, "signal": None}
    change = trajectory["inputs"][0]["file_changes"][0]
    assert (change["path"], change["change_type"]) == ("made.txt", "created")
    for file in (tmp_path / "run").rglob("*"):
        assert not file.is_file() or KEY.encode() not in file.read_bytes(), file
    assert not (tmp_path / "run/otlp-log").exists()


def test_a_stream_passes_as_it_comes_and_is_kept_whole(tmp_path: Path, server: ModelServer) -> None:
    server.pause = 0.5
    code = "begin = time.time()\nanswer = ask(stream=True)\nanswer.readline()\nfirst = time.time() - begin\n"
    code += "answer.read()\nprint(first / (time.time() - begin))\n"
    status, out, err = record(tmp_path, server.url, code)
    assert status == 0, err
    assert float(out) < 0.5  # of the 1.5 s that the server takes on purpose
    records = wire(tmp_path)
    response = next(one["data"] for one in records if one["event"] == "llm_response")
    assert response["streaming"] is True
    assert len(response["payload"]["events"]) == 3
    assert response["raw_body"].endswith("data: [DONE]\n\n")
    assert [one["data"]["sequence"] for one in records if one["event"] == "llm_chunk"][:2] == [1, 2]


def test_the_user_s_own_settings_stay(tmp_path: Path, server: ModelServer) -> None:
    code = "print(os.environ['OTEL_TRACES_EXPORTER'], os.environ['OTEL_RESOURCE_ATTRIBUTES'])\n"
    own = {"OTEL_TRACES_EXPORTER": "console", "OTEL_RESOURCE_ATTRIBUTES": "service.name=mine"}
    _, out, err = record(tmp_path, server.url, code, env=own)
    assert out.startswith("console service.name=mine,otel2traj.attempt.id=run-")
    assert "OTEL_TRACES_EXPORTER is set" in err
    assert "no model call was seen on the wire" in err


def test_the_exit_code_is_the_command_s_own(tmp_path: Path, server: ModelServer) -> None:
    status, _, err = record(tmp_path, server.url, "ask().read()\nsys.exit(7)\n")
    assert status == 7, err
    assert read(tmp_path, "steps/0001/result.json")["status"] == "failed"


def test_a_killed_command_leaves_what_was_recorded(tmp_path: Path, server: ModelServer) -> None:
    status, _, _ = record(tmp_path, server.url, "ask().read()\nos.kill(os.getpid(), 9)\n")
    assert status == 137
    trajectory = read(tmp_path, "trajectory.json")
    assert len(trajectory["steps"]) == 1
    assert trajectory["inputs"][0]["result"]["exit_status"] == {"exitCode": None, "signal": "SIGKILL"}


def test_one_interrupt_stops_the_command_and_keeps_the_evidence(tmp_path: Path, server: ModelServer) -> None:
    process = start(tmp_path, server.url, "ask().read()\nprint('ready', flush=True)\ntime.sleep(60)\n")
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.1)
    os.kill(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode in (130, 1), err
    assert len(read(tmp_path, "trajectory.json")["steps"]) == 1
    assert read(tmp_path, "run.json")["status"] == "interrupted"


def test_an_upstream_that_is_down_is_an_error_record(tmp_path: Path) -> None:
    code = "import urllib.error\ntry:\n    ask()\nexcept urllib.error.HTTPError as err:\n    print(err.code)\n"
    status, out, err = record(tmp_path, "http://127.0.0.1:9/v1", code)
    assert (status, out) == (0, "502\n"), err
    error = next(one["data"] for one in wire(tmp_path) if one["event"] == "llm_error")
    assert error["error_code"] == "upstream_error"


def test_a_stream_that_breaks_off_breaks_off_for_the_command(tmp_path: Path, server: ModelServer) -> None:
    server.break_off = True
    code = "import http.client\ntry:\n    ask(stream=True).read()\n"
    code += "except http.client.IncompleteRead:\n    print('broken')\n"
    status, out, err = record(tmp_path, server.url, code)
    assert (status, out) == (0, "broken\n"), err
    events = [one["event"] for one in wire(tmp_path)]
    assert "llm_error" in events
    assert "llm_response" in events


def test_a_command_that_is_not_there(tmp_path: Path) -> None:
    out = tmp_path / "run"
    command = [sys.executable, "-m", "otel2traj", "record", "--out", str(out), "--", "no-such-agent"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=60)
    assert done.returncode == 127
    assert "no-such-agent: No such file or directory" in done.stderr
    again = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=60)
    assert again.returncode == 4
    assert "is not empty" in again.stderr
