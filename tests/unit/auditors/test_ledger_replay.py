"""Replay stops at the right place, and an old hash hides no new state."""

from __future__ import annotations

import io
from typing import Any

import pytest

from otel2traj.auditors.ledger import Replay, replay
from tests.ledgers import consistent, good, good_ledger, sealed, written


def run(first: bytes, second: bytes) -> Replay:
    return replay(io.BytesIO(first), io.BytesIO(second))


def changed(index: int, **fields: Any) -> list[Any]:
    items = good()
    items[index].update(fields)
    return items


def test_a_ledger_replays_itself() -> None:
    result = run(good_ledger(), good_ledger())
    assert result.reproduced
    assert result.line() == "PASS: replay reproduces all 8 hashes"


@pytest.mark.parametrize("index", range(8))
def test_the_first_divergence_is_found_by_its_position(index: int) -> None:
    items = good()
    for item in items[index:]:
        item["state"] = {"other": True}
        item["state_hash"] = "sha256:" + "0" * 64
    result = run(good_ledger(), written(items))
    assert result.line() == f"FAIL: replay diverges at step {index}"
    assert result.first is not None
    assert result.second is not None
    assert result.first.step == index


def test_the_position_is_not_the_step_field() -> None:
    items = changed(4, state={"x": 1}, step=400)
    assert run(good_ledger(), written(items)).position == 4


@pytest.mark.parametrize("swap", [False, True])
def test_unequal_lengths_diverge_where_the_shorter_ends(swap: bool) -> None:
    short = written(good()[:5])
    result = run(short, good_ledger()) if swap else run(good_ledger(), short)
    assert result.line() == "FAIL: replay diverges at step 5"
    assert (result.first if swap else result.second) is None


def test_a_changed_state_cannot_hide_behind_its_old_hash() -> None:
    items = changed(3, state={"conversation": "x", "files": {}})
    assert run(good_ledger(), written(items)).position == 3


def test_what_is_no_state_does_not_diverge() -> None:
    items = changed(3, timestamp="2027-01-01T00:00:00Z", cost={}, args={"cmd": "other"})
    assert run(good_ledger(), sealed(items)).reproduced


def test_hashes_without_states_are_compared_as_they_stand() -> None:
    bare = [{"state_hash": "sha256:" + digit * 64} for digit in "123"]
    assert run(written(bare), written(bare)).count == 3
    assert run(written(bare), written([*bare[:2], {"state_hash": "sha256:" + "4" * 64}])).position == 2


@pytest.mark.parametrize("ledger", [b"", b"\n\n"])
def test_nothing_reproduces_nothing(ledger: bytes) -> None:
    assert run(ledger, ledger).line() == "FAIL: nothing to replay: the ledgers are empty"
    assert not run(ledger, ledger).reproduced


@pytest.mark.parametrize("line", [b"{}\n", b'{"state_hash": null}\n', b"no json\n", b"[]\n", b'{"state": {}}\n'])
def test_a_place_without_a_hash_reproduces_nothing(line: bytes) -> None:
    assert run(line, line).line() == "FAIL: replay diverges at step 0"


def test_a_recorded_divergence_is_itself_a_difference() -> None:
    longer = consistent([*good(), {**good()[6], "step": 8, "non_determinism": True}])
    assert run(good_ledger(), longer).line() == "FAIL: replay diverges at step 8"
