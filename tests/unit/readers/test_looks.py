"""Files in none of the known forms: what the refusal says they look like, and which form it says comes nearest."""

from __future__ import annotations

import gzip
import io
import json
import sqlite3
import tarfile
import zipfile
from pathlib import Path

import pytest

from otel2traj.api.build import build_path
from otel2traj.errors import EvidenceError
from otel2traj.readers.attempt import open_attempt

from .reading import FIXTURES, opened, written

ROW = {"trace_id": "ab", "span_id": "cd", "name": "x", "start_time": 1790000000}


def zipped(*names: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name in names:
            archive.writestr(name, "x")
    return out.getvalue()


def tarred() -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("a"))
    return out.getvalue()


def database(tmp_path: Path) -> bytes:
    connection = sqlite3.connect(tmp_path / "db")
    connection.execute("create table spans (a)")
    connection.commit()
    connection.close()
    return (tmp_path / "db").read_bytes()


ODD = {
    "list": (
        json.dumps([{"timestamp": 1, "level": "INFO", "msg": "hi"}]),
        "a JSON list of objects with keys timestamp",
    ),
    "object": (json.dumps({"nodes": [], "edges": []}, indent=1), "a JSON object with keys nodes, edges"),
    "lines": ('{"ts": 1, "event": "x"}\n{"ts": 2}\n', "JSON objects one after another with keys ts, event"),
    "near": (
        json.dumps([ROW]),
        "keys trace_id, span_id, name, start_time; nearest form: span-rows, which also has attri",
    ),
    "many": (json.dumps({f"k{number}": 1 for number in range(12)}), "k6, k7 and 4 more"),
    "response": (json.dumps({"id": "c", "choices": []}), "the body of a model API's response alone"),
    "error": (json.dumps({"error": {"code": 404}}), "keys error: what a server answers when something is wrong"),
    "number": ("42", "one JSON value that is no object"),
    "text in quotes": ('"hello"', "one JSON value that is no object"),
    "numbers": ("[1, 2]", "a JSON list without objects in it"),
    "table": ("trace_id,span_id,name\na,b,c\n", "a table with columns trace_id, span_id, name; write its rows as JSON"),
    "tabs": ("city\ttemp\nOslo\t4\n", "a table with columns city, temp"),
    "yaml": ("receivers:\n  otlp:\n", "YAML; write it as JSON"),
    "toml": ("[project]\nname = 'x'\n", "a configuration file"),
    "html": ("<!DOCTYPE html>\n<html></html>", "an HTML page"),
    "xml": ("<?xml version='1.0'?><a/>", "XML"),
    "metrics": ("# HELP a x\n# TYPE a counter\na 3\n", "Prometheus"),
    "log": ("12:00:00 INFO started\n12:00:01 INFO ended\n", "plain text that begins '12:00:00 INFO started'"),
    "parquet": (b"PAR1\x15\x04PAR1", "a Parquet table; write its rows as JSON"),
    "picture": (b"\x89PNG\r\n\x1a\n\x00", "a PNG image"),
    "pickle": (b"\x80\x04\x95\x10\x00\x00", "a Python pickle"),
    "utf-16": ('{"a": 1}'.encode("utf-16"), "text in UTF-16; write it in UTF-8"),
    "xz": (b"\xfd7zXZ\x00\x00", "compressed with xz"),
    "bytes": (bytes(range(128, 256)) * 4, "binary data"),
    "zip": (zipped("otel.jsonl", "b.json"), "a zip archive of otel.jsonl, b.json; unpack it"),
    "empty zip": (zipped(), "a zip archive without members"),
    "tar": (tarred(), "a tar archive; unpack it"),
    "packed text": (gzip.compress(b"hello world\n"), "plain text that begins 'hello world'"),
}


@pytest.mark.parametrize("name", ODD)
def test_a_refusal_says_what_the_file_looks_like(name: str, tmp_path: Path) -> None:
    data, told = ODD[name]
    path = written(tmp_path, data.encode() if isinstance(data, str) else data, "odd.bin")
    with pytest.raises(EvidenceError) as caught:
        opened(path)
    assert caught.value.error_code == "evidence.unknown_form"
    start, _, looks = str(caught.value).partition("; it looks like ")
    assert start == "odd.bin is in no form that is read"
    assert told in looks
    assert "info --forms" in str(caught.value.hint)
    (built,) = build_path(path)
    assert built.summary.error is not None
    assert str(built.summary.error["message"]).startswith("odd.bin is in no form that is read")


def test_a_database_is_told(tmp_path: Path) -> None:
    with pytest.raises(EvidenceError, match="an SQLite database"):
        opened(written(tmp_path, database(tmp_path)))


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "odd.json is empty"),
        (b'{"resourceSpans": []}', "odd.json, read as otlp-json, has no record"),
        (b'{"resourceSpans": [{"scopeSp', "odd.json, read as otlp-json, has no record: line 1: incomplete JSON"),
        (b'{"schema": "abb.agent-trajectory.v1", "steps": []}', "a file that otel2traj saved"),
    ],
)
def test_a_file_without_a_record_is_never_one_in_which_nothing_happened(data: bytes, told: str, tmp_path: Path) -> None:
    (built,) = build_path(written(tmp_path, data, "odd.json"))
    assert built.summary.error is not None
    message = str(built.summary.error["message"])
    assert told in message
    assert "nothing" not in message
    assert "no span, model call" not in message


def test_a_folder_goes_on_and_names_the_file_that_is_not_understood(tmp_path: Path) -> None:
    run = FIXTURES / "records" / "litellm-log" / "callback.jsonl"
    written(tmp_path, run.read_bytes(), "calls.jsonl")
    written(tmp_path, b'[{"level": "INFO", "msg": "x"}]', "app.json")
    (built,) = build_path(tmp_path)
    assert built.summary.coverage.model_calls == 6
    (told,) = [warning for warning in built.summary.warnings if warning.startswith("foreign_file")]
    assert "it looks like a JSON list of objects with keys level, msg" in told
    assert "(app.json)" in told


def test_a_folder_names_the_files_that_it_did_not_open(tmp_path: Path) -> None:
    run = FIXTURES / "records" / "litellm-log" / "callback.jsonl"
    written(tmp_path, run.read_bytes(), "calls.jsonl")
    for name in ("a.csv", "b.pdf", "c.txt", "d.png", ".hidden"):
        written(tmp_path, b"a,b", name)
    (built,) = build_path(tmp_path)
    assert built.summary.coverage.model_calls == 6
    (told,) = [warning for warning in built.summary.warnings if warning.startswith("unopened_file")]
    assert "4 files were not opened" in told
    assert told.endswith("a.csv, b.pdf, c.txt and 1 more")
    (tmp_path / "calls.jsonl").unlink()
    with pytest.raises(EvidenceError, match=r"has a name of a form that is read: a\.csv, b\.pdf, c\.txt and 1 more"):
        open_attempt(tmp_path)


def test_names_that_everybody_uses_make_no_form_the_nearest(tmp_path: Path) -> None:
    for number, rows in enumerate(([{"id": "1", "conversations": []}], [{"id": 0, "timestamp": "x", "action": "run"}])):
        file = written(tmp_path, json.dumps(rows).encode(), f"{number}.json")
        (built,) = build_path(file)
        assert built.summary.error is not None
        assert "nearest" not in str(built.summary.error["message"])
