"""Replay stops at the right place, and an old hash hides no new state."""

from __future__ import annotations

import io
from typing import Any

import pytest

from otel2traj.auditors.ledger import Replay, replay
from otel2traj.canonical import loads
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
    items = changed(3, timestamp="2027-01-01T00:00:00Z", cost={}, tool_call_id=None)
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


def test_a_changed_hash_of_an_unchanged_state_diverges() -> None:
    for items in (changed(3, state_hash="sha256:" + "0" * 64), changed(3, state_hash=good()[1]["state_hash"])):
        assert run(good_ledger(), written(items)).position == 3
        assert run(written(items), good_ledger()).position == 3
        assert replay(io.BytesIO(written(items))).position == 3
        assert run(written(items), written(items)).position == 3


def test_states_are_derived_from_the_events_and_not_believed() -> None:
    items = changed(3, args={"cmd": "other"})
    assert replay(io.BytesIO(sealed(items))).position == 3
    assert replay(io.BytesIO(consistent(items))).reproduced
    without = [{key: value for key, value in item.items() if key != "state"} for item in good()]
    assert replay(io.BytesIO(written(without))).reproduced
    without[5]["thought"] = "other"
    assert replay(io.BytesIO(written(without))).position == 5
    unknown = [{key: value for key, value in item.items() if key not in ("state", "state_rule")} for item in good()]
    assert not replay(io.BytesIO(written(unknown))).reproduced


def test_the_first_divergence_names_the_keys_in_which_the_states_differ() -> None:
    result = run(good_ledger(), consistent(changed(6, file_changes=[{"path": "b.txt", "content": "unknown"}])))
    assert result.line() == "FAIL: replay diverges at step 6"
    told = "A 'sha256:" + "1" * 64 + "', B has none"
    assert result.remarks == (f"state /files/a.txt: {told}"[:200], "state /files/b.txt: A has none, B 'unknown'")
    output = consistent(changed(3, result={**good()[3]["result"], "output": "b.txt"}))
    assert run(good_ledger(), output).remarks[-1] == "event /result/output: A 'a.txt\\n', B 'b.txt'"


def other_output() -> list[Any]:
    """The run again, with another output at position 3."""
    return changed(3, result={**good()[3]["result"], "output": "b.txt"})


def record(step: int, **fields: Any) -> dict[str, Any]:
    plain = {key: value for key, value in good()[4].items() if key not in ("blocker", "call")}
    return {**plain, "step": step, "non_determinism": True, **fields}


@pytest.mark.parametrize("at", [None, 0, 2, 4, 7, "3"])
def test_non_determinism_recorded_elsewhere_excuses_nothing(at: Any) -> None:
    told = consistent([*other_output(), record(8, diverges_at=at)])
    for result in (run(good_ledger(), told), run(told, good_ledger())):
        assert result.line() == "FAIL: replay diverges at step 3"
        assert result.honoured is None


def test_non_determinism_is_honoured_where_it_was_recorded() -> None:
    told = consistent([*other_output(), record(8, diverges_at=3)])
    for result in (run(good_ledger(), told), run(told, good_ledger())):
        assert result.line() == "PASS: replay reproduces all 3 hashes"
        assert result.honoured is not None
    stopped = consistent([*good()[:3], record(3)])
    assert run(good_ledger(), stopped).line() == "PASS: replay reproduces all 3 hashes"
    earlier = other_output()
    earlier[2]["thought"] = "other"
    assert run(good_ledger(), consistent([*earlier, record(8, diverges_at=3)])).position == 2


def test_behind_a_recorded_divergence_each_ledger_is_still_derived() -> None:
    told = [*other_output(), record(8, diverges_at=3)]
    whole = [loads(line) for line in consistent(told).splitlines()]
    whole[6]["state_hash"] = "sha256:" + "0" * 64
    assert run(good_ledger(), written(whole)).line() == "FAIL: replay diverges at step 6"


def test_a_record_after_the_end_is_honoured_there() -> None:
    longer = consistent([*good(), record(8)])
    assert run(good_ledger(), longer).line() == "PASS: replay reproduces all 8 hashes"
    assert run(longer, longer).line() == "PASS: replay reproduces all 9 hashes"
