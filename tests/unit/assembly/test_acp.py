"""What an ACP client records of tools, where it is odd: told, and never taken for a success."""

from __future__ import annotations

import json
from pathlib import Path
from time import process_time
from typing import Any

import pytest

from otel2traj.api.build import build_path
from otel2traj.api.validate_trajectory import validate
from otel2traj.model.trajectory import drive
from otel2traj.outcome import FailureKind, OutcomeReader
from otel2traj.stored import read
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


def terminal(acp: Acp, *outputs: str) -> Acp:
    acp.tool("tool_call", "t1", title="Run").event("terminal_started", terminal_id="term", command="sh", args=["-c"])
    acp.tool("tool_call_update", "t1", content=[{"type": "terminal", "terminalId": "term"}])
    for output in outputs:
        acp.event("terminal_output", terminal_id="term", output=output, truncated=False)
    return acp.event("terminal_exited", terminal_id="term", exit_code=0, signal=None)


def test_the_text_of_a_terminal_is_the_output_where_nothing_else_gives_one(tmp_path: Path) -> None:
    acp = terminal(Acp(tmp_path), "one\n", "one\ntwo\n").tool("tool_call_update", "t1", status="completed")
    (log,) = logs(acp.build())
    assert log["outputs"] == "one\ntwo\n"
    assert log["evidence"]["said_by"]["result"] == "acp:terminal"
    (told,) = log["evidence"]["recorded"]["acp_terminals"]
    assert (told["command"], told["args"], told["output"]) == ("sh", ["-c"], "one\ntwo\n")
    assert "replaced" not in told
    named = [record["what"] for record in log["evidence"]["records"]]
    assert [what for what in named if what.startswith("terminal_")] == [
        "terminal_started", "terminal_output", "terminal_output", "terminal_exited"
    ]  # fmt: skip


def test_the_text_of_a_terminal_stands_beside_the_output_that_the_agent_gives(tmp_path: Path) -> None:
    acp = terminal(Acp(tmp_path), "tail lost", "other")
    (log,) = logs(acp.tool("tool_call_update", "t1", status="completed", rawOutput={"ok": 1}).build())
    assert log["outputs"] == {"ok": 1}
    (told,) = log["evidence"]["recorded"]["acp_terminals"]
    assert (told["output"], told["replaced"]) == ("other", [{"output": "tail lost"}])
    assert log["evidence"]["recorded"]["acp_content"] == [{"type": "terminal", "terminalId": "term"}]


def test_who_was_asked_and_what_was_chosen_stands_in_the_log(tmp_path: Path) -> None:
    acp = Acp(tmp_path).tool("tool_call", "t1", title="Edit")
    chosen = {"outcome": "selected", "optionId": "reject"}
    acp.event(
        "permission", session_id="s1", tool_call={"toolCallId": "t1"}, options=[{"optionId": "a"}], outcome=chosen
    )
    acp.event("permission", session_id="s1", tool_call={"toolCallId": "gone"}, options=[], outcome=chosen)
    document = acp.tool("tool_call_update", "t1", status="failed").build()
    (asked,) = logs(document)[0]["evidence"]["recorded"]["acp_permissions"]
    assert (asked["options"], asked["outcome"]) == ([{"optionId": "a"}], chosen)
    (homeless,) = [e for e in document["inputs"][0]["evidence"]["events"] if e["event"] == "permission"]
    assert homeless["data"]["tool_call"] == {"toolCallId": "gone"}


def test_pieces_of_a_message_are_one_event_and_a_tool_call_parts_them(tmp_path: Path) -> None:
    acp = Acp(tmp_path)

    def say(text: str) -> None:
        update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
        acp.event("session_update", session_id="s1", update=update)

    say("Let me ")
    say("look.")
    acp.tool("tool_call", "t1", title="Read", status="completed")
    say("Done.")
    events = acp.build()["inputs"][0]["evidence"]["events"]
    assert [event["data"]["update"]["content"]["text"] for event in events] == ["Let me look.", "Done."]
    assert (events[0]["pieces"], len(events[0]["records"])) == (2, 2)
    assert "pieces" not in events[1]


def test_many_pieces_of_a_message_cost_no_more_than_their_number(tmp_path: Path) -> None:
    def seconds(pieces: int) -> float:
        acp = Acp(tmp_path / str(pieces))
        update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "x" * 2000}}
        for _ in range(pieces):
            acp.event("session_update", session_id="s1", update=update)
        acp.attempt.write()
        began = process_time()
        build_path(acp.attempt.root, output=tmp_path / f"{pieces}.json")
        took = process_time() - began
        (event,) = json.loads((tmp_path / f"{pieces}.json").read_bytes())["inputs"][0]["evidence"]["events"]
        assert event["pieces"] == pieces
        text = event["data"]["update"]["content"]["text"]
        assert (text["size"] if isinstance(text, dict) else len(text)) == 2000 * pieces
        return took

    # 16 times the pieces: joined one by one they cost some 200 times as much, and so every time
    assert any(seconds(8000) < 60 * seconds(500) for _ in range(3))


def test_files_that_the_client_read_and_wrote_stand_in_the_input(tmp_path: Path) -> None:
    acp = Acp(tmp_path).event("file_read", path="a", line=None, limit=3, content="alpha")
    events = acp.event("file_written", path="b", content="beta").build()["inputs"][0]["evidence"]["events"]
    assert [(event["event"], event["data"]["content"]) for event in events] == [
        ("file_read", "alpha"),
        ("file_written", "beta"),
    ]


def test_a_failure_beside_a_result_that_says_success_is_told(tmp_path: Path) -> None:
    acp = Acp(tmp_path).event("failure", type="AcpError", message="lost the agent", code=-32000)
    (item,) = acp.build()["inputs"]
    assert item["result"]["status"] == "succeeded"
    (error,) = item["evidence"]["errors"]
    assert (error["type"], error["message"], error["code"]) == ("AcpError", "lost the agent", -32000)
    reader = OutcomeReader()
    drive(read(acp.root / "out.json"), [reader])
    told = [(failure.kind, failure.code, failure.message) for failure in reader.outcome.failures]
    assert told == [(FailureKind.AGENT, "AcpError", "lost the agent")]
