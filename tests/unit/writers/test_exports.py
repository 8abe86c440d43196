"""Every format as bytes, in a stream, and the same bytes twice."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from otel2traj.canonical import loads
from otel2traj.writers import FOLDERS, WRITERS
from tests.factory import trajectory
from tests.unit.writers.run import rich, written

TEXT_FORMATS = [name for name in WRITERS.names() if not name.startswith("parquet")]
OWN = [
    name for name in TEXT_FORMATS if name not in ("trajectory", "trajectory-ledger")
]  # the other two have tests of their own
LINES = ("steps-jsonl", "openai-chat", "trl", "otlp-json")


@pytest.mark.parametrize("name", OWN)
def test_golden(name: str, fixtures: Path, golden: Callable[[Path, bytes], None]) -> None:
    golden(fixtures / "writers" / "rich" / "expected" / f"{name}{WRITERS.get(name).suffix}", written(name, rich()))


@pytest.mark.parametrize("name", OWN)
def test_is_json_and_the_same_twice(name: str) -> None:
    data = written(name, rich())
    assert data == written(name, rich())
    for line in data.splitlines() if name in LINES else [data]:
        loads(line)


@pytest.mark.parametrize("name", OWN)
def test_an_empty_run_is_still_a_document(name: str) -> None:
    data = written(name, trajectory())
    for line in data.split(b"\n")[:-1] if name in LINES else [data]:
        loads(line)


@pytest.mark.parametrize("name", ["steps-jsonl", "atif", "traceelephant-steps", "otlp-json"])
def test_a_step_is_written_when_it_comes(name: str) -> None:
    """Nothing is held back until the end: memory is that of one step."""
    what, out = rich(), BytesIO()
    sink = WRITERS.get(name).sink(out)
    sink.begin(what.header)
    sizes = []
    for one in what.steps[:3]:
        sink.step(one)
        sizes.append(out.tell())
    assert sizes == sorted(set(sizes))


def test_what_has_to_wait_for_the_end_waits_on_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Inspect's head tells how the run ended and comes first: the events are held, and not in memory."""
    monkeypatch.setattr("otel2traj.writers.inspect_log._HELD", 4096)
    what, out = rich(), BytesIO()
    sink: Any = WRITERS.get("inspect").sink(out)
    sink.begin(what.header)
    for one in what.steps:
        sink.step(one)
    assert sink._spool._rolled
    sink.end(what.summary)
    assert out.getvalue() == written("inspect", what)


def test_every_writer_says_what_it_loses() -> None:
    for writer in WRITERS:
        assert isinstance(writer.losses, tuple)
        assert writer.suffix.startswith(".")
        lossless = writer.name in ("trajectory", "steps-jsonl")
        assert bool(writer.losses) != lossless


def test_folders_name_writers() -> None:
    for files in FOLDERS.values():
        assert set(files.values()) <= set(WRITERS.names())
