"""Bodies that share the entries of their histories are the bodies that plain decoding gives, digests included."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel2traj.canonical import JsonError, canonical_bytes, loads, sha256_canonical
from otel2traj.model.evidence import AbbRecord, EvidenceRef, Notice, Source, SourceKind
from otel2traj.readers.abb import AbbFile
from otel2traj.readers.histories import Body, Histories
from otel2traj.readers.lines import LineFile

members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
ENTRIES = st.lists(
    st.one_of(
        st.integers(0, 120),
        st.sampled_from(["", "a", "a,", "]", '"', "é", "💥"]),
        st.fixed_dictionaries({"role": st.sampled_from(["user", "tool"]), "n": st.floats(0, 1e-4) | st.none()}),
        st.lists(st.integers(0, 3), max_size=2),
    ),
    max_size=8,
)


def body(histories: Histories, payload: Any, **style: Any) -> Body:
    return histories.body(members(json.dumps(payload, **style).encode()))


@given(
    st.lists(st.tuples(ENTRIES, st.sampled_from(["messages", "input", "contents", "other"])), max_size=6), st.booleans()
)
def test_whatever_came_before_a_body_is_what_decoding_gives(bodies: list[tuple[list[Any], str]], wide: bool) -> None:
    histories = Histories(keep_bytes=200, keep=2)
    for entries, key in bodies:
        payload = {"model": "m", key: entries, "é": 1}
        found = body(histories, payload, indent=1 if wide else None, ensure_ascii=wide)
        assert found.value == payload
        assert isinstance(found.value, dict)
        assert list(found.value) == list(payload)
        assert found.sha256() == sha256_canonical(payload)


def test_an_entry_that_stood_before_is_the_same_object() -> None:
    histories = Histories()
    first = body(histories, {"messages": [{"a": 1}, {"b": 2}]})
    second = body(histories, {"messages": [{"a": 1}, {"b": 2}, {"c": 3}]})
    other = body(histories, {"messages": [{"x": 1}]})
    third = body(histories, {"messages": [{"a": 1}, {"b": 2}, {"d": 4}]})
    assert [item.value for item in first.items] == [{"a": 1}, {"b": 2}]
    assert second.items[:2] == third.items[:2] == first.items
    assert other.items[0] not in first.items
    assert third.value == {"messages": [{"a": 1}, {"b": 2}, {"d": 4}]}


def test_a_number_that_goes_on_is_another_number() -> None:
    histories = Histories()
    assert body(histories, {"input": [1]}).value == {"input": [1]}
    assert body(histories, {"input": [12]}).value == {"input": [12]}
    assert body(histories, {"input": [12, 1]}).value == {"input": [12, 1]}


def test_two_members_that_may_be_the_history_are_none() -> None:
    found = body(Histories(), {"messages": [1], "input": [2]})
    assert (found.history, found.value) == (None, {"messages": [1], "input": [2]})


def test_damage_inside_a_member_is_told() -> None:
    for raw in (b'{"messages": [1e999]}', b'{"messages": ["\xff"]}', b'{"tools": "\xff"}'):
        with pytest.raises(JsonError):
            Histories().body(members(raw))


def wire(tmp_path: Path, *lines: bytes) -> AbbFile:
    file = tmp_path / "network.jsonl"
    file.write_bytes(b"\n".join(lines) + b"\n")
    return AbbFile(Source("network.jsonl", SourceKind.WIRE, file), ("call_id", "status"))


def test_members_that_are_not_asked_for_are_passed_over_but_damage_is_told(tmp_path: Path) -> None:
    file = wire(
        tmp_path,
        b'{"event": "x", "timestamp": "2026-01-01T00:00:00Z", "data": {"call_id": "c", "raw_body": "b", "payload": 1}}',
        b'{"event": "x", "data": {"call_id": "d", "raw_body": "\xff"}}',
        b'{"event": "x", "data": {"call_id": "e", "raw_body": "\\ud800"}}',
        b'{"event": "x", "data": [1]}',
        b'{"event": "x"}',
        b'{"event": "x", "data": {"call_id": "f", "raw_body": "\\q"}}',
        b"  ",
    )
    items = list(file.records())
    assert [item.code for item in items if isinstance(item, Notice)] == ["repaired_record"] * 2 + ["unreadable_line"]
    found = [item.data.get("call_id") for item in items if isinstance(item, AbbRecord)]
    assert found == ["c", "d", "e", None, None]
    first = items[0]
    assert isinstance(first, AbbRecord)
    assert (first.data, first.timestamp) == ({"call_id": "c"}, "2026-01-01T00:00:00Z")
    assert file.fetch(first.ref).data == {"call_id": "c", "raw_body": "b", "payload": 1}
    file.close()


@pytest.mark.parametrize(
    "payload", [b"null", b"[1]", b'"text"', b'{"messages": [{"role": "user"}], "n": 1e-7}', b'{"n": 1e999}', b"{}"]
)
def test_a_request_is_read_as_the_whole_record_has_it(tmp_path: Path, payload: bytes) -> None:
    file = wire(
        tmp_path, b'{"event": "llm_request", "data": {"model": "m", "call_id": "c", "payload": ' + payload + b"}}"
    )
    (record,) = (item for item in file.records() if isinstance(item, AbbRecord))
    whole = file.fetch(record.ref).data
    for read in (file.fetch_request, file.fetch_response):
        again, found, notices = read(record.ref, ("model",))
        assert again.data["model"] == "m"
        assert found.value == whole["payload"]
        assert found.sha256() == sha256_canonical(whole["payload"])
        assert [notice.code for notice in notices] == (["repaired_record"] if b"1e999" in payload else [])
    file.close()


def test_lines_of_every_length_come_whole(tmp_path: Path) -> None:
    sizes = [0, 1, 1 << 20, (1 << 20) - 1, 3 << 20, 5, 0, 7]
    data = b"\n".join(bytes([65 + n]) * size for n, size in enumerate(sizes))
    path = tmp_path / "lines"
    path.write_bytes(data)
    source = Source("lines", SourceKind.WIRE, path)
    file = LineFile(source)
    lines = [line for line in file.lines() if not isinstance(line, Notice)]
    assert [line.data for line in lines] == data.split(b"\n")
    assert [line.number for line in lines] == list(range(1, 9))
    assert [line.ended for line in lines] == [True] * 7 + [False]
    for line in lines:
        assert file.read(EvidenceRef("lines", line.offset, len(line.data))) == line.data
    assert source.size == len(data)
    assert source.sha256 == hashlib.sha256(data).hexdigest()
    file.close()


def test_canonical_bytes_of_what_was_decoded_need_no_search() -> None:
    text = b'{"b": [1e-7, 0.00001, null, "e-7"], "a": 12345678901234567890123}'
    assert canonical_bytes(loads(text), finite=True) == canonical_bytes(loads(text))
