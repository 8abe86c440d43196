"""One trace of Langfuse in the shapes of its API, its pages and its blob export is one trajectory."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from otel2traj.api.build import build_bytes

from .reading import FIXTURES, written

Rows = list[dict[str, Any]]


def snake(name: str) -> str:
    return re.sub("[A-Z]", lambda found: f"_{found.group().lower()}", name)


def as_text(value: Any) -> Any:
    return value if value is None or isinstance(value, str) else json.dumps(value)


def blob(rows: Rows) -> str:
    """Lines in snake case whose inputs, outputs and members of metadata are texts."""
    out = []
    for row in rows:
        told = {snake(key): value for key, value in row.items()}
        told |= {key: as_text(told.get(key)) for key in ("input", "output")}
        if isinstance(told.get("metadata"), dict):
            told["metadata"] = {key: as_text(value) for key, value in told["metadata"].items()}
        if "model" in told:
            told["provided_model_name"] = told.pop("model")
        out.append(json.dumps(told))
    return "\n".join(out)


SHAPES: dict[str, Callable[[Rows], str]] = {
    "a list": json.dumps,
    "lines": lambda rows: "\n".join(map(json.dumps, rows)),
    "a page of observations": lambda rows: json.dumps({"data": rows, "meta": {"cursor": None}}),
    "last first": lambda rows: json.dumps(rows[::-1]),
    "the blob export": blob,
}


def told(data: bytes) -> list[Any]:
    document = json.loads(data)
    assert document["status"] == "complete"
    for step in document["steps"]:
        for part in (step, *step["tool_logs"]):
            evidence = part.pop("evidence")
            part["said_by"] = evidence.get("said_by")
        for log in step["tool_logs"]:
            log["outputs"] = as_text(log["outputs"])  # the blob export has no numbers
    return [document["steps"], [item["prompt"] for item in document["inputs"]]]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", ["of-otlp-spans.json", "python-reprs.json"])
def test_the_shape_of_an_export_changes_nothing(name: str, shape: str, tmp_path: Path) -> None:
    whole = (FIXTURES / "records" / "langfuse" / name).read_bytes()
    other = SHAPES[shape](json.loads(whole)["observations"]).encode()
    expected = told(build_bytes(written(tmp_path, whole, "whole.json")))
    assert told(build_bytes(written(tmp_path, other, "other.json"))) == expected
    assert expected[0][0]["output"]["tool_calls"]
