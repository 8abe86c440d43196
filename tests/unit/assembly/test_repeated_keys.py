"""A member that stands twice in one object, or in arguments: the last one stands, and that is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from otel2traj.api.build import build_path
from tests.attempt_factory import AttemptFactory, chat_response

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
