"""What is derived cites ranges too: names and identifiers stand in them, or the rule says that they do not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from otel2traj.canonical import JsonObject
from tests.attempt_factory import model_span, otlp, span, tool_span

from .test_places import CORPORA, exported, named, opened

IDENTIFIERS = ("tool_call_id", "call_id", "response_id", "otel_span_id", "framework_span_id", "trace_id", "run_id")
NAMES = ("name", "path", "title", "case_id", "agent_id", "framework")


def cited(path: Path, record: JsonObject) -> str:
    """All cited bytes of a record, without the backslashes of JSON inside of strings."""
    data = b"\n".join(opened(path, source) for source in record["source"])
    return data.decode("utf-8", "replace").replace("\\", "")


@pytest.mark.parametrize("path", CORPORA, ids=named)
def test_an_agent_cites_who_names_it(path: Path) -> None:
    records, _ = exported(path)
    for record in records:
        if record["kind"] == "actor" and record["role"] == "agent":
            assert record["source"]
            held = cited(path, record)
            missing = [level for level in record["name"].split("/") if level not in held]
            assert record["name"] in held or missing == [], record


@pytest.mark.parametrize("path", CORPORA, ids=named)
def test_what_was_put_together_was_put_together_from_what_is_cited(path: Path) -> None:
    records, _ = exported(path)
    for record in records:
        for name, how in record.get("fields", {}).items():
            if how.get("rule") == "otel2traj.put_together@1" and name in (*IDENTIFIERS, *NAMES):
                assert str(record[name]) in cited(path, record), (record["id"], name, record[name])


def test_an_id_that_a_task_lends_is_said_to_be_lent() -> None:
    records, _ = exported(next(path for path in CORPORA if named(path) == "langgraph-toolerror"))
    lent = [one for one in records if one.get("fields", {}).get("tool_call_id", {}).get("rule")]
    assert [one["fields"]["tool_call_id"]["rule"] for one in lent] == ["otel2traj.call_of_task@1"] * 2


def test_an_id_that_the_output_of_a_task_lends_is_said_to_be_lent(tmp_path: Path) -> None:
    said = '{"messages": [{"type": "tool", "name": "read", "content": "one", "tool_call_id": "c1"}]}'
    chain = {"openinference.span.kind": "CHAIN", "output.value": said}
    spans = [
        model_span("5be1f0a2c4d69701", 1, calls=[("c1", "read", {"p": 1})]),
        span("5be1f0a2c4d69702", 2, chain),
        tool_span("5be1f0a2c4d69703", 2.1, "read", result="one", parent="5be1f0a2c4d69702"),
    ]
    (tmp_path / "otel.jsonl").write_bytes(otlp(spans) + b"\n")
    (one,) = (record for record in exported(tmp_path)[0] if record["kind"] == "tool_execution")
    assert one["tool_call_id"] == "c1"
    assert one["fields"]["tool_call_id"]["rule"] == "otel2traj.call_of_task@1"


def test_a_run_that_no_paper_names_is_called_by_its_records() -> None:
    records, _ = exported(next(path for path in CORPORA if named(path) == "smolagents_oi"))
    how = records[0]["fields"]["run_id"]
    assert (how["class"], how["rule"]) == ("D", "otel2traj.run_of_records@1")
    assert records[0]["unknown"]["architecture"] == "not_recorded"


def test_what_a_span_has_in_a_file_beside_it_cites_the_file() -> None:
    path = next(path for path in CORPORA if named(path) == "abb-24-spans-with-payloads")
    by_id = {record["id"]: record for record in exported(path)[0]}
    call = by_id["mc1"]
    cited = {name: call["source"][call["fields"][name]["at"][0]] for name in ("model", "response", "finish_reason")}
    assert {one["what"] for one in cited.values()} == {"payload_output"}
    assert all(one["path"].endswith("-output.json") for one in cited.values())
    assert by_id["te0"]["fields"]["tool_call_id"]["class"] == "O"


def test_what_the_harness_asked_for_is_observed_in_its_request() -> None:
    path = next(path for path in CORPORA if named(path) == "agno-openinference-twins")
    record = exported(path)[0][0]
    how = record["fields"]["framework"]
    assert (how["class"], how["by"], how["at"][1:]) == ("O", "harness", ["/framework"])
    assert record["source"][how["at"][0]]["path"].endswith("/request.json")


def test_a_change_of_the_replay_cites_the_replay() -> None:
    records, _ = exported(next(path for path in CORPORA if named(path) == "abb-19a-replay-deltas"))
    changes = [one for one in records if one["kind"] == "state_change"]
    assert changes
    assert all([one["path"] for one in each["source"]] == ["replay/events.jsonl"] for each in changes)


@pytest.mark.parametrize("case", ["openai-traceloop-wirefail-stream", "abb-07-transport-error"])
def test_an_answer_that_broke_off_decides_nothing(case: str) -> None:
    records, _ = exported(next(path for path in CORPORA if named(path) == case))
    broken = {one["id"] for one in records if one.get("wire_error") is not None}
    decided = [one for one in records if one["kind"] == "decision" and one["model_call"] in broken]
    assert broken
    assert [one.get("outcome") for one in decided if one["calls"] == []] == [
        None for one in decided if not one["calls"]
    ]


def texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)


@pytest.mark.parametrize("path", CORPORA, ids=named)
def test_no_content_is_in_a_document_that_was_not_asked_for_it(path: Path) -> None:
    records, document = exported(path)
    content = {
        text
        for record in records
        for name in ("content", "parts", "arguments", "details", "title", "error", "recorded")
        for text in texts(record.get(name))
        if len(text) > 8 and (" " in text or "\n" in text)
    }
    said = json.dumps(document, ensure_ascii=False)
    names = {str(record.get(name)) for record in records for name in ("name", "path", "judge")}
    assert [text for text in content - names if json.dumps(text, ensure_ascii=False)[1:-1] in said] == []
