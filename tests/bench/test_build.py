"""What a build costs: whole processes against a script that reads, hashes and parses the same bytes once, in one run.

The full sizes of the targets: `OTEL2TRAJ_BENCH_STEPS=1000 OTEL2TRAJ_BENCH_TURN=880 OTEL2TRAJ_BENCH_BUILD_SPANS=50000`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from .attempts import growing_attempt, many_spans, many_traces, windowed_traces

pytestmark = pytest.mark.bench

STEPS = int(os.environ.get("OTEL2TRAJ_BENCH_STEPS", "200"))
TURN = int(os.environ.get("OTEL2TRAJ_BENCH_TURN", "4400"))
SPANS = int(os.environ.get("OTEL2TRAJ_BENCH_BUILD_SPANS", "8000"))

FLOOR = """
import hashlib, sys
import orjson
whole = hashlib.sha256()
with open(sys.argv[1], "rb") as lines:
    for line in lines:
        whole.update(line)
        orjson.loads(line)
"""
MAIN = "from otel2traj.cli import main\nmain()"


AGENTPILE = os.environ.get("OTEL2TRAJ_BENCH_AGENTPILE")
_TIMED = """
import sys, time
from pathlib import Path
path, out = Path(sys.argv[1]), Path(sys.argv[2])
out.mkdir(exist_ok=True)
{setup}
work()
start = time.process_time()
work()
print(time.process_time() - start)
"""
MINE = _TIMED.format(
    setup="from otel2traj.api.build import build_path\ndef work(): build_path(path, output=out)",
)
OTHER = _TIMED.format(
    setup="import agentpile as ap\ndef work(): [run.to_json() for run in ap.load(path, reader='otlp-json')]",
)


class Cost(NamedTuple):
    cpu: float
    """User and system seconds of the whole process."""
    peak: float
    """MiB."""


def cost(code: str, *words: str) -> Cost:
    """What `python -c code words` costs. Start-up is part of it."""
    quiet = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_WRONLY, 0) for stream in (1, 2)]
    pid = os.posix_spawn(sys.executable, [sys.executable, "-c", code, *words], os.environ, file_actions=quiet)
    _, status, used = os.wait4(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0, words
    return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def least(rounds: int, **tasks: tuple[str, ...]) -> dict[str, Cost]:
    """The cheapest of several rounds of every task, rounds interleaved; the largest peak."""
    found = [{name: cost(*task) for name, task in tasks.items()} for _ in range(rounds)]
    return {name: Cost(min(one[name].cpu for one in found), max(one[name].peak for one in found)) for name in tasks}


def test_histories_that_grow(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    size = growing_attempt(tmp_path / "attempt", STEPS, TURN)
    wire = tmp_path / "attempt" / "logs" / "network.jsonl"
    found = least(3, floor=(FLOOR, str(wire)), build=(MAIN, "build", str(tmp_path / "attempt"), "--write"))
    floor, build = found["floor"], found["build"]
    with capsys.disabled():
        print(
            f"\n{STEPS} steps, {size / 1e6:.0f} MB: floor {floor.cpu:.2f} s, build {build.cpu:.2f} s"
            f" = {build.cpu / floor.cpu:.2f} x, peak {build.peak:.0f} MiB"
        )
    assert build.cpu < 3 * floor.cpu
    assert build.peak < 150


def test_spans_cost_the_same_however_many(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tasks: dict[str, tuple[str, ...]] = {}
    for name, count in (("few", SPANS), ("many", 4 * SPANS)):
        many_spans(tmp_path / f"{name}.jsonl", count)
        tasks[f"{name}_floor"] = FLOOR, str(tmp_path / f"{name}.jsonl")
        output = str(tmp_path / f"{name}.out.json")
        tasks[name] = MAIN, "build", str(tmp_path / f"{name}.jsonl"), "--output", output
    found = least(3, **tasks)
    few, many = found["few"], found["many"]
    with capsys.disabled():
        each = (many.cpu - few.cpu) / (3 * SPANS)
        print(
            f"\n{SPANS} spans {few.cpu:.2f} s, {4 * SPANS} spans {many.cpu:.2f} s: {many.cpu / few.cpu:.2f} x,"
            f" {1 / each:.0f} spans more a CPU second, {many.cpu / found['many_floor'].cpu:.0f} x the floor,"
            f" peak {many.peak:.0f} MiB"
        )
    assert many.cpu < 5 * few.cpu
    assert many.cpu < 25 * found["many_floor"].cpu
    assert many.peak < 4 * few.peak


def test_conversations_cost_the_same_however_many(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same spans in one trace and in many short ones, and four times as many of those."""
    files = {"one": (SPANS, SPANS), "many": (SPANS, 20), "more": (4 * SPANS, 20)}
    tasks: dict[str, tuple[str, ...]] = {}
    for name, (spans, per_trace) in files.items():
        many_traces(tmp_path / f"{name}.jsonl", spans, per_trace)
        tasks[name] = MAIN, "build", str(tmp_path / f"{name}.jsonl"), "--output", str(tmp_path / name)
    (tmp_path / "many").mkdir()
    (tmp_path / "more").mkdir()
    found = least(3, **tasks)
    one, many, more = found["one"].cpu, found["many"].cpu, found["more"].cpu
    with capsys.disabled():
        print(
            f"\n{SPANS} spans in one trace {one:.2f} s, in {SPANS // 20} traces {many:.2f} s = {many / one:.2f} x;"
            f" four times as many {more:.2f} s = {more / many:.2f} x"
        )
    assert many < 2.5 * one
    assert more < 5 * many


def test_messages_that_are_told_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Spans of the GenAI conventions that each tell the last messages again, against parsing the document once."""
    spans = windowed_traces(tmp_path / "traces.json", SPANS // 80)
    size = (tmp_path / "traces.json").stat().st_size
    (tmp_path / "out").mkdir()
    build = MAIN, "build", str(tmp_path / "traces.json"), "--output", str(tmp_path / "out")
    found = least(3, floor=(FLOOR, str(tmp_path / "traces.json")), build=build, nothing=(MAIN, "--version"))
    each = (found["build"].cpu - found["nothing"].cpu) / spans
    ratio = (found["build"].cpu - found["nothing"].cpu) / found["floor"].cpu
    with capsys.disabled():
        print(
            f"\n{spans} spans, {size / 1e6:.1f} MB: {1e6 * each:.0f} us a span, {ratio:.1f} x the floor,"
            f" peak {found['build'].peak:.0f} MiB"
        )
    assert ratio < 12


@pytest.mark.skipif(AGENTPILE is None, reason="OTEL2TRAJ_BENCH_AGENTPILE names no interpreter that has agentpile")
def test_against_agentpile(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same document through another converter, start-up and imports of both left out."""
    windowed_traces(tmp_path / "traces.json", SPANS // 80)
    asked: dict[str, tuple[str, str]] = {"mine": (sys.executable, MINE), "other": (str(AGENTPILE), OTHER)}
    best: dict[str, float] = {}
    for _ in range(3):
        for name, (python, code) in asked.items():
            words = [python, "-c", code, str(tmp_path / "traces.json"), str(tmp_path / "out")]
            told = float(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
            best[name] = min(best.get(name, told), told)
    with capsys.disabled():
        print(
            f"\nagentpile {best['other']:.2f} s, otel2traj {best['mine']:.2f} s = {best['other'] / best['mine']:.2f} x"
        )
    assert best["other"] > 0.7 * best["mine"]


def test_start_up(fixtures: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved = fixtures / "attempts" / "abb-02-parallel-tools" / "expected" / "trajectory.json"
    found = least(
        5,
        python=("pass",),
        typer=("import typer",),
        help=(MAIN, "--help"),
        show=(MAIN, "show", str(saved)),
    )
    with capsys.disabled():
        told = ", ".join(f"{name} {one.cpu:.3f} s" for name, one in found.items())
        print(f"\nstart-up: {told}")
    assert found["help"].cpu < 3 * found["typer"].cpu
    assert found["show"].cpu < 5.5 * found["typer"].cpu
