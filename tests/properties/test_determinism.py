"""The same bytes give the same trajectory: in any process, in any order of files and, but for pointers, of spans."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from otel2traj.api.build import build_bytes
from tests.attempt_factory import model_span, otlp, span, tool_span

CASES = ["abb-08-duplicate-ids", "agno-openinference-twins", "mcp-builtin-basic", "abb-17a-acp"]
_POINTERS = {"records", "sources", "offset", "line", "path", "sha256", "length"}


@pytest.mark.parametrize("case", CASES)
def test_another_process_hash_seed_locale_and_zone(case: str, fixtures: Path) -> None:
    attempt = fixtures / "attempts" / case / "attempt"
    outputs = set()
    for seed, locale, zone in (("0", "C", "UTC"), ("4711", "C.UTF-8", "Asia/Kathmandu")):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "LC_ALL": locale, "TZ": zone}
        command = [sys.executable, "-m", "otel2traj", "build", str(attempt)]
        outputs.add(subprocess.run(command, env=environment, capture_output=True, check=True).stdout)
    assert len(outputs) == 1
    assert outputs.pop() == (fixtures / "attempts" / case / "expected" / "trajectory.json").read_bytes()


@pytest.mark.parametrize("case", CASES)
def test_the_order_the_system_lists_files_in(case: str, fixtures: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    attempt = fixtures / "attempts" / case / "attempt"
    scandir, walk = os.scandir, os.walk

    class Reversed:
        def __init__(self, path: Any) -> None:
            with scandir(path) as found:
                self._entries = sorted(found, key=lambda entry: entry.name, reverse=True)

        def __iter__(self) -> Iterator[os.DirEntry[str]]:
            return iter(self._entries)

        def __enter__(self) -> Reversed:
            return self

        def __exit__(self, *_: object) -> None:
            pass

    monkeypatch.setattr(os, "scandir", Reversed)
    monkeypatch.setattr(os, "walk", lambda *a, **k: ((f, n, x[::-1]) for f, n, x in walk(*a, **k)))
    assert build_bytes(attempt) == (fixtures / "attempts" / case / "expected" / "trajectory.json").read_bytes()


def without_pointers(value: Any) -> Any:
    """The trajectory but for where its bytes stand."""
    if isinstance(value, dict):
        return {key: without_pointers(item) for key, item in value.items() if key not in _POINTERS}
    if isinstance(value, list):
        return [without_pointers(item) for item in value]
    return value


def a_run() -> list[dict[str, Any]]:
    """An agent with two turns, a wrapper, an execution that an id ties and one that none does."""
    return [
        span("0000000000000001", 0, {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "lead"}),
        model_span(
            "0000000000000002", 1, calls=[("c1", "read", {"p": 1})], response_id="r1", parent="0000000000000001"
        ),
        tool_span("0000000000000003", 2, "read", call_id="c1", result="one", parent="0000000000000001"),
        model_span("0000000000000004", 3, calls=[("c2", "list", {})], response_id="r2", parent="0000000000000001"),
        tool_span("0000000000000005", 4, "list", arguments={}, result="two", parent="0000000000000001"),
        model_span("0000000000000006", 5, text="done", response_id="r3", parent="0000000000000001"),
    ]


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.randoms(use_true_random=False), st.integers(1, 6))
def test_shuffled_and_rebatched_spans(tmp_path: Path, rng: random.Random, batches: int) -> None:
    spans = a_run()
    plain = tmp_path / "plain.jsonl"
    plain.write_bytes(otlp(spans) + b"\n")
    rng.shuffle(spans)
    mixed = tmp_path / "mixed.jsonl"
    parts = [spans[n::batches] for n in range(batches)]
    mixed.write_bytes(b"".join(otlp(part) + b"\n" for part in parts if part))
    one, other = (without_pointers(json.loads(build_bytes(file))) for file in (plain, mixed))
    for document in (one, other):
        for step in document["steps"]:
            step["evidence"].pop("interaction_id")  # the file is part of the key
            for log in step["tool_logs"]:
                log["evidence"].pop("interaction_id", None)
                log["evidence"].get("inferred", {}).pop("interaction_id", None)
            step["evidence"].pop("records", None)
    assert one == other


def test_worker_processes_change_nothing(fixtures: Path, tmp_path: Path) -> None:
    from otel2traj.api.build import build_many

    told = []
    for jobs in (1, 2):
        out = tmp_path / str(jobs)
        root = fixtures / "attempts"
        lines = [line.text for line in build_many(root / "mcp-builtin-basic", jobs=jobs, output=out)]
        told.append((lines, sorted((file.name, file.read_bytes()) for file in out.iterdir())))
    assert told[0] == told[1]


def test_duplicate_spans_are_counted_once(tmp_path: Path) -> None:
    once, twice = tmp_path / "once.jsonl", tmp_path / "twice.jsonl"
    once.write_bytes(otlp(a_run()) + b"\n")
    twice.write_bytes(otlp(a_run()) + b"\n" + otlp(a_run()) + b"\n")
    one, other = (json.loads(build_bytes(file)) for file in (once, twice))
    assert len(one["steps"]) == len(other["steps"])
    assert other["status"] == "complete"
