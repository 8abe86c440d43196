"""Fixtures whose ids are counted anew for each answer and that lost spans and wire calls: no exact link is wrong."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path
from typing import Any

import pytest

from otel2traj.api.source import load
from otel2traj.model.trajectory import Trajectory

CASES = ("anthropic-traceloop-retry", "mcp-builtin-basic", "agno-openinference-twins", "abb-08-duplicate-ids")


def keys(trajectory: Trajectory) -> dict[tuple[str, int], tuple[str, str | None]]:
    """(recording of the emitting call, position) to its tool call id and the execution that is exact."""
    out = {}
    for step in trajectory.steps:
        names = (
            step.evidence.get("call_id"),
            step.evidence.get("otel_span_id"),
            step.evidence.get("framework_span_id"),
        )
        for at, log in enumerate(step.tool_logs if step.kind == "model" else ()):
            exact = (
                log.evidence.get("otel_span_id") or log.evidence.get("interaction_id") if log.link == "exact" else None
            )
            for name in filter(None, names):
                out[name, at] = (log.tool_call_id or "", exact)
    return out


def damage(attempt: Path, numbered: dict[str, str], rng: random.Random, loss: float) -> None:
    for path in sorted(attempt.rglob("*.jsonl")):
        text = path.read_text(encoding="utf-8")
        for call_id in sorted(numbered, key=len, reverse=True):
            text = text.replace(call_id, numbered[call_id])
        lines: list[dict[str, Any]] = [json.loads(line) for line in text.split("\n") if line]
        gone = {line["data"].get("call_id") for line in lines if "data" in line and rng.random() < loss / 2}
        lines = [line for line in lines if path.name != "network.jsonl" or line["data"].get("call_id") not in gone]
        for line in lines:
            for group in line.get("resourceSpans", ()):
                for scope in group.get("scopeSpans", ()):
                    scope["spans"] = [found for found in scope.get("spans", ()) if rng.random() >= loss]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("loss", [0.0, 0.3, 0.5])
def test_what_is_lost_makes_no_wrong_link(case: str, loss: float, fixtures: Path, tmp_path: Path) -> None:
    source = fixtures / "attempts" / case / "attempt"
    truth = keys(load(source))
    numbered = {call_id: f"call_{at}" for (_, at), (call_id, _) in truth.items() if call_id}
    executed = {execution: call_id for call_id, execution in truth.values() if execution is not None}
    for seed in range(3):
        attempt = tmp_path / f"{seed}" / "attempt"
        shutil.copytree(source, attempt)
        damage(attempt, numbered, random.Random(f"{case}{seed}"), loss)
        for emitter, (_, execution) in keys(load(attempt)).items():
            if execution in executed and emitter in truth:
                assert truth[emitter][0] == executed[execution], (seed, emitter)
