"""Hashes, seals and instants of the ledger, to the byte."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel2traj.canonical import canonical_bytes, loads
from otel2traj.model.ledger import Outcome, event_hash, instant_ns, line_hash, seal, state_hash

VECTORS: list[tuple[Any, str]] = [
    ({}, "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"),
    (
        {"files": ["a.txt"], "env": {"k": "v"}},
        "sha256:5be7dd96903f5db98edb9189b8baff7f1ed8df81ae425191969b8f47cd9e984f",
    ),
    ({"é": "ü", "a": 1.0}, "sha256:c61a4ed96b4a26e9b629091be69f0a46eede1998de079d2e3b6daf65bd8f9ea1"),
]

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@pytest.mark.parametrize(("state", "expected"), VECTORS)
def test_state_hash_vectors(state: Any, expected: str) -> None:
    assert state_hash(state) == expected


@given(JSON)
def test_state_hash_is_the_formula_of_the_contract(state: Any) -> None:
    text = json.dumps(state, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    assert state_hash(state) == "sha256:" + hashlib.sha256(text.encode()).hexdigest()


EVENTS = st.dictionaries(st.sampled_from(["a", "event_hash", "zz", "é", "state"]), JSON, max_size=4)


@given(EVENTS, st.none() | st.just("sha256:" + "0" * 64))
def test_a_sealed_line_holds_its_own_hash_and_the_one_before(event: dict[str, Any], previous: str | None) -> None:
    bare = {key: value for key, value in event.items() if key != "event_hash"}
    line, own = seal(bare, previous)
    read = loads(line)
    assert isinstance(read, dict)
    assert line.endswith(b"\n")
    assert canonical_bytes(read) + b"\n" == line
    assert read == {**bare, "prev_event_hash": previous, "event_hash": own}
    assert event_hash(read) == line_hash(line.rstrip(b"\n"), read) == own


@given(EVENTS, JSON)
def test_the_fast_hash_of_a_line_is_the_hash_of_the_event(event: dict[str, Any], inner: Any) -> None:
    digest = "sha256:" + "7" * 64
    for changed in (
        event,
        {**event, "event_hash": digest},
        {"event_hash": digest},
        {**event, "event_hash": digest, "a": {"event_hash": digest, "b": inner}},
        {**event, "event_hash": digest, "a": f'"event_hash":"{digest}",'},
    ):
        assert line_hash(canonical_bytes(changed), changed) == event_hash(changed)


def test_a_change_of_any_field_changes_the_event_hash() -> None:
    event = {"args": {"cmd": "ls"}, "result": {"exit_code": 0}, "cost": {"usd": 0.5}, "event_hash": "not hashed"}
    changes: list[dict[str, Any]] = [{"args": {}}, {"result": {"exit_code": 1}}, {"cost": {"usd": 0.6}}, {"more": None}]
    hashes = {event_hash({**event, **change}) for change in changes}
    assert len(hashes | {event_hash(event)}) == 5
    assert event_hash({**event, "event_hash": "another"}) == event_hash(event)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01T00:00:00", 0),
        ("1970-01-01T01:00:00.5+01:00", 500_000_000),
        ("2026-11-30T13:15:31.123456789Z", 1_796_044_531_123_456_789),
        ("2026-02-30T00:00:00Z", None),
        ("2026-01-01", None),
        ("soon", None),
        (None, None),
        (0, None),
        ([], None),
    ],
)
def test_instants(text: object, expected: int | None) -> None:
    assert instant_ns(text) == expected


def test_only_the_last_four_outcomes_are_terminal() -> None:
    assert [outcome for outcome in Outcome if not outcome.terminal] == ["pending", "running"]
