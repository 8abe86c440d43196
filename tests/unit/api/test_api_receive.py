"""What is received is what the file says: the same trajectory from every encoding."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
import zstandard

from otel2traj.api.build import build_path
from otel2traj.api.receive import build_attempt
from otel2traj.capture.derive import Deriver
from otel2traj.capture.layout import ATTEMPTS
from otel2traj.errors import EvidenceError

from ..capture.requests import as_protobuf, lines
from ..capture.serving import Served, serving

CASES = ["langgraph_og", "adk_v1", "vercel_v5_generate", "claude_code"]
KINDS = {
    "json": ("json", {}, bytes),
    "protobuf": ("protobuf", {}, lambda body: as_protobuf(json.loads(body))),
    "gzip-protobuf": (
        "protobuf",
        {"content_encoding": "gzip"},
        lambda body: gzip.compress(as_protobuf(json.loads(body))),
    ),
    "zstd-json": ("json", {"content_encoding": "zstd"}, zstandard.compress),
}


def trajectory(folder: Path) -> Any:
    """The trajectories in a folder, by name, without what only says where the evidence lies."""
    found = {path.name: json.loads(path.read_bytes()) for path in sorted(folder.glob("trajectory*.json"))}
    assert found
    return _without_places(found)


def _without_places(value: Any, inside: str = "") -> Any:
    if isinstance(value, dict):
        gone = ("offset", "line") if inside == "records" else ("sources",)
        return {key: _without_places(item, key) for key, item in value.items() if key not in gone}
    if isinstance(value, list):
        return [_without_places(item, inside) for item in value]
    return value


def without_digests(value: Any, inside: str = "") -> Any:
    """Protobuf is written as JSON of our own, so the bytes of a record differ; all that they say does not."""
    if isinstance(value, dict):
        gone = ("sha256", "length") if inside == "records" else ()
        return {key: without_digests(item, key) for key, item in value.items() if key not in gone}
    if isinstance(value, list):
        return [without_digests(item, inside) for item in value]
    return value


def _send(served: Served, folder: Path, kind: str) -> None:
    media, headers, encode = KINDS[kind]
    for name, path in (("otel.jsonl", "/v1/traces"), ("otel-logs.jsonl", "/v1/logs")):
        file = folder / name
        for line in file.read_bytes().splitlines() if file.exists() else ():
            assert served.post(encode(line), media, path, **headers).status == 200


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("case", CASES)
def test_a_received_run_gives_the_trajectory_of_its_file(tmp_path: Path, fixtures: Path, case: str, kind: str) -> None:
    recorded = fixtures / "capture" / case
    copy = tmp_path / "copy"
    copy.mkdir()
    for path in recorded.glob("*.jsonl"):
        (copy / path.name).write_bytes(path.read_bytes())
    build_path(copy, write=True)
    out = tmp_path / "out"
    with serving(out) as served:
        _send(served, recorded, kind)
    deriver = Deriver(out, build_attempt, None)
    deriver.router.drain()
    deriver.build_all()
    errors = [row.build_error for row in deriver.router.state.attempts() if row.build_error]
    deriver.close()
    assert errors == []
    (attempt,) = (out / ATTEMPTS).iterdir()
    received, expected = trajectory(attempt), trajectory(copy)
    assert all(one["steps"] for one in expected.values())
    if "protobuf" in kind:
        received, expected = without_digests(received), without_digests(expected)
    assert received == expected


def test_a_build_leaves_no_trajectory_it_did_not_make(tmp_path: Path, fixtures: Path) -> None:
    source = (fixtures / "capture" / "langgraph_og" / "otel.jsonl").read_bytes()
    (tmp_path / "otel.jsonl").write_bytes(source)
    (tmp_path / "trajectory-old.json").write_text("{}")
    build_attempt(tmp_path)
    assert [path.name for path in tmp_path.glob("trajectory*.json")] == ["trajectory.json"]
    assert lines(tmp_path / "otel.jsonl")


def test_a_build_that_cannot_be_done_says_so(tmp_path: Path) -> None:
    (tmp_path / "otel.jsonl").write_text('{"resourceSpans":[]}\n')
    with pytest.raises(EvidenceError):
        build_attempt(tmp_path)
