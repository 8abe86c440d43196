"""The state rule: what changes the world, what does not, and what two runs that did the same agree on."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from otel2traj.canonical import JsonObject
from otel2traj.model.ledger import state_hash
from otel2traj.model.ledger_state import file_change, first_state, next_state

TOOL: JsonObject = {
    "type": "tool",
    "tool": "shell",
    "args": {"cmd": "ls"},
    "result": {"exit_code": 0, "status": "succeeded", "output": ["call_7", {"id": "call_7"}, "call_77", 'a"call_7"b']},
    "tool_call_id": "call_7",
}
DIGEST = "sha256:" + "1" * 64


def after(event: JsonObject) -> JsonObject:
    return next_state(first_state(), event)


def test_the_first_state_is_pinned() -> None:
    assert first_state() == {
        "conversation": "sha256:4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945",
        "files": {},
    }


def by_hand(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def test_the_rule_is_pinned() -> None:
    """The rule with the standard library alone, as docs/how-to/ledger.md tells it. A change of it is a new name."""
    think = {"type": "think", "thought": "look", "text": "x", "finish_reason": "stop"}
    state = next_state(next_state(after({"type": "observe", "input": {"prompt": "Do it."}}), think), TOOL)
    output = ["<tool_call_id>", {"id": "<tool_call_id>"}, "call_77", 'a"call_7"b']
    conversation = by_hand([])
    for entry in (
        ["input", "Do it."],
        ["model", "look", "x", None, "stop", False],
        ["tool", "shell", {"cmd": "ls"}, "succeeded", 0, by_hand(output)],
    ):
        conversation = by_hand([conversation, by_hand(entry)])
    assert state == {"conversation": conversation, "files": {}}
    assert state_hash(state) == by_hand(state)
    assert state_hash(state) == "sha256:0662fffdd06caa0a63f58c232f8e3d3ea8ca7e47936825289dfb43d02080e2b3"


@pytest.mark.parametrize(
    "event",
    [
        {"type": "observe"},
        {"type": "observe", "outcome": "succeeded", "evidence": "x", "totals": {}},
        {"type": "observe", "non_determinism": True, "detail": "x"},
        {"type": "observe", "input_result": {"status": "succeeded"}},
        {"type": "observe", "file_changes": []},
    ],
)
def test_what_changes_no_state(event: JsonObject) -> None:
    assert after(event) == first_state()


@pytest.mark.parametrize(
    "change",
    [
        {"step": 9, "timestamp": "2026-01-01T00:00:00Z", "cost": {"usd": 1}, "event_hash": "x"},
        {"trajectory": {"step_id": 4, "records": []}, "link": "exact"},
    ],
)
def test_times_costs_and_identifiers_are_no_part_of_the_state(change: JsonObject) -> None:
    assert after({**TOOL, **change}) == after(TOOL)


def test_the_call_id_counts_nowhere_and_only_where_it_is_the_whole_string() -> None:
    other: dict[str, Any] = {**TOOL, "tool_call_id": "call_8"}
    other["result"] = {**TOOL["result"], "output": ["call_8", {"id": "call_8"}, "call_77", 'a"call_7"b']}
    assert after(other) == after(TOOL)
    other["result"] = {**TOOL["result"], "output": ["call_8", {"id": "call_8"}, "call_88", 'a"call_7"b']}
    assert after(other) != after(TOOL)


@pytest.mark.parametrize(
    "change",
    [
        {"tool": "bash"},
        {"args": {"cmd": "ls -l"}},
        {"result": {**TOOL["result"], "exit_code": 1}},
        {"result": {**TOOL["result"], "status": "error"}},
        {"result": {**TOOL["result"], "output": "other"}},
    ],
)
def test_what_a_tool_did_is_part_of_the_state(change: JsonObject) -> None:
    assert after({**TOOL, **change}) != after(TOOL)


def test_a_call_that_was_not_observed_differs_from_one_that_was() -> None:
    call = {"type": "observe", "blocker": "x", "call": {"tool": "shell", "args": {"cmd": "ls"}}}
    assert after(call) not in (after(TOOL), first_state())


def test_the_order_of_the_conversation_counts() -> None:
    one, two = {"type": "think", "thought": "a"}, {"type": "think", "thought": "b"}
    assert next_state(after(one), two) != next_state(after(two), one)


def test_files_follow_the_changes_and_the_state_before_is_left_alone() -> None:
    before = after({"type": "observe", "file_changes": [{"path": "a", "content": DIGEST}]})
    assert before["files"] == {"a": DIGEST}
    moved = {"path": "b", "old_path": "a", "content": DIGEST}
    changed = next_state(before, {"type": "observe", "file_changes": [moved, {"path": "c", "content": "deleted"}]})
    assert changed["files"] == {"a": "deleted", "b": DIGEST, "c": "deleted"}
    assert before["files"] == {"a": DIGEST}
    assert changed["conversation"] == before["conversation"]


@pytest.mark.parametrize(
    ("recorded", "expected"),
    [
        ({"path": "a", "change_type": "created", "after_hash": DIGEST}, {"path": "a", "content": DIGEST}),
        (
            {"path": "a", "change_type": "deleted", "before_hash": DIGEST, "after_hash": None},
            {"path": "a", "content": "deleted"},
        ),
        (
            {"path": "b", "change_type": "renamed", "old_path": "a", "after_hash": DIGEST},
            {"path": "b", "content": DIGEST, "old_path": "a"},
        ),
        ({"path": "a", "before": None, "after": {"type": "file", "blob": "1" * 64}}, {"path": "a", "content": DIGEST}),
        ({"path": "a", "before": {"type": "file"}, "after": None}, {"path": "a", "content": "deleted"}),
        ({"path": "a", "before": None, "after": {"omitted": "binary_content"}}, {"path": "a", "content": "unknown"}),
        ({"path": "a", "change_type": "created", "after_hash": "md5:1"}, {"path": "a", "content": "unknown"}),
        ({"change_type": "created"}, None),
    ],
)
def test_committed_diffs_and_replay_deltas(recorded: JsonObject, expected: JsonObject | None) -> None:
    assert file_change(recorded) == expected
