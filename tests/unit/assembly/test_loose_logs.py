"""Messages in log records that name no span: given to the one call they can be of, else told to be in no step."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from otel2traj.api.build import build_bytes
from tests.attempt_factory import model_span, otlp, span

CALL = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m-1"}
TRACE = "ab" * 16


def log(name: str, body: dict[str, Any], attribute: str = "", **fields: Any) -> dict[str, Any]:
    """A message event; its name is a field of the record, or the attribute of that name."""
    named = {"attributes": [{"key": attribute, "value": {"stringValue": name}}]} if attribute else {"eventName": name}
    return {"timeUnixNano": "1", "traceId": TRACE, "body": {"stringValue": json.dumps(body)}, **named, **fields}


ASKED = log("gen_ai.user.message", {"content": "how many?"})
TOLD = log("gen_ai.choice", {"index": 0, "finish_reason": "stop", "message": {"content": "three"}})


def build(root: Path, spans: list[dict[str, Any]], logs: list[dict[str, Any]]) -> dict[str, Any]:
    (root / "spans.jsonl").write_bytes(otlp(spans) + b"\n")
    scope = {"scope": {"name": "test.scope"}, "logRecords": logs}
    (root / "logs.jsonl").write_text(json.dumps({"resourceLogs": [{"scopeLogs": [scope]}]}) + "\n")
    document: dict[str, Any] = json.loads(build_bytes(root))
    return document


def codes(document: dict[str, Any]) -> list[str]:
    return [warning.partition(" (")[0] for warning in document["warnings"]]


def test_the_only_call_of_a_trace_gets_them(tmp_path: Path) -> None:
    document = build(tmp_path, [span("1" * 16, 1, CALL)], [ASKED, TOLD])
    (step,) = document["steps"]
    assert step["output"]["text"] == "three"
    assert step["input"]["messages"][0]["parts"][0]["content"] == "how many?"
    assert [record["what"] for record in step["evidence"]["records"]] == ["span", "log", "log"]
    assert (document["status"], document["warnings"]) == ("complete", [])


def test_of_two_calls_none_gets_them_and_it_is_told(tmp_path: Path) -> None:
    document = build(tmp_path, [span("1" * 16, 1, CALL), span("2" * 16, 2, CALL)], [ASKED, TOLD])
    assert [step["output"]["text"] for step in document["steps"]] == [None, None]
    assert document["status"] == "partial"
    assert [code.split(":")[:2] for code in codes(document)] == [
        ["unplaced_log_records", " 2 log records hold messages of model calls and bear no id of a recorded call"]
    ]


def test_two_answers_are_not_of_one_call(tmp_path: Path) -> None:
    document = build(tmp_path, [span("1" * 16, 1, CALL)], [ASKED, TOLD, ASKED, TOLD])
    assert document["steps"][0]["output"]["text"] is None
    assert len(document["warnings"]) == 1


def test_the_id_of_a_span_that_is_not_recorded(tmp_path: Path) -> None:
    spans = [span("1" * 16, 1, CALL), span("2" * 16, 2, CALL)]
    document = build(tmp_path, spans, [{**TOLD, "spanId": "3" * 16}])
    assert document["status"] == "partial"
    assert len(document["warnings"]) == 1


def test_a_response_id_names_the_call(tmp_path: Path) -> None:
    messages = json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": "three"}]}])
    details = log("gen_ai.client.inference.operation.details", {}, "otel.event.name")
    told = {"gen_ai.response.id": "r2", "gen_ai.output.messages": messages}
    details["attributes"] += [{"key": key, "value": {"stringValue": value}} for key, value in told.items()]
    del details["traceId"]
    spans = [span(n * 16, int(n), {**CALL, "gen_ai.response.id": f"r{n}"}) for n in ("1", "2")]
    document = build(tmp_path, spans, [details])
    assert [step["output"]["text"] for step in document["steps"]] == [None, "three"]
    assert document["warnings"] == []


def test_nothing_is_lost_where_the_spans_tell_it_all(tmp_path: Path) -> None:
    whole = model_span("1" * 16, 1, text="three")
    asked = json.dumps([{"role": "user", "parts": [{"type": "text", "content": "how many?"}]}])
    whole["attributes"].append({"key": "gen_ai.input.messages", "value": {"stringValue": asked}})
    document = build(tmp_path, [whole], [ASKED, TOLD])
    assert document["status"] == "complete"
    assert len(document["warnings"]) == 1
