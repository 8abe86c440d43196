"""Damaged, awkward and hostile files: the rest is read, what is wrong is told, nothing else is raised."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from otel2traj.errors import EvidenceError
from otel2traj.model.evidence import Notice, SpanRecord
from otel2traj.model.session import SessionRecord
from otel2traj.readers import framing, otlp_json
from tests.factory_otlp import document, json_lines

from .reading import check_addresses, opened, plain, read, written

FIXTURES = Path(__file__).parents[3] / "fixtures" / "records"
TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


def one(**members: Any) -> dict[str, Any]:
    return {"traceId": TRACE, "spanId": SPAN, "name": "n", **members}


def line(**members: Any) -> bytes:
    return json.dumps(document([one(**members)]), separators=(",", ":")).encode()


def value(given: Any) -> bytes:
    return line(attributes=[{"key": "k", "value": given}])


def codes(notices: list[Notice]) -> list[str]:
    return [notice.code for notice in notices]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"stringValue": "a\u2028b\x0c\x85\r\n"}, "a\u2028b\x0c\x85\r\n"),
        ({"stringValue": ""}, ""),
        ({"intValue": "0"}, 0),
        ({"intValue": 5}, 5),
        ({"intValue": "18446744073709551616"}, 2**64),
        ({"intValue": 2**64}, 2**64),
        ({"intValue": 7.0}, 7),
        ({"intValue": "x"}, "x"),
        ({"doubleValue": 0}, 0.0),
        ({"doubleValue": "1.5"}, 1.5),
        ({"doubleValue": "-Infinity"}, "-Infinity"),
        ({"doubleValue": None}, None),
        ({"boolValue": False}, False),
        ({"bytesValue": "AP8="}, {"base64": "AP8="}),
        ({"arrayValue": {}}, []),
        ({"arrayValue": {"values": [{}, {"intValue": "1"}]}}, [None, 1]),
        ({"kvlistValue": {"values": [{"key": "q", "value": {"boolValue": True}}]}}, {"q": True}),
        ({}, None),
        (None, None),
        ({"string_value": None, "int_value": 3, "bool_value": None}, 3),
    ],
)
def test_values(given: Any, expected: Any, tmp_path: Path) -> None:
    records, notices, _ = read(written(tmp_path, value(given)))
    got = records[0].attributes["k"]
    assert (got, type(got)) == (expected, type(expected))
    assert notices == []


def test_a_missing_attribute_is_no_value_and_a_key_costs_no_decoding(tmp_path: Path) -> None:
    records, _, _ = read(written(tmp_path, value({"stringValue": "x"})))
    attributes = records[0].attributes
    assert "k" in attributes
    assert "other" not in attributes
    assert attributes.get("other", 3) == 3
    assert list(attributes) == ["k"]
    with pytest.raises(KeyError):
        attributes["other"]


@pytest.mark.parametrize(
    ("data", "repair", "lossy"),
    [
        (value({"doubleValue": 1.5}).replace(b"1.5", b"NaN"), "non-finite-number", False),
        (value({"stringValue": "x"}).replace(b'"x"', b'"\\ud83d"'), "lone-surrogate", False),
        (value({"stringValue": "xyz"}).replace(b"xyz", b"x\xffz"), "invalid-utf-8", True),
        (
            line().replace(TRACE.encode(), TRACE.upper().encode()),
            "traceId: identifier in upper case or with prefix",
            False,
        ),
        (line().replace(SPAN.encode(), b"t61rcWkgMzE="), "spanId: identifier in base64", False),
        (line(parentSpanId="0" * 16), "parentSpanId: identifier of zeros", False),
        (line().replace(b"traceId", b"trace_id").replace(b"spanId", b"span_id"), "snake_case keys", False),
        (line().replace(b"resourceSpans", b"resource_spans"), "snake_case keys", False),
    ],
)
def test_a_repair_keeps_the_record_and_is_told(data: bytes, repair: str, lossy: bool, tmp_path: Path) -> None:
    good = line(name="good")
    path = written(tmp_path, good + b"\n" + data + b"\n" + good)
    records, notices, file = read(path)
    assert [record.name for record in records if isinstance(record, SpanRecord)] == ["good", "n", "good"]
    assert {record.trace_id for record in records} == {TRACE}
    assert [(notice.code, notice.message, notice.lossy) for notice in notices] == [("repaired_record", repair, lossy)]
    assert notices[0].line == 2
    check_addresses(path, records, file, path.read_bytes())


def test_repairs_that_lose_nothing_are_told_once(tmp_path: Path) -> None:
    data = b"\n".join([value({"doubleValue": 1.5}).replace(b"1.5", b"NaN")] * 50)
    _, notices, _ = read(written(tmp_path, data))
    assert [(notice.message, notice.line) for notice in notices] == [("non-finite-number, in 50 records", 1)]


@pytest.mark.parametrize("missing", ["traceId", "spanId"])
@pytest.mark.parametrize("how", ["", None, "0" * 16])
def test_a_span_without_identity_is_kept_and_told(missing: str, how: str | None, tmp_path: Path) -> None:
    records, notices, _ = read(written(tmp_path, line(**{missing: how})))
    assert len(records) == 1
    assert "missing_id" in codes(notices)


def test_enum_names_numbers_as_text_and_times_as_numbers(tmp_path: Path) -> None:
    data = line(kind="SPAN_KIND_CLIENT", startTimeUnixNano=5, endTimeUnixNano="0", status={"code": "STATUS_CODE_ERROR"})
    records, _, _ = read(written(tmp_path, data))
    span = records[0]
    assert isinstance(span, SpanRecord)
    assert (span.kind, span.start_ns, span.end_ns, span.status_code) == (3, 5, None, 2)


def test_unknown_enum_values_are_no_error(tmp_path: Path) -> None:
    for kind in (99, "SPAN_KIND_FUTURE", {"a": 1}, True):
        records, _, _ = read(written(tmp_path, line(kind=kind)))
        assert len(records) == 1


def test_of_two_equal_keys_the_last_counts(tmp_path: Path) -> None:
    data = line().replace(b'"name":"n"', b'"name":"first","name":"last"')
    attributes = [{"key": "k", "value": {"intValue": "1"}}, {"key": "k", "value": {"intValue": "2"}}]
    records, _, _ = read(written(tmp_path, data + b"\n" + line(attributes=attributes)))
    assert isinstance(records[0], SpanRecord)
    assert records[0].name == "last"
    assert records[1].attributes["k"] == 2


def test_a_nesting_bomb_costs_its_own_record_only(tmp_path: Path) -> None:
    bomb = b'{"arrayValue":{"values":[' * 20_000 + b"{}" + b"]}}" * 20_000
    data = value({"intValue": 1}).replace(b'{"intValue":1}', bomb)
    both = json.dumps(document([one(), one(name="other")]), separators=(",", ":")).encode()
    mixed = both.replace(b'"name":"n"', b'"name":"n","attributes":[{"key":"k","value":' + bomb + b"}]")
    records, notices, _ = read(written(tmp_path, line() + b"\n" + data + b"\n" + mixed + b"\n" + line()))
    assert [record.name for record in records if isinstance(record, SpanRecord)] == ["n", "other", "n"]
    assert codes(notices) == ["unreadable_record", "unreadable_record"]
    assert [notice.line for notice in notices] == [2, 3]


def test_deep_but_allowed_nesting_is_read(tmp_path: Path) -> None:
    deep: Any = {"stringValue": "x"}
    for _ in range(60):
        deep = {"arrayValue": {"values": [deep]}}
    records, notices, _ = read(written(tmp_path, value(deep)))
    got = records[0].attributes["k"]
    for _ in range(60):
        (got,) = got
    assert (got, notices) == ("x", [])


def test_broken_lines_cost_themselves_only(tmp_path: Path) -> None:
    good = line()
    cases = [good[:50], good[: len(good) // 2], b"garbage", b'"text"', b'{"a":1}', b"[]", good[:-1], b"null"]
    data = b"\n".join(part for case in cases for part in (good, case)) + b"\n" + good + b"\n" + good[:-2]
    path = written(tmp_path, data)
    records, notices, file = read(path)
    assert len(records) == len(cases) + 1
    told = [notice.line for notice in notices if notice.code == "unreadable_line"]
    expected = [2 * number for number, case in enumerate(cases, 1) if case != b"[]"]
    assert told == [*expected, 2 * len(cases) + 2]
    assert all(notice.lossy for notice in notices)
    check_addresses(path, records, file, data)


def test_metrics_are_counted_not_read(tmp_path: Path) -> None:
    metrics = b'{"resourceMetrics":[{"scopeMetrics":[]},{}]}'
    both = line().replace(b'{"resourceSpans"', b'{"resourceMetrics":[{}],"resourceSpans"')
    records, notices, _ = read(written(tmp_path, metrics + b"\n" + both))
    assert len(records) == 1
    assert [(notice.code, notice.message, notice.lossy) for notice in notices] == [
        ("skipped_records", "3 ResourceMetrics", False)
    ]


def test_scopes_and_resources_of_one_document_are_kept_apart(tmp_path: Path) -> None:
    def resource(name: str, *scopes: str) -> dict[str, Any]:
        return {
            "resource": {"attributes": [{"key": "service.name", "value": {"stringValue": name}}]},
            "scopeSpans": [
                {"scope": {"name": scope}, "spans": [one(spanId=f"{index:016x}", name=scope) for index in (1, 2)]}
                for scope in scopes
            ],
        }

    whole = {"resourceSpans": [resource("a", "a1", "a2"), resource("b", "b1"), resource("a", "a1")]}
    for data in (json.dumps(whole, separators=(",", ":")), json.dumps(whole, indent=2), json.dumps(whole)):
        path = written(tmp_path, data.encode())
        records, _, file = read(path)
        got = [(record.resource["service.name"], record.scope_name) for record in records]
        assert got == [("a", "a1")] * 2 + [("a", "a2")] * 2 + [("b", "b1")] * 2 + [("a", "a1")] * 2
        check_addresses(path, records, file, data.encode())
        file.close()
        again = opened(path)
        assert plain(again.fetch(records[4].ref)) == plain(records[4])


def test_links_that_look_like_the_next_span_mislead_nobody(tmp_path: Path) -> None:
    other = "b7ad6b7169203332"
    spans = [one(links=[{"traceId": TRACE, "spanId": other}]), one(spanId=other, name="m")]
    data = json.dumps(document(spans), separators=(",", ":")).encode()
    path = written(tmp_path, data)
    records, _, file = read(path)
    assert [json.loads(file.raw(record.ref))["name"] for record in records] == ["n", "m"]


def test_a_file_that_grows_is_read_to_the_size_it_had(tmp_path: Path) -> None:
    path = written(tmp_path, line() + b"\n")
    file = opened(path)
    items = file.records()
    with path.open("ab") as more:
        more.write(line() + b"\n")
    found = list(items)
    assert [item.code for item in found if isinstance(item, Notice)] == ["source_grew"]
    assert len(found) == 2
    assert file.source.size == len(line()) + 1


def test_a_file_that_shrinks_is_told(tmp_path: Path) -> None:
    path = written(tmp_path, (line() + b"\n") * 5_000)
    file = opened(path)
    items = file.records()
    with path.open("r+b") as less:
        less.truncate(len(line()) + 1)
    assert "source_shrank" in [item.code for item in items if isinstance(item, Notice)]


def test_documents_longer_than_is_held_are_mapped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = json_lines(3, 4, 400).splitlines()
    expected = [plain(record) for record in read(written(tmp_path, b"\n".join(lines)))[0]]
    monkeypatch.setattr(framing, "GIANT", 900)
    monkeypatch.setattr(framing, "BLOCK", 300)
    monkeypatch.setattr(otlp_json, "_STRETCH", 500)
    pretty = "\n".join(json.dumps(json.loads(one), indent=2) for one in lines).encode()
    for data in (b"\n".join(lines), b"".join(lines), b"[" + b",".join(lines) + b"]\n", pretty):
        path = written(tmp_path, data)
        records, notices, file = read(path)
        assert [plain(record) for record in records] == expected
        assert notices == []
        check_addresses(path, records, file, data)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from Linux's /proc")
def test_of_a_mapped_document_only_what_is_being_read_stays_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def mapped() -> int:
        status = Path("/proc/self/status").read_text()
        return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("RssFile")) << 10

    spans = json.loads(json_lines(1, 300, 400))["resourceSpans"][0]["scopeSpans"][0]["spans"]
    data = json.dumps(document(spans * 40)).encode()
    monkeypatch.setattr(framing, "GIANT", len(data) // 16)
    monkeypatch.setattr(otlp_json, "_STRETCH", len(data) // 16)
    before, most, count = mapped(), 0, 0
    for record in opened(written(tmp_path, data)).records():
        assert not isinstance(record, Notice)
        count += 1
        if count % 100 == 0:
            most = max(most, mapped() - before)
    assert count == len(spans) * 40
    assert most < len(data) // 3


def test_records_can_be_read_twice_and_fetched_meanwhile(tmp_path: Path) -> None:
    path = written(tmp_path, json_lines(5, 2, 300))
    file = opened(path)
    first = []
    for record in file.records():
        assert not isinstance(record, Notice)
        assert plain(file.fetch(record.ref)) == plain(record)
        first.append(plain(record, ref=True))
    digest = file.source.sha256
    again = [plain(record, ref=True) for record in file.records() if not isinstance(record, Notice)]
    assert (again, file.source.sha256) == (first, digest)


def test_fetching_from_one_giant_line_costs_what_the_span_costs(tmp_path: Path) -> None:
    def fetch_seconds(count: int) -> float:
        spans = [one(spanId=f"{index + 1:016x}", attributes=[]) for index in range(count)]
        path = written(tmp_path, json.dumps(document(spans), separators=(",", ":")).encode())
        records, _, file = read(path)
        assert len(records) == count
        started = time.process_time()
        for record in records[:: count // 500][:500]:
            fetched = file.fetch(record.ref)
            assert fetched.span_id == record.span_id
        return time.process_time() - started

    # a reading from the start of the line costs some 20 times as much, and so every time
    assert any(fetch_seconds(20_000) < fetch_seconds(1_000) * 8 + 0.05 for _ in range(3))


REAL = sorted(path for path in FIXTURES.glob("*/*") if path.is_file())


def survives(path: Path) -> None:
    """Reads whatever it is: records, notices, or an EvidenceError; addresses hold."""
    try:
        file = opened(path, inflate_limit=1 << 22)
    except EvidenceError:
        return
    for item in file.records():
        if isinstance(item, Notice):
            assert (item.code != "", item.path) == (True, path.name)
            continue
        if not isinstance(item, SessionRecord):
            dict(item.attributes)
        assert len(file.raw(item.ref)) == item.ref.length
        file.fetch(item.ref)
    assert file.source.sha256 is not None
    assert file.source.size == path.stat().st_size
    file.close()


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    data=st.binary(max_size=400), start=st.sampled_from([b"", b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\n\x10\x12", b"{"])
)
def test_any_bytes(data: bytes, start: bytes, tmp_path: Path) -> None:
    survives(written(tmp_path, start + data))


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_mutated_real_files(data: st.DataObject, tmp_path: Path) -> None:
    path = data.draw(st.sampled_from(REAL))
    raw = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(raw) - 1))
        how = data.draw(st.sampled_from(["set", "cut", "insert", "repeat", "end"]))
        if how == "set":
            raw[at] = data.draw(st.sampled_from([0, 10, 34, 44, 58, 91, 93, 123, 125, 0x80, 0xFF, 48]))
        elif how == "cut":
            del raw[at : at + data.draw(st.integers(1, 60))]
        elif how == "insert":
            raw[at:at] = data.draw(
                st.sampled_from([b"null", b"NaN", b"{", b"]", b'"', b"\n", b"1e999", b"[{}]", b"\xed\xa0\x80"])
            )
        elif how == "repeat":
            raw[at:at] = raw[at : at + data.draw(st.integers(1, 200))]
        else:
            del raw[max(at, 1) :]
        if not raw:
            break
    survives(written(tmp_path, bytes(raw)))


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_json_in_the_place_of_any_member(data: st.DataObject, tmp_path: Path) -> None:
    path = data.draw(st.sampled_from([one for one in REAL if one.suffix in (".json", ".jsonl")]))
    text = path.read_bytes()
    try:
        document = json.loads(text)
    except ValueError:
        try:
            document = json.loads(text.splitlines()[0])
        except ValueError:
            return
    odd = st.sampled_from(
        ("null", "true", "0", "-1", str(2**70), "1.5", '""', '"x"', "[]", "{}", "[null]", "[[]]", "[{}]")
    )
    for _ in range(data.draw(st.integers(1, 3))):
        node = document
        while isinstance(node, (dict, list)) and node:
            key = data.draw(st.sampled_from(sorted(node) if isinstance(node, dict) else range(len(node))))
            if data.draw(st.integers(0, 3)) == 0:
                node[key] = json.loads(data.draw(odd))
                break
            node = node[key]
    survives(written(tmp_path, json.dumps(document, separators=(",", ":")).encode()))
