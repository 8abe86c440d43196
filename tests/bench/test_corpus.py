"""What a corpus costs: derivation as a ratio to building the trajectories alone, and memory that does not grow."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from .attempts import growing_attempt

pytestmark = pytest.mark.bench

MEASURE = """
import io, json, resource, sys, time
from pathlib import Path
root, corpus, what = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
from otel2traj.api import corpus as api
from otel2traj.api.source import drive
from otel2traj.writers.trajectory import TrajectoryWriter
from otel2traj.prov.engine import derive_prov
start = time.process_time()
if what == "build":
    for attempt in sorted(root.iterdir()):
        drive(attempt, TrajectoryWriter().sink(io.BytesIO()))
elif what == "import":
    api.import_root(root, corpus)
elif what == "derive":
    api.derive(corpus)
elif what == "recompute":
    assert api.recompute(corpus).findings == []
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps({"seconds": time.process_time() - start, "peak_kib": peak}))
"""


def measure(root: Path, corpus: Path, what: str) -> dict[str, float]:
    out = subprocess.run(
        [sys.executable, "-c", MEASURE, str(root), str(corpus), what], capture_output=True, text=True, check=True
    )
    found: dict[str, float] = json.loads(out.stdout)
    return found


def attempts(folder: Path, count: int) -> Path:
    root = folder / "runs"
    for number in range(count):
        growing_attempt(root / f"a{number:04d}", 12, 400)
    return root


def test_derivation_is_a_small_multiple_of_building(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = attempts(tmp_path, 200)
    found = {what: measure(root, tmp_path / "c", what) for what in ("build", "import", "derive", "recompute")}
    build = found["build"]["seconds"]
    ratios = {what: one["seconds"] / build for what, one in found.items()}
    with capsys.disabled():
        print(f"\n200 attempts, CPU as a multiple of building ({build:.2f} s): {ratios}")
    assert ratios["import"] < 4
    assert ratios["derive"] < 5
    assert ratios["recompute"] < 9


def test_memory_does_not_grow_with_the_number_of_attempts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    peaks = {}
    for count in (40, 400):
        folder = tmp_path / str(count)
        root = attempts(folder, count)
        peaks[count] = max(measure(root, folder / "c", what)["peak_kib"] for what in ("import", "derive", "recompute"))
    with capsys.disabled():
        print(f"\npeak KiB by attempts: {peaks}")
    assert peaks[400] < peaks[40] * 1.5
