"""Recorded HTTP exchanges: told by content, read as their golden file says, and again by address."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from otel2traj.api.build import build_bytes
from otel2traj.canonical import dumps
from otel2traj.model.evidence import AbbRecord, Notice, Source, SourceKind
from otel2traj.readers.attempt import open_attempt
from otel2traj.readers.wire_files import WIRE_READERS, open_wire

RECORDS = Path(__file__).parents[3] / "fixtures" / "records"
FILES = [path for name in WIRE_READERS.names() for path in sorted((RECORDS / name).glob("*.*"))]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_fixture_reads_as_its_golden_file(path: Path, golden: Callable[[Path, bytes], None], tmp_path: Path) -> None:
    anonymous = tmp_path / "x"
    shutil.copy(path, anonymous)
    assert open_attempt(anonymous).sources[0].kind is SourceKind.WIRE
    file = open_wire(Source("x", SourceKind.WIRE, anonymous))
    lines: list[bytes] = []
    for item in file.records():
        if isinstance(item, Notice):
            lines.append(dumps({"notice": item.code, "message": item.message, "line": item.line}))
            continue
        again = file.fetch(item.ref)
        assert (again.event, again.time_ns, again.data) == (item.event, item.time_ns, item.data)
        raw = file.raw(item.ref)
        assert raw == anonymous.read_bytes()[item.ref.offset : item.ref.offset + item.ref.length]
        fetch = file.fetch_request if item.event.endswith("request") else file.fetch_response
        _, body, notices = fetch(item.ref)
        assert not notices
        told = {"event": item.event, "time_ns": item.time_ns, "data": item.data, "body": body.value}
        lines.append(dumps({**told, "ref": list(item.ref[1:])}))
    file.close()
    golden(path.parent / "expected" / f"{path.name}.jsonl", b"\n".join(lines) + b"\n")


def test_the_same_exchanges_are_the_same_trajectory_in_both_forms() -> None:
    """But for the recorder's own id of an exchange, which HAR has not, and the times that HAR adds up."""

    def told(name: str) -> list[object]:
        (path,) = [path for path in FILES if path.name == name]
        document = json.loads(build_bytes(path))
        return [
            (s["status"], s["model"], s["input"], s["output"], s["evidence"]["request_sha256"])
            for s in document["steps"]
        ]

    assert told("flows.mitm") == told("mitmproxy-export.har")
    assert len(told("flows.mitm")) == 4


def test_what_is_no_model_call_is_counted_and_no_step(tmp_path: Path) -> None:
    (path,) = [path for path in FILES if path.name == "flows.mitm"]
    events = [r.event for r in open_wire(Source("x", SourceKind.WIRE, path)).records() if isinstance(r, AbbRecord)]
    assert events.count("http_request") == 2
    assert events.count("llm_request") == 4


def test_a_flow_that_is_cut_costs_itself_alone(tmp_path: Path) -> None:
    (path,) = [path for path in FILES if path.name == "flows.mitm"]
    cut = tmp_path / "flows.mitm"
    cut.write_bytes(path.read_bytes()[:-200])
    items = list(open_wire(Source("flows.mitm", SourceKind.WIRE, cut)).records())
    assert [item.code for item in items if isinstance(item, Notice)] == ["unreadable_record"]
    assert sum(isinstance(item, AbbRecord) and item.event == "llm_request" for item in items) == 4


def test_a_member_that_stands_twice_in_a_body_is_told(tmp_path: Path) -> None:
    answer = '{"id": "a", "id": "b", "model": "m", "choices": [{"index": 0, "message": {"content": "hi"}}]}'
    posted = {"text": '{"model": "m", "messages": []}'}
    request = {"method": "POST", "url": "https://model.example/v1/chat/completions", "postData": posted}
    response = {"status": 200, "content": {"text": answer}}
    entry = {"startedDateTime": "2026-01-01T00:00:00Z", "time": 5, "request": request, "response": response}
    path = tmp_path / "one.har"
    path.write_text(json.dumps({"log": {"version": "1.2", "entries": [entry]}}))
    document = json.loads(build_bytes(path))
    assert [warning.split(" (")[0] for warning in document["warnings"]] == [
        "repeated_key: a member 'id' stands twice in one object"
    ]
    assert document["status"] == "partial"
