"""What an attempt lacks, holds twice or holds in an unknown shape: each is told, and costs it `complete`."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard

from otel2traj.api.build import build_path
from otel2traj.api.validate_trajectory import validate
from tests.attempt_factory import AttemptFactory, chat_response, otlp, tool_span

WIRE = "logs/network.jsonl"
STEP = "steps/0001"
CHANGE = {"path": "a.txt", "before": None, "after": {"type": "file", "size": 1}}


def attempt_at(root: Path) -> Path:
    attempt = AttemptFactory(root / "attempt").input("0001")
    attempt.request("call_a", 1).response("call_a", 2, chat_response(text="hi"))
    attempt.tool("0001", "s1", "t1", 3)
    return attempt.write()


def build(root: Path) -> dict[str, Any]:
    out = root.parent / "out.json"
    (built,) = build_path(root, output=out)
    assert built.bug is None
    assert validate(out) == []
    document: dict[str, Any] = json.loads(out.read_bytes())
    return document


def write(root: Path, path: str, *lines: Any) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text("\n".join(json.dumps(line) for line in lines))


def replay(*events: Any) -> Callable[[Path], None]:
    def change(root: Path) -> None:
        write(root, "replay/events.jsonl", *events)

    return change


def evidence(value: Any) -> Callable[[Path], None]:
    return lambda root: write(root, "steps/0001/file-evidence.json", value)


CASES: dict[str, tuple[Callable[[Path], Any], str]] = {
    "no file of the interceptor": (lambda root: (root / WIRE).unlink(), "missing_source"),
    "an empty file of the interceptor": (lambda root: (root / WIRE).write_bytes(b""), "empty_source"),
    "a second file of the interceptor": (lambda root: (root / "network.jsonl").write_bytes(b"{}\n"), "second_source"),
    "a packed one beside": (lambda root: (root / f"{WIRE}.gz").write_bytes(gzip.compress(b"")), "second_source"),
    "a rotated one": (lambda root: (root / f"{WIRE}.1").write_bytes(b"{}\n"), "second_source"),
    "a rotated one of a framework": (
        lambda root: (root / f"{STEP}/framework.1.jsonl").write_text("{}"),
        "second_source",
    ),
    "one packed in another form": (
        lambda root: (root / f"{STEP}/acp-events.jsonl.bz2").write_text(""),
        "second_source",
    ),
    "spans beside the Inputs": (lambda root: (root / "otel.jsonl").write_bytes(b"{}\n"), "second_source"),
    "file evidence that is null": (lambda root: write(root, f"{STEP}/file-evidence.json", None), "unreadable_value"),
    "a folder without four digits": (lambda root: (root / "steps" / "2").mkdir(), "unread_folder"),
    "a folder with a word": (lambda root: (root / "steps" / "0002-copy").mkdir(), "unread_folder"),
    "replay before any Input": (replay({"sequence": 1, "changes": [CHANGE]}), "unknown_input"),
    "replay of an unknown Input": (replay({"input_id": "other", "changes": [CHANGE]}), "unknown_input"),
    "replay changes of another kind": (replay({"input_id": "x", "changes": {"a": 1}}), "unreadable_value"),
    "a replay change of another kind": (replay({"input_id": "x", "changes": ["a"]}), "unreadable_value"),
    "a replay event of another kind": (replay([1]), "unreadable_line"),
    "file evidence that is a list": (evidence([1]), "unreadable_value"),
    "file evidence without changes": (evidence({"files": []}), "unreadable_value"),
    "a file change of another kind": (evidence({"changes": ["a.txt"]}), "unreadable_value"),
}


@pytest.mark.parametrize("case", CASES)
def test_it_is_told_and_the_trajectory_is_partial(case: str, tmp_path: Path) -> None:
    root = attempt_at(tmp_path)
    assert (build(root)["status"], build(root)["warnings"]) == ("complete", [])
    change, code = CASES[case]
    change(root)
    document = build(root)
    assert document["status"] == "partial"
    assert code in [warning.split(":")[0] for warning in document["warnings"]], document["warnings"]


@pytest.mark.parametrize(
    ("suffix", "pack"), [(".gz", gzip.compress), (".zst", zstandard.ZstdCompressor().compress)], ids=["gzip", "zstd"]
)
def test_packed_files_of_recorders_are_read(suffix: str, pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    root = attempt_at(tmp_path)
    plain = build(root)
    for path in (WIRE, "steps/0001/framework.jsonl"):
        (root / f"{path}{suffix}").write_bytes(pack((root / path).read_bytes()))
        (root / path).unlink()
    packed = build(root)
    assert (packed["status"], packed["warnings"]) == ("complete", [])
    assert {source["path"] for source in packed["sources"]} >= {
        f"{WIRE}{suffix}",
        f"steps/0001/framework.jsonl{suffix}",
    }
    assert [step["output"] for step in packed["steps"]] == [step["output"] for step in plain["steps"]]
    assert [log["outputs"] for step in packed["steps"] for log in step["tool_logs"]] == [
        log["outputs"] for step in plain["steps"] for log in step["tool_logs"]
    ]
    assert validate(tmp_path / "out.json", evidence=root) == []


def test_a_packed_file_that_is_cut_is_told(tmp_path: Path) -> None:
    root = attempt_at(tmp_path)
    packed = gzip.compress((root / WIRE).read_bytes())
    (root / WIRE).unlink()
    (root / f"{WIRE}.gz").write_bytes(packed[:-9])
    document = build(root)
    assert document["status"] == "partial"
    assert any(warning.startswith("truncated_container") for warning in document["warnings"])


def test_a_folder_of_traces_tells_what_is_packed_in_another_form(tmp_path: Path) -> None:
    folder = tmp_path / "traces"
    folder.mkdir()
    (folder / "a.jsonl").write_bytes(otlp([tool_span("1" * 16, 1, "s", call_id="t1", arguments="{}", result="r")]))
    for name, status in (("notes.txt", "complete"), ("b.jsonl.bz2", "partial")):
        (folder / name).write_bytes(b"x")
        build_path(folder, output=tmp_path / "out.json")
        document = json.loads((tmp_path / "out.json").read_bytes())
        assert (document["status"], validate(tmp_path / "out.json", folder)) == (status, [])
        assert [name in warning for warning in document["warnings"]] == [True]
