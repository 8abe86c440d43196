"""Mutated attempts of all recorders: no bug, every file validates, and no step is lost without a notice."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path
from typing import Any

import pytest

from otel2traj.api.build import build_path
from otel2traj.api.validate_trajectory import validate

ATTEMPTS = sorted((Path(__file__).parents[2] / "fixtures" / "attempts").glob("*/attempt"))
ODD: tuple[Any, ...] = (
    None, True, 0, -1, 1.5, 2**70, "", "x", "../x", "\ud800", "a\u0000b",
    [], {}, [None], [[]], [{}], ["x", 5], {"a": 1},
)  # fmt: skip


def mutate(node: Any, chance: random.Random) -> None:
    """Replace, rename or drop one member somewhere below."""
    while isinstance(node, dict | list) and node:
        key = chance.choice(sorted(node)) if isinstance(node, dict) else chance.randrange(len(node))
        how = chance.choice(("down", "down", "down", "set", "drop", "rename"))
        if how == "down":
            node = node[key]
            continue
        if how == "set":
            node[key] = chance.choice(ODD)
        elif how == "drop" or isinstance(node, list):
            del node[key]
        else:
            node["other"] = node.pop(key)
        return


def run(seed: int, folder: Path) -> list[str]:
    """What is wrong with one mutated attempt."""
    chance = random.Random(seed)
    attempt, out = folder / "attempt", folder / "out.json"
    shutil.rmtree(attempt, ignore_errors=True)
    origin = chance.choice(ATTEMPTS)
    shutil.copytree(origin, attempt, symlinks=True)
    before = json.loads((origin.parent / "expected" / "trajectory.json").read_bytes())
    files = sorted(path for path in attempt.rglob("*.json*") if path.is_file() and not path.is_symlink())
    for _ in range(chance.randint(1, 3)):
        file = chance.choice(files)
        lines = file.read_bytes().split(b"\n") if file.suffix == ".jsonl" else [file.read_bytes()]
        at = chance.randrange(len(lines))
        try:
            document = json.loads(lines[at])
        except ValueError:
            continue
        mutate(document, chance)
        lines[at] = json.dumps(document).encode()
        file.write_bytes(b"\n".join(lines))
    wrong = []
    for built in build_path(attempt, output=out):
        if built.bug is not None:
            wrong.append(f"{origin.parent.name} {seed}: {type(built.bug).__name__}: {built.bug}")
        lost = len(before["steps"]) - len(json.loads(out.read_bytes())["steps"])
        if lost > 0 and not built.summary.warnings and built.summary.error is None:
            wrong.append(f"{origin.parent.name} {seed}: {lost} steps lost without a word")
    for found in validate(out):
        wrong.append(f"{origin.parent.name} {seed}: {found.rule} {found.message[:90]} {found.pointer}")
    return wrong


def test_a_hundred(tmp_path: Path) -> None:
    assert [told for seed in range(100) for told in run(seed, tmp_path)] == []


def test_a_start_that_is_no_time_beside_an_end_that_is_one(tmp_path: Path) -> None:
    assert run(1110, tmp_path) == []


@pytest.mark.bench
def test_three_thousand(tmp_path: Path) -> None:
    assert [told for seed in range(3000) for told in run(seed, tmp_path)] == []
