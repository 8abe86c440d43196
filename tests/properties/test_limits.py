"""One depth and one number of digits, wherever the call comes from, for first and second readings alike."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from otel2traj.api.build import build_many, build_path
from otel2traj.api.diff import diff
from otel2traj.api.export import export, names
from otel2traj.api.validate_trajectory import validate
from otel2traj.assembly import session
from otel2traj.canonical import (
    MAX_DEPTH,
    MAX_DIGITS,
    JsonError,
    JsonValue,
    beyond_limits,
    loads_evidence,
    loads_tolerant,
)
from otel2traj.model.trajectory import Summary
from tests.attempt_factory import AttemptFactory, chat_response, otlp, tool_span

WIRE = "logs/network.jsonl"


def nested(depth: int) -> bytes:
    return b"[" * depth + b"]" * depth


def below(calls: int, data: bytes) -> JsonValue:
    return loads_evidence(data) if calls == 0 else below(calls - 1, data)


@pytest.mark.parametrize("calls", [1, 300])
def test_the_border_is_where_it_is_said(calls: int) -> None:
    assert below(calls, nested(MAX_DEPTH)) is not None
    for depth in (MAX_DEPTH + 1, 961, 979, 1200):
        with pytest.raises(JsonError, match="nesting deeper than 512"):
            below(calls, nested(depth))
    with pytest.raises(JsonError, match="nesting deeper than 512"):
        loads_tolerant(b"\xef\xbb\xbf" + nested(MAX_DEPTH + 1))


@pytest.mark.parametrize(
    ("document", "beyond"),
    [
        (b'{"a": "' + b"[" * 2000 + b'"}', False),
        (b'{"a": "\\\\", "b": ' + nested(MAX_DEPTH) + b"}", True),
        (b'["\\"' + b"]" * 600 + b'", ' + nested(MAX_DEPTH) + b"]", True),
        (b"[" + b"[]," * 2000 + b"[]]", False),
        (b'["' + b"7" * 5000 + b'"]', False),
        (b"[" + b"7" * MAX_DIGITS + b"]", False),
        (b"[" + b"7" * (MAX_DIGITS + 1) + b"]", True),
    ],
)
def test_brackets_and_digits_inside_strings_do_not_count(document: bytes, beyond: bool) -> None:
    assert (beyond_limits(document) is not None) == beyond


@pytest.mark.parametrize("odd", [nested(958), nested(976), b"7" * 4301])
@pytest.mark.parametrize("record", [0, 1])
def test_a_record_beyond_the_limits_is_skipped_and_told(odd: bytes, record: int, tmp_path: Path) -> None:
    attempt = AttemptFactory(tmp_path / "attempt").input("0001")
    attempt.request("call_a", 1).response("call_a", 2, chat_response(text="hi"))
    attempt.request("call_b", 3).response("call_b", 4, chat_response(text="ho"))
    lines = attempt.records[attempt.wire_path]
    lines[record] = lines[record].replace(b'"payload": {', b'"payload": {"odd": ' + odd + b", ", 1)
    (built,) = build_path(attempt.write(), output=tmp_path / "out.json")
    document = json.loads((tmp_path / "out.json").read_bytes())
    assert [step["status"] for step in document["steps"]][1] == "complete"
    assert [w for w in document["warnings"] if w.startswith("unreadable_line: ")]
    assert built.bug is None


def deepest(where: str, root: Path) -> Path:
    """Evidence that nests as deep as is read, at a place that the trajectory puts some levels down."""
    inner = "[" * (MAX_DEPTH - 8) + "]" * (MAX_DEPTH - 8)
    text = '{"q": ' + "[" * (MAX_DEPTH - 1) + "]" * (MAX_DEPTH - 1) + "}"
    attempt = AttemptFactory(root / "attempt").input("0001").event(WIRE, "interceptor_ready", 0, {})
    if where == "span":
        spans = [tool_span("1" * 16, 1, "s", call_id="t1", arguments=text, result=text)]
        (root / "t.jsonl").write_bytes(otlp(spans))
        return root / "t.jsonl"
    if where == "wire":
        attempt.request("c1", 1).response("c1", 2, chat_response(calls=[("t1", "s", text)]))
    elif where == "text":
        attempt.tool("0001", "s1", "t1", 1, input=text)
    elif where == "record":
        attempt.tool("0001", "s1", "t1", 1, input=json.loads(inner), metadata={"k": json.loads(inner)})
    attempt.write()
    if where == "document":
        (attempt.root / "steps/0001/result.json").write_text('{"status": "succeeded", "output": ' + inner + "}")
    return attempt.root


@pytest.mark.parametrize("where", ["span", "wire", "text", "record", "document"])
def test_what_is_read_is_written_and_read_again(where: str, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    evidence = deepest(where, tmp_path)
    (built,) = build_path(evidence, output=out)
    assert built.bug is None
    assert (built.summary.status, validate(out, evidence)) == ("complete", [])
    assert "[" * 500 in out.read_text()
    for form in names():
        export(out, form, output=tmp_path / form)
    assert diff(out, out).equal


@pytest.mark.parametrize("text", ["{'q': 1e999}", "{'q': [-1e999]}", '{"q": 1e' + "1" * (MAX_DIGITS + 1) + "}"])
def test_a_number_that_is_not_finite_in_a_literal_is_left_in_its_text(text: str, tmp_path: Path) -> None:
    attempt = AttemptFactory(tmp_path / "attempt").input("0001").event(WIRE, "interceptor_ready", 0, {})
    (built,) = build_path(attempt.tool("0001", "s1", "t1", 1, input=text).write(), output=tmp_path / "out.json")
    assert built.bug is None
    (step,) = json.loads((tmp_path / "out.json").read_bytes())["steps"]
    assert step["tool_logs"][0]["input_arguments"] == text


def test_a_bug_costs_its_attempt_alone_and_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a", "b", "c"):
        attempt = AttemptFactory(tmp_path / "runs" / name).input("0001")
        attempt.request("call_a", 1).response("call_a", 2, chat_response(text=name)).write()
    whole = session.BuildSession.build

    def broken(self: session.BuildSession, *args: Any) -> Summary:
        if self.attempt.root.name == "b":
            raise ZeroDivisionError("oops")
        return whole(self, *args)

    monkeypatch.setattr(session.BuildSession, "build", broken)
    lines = list(build_many(tmp_path / "runs", write=True))
    assert [(line.failed, line.bug) for line in lines] == [(False, False), (True, True), (False, False)]
    document = json.loads((tmp_path / "runs" / "b" / "trajectory.json").read_bytes())
    assert (document["status"], document["error"]) == ("failed", {"type": "ZeroDivisionError", "message": "oops"})
    assert [source["path"] for source in document["sources"]]
