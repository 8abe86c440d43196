"""Every wire record and every model or tool span of an attempt stands behind a step, or a notice names it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from otel2traj.assembly import BuildSession
from otel2traj.model.reading import Role
from otel2traj.model.trajectory import Collect

ATTEMPTS = sorted(
    path
    for path in (Path(__file__).parents[2] / "fixtures" / "attempts").glob("*/attempt")
    if not path.parent.name.startswith("abb-20")
)


def records(value: Any) -> set[tuple[str, int]]:
    """Every (path, offset) that any evidence object names."""
    found: set[tuple[str, int]] = set()
    if isinstance(value, dict):
        for item in value.get("records") or []:
            found.add((item["path"], item["offset"]))
        for item in value.values():
            found |= records(item)
    elif isinstance(value, list):
        for item in value:
            found |= records(item)
    return found


@pytest.mark.parametrize("attempt", ATTEMPTS, ids=lambda path: path.parent.name)
def test_every_record_is_somewhere(attempt: Path) -> None:
    collect = Collect()
    with BuildSession(attempt) as session:
        for conversation in session.conversations:
            session.build(conversation, collect)
        index = session.index
        told: set[tuple[str, int]] = set()
        for step in collect.trajectory.steps:
            told |= records(step.evidence)
            for log in step.tool_logs:
                told |= records(log.evidence)
        for wire in index.wires.values():
            for ref in (wire.request, wire.response, wire.error, *(part.ref for part in wire.others)):
                assert ref is None or (ref.source, ref.offset) in told
        for head in index.span_heads():
            if head.role in (Role.MODEL_CALL, Role.TOOL_EXECUTION):
                assert {(part.ref.source, part.ref.offset) for part in head.parts} <= told, head.span_id


def test_every_emitted_call_of_a_wire_response_is_in_an_output(fixtures: Path) -> None:
    attempt = fixtures / "attempts" / "abb-10-not-observed"
    document = json.loads((attempt / "expected" / "trajectory.json").read_bytes())
    emitted = set()
    for line in (attempt / "attempt" / "logs" / "network.jsonl").read_bytes().split(b"\n"):
        record = json.loads(line) if line else {}
        if record.get("event") == "llm_response":
            for choice in record["data"]["payload"]["choices"]:
                emitted |= {call["id"] for call in choice["message"].get("tool_calls") or []}
    outputs = {call["id"] for step in document["steps"] for call in step["output"].get("tool_calls", [])}
    assert emitted
    assert emitted <= outputs
