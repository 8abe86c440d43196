"""What session files tell of times: no duration of zero, ends only where a file has them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from otel2traj.api.build import build_bytes

RECORDS = Path(__file__).parents[3] / "fixtures" / "records"
WITHOUT_ENDS = (
    "claude-code-session/session.jsonl",
    "codex-rollout/rollout.jsonl",
    "codex-rollout/by-token-counts.jsonl",
    "gemini-session/session.jsonl",
    "gemini-session/one-document.json",
    "agent-lightning-events/events.jsonl",
    "chat-messages/openai-list.json",
    "atif/sub-agents.json",
)


def spans(path: Path) -> list[tuple[str, Any, Any]]:
    """(kind, start, end) of every call and execution. Of several conversations, the first."""
    out = []
    for step in json.loads(build_bytes(path))["steps"]:
        out.append((step["kind"], step["started_at"], step["ended_at"]))
        for log in step["tool_logs"]:
            evidence = log["evidence"]
            if "started_at" in evidence:
                out.append(("execution", evidence["started_at"], evidence["ended_at"]))
    return out


@pytest.mark.parametrize("name", WITHOUT_ENDS)
def test_a_file_that_tells_no_end_gives_none(name: str, tmp_path: Path) -> None:
    lines = (RECORDS / name).read_bytes()
    if name.startswith("agent-lightning"):
        lines = b"\n".join(line for line in lines.splitlines() if b'"ro-1"' in line)
    (tmp_path / "file").write_bytes(lines)
    found = spans(tmp_path / "file")
    assert found
    assert {end for _, _, end in found} == {None}


def test_opencode_tells_when_tools_and_answers_ended() -> None:
    found = spans(RECORDS / "opencode-export" / "export.json")
    ended = [kind for kind, start, end in found if end is not None and end > start]
    assert ended == ["execution", "execution", "model"]
    assert [end for _, start, end in found if end == start] == []
