"""What an ACP client records of tools, where it is odd: told, and never taken for a success."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from otel2traj.api.build import build_path
from otel2traj.api.validate_trajectory import validate
from tests.attempt_factory import AttemptFactory, chat_response

EVENTS = "steps/0001/acp-events.jsonl"
TEXT = [{"type": "content", "content": {"type": "text", "text": "half"}}]


class Acp:
    """An attempt whose one Input has ACP events."""

    def __init__(self, root: Path) -> None:
        self.root, self.second = root, 1.0
        self.attempt = AttemptFactory(root / "attempt").input("0001")
        self.attempt.event("logs/network.jsonl", "proxy_started", 0, {})

    def tool(self, kind: str, call_id: Any, session: str = "s1", **update: Any) -> Acp:
        self.second += 1
        told = {"sessionUpdate": kind, "toolCallId": call_id, **update}
        self.attempt.event(EVENTS, "session_update", self.second, {"session_id": session, "update": told}, "acp")
        return self

    def event(self, event: str, **data: Any) -> Acp:
        self.second += 1
        self.attempt.event(EVENTS, event, self.second, data, "acp")
        return self

    def build(self) -> dict[str, Any]:
        out = self.root / "out.json"
        (built,) = build_path(self.attempt.write(), output=out)
        assert built.bug is None
        assert validate(out) == []
        document: dict[str, Any] = json.loads(out.read_bytes())
        return document


def codes(document: dict[str, Any]) -> list[str]:
    return [warning.split(":")[0] for warning in document["warnings"]]


def logs(document: dict[str, Any]) -> list[dict[str, Any]]:
    return [log for step in document["steps"] for log in step["tool_logs"]]


@pytest.mark.parametrize("told", [{}, {"content": TEXT}, {"rawOutput": {"a": 1}}])
def test_an_unfinished_tool_did_not_succeed_whatever_it_shows(tmp_path: Path, told: Any) -> None:
    acp = Acp(tmp_path).tool("tool_call", "t1", title="Run", status="pending")
    document = acp.tool("tool_call_update", "t1", status="in_progress", **told).build()
    (log,) = logs(document)
    assert log["execution_status"] == "not_observed"
    assert log["outputs"] == (told.get("content") or told.get("rawOutput"))
    assert "unfinished_span" in codes(document)


def test_a_tool_that_ends_twice_is_told_and_the_last_end_stands(tmp_path: Path) -> None:
    acp = Acp(tmp_path).tool("tool_call", "t1", title="Run").tool("tool_call_update", "t1", status="completed")
    document = acp.tool("tool_call_update", "t1", status="failed", content=TEXT).build()
    (log,) = logs(document)
    assert log["execution_status"] == "error"
    assert (document["status"], codes(document)) == ("partial", ["repeated_end"])
    assert "completed, then failed" in document["warnings"][0]


def test_the_same_end_twice_is_no_loss(tmp_path: Path) -> None:
    acp = Acp(tmp_path).tool("tool_call", "t1", title="Run").tool("tool_call_update", "t1", status="completed")
    document = acp.tool("tool_call_update", "t1", status="completed").build()
    assert (document["status"], codes(document)) == ("complete", ["repeated_end"])


def test_two_terminals_of_one_tool_are_told(tmp_path: Path) -> None:
    acp = Acp(tmp_path).tool("tool_call", "t1", title="Run")
    for name, code in (("a", 0), ("b", 3)):
        acp.tool("tool_call_update", "t1", content=[{"type": "terminal", "terminalId": name}])
        acp.event("terminal_exited", terminal_id=name, exit_code=code, signal=None)
    document = acp.tool("tool_call_update", "t1", status="completed").build()
    (log,) = logs(document)
    assert log["exit_status"] == {"exitCode": 3, "signal": None}
    assert [warning for warning in document["warnings"] if "the terminals a, b" in warning]


def test_one_tool_call_id_in_two_sessions_is_two_executions(tmp_path: Path) -> None:
    acp = Acp(tmp_path)
    for session, status in (("s1", "completed"), ("s2", "failed")):
        acp.tool("tool_call", "t1", session, title=f"Run in {session}", rawInput={"of": session})
        acp.tool("tool_call_update", "t1", session, status=status)
    document = acp.build()
    assert [(log["tool_name"], log["execution_status"]) for log in logs(document)] == [
        ("Run in s1", "succeeded"),
        ("Run in s2", "error"),
    ]
    assert len({step["evidence"]["interaction_id"] for step in document["steps"]}) == 2
    assert "repeated_tool_call" in codes(document)


def test_one_tool_call_id_in_two_sessions_is_an_ambiguous_link(tmp_path: Path) -> None:
    acp = Acp(tmp_path)
    acp.attempt.request("call_a", 0.1).response("call_a", 0.2, chat_response(calls=[("t1", "run", "{}")]))
    for session in ("s1", "s2"):
        acp.tool("tool_call", "t1", session, title="run").tool("tool_call_update", "t1", session, status="completed")
    document = acp.build()
    assert document["steps"][0]["tool_logs"][0]["link"] == "ambiguous"
    assert document["status"] == "partial"


@pytest.mark.parametrize("call_id", ["", None, 5])
def test_an_empty_id_is_no_id(tmp_path: Path, call_id: Any) -> None:
    document = Acp(tmp_path).tool("tool_call", call_id, title="Run", status="completed").build()
    assert document["steps"] == []
    assert (document["status"], codes(document)) == ("partial", ["missing_id"])
