"""Every recorded reason stands in the first lines of `show` and on the page's overview: taken from the raw evidence.

`OTEL2TRAJ_ATTEMPTS=FOLDER` (several with `:`) takes the attempts of those folders too.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from otel2traj.api.show import show
from otel2traj.api.source import drive
from otel2traj.renderers.bundle import BundleSink

FOLDERS = [Path(__file__).parents[2] / "fixtures" / "attempts"]
FOLDERS += [Path(folder) for folder in os.environ.get("OTEL2TRAJ_ATTEMPTS", "").split(os.pathsep) if folder]
FIRST = 15
CONTROL = "Command("
"""LangGraph hands over to another agent by raising one of these: no failure, though its span bears the exception."""


def lines(path: Path) -> Iterator[Any]:
    for line in path.read_bytes().splitlines() if path.is_file() else ():
        try:
            yield json.loads(line)
        except ValueError:
            continue


def exceptions(value: Any) -> Iterator[str]:
    """The messages of exceptions that spans of OTLP JSON record, and of error answers of ACP's JSON-RPC."""
    if isinstance(value, list):
        for item in value:
            yield from exceptions(item)
    if not isinstance(value, dict):
        return
    if value.get("name") == "exception" and isinstance(value.get("attributes"), list):
        told = {one.get("key"): one.get("value", {}).get("stringValue") for one in value["attributes"]}
        message = told.get("exception.message")
        if message and not message.startswith(CONTROL):
            yield message
    error = value.get("error")
    if "id" in value and isinstance(error, dict) and {"code", "message"} <= error.keys():
        yield error["message"]
    for item in value.values():
        yield from exceptions(item)


def reasons(attempt: Path) -> set[str]:
    """What the files of an attempt say went wrong, read without the product: results, interceptor, HTTP answers,
    exceptions of spans, ACP errors. Of a long text its first line."""
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
    for path in sorted({*attempt.rglob("otel*.jsonl"), *attempt.rglob("*acp*.jsonl")}):
        for record in lines(path):
            found.update(message.strip().splitlines()[0][:60] for message in exceptions(record) if message.strip())
    return found


def attempts(folder: Path) -> Iterator[Path]:
    for path in sorted(one for one in folder.iterdir() if one.is_dir()):
        yield path / "attempt" if (path / "attempt").is_dir() else path


CASES = [path for folder in FOLDERS for path in attempts(folder) if reasons(path)]


def test_there_are_cases() -> None:
    assert len(CASES) >= 8


@pytest.mark.parametrize("attempt", CASES, ids=lambda path: path.parent.name if path.name == "attempt" else path.name)
def test_every_recorded_reason_is_seen_first(attempt: Path) -> None:
    out = io.BytesIO()
    show(attempt, out)
    text = out.getvalue().decode("utf-8")
    head = "\n".join(text.splitlines()[:FIRST])
    sink = BundleSink(attempt.name)
    drive(attempt, sink)
    index = sink.bundle.index
    page = json.dumps([index["ended"], index["problems"]], ensure_ascii=False, default=str)
    for reason in reasons(attempt):
        assert reason in head
        assert json.dumps(reason, ensure_ascii=False)[1:-1] in page
    assert "no failure recorded" not in text
