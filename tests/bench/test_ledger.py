"""A million events: the audit's memory does not grow with the ledger, and its time is a ratio to hashing the bytes."""

from __future__ import annotations

import json
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from otel2traj.model.ledger import STATE_RULE, seal, state_hash
from otel2traj.model.ledger_cost import json_number
from otel2traj.model.ledger_state import first_state, next_state
from tests.ledgers import RATE

pytestmark = pytest.mark.bench

MEASURE = """
import hashlib, json, resource, sys, time
from otel2traj.auditors.ledger import audit, replay
path, what = sys.argv[1:]
start = time.process_time()
if what == "hash":
    whole = hashlib.sha256()
    with open(path, "rb") as lines:
        for line in lines:
            whole.update(line)
    said = whole.hexdigest()
elif what == "audit":
    with open(path, "rb") as lines:
        said = audit(lines, lambda finding: None).line()
else:
    with open(path, "rb") as one, open(path, "rb") as other:
        said = replay(one, other).line()
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps({"seconds": time.process_time() - start, "peak_kib": peak, "said": said}))
"""


def event(number: int, last: int) -> dict[str, Any]:
    """Half of them model calls with a priced usage, half of them executions with 200 characters of output."""
    common = {"step": number, "timestamp": "2026-01-02T03:04:05.250Z"}
    cost: dict[str, Any] = {"tokens_in": 0, "tokens_out": 0, "seconds": 0.25, "usd": 0}
    if number == 0:
        head = {"schema": "trajectory-ledger-v1", "state_rule": STATE_RULE, "rates": {"gpt-4o": RATE}}
        return {**common, **head, "type": "observe", "outcome": "pending", "cost": cost}
    if number == last:
        return {**common, "type": "observe", "outcome": "succeeded", "evidence": {"a": "b"}, "cost": cost}
    if number % 2:
        tokens = 1000 + number % 5000
        usd = json_number((tokens * Decimal("2.5") + 500) / 1_000_000)
        cost = {"tokens_in": tokens, "tokens_out": 50, "seconds": 0.5, "usd": usd}
        thought = f"I will look at file number {number} and then decide what to do with it."
        usage = {"input_tokens": tokens, "output_tokens": 50}
        return {**common, "type": "think", "thought": thought, "model": "gpt-4o", "usage": usage, "cost": cost}
    result = {"exit_code": 0, "exit_code_source": "recorded", "status": "succeeded", "output": "x" * 200}
    args = {"path": f"file-{number}.txt"}
    return {**common, "type": "tool", "tool": "read_file", "args": args, "result": result, "cost": cost}


def write(path: Path, count: int) -> Path:
    state, previous = first_state(), None
    with path.open("wb") as out:
        for number in range(count):
            item = event(number, count - 1)
            state = next_state(state, item)
            line, previous = seal({**item, "state": state, "state_hash": state_hash(state)}, previous)
            out.write(line)
    return path


def measure(path: Path, what: str) -> dict[str, Any]:
    done = subprocess.run([sys.executable, "-c", MEASURE, str(path), what], capture_output=True, check=True)
    out: dict[str, Any] = json.loads(done.stdout)
    return out


def test_a_million_events(tmp_path: Path) -> None:
    small, large = write(tmp_path / "small", 10_000), write(tmp_path / "large", 1_000_000)
    few, audited, hashed = measure(small, "audit"), measure(large, "audit"), measure(large, "hash")
    size = large.stat().st_size
    print(
        f"\n1000000 events, {size >> 20} MiB: read and hash {hashed['seconds']:.2f} s; "
        f"audit {audited['seconds']:.1f} s = {audited['seconds'] / hashed['seconds']:.0f} x, "
        f"peak {audited['peak_kib'] >> 10} MiB (10000 events: {few['peak_kib'] >> 10} MiB)"
    )
    assert audited["said"] == "PASS: audit clean (1000000 events)"
    assert audited["peak_kib"] < few["peak_kib"] + 8 * 1024
    assert audited["seconds"] < 150 * hashed["seconds"]
    assert audited["seconds"] < 200 * few["seconds"]


def test_replay_keeps_nothing_either(tmp_path: Path) -> None:
    few, many = (measure(write(tmp_path / str(count), count), "replay") for count in (10_000, 100_000))
    assert many["said"] == "PASS: replay reproduces all 100000 hashes"
    assert many["peak_kib"] < few["peak_kib"] + 8 * 1024
