"""What a trajectory becomes in a forensic ledger: entries, turns, transports, tools and states."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import pytest

from otel2traj.canonical import loads
from otel2traj.model.forensic import Workspace, epoch, first_missing, is_subsequence, snapshot
from otel2traj.model.trajectory import SdkInput, Step, StepKind, StepSource, StepStatus, Trajectory
from otel2traj.writers.forensic import AgentVForensic, ForensicSink
from tests.factory import not_observed, play, step, tool_log, trajectory

EMPTY = "840eb7aa2a9935de63366bacbe9d97e978a859e93dc792a0334de60ed52f8e99"
HASH = "sha256:" + "a" * 64


def ledger(what: Trajectory, **options: Any) -> tuple[dict[str, Any], list[str]]:
    sink = ForensicSink(**options)
    play(what, sink)
    return sink.task_result, sink.warnings


def one(*steps: Step, **fields: Any) -> dict[str, Any]:
    return ledger(trajectory(*steps, **fields))[0]


def item(ordinal: str, first: int, last: int, *changes: dict[str, Any], status: str = "succeeded") -> SdkInput:
    return SdkInput(ordinal, f"in-{ordinal}", "Go.", [first, last], {"status": status}, list(changes))


def evidence(*ordinals: str) -> list[dict[str, str]]:
    paths = [f"steps/{ordinal}/{name}" for ordinal in ordinals for name in ("file-evidence.json", "result.json")]
    return [{"path": path, "sha256": "0" * 64} for path in sorted(paths)]


def change(path: str, before: str | None, after: str | None, **fields: Any) -> dict[str, Any]:
    kind = "created" if before is None else "deleted" if after is None else "modified"
    return {"path": path, "change_type": kind, "before_hash": before, "after_hash": after, **fields}


def test_the_vectors() -> None:
    assert snapshot({}) == EMPTY
    assert epoch("2021-04-12T10:40:00Z") == 1618224000.0
    assert epoch("2026-11-30T11:15:05.780691912+00:00") == 1796037305.780692
    assert epoch(None) is None


def test_every_field_of_the_schema_in_its_order() -> None:
    found = one(step())
    assert list(found)[:5] == ["task_id", "attempt", "turns_taken", "status", "metrics"]
    assert found["task_id"] == "case-1"
    assert found["attempt"] == 1
    assert found["turns_taken"] == 1
    assert found["status"] == "success"
    assert found["resource_telemetry"] == []


def test_history_of_a_call_and_its_execution() -> None:
    found = one(step(1, tool_log(exit_status={"exitCode": 0, "signal": None})), step(2))
    assert [(entry["identity"], entry["role"], entry["turn_index"]) for entry in found["conversation_history"]] == [
        ("user_id", "user", 0),
        ("agent_id:lead", "agent", 0),
        ("env_id", "environment", 0),
        ("agent_id:lead", "agent", 1),
    ]
    _, agent, env, _ = found["conversation_history"]
    assert agent["content"] is None
    assert agent["tool_calls"] == [{"id": "call_1", "name": "search", "arguments": {"q": "x"}}]
    assert agent["tools_recorded"] is False
    assert agent["timestamp"] == epoch("2026-01-02T03:04:01.750000Z")
    assert env["content"] == {
        "status": "success",
        "tool": "search",
        "tool_call_id": "call_1",
        "link": "exact",
        "result": "found",
        "exit_status": {"exitCode": 0, "signal": None},
    }
    assert "timestamp" not in env


def test_an_inferred_partner_grounds_nothing() -> None:
    call = not_observed(evidence={"inferred": {"rule": "name_arguments", "step_id": 2}})
    ran = step(2, tool_log(None), kind=StepKind.TOOL_ONLY, source=StepSource.FRAMEWORK, output={})
    found = one(step(1, call), ran)
    _, _, unseen, tool = found["conversation_history"]
    assert unseen["content"] == {
        "status": "not_observed",
        "tool": "search",
        "tool_call_id": "call_1",
        "link": "none",
    }
    assert tool["content"]["status"] == "success"
    assert tool["content"]["params"] == {"q": "x"}
    assert tool["turn_index"] == 0
    assert tool["timestamp"] == epoch("2026-01-02T03:04:02.750000Z")
    assert found["turns_taken"] == 1


def test_an_execution_before_the_first_turn_has_no_turn() -> None:
    found = one(step(1, tool_log(None), kind=StepKind.TOOL_ONLY, output={}))
    assert found["turns_taken"] == 0
    assert [entry["turn_index"] for entry in found["conversation_history"]] == [None, None]


def test_a_failed_call_is_the_systems_word() -> None:
    output = {"text": None, "tool_calls": [], "wire_error": {"error": "reset", "error_code": "transport_error"}}
    found = one(step(1, status=StepStatus.FAILED, output=output))
    _, agent, system = found["conversation_history"]
    assert (agent["content"], agent["status"]) == (None, "failed")
    assert system["identity"] == "system_id"
    assert system["content"] == {"status": "error", "error_code": "transport_error", "error": "reset"}
    refused = {"text": None, "tool_calls": [], "http_status": 429, "error": {"message": "slow down"}}
    content = one(step(1, status=StepStatus.FAILED, output=refused))["conversation_history"][2]["content"]
    assert content == {"status": "error", "http_status": 429, "error": {"message": "slow down"}}
    broken_off = one(step(1, status=StepStatus.INCOMPLETE))["conversation_history"][2]["content"]
    assert broken_off["status"] == "not_observed"


def test_inputs_stand_where_they_began_and_ended() -> None:
    inputs = [
        item("0001", 1, 2, status="timeout"),
        SdkInput("0002", None, "Lost.", None, {"status": "failed", "error": "no agent"}, []),
        item("0003", 3, 3),
    ]
    found = one(step(1), step(2), step(3, input_ordinal="0003"), inputs=inputs)
    told = [(entry["identity"].partition(":")[0], entry["turn_index"]) for entry in found["conversation_history"]]
    assert told == [
        ("user_id", 0),
        ("agent_id", 0),
        ("agent_id", 1),
        ("system_id", 1),
        ("user_id", None),
        ("system_id", None),
        ("user_id", 2),
        ("agent_id", 2),
    ]
    assert found["conversation_history"][3]["content"] == {"status": "timeout"}
    assert found["conversation_history"][5]["content"] == {"status": "failed", "error": "no agent"}
    assert [one["status"] for one in found["outcome"]["inputs"]] == ["timed out", "failed", "succeeded"]
    assert found["status"] == "failed"


def test_an_unrecorded_result_is_no_verdict() -> None:
    result, warnings = ledger(trajectory(step(), inputs=[SdkInput("0001", None, "Go.", [1, 1], {"output": "x"}, [])]))
    assert result["metrics"] == []
    assert "status" not in result
    assert "no status of 1 of 1 Inputs was recorded" in warnings


def test_no_metric_is_made_up_of_how_an_input_ended() -> None:
    found = one(step(), inputs=[item("0001", 1, 1)], sources=evidence("0001"))
    assert found["metrics"] == []
    assert found["outcome"]["ended"]["status"] == "succeeded"
    assert found["outcome"]["inputs"] == [{"ordinal": "0001", "status": "succeeded", "word": "succeeded"}]


@pytest.mark.parametrize(
    ("fields", "spoken"),
    [
        ({"input": {"parameters": {"stream": True}}}, ["sse"]),
        ({"input": {"parameters": {"stream": False}}}, ["http"]),
        ({"input": {}}, ["http"]),
        ({"input": {}, "source": StepSource.FRAMEWORK}, []),
        (
            {"source": StepSource.FRAMEWORK, "evidence": {"records": [{"path": "steps/0001/acp-events.jsonl"}]}},
            ["stdio"],
        ),
    ],
)
def test_the_transport_of_a_turn(fields: dict[str, Any], spoken: list[str]) -> None:
    found = one(step(1, **fields))
    assert found["protocol_sequence"] == spoken
    assert found["protocol_sequence_turns"] == list(range(len(spoken)))


def test_mcp_where_nothing_else_tells() -> None:
    log = tool_log(evidence={"said_by": {"result": "otel_mcp"}})
    result, warnings = ledger(
        trajectory(step(1, log, source=StepSource.FRAMEWORK), step(2, source=StepSource.FRAMEWORK))
    )
    assert (result["protocol_sequence"], result["protocol_sequence_turns"]) == (["mcp"], [0])
    assert "the transport of 1 of 2 turns was not recorded" in warnings


def test_a_record_may_name_its_transport() -> None:
    result, _ = ledger(trajectory(step(1, input={})), transport=lambda records: "grpc")
    assert result["protocol_sequence"] == ["grpc"]


def test_the_order_of_required_steps() -> None:
    assert is_subsequence(["init", "auth"], ["init", "http", "auth"])
    assert is_subsequence([], ["http"])
    assert is_subsequence(["http", "http"], ["http", "sse", "http"])
    assert not is_subsequence(["http", "http"], ["http"])
    assert first_missing(["init", "auth"], ["auth", "init"]) == 1


def test_the_first_definition_of_a_tool_stands() -> None:
    def offered(*parameters: str, **schema: Any) -> dict[str, Any]:
        properties = {"properties": {name: {"type": "string"} for name in parameters}, **schema}
        return {"tools": [{"type": "function", "function": {"name": "go", "parameters": properties}}]}

    result, warnings = ledger(trajectory(step(1, input=offered("a", "b")), step(2, input=offered("a"))))
    assert result["tool_registry"] == {"go": {"parameters": ["a", "b"], "description": None}}
    assert "tool 'go' was defined in more than one way: the first definition stands" in warnings
    assert one(step(1, input=offered()))["tool_registry"]["go"]["open"] is True
    assert "open" not in one(step(1, input=offered(additionalProperties=False)))["tool_registry"]["go"]


@pytest.mark.parametrize(
    "tool",
    [
        {"type": "function", "name": "go", "description": "Go.", "parameters": {"properties": {"to": {}}}},
        {"name": "go", "description": "Go.", "input_schema": {"properties": {"to": {}}}},
        {"functionDeclarations": [{"name": "go", "description": "Go.", "parameters": {"properties": {"to": {}}}}]},
        {"toolSpec": {"name": "go", "description": "Go.", "inputSchema": {"json": {"properties": {"to": {}}}}}},
    ],
)
def test_tools_of_every_provider(tool: dict[str, Any]) -> None:
    assert one(step(1, input={"tools": [tool]}))["tool_registry"] == {
        "go": {"parameters": ["to"], "description": "Go."}
    }


def test_states_are_known_where_file_evidence_is() -> None:
    inputs = [
        item("0001", 1, 2),
        item("0002", 3, 3, change("a", None, HASH)),
        item("0003", 4, 4, change("a", HASH, None)),
    ]
    steps = [step(number, input_ordinal="0001") for number in range(1, 5)]
    result, warnings = ledger(trajectory(*steps, inputs=inputs, sources=evidence("0001", "0002", "0003")))
    assert result["state_snapshot_turns"] == [1, 2, 3]
    assert result["state_snapshots"] == [EMPTY, snapshot({"a": {"content": HASH}}), EMPTY]
    assert "the state of the workspace is known after 3 of 4 turns" in warnings


def test_after_an_input_without_file_evidence_no_state_is_known() -> None:
    inputs = [item("0001", 1, 1), item("0002", 2, 2), item("0003", 3, 3)]
    found = one(step(1), step(2), step(3), inputs=inputs, sources=evidence("0001", "0003"))
    assert found["state_snapshot_turns"] == [0]
    incomplete = ["file_evidence_incomplete: not all file changes were recorded (steps/0002/file-evidence.json)"]
    found = one(step(1), inputs=inputs[:1], sources=evidence("0001"), warnings=incomplete)
    assert found["state_snapshots"] == []
    assert one(step(1), inputs=inputs[:1])["state_snapshots"] == []


def test_a_workspace_is_its_difference_to_the_start() -> None:
    space = Workspace()
    space.apply(change("b", HASH, None, before_mode=420))
    space.apply(change("a", None, HASH, after_mode=493))
    assert space.manifest() == {"a": {"mode": 493, "content": HASH}, "b": None}
    space.apply(change("b", None, HASH, after_mode=420))
    space.apply(change("a", HASH, None))
    assert space.manifest() == {}


def test_a_renamed_file_leaves_its_place() -> None:
    space = Workspace()
    space.apply({"path": "n", "old_path": "o", "change_type": "renamed", "before_hash": HASH, "after_hash": HASH})
    assert space.manifest() == {"n": {"content": HASH}, "o": None}
    space.apply({"path": "o", "old_path": "n", "change_type": "renamed", "before_hash": HASH, "after_hash": HASH})
    assert space.manifest() == {}


def test_content_that_was_not_recorded_makes_the_state_unknown() -> None:
    space = Workspace()
    space.apply({"path": "a", "change_type": "modified", "before_size": 4, "after_size": 5})
    assert space.manifest() is None
    space.apply(change("a", None, HASH))
    assert space.manifest() == {"a": {"content": HASH}}
    space.apply(change("b", None, HASH, complete=False))
    assert space.manifest() is None
    space = Workspace()
    space.apply(change("d", None, None, file_type="directory", after_mode=493))
    assert space.manifest() == {"d": {"type": "directory", "mode": 493}}


def test_the_writer_gives_the_same_bytes_twice() -> None:
    def written() -> bytes:
        out = BytesIO()
        play(trajectory(step(1, tool_log()), step(2)), AgentVForensic().sink(out))
        return out.getvalue()

    assert written() == written()
    found = loads(written())
    assert isinstance(found, dict)
    assert found["turns_taken"] == 2
    assert written().count(b"\n  {") == 4  # entries, each on a line of its own
