"""docs/deploy: figures that exist, options that exist, files that parse."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from otel2traj.capture.intake import Intake
from otel2traj.capture.layout import LOG
from otel2traj.capture.page import Facts, metrics_text
from otel2traj.capture.spool import Spool
from otel2traj.cli import receive

DEPLOY = Path(__file__).parents[3] / "docs" / "deploy"


@pytest.fixture
def figures(tmp_path: Path) -> set[str]:
    spool = Spool(tmp_path / LOG, min_free=0)
    text = metrics_text(Facts(tmp_path, Intake(spool), "test")).decode()
    spool.close()
    return set(re.findall(r"^# TYPE (\S+)", text, re.M))


def test_dashboard_and_alerts_ask_for_figures_that_there_are(figures: set[str]) -> None:
    dashboard = json.loads((DEPLOY / "grafana-dashboard.json").read_text())
    asked = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    asked += re.findall(r"expr: (.*)", (DEPLOY / "alerts.yaml").read_text())
    assert len(asked) > 15
    for expression in asked:
        names = re.findall(r"\b((?:otel2traj|http_server)_[a-z_]+)", expression)
        assert names
        assert {re.sub(r"_(bucket|sum|count)$", "", name) for name in names} <= figures, expression
    shown = set(re.findall(r"otel2traj_receiver_[a-z_]+", " ".join(asked)))
    assert len(shown) >= 14


@pytest.mark.parametrize("name", ["otel2traj.service", "Dockerfile", "compose.yaml"])
def test_the_options_are_the_commands(name: str) -> None:
    app = typer.Typer()
    receive.register(app)
    told = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "300", "TERM": "dumb", "NO_COLOR": "1"}).output
    text = (DEPLOY / name).read_text()
    lines = [line for line in text.splitlines() if "receive" in line or "command:" in line]
    options = {found for line in lines for found in re.findall(r"(?<![\w-])(--[a-z][a-z-]+)", line)} - {"--config"}
    assert options
    for option in options:
        assert option in told, option
