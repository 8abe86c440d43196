"""The words of `otel2traj receive`."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from otel2traj.cli import receive as command
from otel2traj.errors import UsageError


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    calls: list[Any] = []

    def run(settings: Any, **rest: Any) -> int:
        from otel2traj.capture.receiver import Bound

        rest["ready"](Bound("http://127.0.0.1:1", "127.0.0.1:2"))
        calls.append(settings)
        return 0

    monkeypatch.setattr("otel2traj.api.receive.receive", run)
    return calls


def invoke(*words: str) -> Any:
    app = typer.Typer()
    command.register(app)
    return CliRunner().invoke(app, list(words))


def test_it_listens_on_loopback_at_the_registered_ports(seen: list[Any], tmp_path: Path) -> None:
    done = invoke("--out", str(tmp_path))
    assert done.exit_code == 0
    (settings,) = seen
    assert (settings.host, settings.http_port, settings.grpc_port) == ("127.0.0.1", 4318, 4317)
    assert (settings.token, settings.cors, settings.build_after, settings.max_body) == (None, (), 10.0, 64 << 20)
    assert done.stdout == ""
    assert "OTLP/HTTP on http://127.0.0.1:1" in done.stderr
    assert "OTLP/gRPC on 127.0.0.1:2" in done.stderr


def test_negative_numbers_switch_off(seen: list[Any], tmp_path: Path) -> None:
    invoke("--out", str(tmp_path), "--grpc-port", "-1", "--build-after", "-1", "--max-body", "1", "--cors", "https://a")
    (settings,) = seen
    assert (settings.grpc_port, settings.build_after, settings.max_body) == (None, None, 1 << 20)
    assert settings.cors == ("https://a",)


def test_a_token_may_come_from_the_environment(
    seen: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL2TRAJ_TOKEN", "hidden")
    done = invoke("--out", str(tmp_path))
    assert seen[0].token == "hidden"
    assert "hidden" not in done.stderr


def test_where_to_write_must_be_said(seen: list[Any]) -> None:
    assert isinstance(invoke().exception, UsageError)
    assert seen == []


def test_a_remark_is_one_write_so_that_those_of_two_threads_never_share_a_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    written: list[str] = []

    class Pieces(io.StringIO):
        def write(self, text: str) -> int:
            written.append(text)
            return len(text)

    monkeypatch.setattr(sys, "stderr", Pieces())
    command._say("stopping")
    command._say_json("stopping", "stopping")
    assert [text.count("\n") for text in written] == [1, 1]
    assert all(text.endswith("\n") for text in written)
