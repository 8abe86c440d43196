"""`otel2traj record --proxy`: a command that knows no base URL, and a model server behind TLS on loopback."""

from __future__ import annotations

import json
import os
import shutil
import ssl
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from otel2traj.errors import UsageError
from otel2traj.recording.intercept import find_mitmdump
from tests.model_server import TEXT, ModelServer

pytestmark = pytest.mark.interop
KEY = "sk-test-0123456789abcdef"
AGENT = """
import json, os, sys, urllib.request
url = sys.argv[1]
def ask(path, **body):
    headers = {"Content-Type": "application/json", "Authorization": "Bearer " + sys.stdin.readline().strip()}
    return urllib.request.urlopen(urllib.request.Request(url + path, json.dumps(body).encode(), headers)).read()
said = [{"role": "user", "content": "go"}]
urllib.request.urlopen(url + "/v1/models").read()
print(ask("/v1/chat/completions", model="m", messages=said).decode())
print(ask("/v1/chat/completions", model="m", messages=said, stream=True).decode())
open("trusted", "w").write(os.environ["SSL_CERT_FILE"])
"""


@pytest.fixture
def tls(tmp_path: Path) -> tuple[ssl.SSLContext, Path]:
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl is not installed")
    key, cert = tmp_path / "key.pem", tmp_path / "cert.pem"
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    command = [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", key, "-out", cert]
    subprocess.run([*command, *names], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    return context, cert


@pytest.fixture
def server(tls: tuple[ssl.SSLContext, Path]) -> Iterator[ModelServer]:
    with ModelServer(tls=tls[0]) as running:
        yield running


def wire(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "logs/network.jsonl").read_text().split("\n") if line]


def test_what_goes_through_the_proxy_is_recorded_as_by_a_base_url(
    tmp_path: Path, tls: tuple[ssl.SSLContext, Path], server: ModelServer
) -> None:
    try:
        find_mitmdump()
    except UsageError as err:
        pytest.skip(str(err))
    (tmp_path / "workspace").mkdir()
    (tmp_path / "agent.py").write_text(AGENT)
    run = tmp_path / "run"
    command = [sys.executable, "-m", "otel2traj", "record", "--proxy", "--no-show", "--out", str(run), "--"]
    command += [sys.executable, str(tmp_path / "agent.py"), server.origin.replace("127.0.0.1", "localhost")]
    names = ("HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy", "OPENAI_API_KEY")
    env = {name: value for name, value in os.environ.items() if name not in names} | {"SSL_CERT_FILE": str(tls[1])}
    done = subprocess.run(
        command, cwd=tmp_path / "workspace", env=env, capture_output=True, text=True, timeout=120, input=f"{KEY}\n" * 2
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(TEXT) == 2
    assert [headers["authorization"] for headers in server.headers] == [f"Bearer {KEY}"] * 2
    assert not any("otel2traj" in name for headers in server.headers for name in headers)
    records = wire(run)
    assert [one["event"] for one in records if one["event"] != "llm_chunk"] == [
        "interceptor_ready", "llm_request", "llm_response", "llm_request", "llm_response",
    ]  # fmt: skip
    requests = [one["data"] for one in records if one["event"] == "llm_request"]
    assert [one["payload"] for one in requests] == server.requests
    assert {(one["host"], one["path"]) for one in requests} == {
        (server.origin.removeprefix("https://").replace("127.0.0.1", "localhost"), "/v1/chat/completions")
    }
    streamed = records[-1]["data"]
    assert streamed["streaming"] is True
    assert len(streamed["payload"]["events"]) == 3
    trajectory = json.loads((run / "trajectory.json").read_bytes())
    assert [(step["source"], step["output"]["text"]) for step in trajectory["steps"]] == [("wire", TEXT)] * 2
    assert "no model calls: localhost" in done.stderr
    for file in run.rglob("*"):
        assert not file.is_file() or KEY.encode() not in file.read_bytes(), file
    assert not Path((tmp_path / "workspace/trusted").read_text()).exists()


def test_without_mitmproxy_nothing_is_begun(tmp_path: Path) -> None:
    code = "import sys; sys.executable = '/none/python'; from otel2traj.cli import main; main()"
    command = [sys.executable, "-c", code, "record", "--proxy", "--out", str(tmp_path / "run"), "--", "true"]
    done = subprocess.run(command, env={"PATH": str(tmp_path)}, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "--proxy needs mitmproxy" in done.stderr
    assert not (tmp_path / "run").exists()
