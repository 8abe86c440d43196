"""Captured attempts with any JSON in the place of any member: a build says what it makes of them and never raises."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from otel2traj.api.build import build_path

ATTEMPTS = sorted(path for path in (Path(__file__).parents[2] / "fixtures" / "attempts").glob("*/attempt"))
ODD = (
    "null", "true", "0", "-1", "1.5", "1180591620717411303424", '""', '"x"', '"../x"', '"\\ud800"', '"a\\u0000b"',
    "[]", "{}", "[null]", "[[]]", "[{}]", '["x", 5]', '{"a": [1]}',
)  # fmt: skip


def mutate(document: Any, data: st.DataObject) -> None:
    """Replace, rename or drop some members somewhere below."""
    for _ in range(data.draw(st.integers(1, 4))):
        node = document
        while isinstance(node, dict | list) and node:
            key = data.draw(st.sampled_from(sorted(node) if isinstance(node, dict) else range(len(node))))
            how = data.draw(st.sampled_from(("down", "down", "down", "set", "set", "drop", "rename")))
            if how == "down":
                node = node[key]
                continue
            if how == "set":
                node[key] = json.loads(data.draw(st.sampled_from(ODD)))
            elif how == "drop" or isinstance(node, list):
                del node[key]
            else:
                node["other"] = node.pop(key)
            break


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_whatever_stands_in_an_attempt(data: st.DataObject, tmp_path: Path) -> None:
    attempt = tmp_path / "attempt"
    shutil.rmtree(attempt, ignore_errors=True)
    shutil.copytree(data.draw(st.sampled_from(ATTEMPTS)), attempt, symlinks=True)
    files = sorted(path for path in attempt.rglob("*.json*") if path.is_file() and not path.is_symlink())
    for _ in range(data.draw(st.integers(1, 3))):
        file = data.draw(st.sampled_from(files))
        lines = file.read_bytes().split(b"\n") if file.suffix == ".jsonl" else [file.read_bytes()]
        at = data.draw(st.integers(0, len(lines) - 1))
        try:
            document = json.loads(lines[at])
        except ValueError:
            continue
        mutate(document, data)
        lines[at] = json.dumps(document).encode()
        file.write_bytes(b"\n".join(lines))
    (built,) = build_path(attempt, output=tmp_path / "out.json")
    written = json.loads((tmp_path / "out.json").read_bytes())
    assert written["status"] == built.summary.status
    assert len(written["steps"]) == built.summary.coverage.model_calls + built.summary.coverage.unlinked_tool_calls
