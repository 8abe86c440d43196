"""A build that is killed, driver and workers at once, and started again leaves the data set of one that was not."""

from __future__ import annotations

import hashlib
import random
import time
from pathlib import Path

import pytest

from otel2traj.api.build import build_bytes
from otel2traj.fleet import engines
from tests.bench.fleet import committed, driver, generate, kill
from tests.unit.fleet.made import ask, build, files, here

ATTEMPTS, BATCH = 96, 8


def test_killed_three_times_and_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree, out = tmp_path / "tree", tmp_path / "out"
    generate(tree, ATTEMPTS)
    chance = random.Random(3)
    kills = 0
    for point in sorted(chance.sample(range(ATTEMPTS // BATCH - 3), 3)):
        process = driver(tree, out, 2, BATCH)
        while process.poll() is None and committed(out) < point + 1:
            time.sleep(0.01)
        time.sleep(chance.random() / 20)
        if process.poll() is None:
            kill(process)
            kills += 1
    assert kills >= 2, "the machine was too fast for this test"
    process = driver(tree, out, 2, BATCH)
    assert process.wait() == 0
    monkeypatch.setitem(engines.ENGINES, "local", here)
    build(tree, tmp_path / "whole", batch=BATCH)
    assert files(out) == files(tmp_path / "whole")
    assert not (out / "_scratch").exists()
    for attempt, digest in ask(out, "SELECT attempt, trajectory_sha256 FROM runs ORDER BY run LIMIT 5"):
        assert hashlib.sha256(build_bytes(tree / attempt)).hexdigest() == digest
    assert build(tree, out, batch=BATCH).waiting == 0
