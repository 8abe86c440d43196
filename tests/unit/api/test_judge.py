"""A judge of the user's own: what it is asked, and what its answer is worth."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from typer import Typer
from typer.testing import CliRunner, Result

from otel2traj.api.attribute import attribute_run
from otel2traj.api.judge import KEY, Judge, ask
from otel2traj.auditors.attribution import question, read_answer, turns_of_history
from otel2traj.auditors.attribution.judge import BUDGET
from otel2traj.cli.attribute import register
from otel2traj.errors import EvidenceError, UsageError

FAILED = Path(__file__).parents[3] / "fixtures" / "attempts" / "openai-traceloop-wirefail-stream" / "attempt"
HISTORY = [
    {"name": "Planner", "role": "assistant", "content": "You are given a task: how many bars are open?"},
    {"name": "Coder", "role": "assistant", "content": "We assume there are 41\n  bars in the town."},
    {"name": "Computer_terminal", "role": "user", "content": "exitcode: 0 (execution succeeded)\nCode output: 41"},
]
TURNS = turns_of_history(HISTORY)


@contextmanager
def server(content: Any, status: int = 200) -> Iterator[tuple[str, list[tuple[str | None, bytes]]]]:
    """A chat-completions server with one answer: its base URL, and what it was sent (key, body)."""
    got: list[tuple[str | None, bytes]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            got.append((self.headers["authorization"], self.rfile.read(int(self.headers["content-length"]))))
            body = json.dumps({"model": "m-1", "choices": [{"message": {"content": content}}]}).encode()
            self.send_response(status if self.path == "/v1/chat/completions" else 404)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None: ...

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=listening.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.server_port}/v1", got
    finally:
        listening.shutdown()
        thread.join()
        listening.server_close()


def command(*args: object) -> Result:
    app = Typer()
    register(app)
    return CliRunner().invoke(app, [str(arg) for arg in args])


def test_an_answer_that_holds_is_an_assessment_of_the_recorded_agent() -> None:
    said = {"step": 1, "agent": "Somebody", "quote": "assume there are 41 bars", "reason": "nothing was looked up"}
    for text in (json.dumps(said), f"So:\n```json\n{json.dumps(said)}\n```\nDone {{", f"{{not}} {json.dumps(said)}"):
        found = read_answer(text, TURNS)
        assert (found.refused, found.step, found.agent) == (None, 1, "Coder")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("I think step 1.", "no JSON object"),
        ('{"step": "1", "quote": "assume there are 41"}', "no step"),
        ('{"step": true, "quote": "assume there are 41"}', "no step"),
        ('{"step": 7, "quote": "assume there are 41"}', "no step 7"),
        ('{"step": 0, "quote": "assume there are 41"}', "does not stand in step 0"),
        ('{"step": 1, "quote": "assume there are 42 bars"}', "does not stand in step 1"),
        ('{"step": 1, "quote": "We"}', "at least 8"),
        ('{"step": 1}', "at least 8"),
        ("{" * 100_000, "no JSON object"),
    ],
)
def test_an_answer_that_does_not_hold_is_refused_with_the_reason(text: str, why: str) -> None:
    found = read_answer(text, TURNS)
    assert found.agent is None
    assert why in str(found.refused)


def test_the_question_is_bounded_and_keeps_short_turns_whole() -> None:
    history = [*HISTORY, *({"name": "A", "role": "assistant", "content": f"x{n}" + "y" * 90_000} for n in range(3))]
    asked = question(turns_of_history(history), "How many?")[1]["content"]
    assert len(asked) < BUDGET * 1.2
    assert "Task: How many?" in asked
    assert "We assume there are 41\n  bars in the town." in asked
    assert "[step 2] Computer_terminal (output of what was run):" in asked
    assert asked.count("characters left out]") == 3


def test_the_server_is_asked_once_and_what_it_said_comes_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(KEY, "secret-key")
    run = tmp_path / "run.json"
    run.write_text(json.dumps({"history": HISTORY}))
    answer = json.dumps({"step": 1, "quote": "We assume there are 41 bars", "reason": "a guess"})
    with server(answer) as (url, got):
        found = attribute_run(run, judge=Judge(url, "m"))
    ((key, body),) = got
    assert key == "Bearer secret-key"
    assert (json.loads(body)["temperature"], json.loads(body)["model"]) == (0, "m")
    first = found.candidates[0]
    assert (first.step, first.agent, first.rule, first.confidence) == (1, "Coder", "judge", None)
    assert [one.step for one in found.candidates].count(1) == 1
    told = found.to_json()["assessment"]
    assert told["kind"] == "assessment"
    assert told["by"] == {"endpoint": url, "model": "m-1"}
    assert told["request_sha256"] == hashlib.sha256(body).hexdigest()
    assert "secret-key" not in json.dumps(found.to_json())


def test_what_does_not_hold_leaves_the_rules_candidates(tmp_path: Path) -> None:
    rules = attribute_run(FAILED).candidates
    with server('{"step": 1, "quote": "never said by anybody"}') as (url, _):
        done = command(FAILED, "--judge", url, "--judge-model", "m")
        assert attribute_run(FAILED, judge=Judge(url, "m")).candidates == rules
    assert done.exit_code == 0
    assert "the judge's answer does not hold: the quotation does not stand in step 1" in done.stderr
    assert "judge" not in done.stdout


def test_a_server_that_is_not_there_or_refuses_is_named() -> None:
    with server("x", status=500) as (url, _), pytest.raises(EvidenceError, match="HTTP 500"):
        ask(Judge(url, "m"), TURNS, None)
    with pytest.raises(EvidenceError, match="cannot be asked"):
        ask(Judge(url, "m"), TURNS, None)
    with server(None) as (url, _), pytest.raises(EvidenceError, match="no chat completion"):
        ask(Judge(url, "m"), TURNS, None)
    with pytest.raises(UsageError, match="no URL"):
        ask(Judge("127.0.0.1:8000", "m"), TURNS, None)


def test_both_options_or_none() -> None:
    done = command(FAILED, "--judge", "http://127.0.0.1:9/v1")
    assert isinstance(done.exception, UsageError)
