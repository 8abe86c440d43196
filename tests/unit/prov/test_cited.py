"""Where a value stands more than once, the place is the one that the reading took it from."""

from __future__ import annotations

import json
from typing import Any

import pytest

from otel2traj.canonical import JsonObject, dumps
from otel2traj.prov.cited import Cited, Opened
from otel2traj.prov.places import Place, Range
from otel2traj.prov.tree import Side
from tests.unit.prov.made import Raw

ECHO = "the same words twice"


def cited(*records: tuple[str, Any], side: Side | None = None) -> Cited:
    lines = {str(number): dumps(record) for number, (_, record) in enumerate(records)}
    sources: list[JsonObject] = [
        {"path": str(number), "offset": 0, "length": len(lines[str(number)]), "what": what}
        for number, (what, _) in enumerate(records)
    ]
    return Cited(sources, Opened(Raw(lines)), "put_together", side)


def test_the_end_of_an_answer_is_not_that_of_an_earlier_one_in_the_request() -> None:
    asked = {"data": {"payload": {"input": [{"type": "message", "status": "completed"}]}}}
    answered = {"data": {"payload": {"status": "completed"}}}
    both = cited(("request", asked), ("response", answered))
    assert both.find("completed", "finish_reason") == [1, "/data/payload/status"]
    start = {"data": {"input": [{"response_metadata": {"finish_reason": "stop"}}]}}
    end = {"data": {"output": {"generation_info": {"finish_reason": "stop"}}}}
    pair = cited(("span_start", start), ("span_end", end))
    assert pair.find("stop", "finish_reason") == [1, "/data/output/generation_info/finish_reason"]
    assert cited(("span_start", start)).find("stop", "finish_reason") is None


def test_a_result_that_repeats_the_arguments_stands_in_the_output() -> None:
    span = {
        "attributes": [
            {"key": "input.value", "value": {"stringValue": dumps({"text": ECHO}).decode()}},
            {"key": "output.value", "value": {"stringValue": ECHO}},
        ]
    }
    assert cited(("span", span), side=Side.ANSWERED).find(ECHO, "content") == [0, "/attributes/1/value"]
    assert cited(("span", span)).find({"text": ECHO}, "arguments") == [0, "/attributes/0/value/stringValue", ""]
    asked_only = {"attributes": span["attributes"][:1]}
    assert cited(("span", asked_only), side=Side.ANSWERED).find(ECHO, "content") is None


@pytest.mark.parametrize("name", ["raw_body", "source_payload", "client_payload"])
def test_what_the_interceptor_keeps_beside_the_payload_is_no_source(name: str) -> None:
    copy: Any = {"choices": [{"message": {"content": ECHO}}]}
    record = {"data": {name: dumps(copy).decode() if name == "raw_body" else copy, "payload": copy}}
    found = cited(("response", record), side=Side.ANSWERED).find(ECHO, "content")
    assert found == [0, "/data/payload/choices/0/message/content"]


@pytest.mark.parametrize("head", [0, 1, 2])
@pytest.mark.parametrize("length", [3, 90])
def test_of_equal_messages_each_has_its_own_place(head: int, length: int) -> None:
    said = [{"role": "user", "content": "go on"} for _ in range(length)]
    held = [{"role": "system", "content": f"rule {number}"} for number in range(head)] + said
    wire = cited(("request", {"data": {"payload": {"messages": held}}}), side=Side.ASKED)
    text = dumps(held).decode()
    span = cited(("span", {"gen_ai.input.messages": text}), side=Side.ASKED)
    for position in (0, 1, length - 1):
        assert wire.message(said, position) == [0, f"/data/payload/messages/{position + head}"]
        assert span.message(said, position) == [0, "/gen_ai.input.messages", f"/{position + head}"]


def test_a_call_stands_where_its_id_stands() -> None:
    calls = [{"id": f"c{number}", "function": {"name": "read", "arguments": '{"p":1}'}} for number in range(3)]
    record = {"data": {"payload": {"choices": [{"message": {"tool_calls": calls}}]}}}
    answer = cited(("response", record), side=Side.ANSWERED)
    near = answer.find("c2", "call_id")
    assert answer.find("read", "name", near) == [0, "/data/payload/choices/0/message/tool_calls/2/function/name"]


def test_only_what_a_recorder_says_of_itself_counts_as_its_word() -> None:
    how = frozenset({"status", "success"})

    def says(record: JsonObject) -> bool:
        return cited(("span", record)).says(how, ("completed", True))

    assert says({"data": {"status": "completed"}})
    assert not says({"data": {"arguments": {"todos": [{"status": "completed"}]}}})
    assert not says({"data": {"rawInput": {"success": True}}})
    assert not says({"attributes": [{"key": "input.value", "value": {"stringValue": '{"status":"completed"}'}}]})
    assert not says({"data": {"note": '{"status":"completed"}'}})


def test_a_flag_counts_at_its_own_place_only() -> None:
    told = {
        "data": {"truncated": False, "payload": {"messages": [{"content": '{"truncated":true}', "truncated": True}]}}
    }
    assert not cited(("request", told)).holds("/data/truncated", True, ("request",))
    assert cited(("request", {"data": {"truncated": True}})).holds("/data/truncated", True, ("request",))
    assert not cited(("span", {"data": {"truncated": True}})).holds("/data/truncated", True, ("request",))


def test_a_range_is_opened_at_places_and_only_there() -> None:
    held = Range(dumps({"a": ['{"b":7}'], "c~/d": 1}))
    places: list[tuple[Place, Any]] = [(["/a/0", "/b"], 7), (["/c~0~1d"], 1), ([0, 4], '{"a"')]
    assert [held.at(place) for place, _ in places] == [value for _, value in places]
    assert [held.data[slice(*held.span(place))] for place, _ in places] == [b'"{\\"b\\":7}"', b"1", b'{"a"']
    for nowhere in (["/a/1"], ["/a/0/b"], [0, 999], [-1, 2], ["/a", "/0"]):
        with pytest.raises(LookupError):
            held.at(nowhere)


@pytest.mark.parametrize("indent", [None, 2])
def test_the_bytes_of_a_place_are_found_whatever_stands_before_it(indent: int | None) -> None:
    value = {"1": 1, "é": ['\\"', {"b": "ü"}], "b": {"b": [[], {}, "last"]}, "": None}
    data = json.dumps(value, ensure_ascii=False, indent=indent).encode()
    held = Range(data)
    for pointer, expected in (
        ("/b/b/2", "last"),
        ("/é/1/b", "ü"),
        ("/é/0", '\\"'),
        ("/1", 1),
        ("/", None),
        ("", value),
    ):
        start, end = held.span([pointer])
        assert json.loads(data[start:end]) == expected
    twice = Range(b'{"a":1,"a":2}')
    assert (twice.at(["/a"]), twice.data[slice(*twice.span(["/a"]))]) == (2, b"2")
    with pytest.raises(LookupError):
        held.span(["/b/c"])
