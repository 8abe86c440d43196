"""The whole audit: its notes, its last line, other people's ledgers, and bytes of every kind."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otel2traj.auditors.ledger import RULES, Options, audit, replay
from otel2traj.auditors.ledger.schema import check
from otel2traj.canonical import canonical_bytes
from otel2traj.model.finding import Finding
from tests.ledgers import good, good_ledger, judge, sealed, written

EMPTY_STATE = "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"


def notes(ledger: bytes) -> list[str]:
    found: list[Finding] = []
    audit(io.BytesIO(ledger), found.append)
    return [finding.message for finding in found if finding.severity == "note"]


def three(**last: Any) -> list[Any]:
    """A think, a tool and an observe event of another program: E1 of the contract's evals."""
    cost = {"tokens_in": 120, "tokens_out": 30, "seconds": 1.5, "usd": 0.0021}
    common = {"timestamp": "2026-10-12T08:00:00Z", "state": {}, "state_hash": EMPTY_STATE, "cost": cost}
    result = {"exit_code": 0, "stdout": "x", "stderr": ""}
    return [
        {"schema": "trajectory-ledger-v1", "run_id": "r", "step": 0, "type": "think", "thought": "t", **common},
        {"step": 1, "type": "tool", "tool": "shell", "args": {"cmd": "git diff"}, "result": result, **common},
        {"step": 2, "type": "observe", "outcome": "succeeded", "evidence": "e", **common, **last},
    ]


def spaced(items: list[Any]) -> bytes:
    return "".join(json.dumps(item) + "\n" for item in items).encode()


def test_a_foreign_ledger_is_clean_and_told_what_it_lacks() -> None:
    ledger = spaced(three())
    verdict, found = judge(ledger)
    assert found == []
    assert verdict.line() == "PASS: audit clean (3 events)"
    assert verdict.totals.text() == '{"tokens_in": 360, "tokens_out": 90, "seconds": 4.5, "usd": 0.0063}'
    assert notes(ledger) == [
        "usd is recorded and the run header pins no rates",
        "no event chain: a change of args, result, cost or evidence cannot be seen",
    ]


def test_without_a_chain_only_the_state_is_watched() -> None:
    items = three()
    items[1]["result"]["stdout"] = "changed"
    assert judge(spaced(items))[0].clean
    items[1]["state"] = {"files": {}}
    _, found = judge(spaced(items))
    assert [finding.message for finding in found] == ["event 1 state_hash does not recompute"]


@pytest.mark.parametrize("index", range(8))
@pytest.mark.parametrize("field", ["timestamp", "cost", "new"])
def test_with_a_chain_any_change_of_any_event_is_seen(index: int, field: str) -> None:
    items = good()
    items[index][field] = {**items[index]["cost"], "retries": 1} if field == "cost" else "2030-01-01T00:00:00Z"
    _, found = judge(written(items))
    assert found[0].message == f"event {index} event_hash does not recompute"
    assert {finding.rule for finding in found} <= {"ledger.event-hash", "ledger.prev-event-hash", "ledger.cost-totals"}


@pytest.mark.parametrize("index", range(7))
def test_taking_an_event_out_or_swapping_two_is_seen(index: int) -> None:
    lines = good_ledger().splitlines(keepends=True)
    swapped = [*lines[:index], lines[index + 1], lines[index], *lines[index + 2 :]]
    for ledger in ([*lines[:index], *lines[index + 1 :]], swapped):
        assert "ledger.prev-event-hash" in {finding.rule for finding in judge(b"".join(ledger))[1]}


def test_taking_the_hashes_off_an_event_does_not_free_it() -> None:
    items = good()
    del items[3]["event_hash"]
    assert [finding.message for finding in judge(written(items))[1]] == ["event 3 missing 'event_hash'"]
    items[3]["args"] = {"cmd": "rm -r /"}
    assert "ledger.prev-event-hash" in {finding.rule for finding in judge(written(items))[1]}


def test_a_missing_end_is_told() -> None:
    assert any(note.startswith("no terminal outcome") for note in notes(written(good()[:-1])))
    assert not any(note.startswith("no terminal outcome") for note in notes(good_ledger()))


def test_the_end_of_the_chain_is_told_so_that_it_can_be_kept_elsewhere() -> None:
    assert notes(good_ledger()) == [f"event chain ends in {good()[-1]['event_hash']}"]


def test_success_without_any_tool_event_is_told() -> None:
    items = [item for item in three() if item["type"] != "tool"]
    assert "the outcome is 'succeeded' and no tool event grounds it" in notes(written(items))


def test_findings_point_to_a_line_and_an_event() -> None:
    found: list[Finding] = []
    audit(io.BytesIO(b"\n" + written(three(outcome="done"))), found.append, name="a.jsonl")
    assert found[0] == Finding("ledger.outcome", "event 2 has invalid outcome 'done'", pointer="a.jsonl:4")


def test_several_problems_are_all_told() -> None:
    verdict, found = judge(written([{}, {"type": "tool"}, {"step": 1}]))
    assert verdict.problems == len(found) == 5 + 1 + 4 + 3 + 4
    assert verdict.line() == f"FAIL: audit found {len(found)} problem(s)"


def test_a_long_value_does_not_fill_the_message() -> None:
    _, found = judge(written(three(outcome="x" * 10_000)))
    assert len(found[0].message) < 150


def test_rules_have_names_and_sentences() -> None:
    assert len(RULES) == 36
    for rule in RULES:
        assert rule.name.startswith("ledger.")
        assert rule.says.endswith(".")


@pytest.mark.parametrize(
    ("index", "fields", "message"),
    [
        (0, {"schema": ...}, 'event 0 as a whole: "schema" is a required property'),
        (3, {"args": None}, "event 3 args: "),
        (3, {"result": {}}, 'event 3 result: "exit_code" is a required property'),
        (4, {"cost": {"eur": 1}}, "event 4 cost: Additional properties are not allowed"),
        (4, {"state_hash": "0" * 64}, "event 4 state_hash: "),
        (7, {"evidence": {}}, "event 7 evidence: "),
    ],
)
def test_the_json_schema_finds_what_one_line_can_show(index: int, fields: dict[str, Any], message: str) -> None:
    items = good()
    for name, value in fields.items():
        if value is ...:
            del items[index][name]
        else:
            items[index][name] = value
    found: list[Finding] = []
    assert check(io.BytesIO(sealed(items)), found.append) == 1
    assert found[0].message.startswith(message)


SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
VALUES = st.recursive(
    SCALARS | st.sampled_from(["tool", "observe", "succeeded", "trajectory-ledger-v1", "otel2traj.state.v1"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
FIELDS = [
    "schema",
    "step",
    "timestamp",
    "type",
    "tool",
    "args",
    "result",
    "state",
    "state_hash",
    "cost",
    "totals",
    "outcome",
    "evidence",
    "reason",
    "blocker",
    "usage",
    "elapsed_seconds",
    "non_determinism",
    "event_hash",
    "prev_event_hash",
    "rates",
    "state_rule",
    "model",
    "file_changes",
    "call",
    "input",
    "thought",
]
HOSTILE = st.lists(st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=8), max_size=4)


@settings(max_examples=300, deadline=None)
@given(HOSTILE)
def test_no_event_of_any_shape_raises(items: list[dict[str, Any]]) -> None:
    ledger = spaced(items)
    for options in (Options(), Options(strict=True)):
        verdict = audit(io.BytesIO(ledger), lambda finding: None, options)
        assert verdict.events == len(items)
    replay(io.BytesIO(ledger), io.BytesIO(ledger))


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 7), st.sampled_from(FIELDS), VALUES)
def test_no_field_of_a_good_ledger_raises_whatever_it_holds(index: int, field: str, value: Any) -> None:
    items = good()
    items[index][field] = value
    audit(io.BytesIO(spaced(items)), lambda finding: None, Options(strict=True))
    check(io.BytesIO(spaced(items)), lambda finding: None)


@settings(max_examples=300, deadline=None)
@given(st.binary() | st.binary().map(lambda data: good_ledger()[:700] + data))
def test_no_bytes_raise(data: bytes) -> None:
    audit(io.BytesIO(data), lambda finding: None)
    replay(io.BytesIO(data), io.BytesIO(data))


@settings(max_examples=300, deadline=None)
@given(st.integers(0, len(good_ledger()) - 1), st.integers(1, 255))
def test_any_changed_byte_of_a_sealed_ledger_is_found(place: int, change: int) -> None:
    ledger = bytearray(good_ledger())
    ledger[place] ^= change
    if bytes(ledger).split() == good_ledger().split():
        return  # one white space for another between two lines
    assert not judge(bytes(ledger))[0].clean


def test_canonical_and_spaced_spelling_audit_alike() -> None:
    for items in (good(), three(outcome="done")):
        assert [f.message for f in judge(spaced(items))[1]] == [f.message for f in judge(written(items))[1]]
    assert canonical_bytes(good()[0]) == good_ledger().splitlines()[0]
