"""The exporter under its name, set up by the SDK's own configurator from the environment, as `opentelemetry-instrument`
does it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ..unit.capture.requests import items

pytestmark = pytest.mark.interop

PROGRAM = """
import logging
from opentelemetry.sdk._configuration import _OTelSDKConfigurator
_OTelSDKConfigurator().configure()
from opentelemetry import trace
from opentelemetry._logs import get_logger
names = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.conversation.id": "run"}
with trace.get_tracer("demo").start_as_current_span("chat m", attributes=names):
    get_logger("demo").emit(body="inside", event_name="an.event", timestamp=1_700_000_000_000_000_000)
"""


def test_the_environment_is_enough(tmp_path: Path) -> None:
    env = {
        **os.environ,
        "OTEL_TRACES_EXPORTER": "otel2traj",
        "OTEL_LOGS_EXPORTER": "otel2traj",
        "OTEL_METRICS_EXPORTER": "none",
        "OTEL2TRAJ_OUT": str(tmp_path / "runs"),
        "OTEL2TRAJ_BUILD": "true",
    }
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=env, capture_output=True, text=True, timeout=90)
    assert done.returncode == 0, done.stderr
    (attempt,) = (tmp_path / "runs" / "attempts").iterdir()
    assert [span["name"] for span in items(attempt / "otel.jsonl")] == ["chat m"]
    assert [record["eventName"] for record in items(attempt / "otel-logs.jsonl")] == ["an.event"]
    assert json.loads((attempt / "trajectory.json").read_bytes())["steps"]
