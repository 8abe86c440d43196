"""A member that stands twice in one object, or in arguments: the last one stands, and that is told."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from otel2traj.api.build import build_path
from otel2traj.api.validate_trajectory import validate
from tests.attempt_factory import AttemptFactory, chat_response, model_span, otlp, tool_span
from tests.factory_otlp import to_protobuf

TWICE = '{"path": "a", "path": "b"}'


def build(attempt: AttemptFactory, out: Path, swap: tuple[str, str] = ("", "")) -> dict[str, Any]:
    root = attempt.write()
    if swap[0]:
        for file in root.rglob("*.jsonl"):
            file.write_bytes(file.read_bytes().replace(swap[0].encode(), swap[1].encode()))
    build_path(root, output=out)
    document: dict[str, Any] = json.loads(out.read_bytes())
    return document


def test_in_arguments_the_text_is_kept_beside_the_value(tmp_path: Path) -> None:
    attempt = AttemptFactory(tmp_path / "attempt").input("0001")
    attempt.request("call_a", 1).response("call_a", 2, chat_response(calls=[("t1", "read", TWICE)]))
    document = build(attempt, tmp_path / "out.json")
    output = document["steps"][0]["output"]
    assert output["tool_calls"][0]["arguments"] == {"path": "b"}
    assert output["extra"] == {"/choices/0/message/tool_calls/0/function/arguments": TWICE}
    assert document["warnings"] == [
        "repeated_key: arguments of call_a name 'path' twice (logs/network.jsonl:2)",
    ]


@pytest.mark.parametrize("where", ["request", "response", "tool"])
def test_in_an_object_of_any_record(tmp_path: Path, where: str) -> None:
    attempt = AttemptFactory(tmp_path / "attempt").input("0001")
    mark = {"path": "b", "mark": 1}
    told = {name: mark if name == where else {} for name in ("request", "response", "tool")}
    attempt.request(
        "call_a", 1, payload={"model": "m", "messages": [{"role": "user", "content": "x", **told["request"]}]}
    )
    attempt.response("call_a", 2, {**chat_response(text="hi"), "more": told["response"]})
    attempt.start("0001", "s1", "tool", 3, name="read", input=told["tool"]).end("0001", "s1", 4, "ok")
    document = build(attempt, tmp_path / "out.json", ('"mark": 1', '"path": "c"'))
    (warning,) = [warning for warning in document["warnings"] if warning.startswith("repeated_key")]
    assert "'path' stands twice in one object" in warning
    assert document["status"] == "partial"


def test_what_only_looks_like_a_key_is_none(tmp_path: Path) -> None:
    attempt = AttemptFactory(tmp_path / "attempt").input("0001")
    attempt.request("call_a", 1).response("call_a", 2, chat_response(text='say "a": and "a": and \\u0022:'))
    assert build(attempt, tmp_path / "out.json")["warnings"] == []


SPAN = "1" * 16


def build_otlp(tmp_path: Path, data: bytes, name: str = "traces.jsonl") -> dict[str, Any]:
    (tmp_path / name).write_bytes(data)
    build_path(tmp_path / name, output=tmp_path / "out.json")
    assert validate(tmp_path / "out.json") == []
    document: dict[str, Any] = json.loads((tmp_path / "out.json").read_bytes())
    return document


def told(document: dict[str, Any]) -> list[str]:
    return [warning for warning in document["warnings"] if warning.startswith("repeated_key")]


def a_tool(arguments: Any = TWICE) -> bytes:
    return otlp([tool_span(SPAN, 1, "read", call_id="t1", arguments=arguments, result="r")])


def test_in_the_text_of_an_attribute(tmp_path: Path) -> None:
    document = build_otlp(tmp_path, a_tool())
    assert told(document) == [
        f"repeated_key: a text of span {SPAN} names 'path' twice in one object; the last stands (traces.jsonl:1)"
    ]
    (log,) = document["steps"][0]["tool_logs"]
    assert log["input_arguments"] == {"path": "b"}
    assert log["evidence"]["recorded"]["repeated_keys"] == [TWICE]


def test_in_a_text_that_span_after_span_repeats(tmp_path: Path) -> None:
    """What is remembered of one span makes another no quieter, in this build or a later one of the same process."""
    calls = [("t1", "read", TWICE)]
    spans = [model_span(f"{number:016x}", number, calls=calls) for number in (1, 2)]
    first = build_otlp(tmp_path, otlp(spans))
    assert len(told(first)) == 2
    assert told(build_otlp(tmp_path, otlp(spans))) == told(first)


@pytest.mark.parametrize(
    ("swap", "by"),
    [
        ('"name": "a span"', '"name": "b", "name": "a span"'),
        ('"spanId": "1111111111111111"', '"spanId": "2222222222222222", "spanId": "1111111111111111"'),
        ('"scope": {', '"scope": {"name": "x"}, "scope": {'),
        ('"spans": [', '"spans": [{"traceId": "no"}], "spans": ['),
        ('{"resourceSpans": [', '{"resourceSpans": [], "resourceSpans": ['),
        ('"kind": 1', '"kind": 1, "status": {"code": 1, "code": 2}'),
        ('"kind": 1', '"kind": 1, "events": [{"name": "x", "name": "y"}]'),
        ('"kind": 1', '"kind": 1, "links": [{"spanId": "a", "spanId": "b"}]'),
        ('"kind": 1', '"kind": "SPAN_KIND_CLIENT", "name": "c"'),
    ],
)
def test_in_an_object_of_otlp(tmp_path: Path, swap: str, by: str) -> None:
    line = a_tool("{}")
    assert told(build_otlp(tmp_path, line)) == []
    document = build_otlp(tmp_path, line.replace(swap.encode(), by.encode(), 1))
    (warning,) = told(document)
    assert "stands twice in one object" in warning
    assert document["status"] == "partial"


@pytest.mark.parametrize("form", ["json", "indented", "protobuf"])
def test_an_attribute_of_otlp(tmp_path: Path, form: str) -> None:
    data = json.loads(a_tool("{}"))
    (span,) = data["resourceSpans"][0]["scopeSpans"][0]["spans"]
    span["attributes"].insert(0, {"key": "gen_ai.tool.name", "value": {"stringValue": "other"}})
    span["events"] = [{"name": "e", "attributes": [{"key": "k", "value": {"intValue": "1"}}] * 2}]
    inner = [{"key": "k", "value": {"intValue": "1"}}, {"key": "k", "value": {"boolValue": True}}]
    span["attributes"].append({"key": "map", "value": {"kvlistValue": {"values": inner}}})
    data["resourceSpans"][0]["resource"]["attributes"] = [{"key": "r", "value": {"stringValue": one}} for one in "ab"]
    raw = json.dumps(data, indent=1 if form == "indented" else None).encode()
    document = build_otlp(tmp_path, to_protobuf(raw) if form == "protobuf" else raw)
    assert sorted(warning.partition(" (")[0] for warning in told(document)) == [
        "repeated_key: a resource: r given more than once; the last stands",
        f"repeated_key: span {SPAN}, event e: k given more than once; the last stands",
        f"repeated_key: span {SPAN}: gen_ai.tool.name given more than once; the last stands",
    ]
    (odd,) = [warning for warning in document["warnings"] if warning.startswith("unreadable_value")]
    assert "map of no known kind of value" in odd
    (log,) = document["steps"][0]["tool_logs"]
    assert (log["tool_name"], log["evidence"]["recorded"]["repeated_attributes"]) == (
        "read",
        {"gen_ai.tool.name": ["other"]},
    )


def test_in_the_text_that_a_framework_gives_a_tool(tmp_path: Path) -> None:
    attempt = AttemptFactory(tmp_path / "attempt").input("0001")
    attempt.request("c1", 1, span="m1").response("c1", 1.1, chat_response(calls=[("t1", "read", '{"path": "a"}')]))
    document = build(attempt.tool("0001", "t1s", "t1", 2, input=TWICE), tmp_path / "out.json")
    assert told(document) == [
        "repeated_key: a text of span t1s names 'path' twice in one object; the last stands"
        " (steps/0001/framework.jsonl:1)"
    ]


@pytest.mark.parametrize(
    ("path", "raw"),
    [
        ("run.json", '{"run_id": "run-1", "status": "failed", "status": "succeeded"}'),
        ("steps/0001/result.json", '{"status": "succeeded", "output": {"a": 1, "a": 2}}'),
        ("steps/0001/submission.json", '{"output": "x", "output": "y"}'),
    ],
)
def test_in_a_file_of_an_attempt(tmp_path: Path, path: str, raw: str) -> None:
    attempt = AttemptFactory(tmp_path / "attempt").input("0001")
    root = attempt.request("c1", 1).response("c1", 1.1, chat_response(text="x")).write()
    (root / path).write_text(raw)
    build_path(root, output=tmp_path / "out.json")
    (warning,) = told(json.loads((tmp_path / "out.json").read_bytes()))
    assert warning.endswith(f"stands twice in one object ({path})")


def test_in_a_session_file(tmp_path: Path, fixtures: Path) -> None:
    """In a line, and in the text of a call's arguments."""
    data = (fixtures / "records/codex-rollout/rollout.jsonl").read_bytes()
    assert told(build_otlp(tmp_path, data)) == []
    data = data.replace(b'"timestamp":', b'"timestamp": "x", "timestamp":', 1)
    data = data.replace(b'"arguments":"{', b'"arguments":"{\\"odd\\": 1, \\"odd\\": 2, ', 1)
    first, second = sorted(told(build_otlp(tmp_path, data)))
    assert ("'timestamp' stands twice in one object" in first, "names 'odd' twice" in second) == (True, True)


def test_in_a_document_of_another_form(tmp_path: Path, fixtures: Path) -> None:
    file = sorted((fixtures / "records/jaeger").glob("*.json"))[0]
    data = file.read_bytes()
    assert told(build_otlp(tmp_path, data, file.name)) == []
    twice = re.sub(rb'"operationName":', b'"operationName": "x", "operationName":', data, count=1)
    (warning,) = told(build_otlp(tmp_path, twice, file.name))
    assert "'operationName' stands twice in one object" in warning
