"""Every recorded reason stands in the first lines of `show` and on the page's overview: taken from the raw evidence."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from otel2traj.api.show import show
from otel2traj.api.source import drive
from otel2traj.renderers.bundle import BundleSink

ATTEMPTS = Path(__file__).parents[2] / "fixtures" / "attempts"
FIRST = 15


def lines(path: Path) -> Iterator[Any]:
    for line in path.read_bytes().splitlines() if path.is_file() else ():
        try:
            yield json.loads(line)
        except ValueError:
            continue


def reasons(attempt: Path) -> set[str]:
    """What the files of an attempt say went wrong, read without the product: results, interceptor, HTTP answers."""
    found: set[str] = set()
    for result in attempt.rglob("result.json"):
        error = (json.loads(result.read_bytes()) or {}).get("error")
        if isinstance(error, dict) and error.get("message"):
            found.add(error["message"])
    for path in (attempt / "logs" / "network.jsonl", attempt / "network.jsonl"):
        for record in lines(path):
            data = record.get("data") if isinstance(record, dict) else None
            if not isinstance(data, dict):
                continue
            if record.get("event") == "llm_error" and isinstance(data.get("error"), str):
                found.add(data["error"].splitlines()[0][:60])
            body = data.get("payload")
            if record.get("event") == "llm_response" and data.get("status", 0) >= 400 and isinstance(body, dict):
                found.add(body["error"]["message"])
    return found


CASES = sorted(path.parent.name for path in ATTEMPTS.glob("*/attempt") if reasons(path))


def test_there_are_cases() -> None:
    assert len(CASES) >= 5


@pytest.mark.parametrize("name", CASES)
def test_every_recorded_reason_is_seen_first(name: str) -> None:
    attempt = ATTEMPTS / name / "attempt"
    out = io.BytesIO()
    show(attempt, out)
    text = out.getvalue().decode("utf-8")
    head = "\n".join(text.splitlines()[:FIRST])
    sink = BundleSink(name)
    drive(attempt, sink)
    index = sink.bundle.index
    page = json.dumps([index["ended"], index["problems"]], ensure_ascii=False, default=str)
    for reason in reasons(attempt):
        assert reason in head
        assert json.dumps(reason, ensure_ascii=False)[1:-1] in page
    assert "no failure recorded" not in text
