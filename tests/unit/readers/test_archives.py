"""Inspect's `.eval` archives: members as one stream, each way of compression, and damage in one member."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from otel2traj.errors import EvidenceError
from otel2traj.readers.inflate import Stream

from .reading import opened, read

RUN = Path(__file__).parents[3] / "fixtures" / "records" / "inspect-log" / "run.eval"


def sample(name: str) -> bytes:
    event = {"event": "model", "uuid": f"e-{name}", "model": "x/m", "timestamp": "2026-09-21T14:13:00Z"}
    text = {"id": name, "epoch": 1, "uuid": f"u-{name}", "input": "q", "target": "a", "messages": [], "events": [event]}
    return json.dumps(text).encode()


def archive(path: Path, names: tuple[str, ...], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as out:
        for name in names:
            out.writestr(f"samples/{name}.json", sample(name))
        out.writestr("header.json", b"{}")
    return path


def test_zstd_and_deflated_members_are_one_stream_in_the_order_of_their_names() -> None:
    stream = Stream(RUN, RUN.name)
    data = stream.pread(0, stream.size)
    stream.close()
    assert (stream.container, stream.notices) == ("zip", [])
    first, second, rest = data.split(b"\n")
    assert [json.loads(member)["id"] for member in (first, second)] == ["bergen", "oslo"]
    assert rest == b""


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_an_address_is_the_sizes_of_the_members_before_and_the_offset_in_the_member(
    tmp_path: Path, method: int
) -> None:
    path = archive(tmp_path / "x.eval", ("b", "a"), method)
    records, _, file = read(path)
    assert [record.span_id for record in records] == ["sample:u-a", "e-a", "sample:u-b", "e-b"]
    offset = len(sample("a")) + 1 + sample("b").index(b'{"event"')
    assert records[3].ref.offset == offset
    assert json.loads(file.raw(records[3].ref))["uuid"] == "e-b"
    assert file.form == "inspect-log+zip"
    file.close()


def test_a_damaged_member_costs_no_other(tmp_path: Path) -> None:
    path = archive(tmp_path / "x.eval", ("a", "b", "c"), zipfile.ZIP_STORED)
    path.write_bytes(path.read_bytes().replace(b'"u-b"', b'"u-X"'))
    records, notices, _ = read(path)
    told = [notice.message for notice in notices if notice.code == "truncated_container"]
    assert told == ["zip: samples/b.json: size or checksum differ from the directory's"]
    assert [record.trace_id for record in records] == ["u-a", "u-a", "u-X", "u-X", "u-c", "u-c"]


@pytest.mark.parametrize("names", [(), ("notes.txt",)])
def test_an_archive_that_is_no_log_is_not_opened(tmp_path: Path, names: tuple[str, ...]) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as out:
        for name in names:
            out.writestr(name, b"{}")
    with pytest.raises(EvidenceError):
        opened(path)


def test_a_cut_archive_is_an_evidence_error(tmp_path: Path) -> None:
    path = tmp_path / "cut.eval"
    path.write_bytes(RUN.read_bytes()[:3000])
    with pytest.raises(EvidenceError) as caught:
        opened(path)
    assert "zip" in str(caught.value)
