"""What a build costs: whole processes against a script that reads, hashes and parses the same bytes once, in one run.

The full sizes of the targets: `OTEL2TRAJ_BENCH_STEPS=1000 OTEL2TRAJ_BENCH_TURN=880 OTEL2TRAJ_BENCH_BUILD_SPANS=50000`.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from .attempts import growing_attempt, many_spans

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
    assert many.cpu < 40 * found["many_floor"].cpu
    assert many.peak < 4 * few.peak


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
    assert found["show"].cpu < 6 * found["typer"].cpu
