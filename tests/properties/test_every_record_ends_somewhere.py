"""Every recorded span, wire call and log record ends in one place or in a notice, counted from the bytes themselves.

Where a record ended is read off the trajectories: each address that an `evidence` object names is looked up in the
evidence, and what stands there is the record.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from otel2traj.assembly import BuildSession
from otel2traj.model.trajectory import Collect, Trajectory
from tests.properties.random_runs import RandomRun

Place = tuple[int, int]
"""Number of the trajectory and of the step in it."""
STEPS = {"chat": "model", "execute_tool": "tool"}


def built(root: Path) -> list[Trajectory]:
    out = []
    with BuildSession(root) as session:
        for conversation in session.conversations:
            collect = Collect()
            session.build(conversation, collect)
            out.append(collect.trajectory)
    return out


def addresses(value: Any, where: str = "") -> Iterator[tuple[str, str, int, int]]:
    """(what holds it, path, offset, length) of every record that an evidence object names."""
    if isinstance(value, list):
        for item in value:
            yield from addresses(item, where)
    elif isinstance(value, dict):
        for item in value.get("records") or ():
            yield where, item["path"], item["offset"], item["length"]
        for key, item in value.items():
            if key != "records":
                yield from addresses(item, where or key)


def named(record: dict[str, Any]) -> str:
    """How a record names itself."""
    if "data" in record:
        return f"{record['event']} {record['data']['call_id']}"
    return f"log {record['timeUnixNano']}" if "eventName" in record else f"span {record['spanId']}"


def places(root: Path, found: list[Trajectory]) -> dict[str, list[tuple[str, Place]]]:
    """Every record that the trajectories name, read at its address: in what, and in which step."""
    out: dict[str, dict[tuple[str, Place], None]] = {}
    for number, trajectory in enumerate(found):
        for step in trajectory.steps:
            for evidence in (step.evidence, *(log.evidence for log in step.tool_logs)):
                for where, path, offset, length in addresses(evidence):
                    record = json.loads((root / path).read_bytes()[offset : offset + length])
                    out.setdefault(named(record), {})[where, (number, step.step_id)] = None
    return {name: list(where) for name, where in out.items()}


def operation(span: dict[str, Any]) -> str | None:
    told = [a["value"]["stringValue"] for a in span["attributes"] if a["key"] == "gen_ai.operation.name"]
    return STEPS.get(told[0]) if told else None


def counted(found: list[Trajectory], code: str) -> int:
    """The records that notices count."""
    texts = {w for trajectory in found for w in trajectory.summary.warnings if w.startswith(f"{code}: ")}
    return sum(int(match[1]) for text in texts if (match := re.match(r"\w+: ([0-9]+) ", text)))


def check(root: Path, run: RandomRun) -> None:
    found = built(root)
    where = places(root, found)
    for _, made in run.spans:
        told = where.get(f"span {made['spanId']}", [])
        steps = {place for _, place in told}
        if operation(made) is None:
            assert told == []
        elif len(steps) != 1:  # what is of several calls stands with each of them
            assert told
            wanted = "candidates" if operation(made) == "tool" else "wrappers"
            assert {what for what, _ in told} == {wanted}
            warned = [w for t in found for w in t.summary.warnings if w.startswith("ambiguous_link")]
            assert wanted == "wrappers" or warned
    logs = sum(f"log {log['timeUnixNano']}" in where for log in run.logs)
    assert logs + counted(found, "unplaced_log_records") == len(run.logs)
    for trajectory in found:
        for step in trajectory.steps:
            emitted = [call["id"] for call in step.output.get("tool_calls", [])]
            assert step.kind == "tool_only" or emitted == [log.tool_call_id for log in step.tool_logs]
            if step.kind == "tool_only":
                assert step.tool_logs[0].evidence["records"]


@given(st.integers(0, 1 << 32))
def test_every_span_and_log_record_of_a_trace(seed: int) -> None:
    run = RandomRun(seed)
    with tempfile.TemporaryDirectory() as folder:
        check(run.bare(Path(folder) / "run"), run)


@given(st.integers(0, 1 << 32))
def test_every_record_of_an_attempt(seed: int) -> None:
    run = RandomRun(seed)
    with tempfile.TemporaryDirectory() as folder:
        root = run.attempt(Path(folder) / "run")
        check(root, run)
        where = places(root, built(root))
        for what, call_id, _ in run.wire:
            assert len(where[f"llm_{what} {call_id}"]) == 1
