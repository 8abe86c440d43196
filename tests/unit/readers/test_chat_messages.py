"""Lists of chat messages that somebody saved."""

from __future__ import annotations

import json
from pathlib import Path

from otel2traj.api.build import build_path


def test_a_list_beside_the_messages_that_nobody_reads_is_a_gap(tmp_path: Path) -> None:
    """An agent's own trajectory beside its history, as SWE-agent writes it."""
    document = {
        "trajectory": [{"action": "ls", "observation": "a.py", "response": "Let me look"}],
        "history": [{"role": "system", "content": "You fix bugs."}, {"role": "user", "content": "Fix it."}],
        "tools": [{"type": "function", "function": {"name": "bash"}}],
        "tags": ["one"],
    }
    (tmp_path / "run.traj").write_text(json.dumps(document))
    (built,) = build_path(tmp_path / "run.traj", output=tmp_path / "out.json")
    assert built.summary.status == "partial"
    (gap,) = [warning for warning in built.summary.warnings if warning.startswith("session_gap")]
    assert "1 objects in the list 'trajectory' beside the messages are not read" in gap
