"""A long line of the envelope whose body is beyond a limit: found when the body is read, named, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

from otel2traj.model.evidence import AbbRecord, Notice, Source, SourceKind
from otel2traj.readers.abb import AbbFile


def test_a_body_beyond_the_depth_is_a_notice_when_it_is_read(tmp_path: Path) -> None:
    deep = "[" * 700 + "]" * 700
    data = f'{{"call_id":"c","payload":{{"messages":{deep}}},"raw_body":{json.dumps("x" * 70_000)}}}'
    line = f'{{"schema":"abb.observe.event.v1","event":"llm_request","data":{data}}}\n'
    (tmp_path / "network.jsonl").write_text(line)
    file = AbbFile(Source("network.jsonl", SourceKind.WIRE, tmp_path / "network.jsonl"), ("call_id",))
    [record] = list(file.records())
    assert isinstance(record, AbbRecord)
    assert record.data == {"call_id": "c"}
    again, body, notices = file.fetch_request(record.ref)
    file.close()
    assert (again.data, body.value) == ({}, None)
    assert [type(notice) for notice in notices] == [Notice]
    assert "nesting deeper" in notices[0].message
