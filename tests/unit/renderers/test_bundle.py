"""Parts of a page: every value once, nothing lost, the same bytes again."""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from otel2traj.canonical import JsonValue, loads
from otel2traj.model.codec import step_to_json
from otel2traj.model.trajectory import Trajectory
from otel2traj.renderers import bundle as room
from otel2traj.renderers.bundle import Bundle, BundleSink
from otel2traj.renderers.page import write_page
from tests.factory import play, step, tool_log, trajectory

from .helpers import stored


def pack(what: Trajectory, **options: Any) -> Bundle:
    sink = BundleSink("run", **options)
    play(what, sink)
    return sink.bundle


def parts(bundle: Bundle) -> list[dict[str, Any]]:
    out = [loads(zlib.decompress(bundle.part("c", n))) for n in range(len(bundle.places["c"]))]
    return out  # type: ignore[return-value]


def unpack(bundle: Bundle) -> list[dict[str, Any]]:
    """The steps as the page puts them together again."""
    opened = parts(bundle)
    values: list[JsonValue] = [value for part in opened for value in part["v"]]
    assert [part["f"] for part in opened] == bundle.index["firsts"]
    steps = []
    for row in bundle.index["steps"]:
        record = opened[row[-2]]["s"][row[-1]]
        one = dict(record["i"])
        asked = dict(one["input"])
        if "m" in record:
            asked["messages"] = [values[n] for a, b in record["m"] for n in range(a, b + 1)]
        for key, short in (("system", "y"), ("tools", "t")):
            if short in record:
                asked[key] = values[record[short]]
        steps.append({**one, "input": asked})
    return steps


def growing(count: int) -> Trajectory:
    talk: list[JsonValue] = [{"role": "user", "content": "begin"}]
    steps = []
    for n in range(1, count + 1):
        asked = {"messages": list(talk), "system": "be kind", "tools": [{"name": "f"}]}
        steps.append(step(n, tool_log(f"c{n}"), input=asked))
        talk += [{"role": "assistant", "content": f"a{n}"}, {"role": "tool", "content": f"r{n}" * 50}]
    return trajectory(*steps)


@pytest.mark.parametrize("size", [200, 5_000, 1 << 20])
def test_nothing_is_lost_whatever_the_size_of_parts(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "PART", size)
    what = growing(12)
    assert unpack(pack(what)) == [step_to_json(one) for one in what.steps]


def test_the_fixture_comes_back_whole(fixtures: Path) -> None:
    what = stored(fixtures / "renderers" / "nightly-sync" / "trajectory.json")
    expected = [step_to_json(one) for one in what.steps]
    assert unpack(pack(what)) == expected
    assert [step_to_json(one) for one in what.steps] == expected, "the steps of others stay as they are"


def test_a_growing_history_costs_what_is_new() -> None:
    one, two = (sum(len(zlib.decompress(b.part("c", 0))) for b in [pack(growing(n))]) for n in (50, 100))
    assert two < 2.3 * one


def test_a_value_belongs_to_the_step_that_brought_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "PART", 300)
    bundle = pack(growing(6))
    owners = [owner for part in parts(bundle) for owner in part["o"]]
    assert owners[:3] == [0, 0, 0], "the first message, system and tools"
    assert [owners.count(n) for n in range(1, 6)] == [2] * 5


def test_the_index_says_what_a_list_needs(fixtures: Path) -> None:
    index = pack(stored(fixtures / "renderers" / "nightly-sync" / "trajectory.json")).index
    assert index["agents"] == ["lead", "lead/researcher"]
    assert [row[0] for row in index["steps"]] == list(range(1, 9))
    second = index["steps"][1]
    assert [[index["tools"][log[0]], *log[1:6]] for log in second[12]] == [
        ["run_command", "succeeded", "exact", "exit 3", True, False],
        ["read_file", "not_observed", "none", None, False, False],
    ]
    assert second[6] - second[5] == 109
    assert index["steps"][2][9] is None, "no usage recorded is not zero"
    assert index["steps"][4][9] == 0, "and zero is an answer"
    assert (index["failures"], index["unsure"]) == (4, 3)
    assert index["ended"] == ["✗", "failed", "agent stopped before it answered", "input_result"]
    assert second[14] == [
        ["non-zero exit", "exit 3: sync: cannot reach host … sync: giving up after 3 tries", "run_command"]
    ]


def test_inference_can_be_left_out(fixtures: Path) -> None:
    bundle = pack(stored(fixtures / "renderers" / "nightly-sync" / "trajectory.json"), inference=False)
    assert not any(row[13] or any(log[5] for log in row[12]) for row in bundle.index["steps"])
    assert all("inferred_call" not in one["evidence"] for one in unpack(bundle))


RECORD = b'{"a": 1}'


def with_record(digest: str) -> Trajectory:
    record = {"path": "a.jsonl", "line": 1, "offset": 3, "length": len(RECORD), "sha256": digest, "what": "request"}
    return trajectory(step(1, evidence={"records": [record]}), step(2, evidence={"records": [record]}))


def reader(data: bytes | None) -> Callable[[str, int, int], bytes | None]:
    return lambda path, offset, length: data if (path, offset, length) == ("a.jsonl", 3, len(RECORD)) else None


def test_raw_records_are_kept_once_and_checked() -> None:
    good = sha256(RECORD).hexdigest()
    for digest, holds in ((good, True), ("0" * 64, False)):
        bundle = pack(with_record(digest), raw=reader(RECORD))
        assert zlib.decompress(bundle.part("r", 0)) == RECORD
        for record in parts(bundle)[0]["s"]:
            assert record["r"] == {f"a.jsonl@3+{len(RECORD)}": [0, 0, len(RECORD), holds]}


def test_raw_records_that_are_not_at_hand_or_too_many_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "r" not in parts(pack(with_record("0"), raw=reader(None)))[0]["s"][0]
    monkeypatch.setattr(room, "RAW_LIMIT", 7)
    bundle = pack(with_record("0"), raw=reader(RECORD))
    assert bundle.places["r"] == []


def test_a_trajectory_without_steps_is_a_page_too() -> None:
    bundle = pack(trajectory())
    out = io.BytesIO()
    write_page(out, [bundle])
    assert b"a0-index" in out.getvalue()


def test_the_same_bytes_again() -> None:
    pages = []
    for _ in range(2):
        out = io.BytesIO()
        write_page(out, [pack(growing(20))])
        pages.append(out.getvalue())
    assert pages[0] == pages[1]
