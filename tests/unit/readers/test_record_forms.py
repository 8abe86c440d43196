"""Every form of the fixtures: told by content, and read as its golden file says."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from otel2traj.canonical import dumps
from otel2traj.errors import EvidenceError
from otel2traj.model.evidence import LogRecord, SpanRecord
from otel2traj.model.session import SessionRecord
from otel2traj.readers import READERS
from otel2traj.readers.attempt import open_attempt
from otel2traj.readers.wire_files import WIRE_READERS

from .reading import check_addresses, opened, plain, read

FIXTURES = Path(__file__).parents[3] / "fixtures" / "records"
APART = ("js-console", *WIRE_READERS.names())
KINDS = {SpanRecord: "span", LogRecord: "log", SessionRecord: "session"}
FILES = sorted(path for path in FIXTURES.glob("*/*") if path.is_file() and path.parent.name not in APART)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_fixture_reads_as_its_golden_file(path: Path, golden: Callable[[Path, bytes], None], tmp_path: Path) -> None:
    anonymous = tmp_path / "x"
    shutil.copy(path, anonymous)
    records, notices, file = read(anonymous)
    assert file.form.partition("+")[0] == path.parent.name
    lines = [dumps({"form": file.form})]
    for record in records:
        kind = KINDS[type(record)]
        lines.append(dumps({"record": kind, **plain(record), "ref": list(record.ref[1:])}))
    lines += [dumps({"notice": notice.code, "message": notice.message, "line": notice.line}) for notice in notices]
    golden(path.parent / "expected" / f"{path.name}.jsonl", b"\n".join(lines) + b"\n")
    if file.form == path.parent.name:
        check_addresses(anonymous, records, file, path.read_bytes())
    else:
        for record in records:
            assert plain(file.fetch(record.ref), ref=True) == plain(record, ref=True)
    assert records
    file.close()


def test_every_reader_has_a_fixture() -> None:
    folders = {path.parent.name for path in FILES} | {"js-console"}
    assert set(READERS.names()) == folders


def test_javascript_console_output_is_refused_with_a_way_out() -> None:
    with pytest.raises(EvidenceError) as caught:
        opened(FIXTURES / "js-console" / "console.txt")
    assert caught.value.error_code == "evidence.lossy_form"
    assert caught.value.hint is not None
    assert "OTLP" in caught.value.hint


@pytest.mark.parametrize("data", [b"hello\n", b'{"a": 1}\n', b"[1, 2]", b"\x00\x01\x02\x03", b'"text"'])
def test_what_is_no_trace_file_is_refused_with_a_hint(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "trace.jsonl").write_bytes(data)
    with pytest.raises(EvidenceError) as caught:
        opened(tmp_path / "trace.jsonl")
    assert caught.value.error_code == "evidence.unknown_form"
    assert caught.value.hint is not None


@pytest.mark.parametrize("data", [b"", b"\n \n"])
def test_an_empty_file_has_no_records(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "x").write_bytes(data)
    records, notices, file = read(tmp_path / "x")
    assert (records, notices, file.source.size) == ([], [], len(data))


def test_a_missing_file_and_a_folder_are_evidence_errors(tmp_path: Path) -> None:
    for path in (tmp_path / "none", tmp_path):
        with pytest.raises(EvidenceError):
            opened(path)


def test_a_file_called_trajectory_is_evidence_unless_this_project_saved_it(tmp_path: Path) -> None:
    shutil.copy(FIXTURES / "atif" / "sub-agents.json", tmp_path / "trajectory.json")
    saved = FIXTURES / "atif" / "expected" / "sub-agents.json.trajectory.json"
    shutil.copy(saved, tmp_path / "trajectory-2.json")
    assert [source.path for source in open_attempt(tmp_path).sources] == ["trajectory.json"]
