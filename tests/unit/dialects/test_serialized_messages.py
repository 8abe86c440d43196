"""LangChain's messages as constructors (`lc`, `id`, `kwargs`), wherever a recorder puts them, are the messages."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from otel2traj.api.build import build_bytes

CLASSES = {"human": "HumanMessage", "ai": "AIMessage", "system": "SystemMessage", "tool": "ToolMessage"}


def serialized(value: Any) -> Any:
    """The same with every dumped message, and every generation, as its constructor."""
    if isinstance(value, list):
        return [serialized(item) for item in value]
    if not isinstance(value, dict):
        return value
    value = {key: serialized(item) for key, item in value.items()}
    cls = CLASSES.get(str(value.get("type"))) if "content" in value else None
    if "text" in value and "message" in value:
        cls = "ChatGeneration"
    return value if cls is None else {"lc": 1, "type": "constructor", "id": ["langchain", "x", cls], "kwargs": value}


def facts(attempt: Path) -> Any:
    document = json.loads(build_bytes(attempt))
    logs = [[{key: log[key] for key in log if key != "evidence"} for log in s["tool_logs"]] for s in document["steps"]]
    return [(step["input"], step["output"]) for step in document["steps"]], logs, document["coverage"]


@pytest.mark.parametrize(
    "case", ["abb-02-parallel-tools", "abb-03-tool-error", "abb-08-duplicate-ids", "abb-24-spans-with-payloads"]
)
def test_constructors_are_the_messages_they_make(case: str, fixtures: Path, tmp_path: Path) -> None:
    attempt = tmp_path / "attempt"
    shutil.copytree(fixtures / "attempts" / case / "attempt", attempt)
    for wire in attempt.rglob("network.jsonl"):
        wire.write_bytes(b"")
    before = facts(attempt)
    changed = 0
    for file in [*attempt.rglob("framework.jsonl"), *attempt.rglob("otel-payloads/*.json")]:
        lines = file.read_bytes().splitlines() if file.suffix == ".jsonl" else [file.read_bytes()]
        data = b"\n".join(json.dumps(serialized(json.loads(line))).encode() for line in lines)
        changed += b'"constructor"' in data
        file.write_bytes(data)
    assert changed
    assert any(step_input.get("messages") for step_input, _ in before[0])
    assert facts(attempt) == before
