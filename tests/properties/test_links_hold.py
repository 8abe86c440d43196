"""Random small runs with a known truth: no stated exact link and no join is ever wrong; what is missed is counted.

One kind of link nobody can judge, and it is counted apart: the only records left of two calls with one id, one name and
one set of arguments are the answer that asked for the one, and the execution of the other.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from otel2traj.api.source import load
from otel2traj.model.trajectory import Trajectory
from tests.properties.told_runs import ToldRun

SEEDS = int(os.environ.get("OTEL2TRAJ_SEEDS", "40"))
"""How many runs for each share of loss."""

Truth = dict[tuple[str, int], frozenset[str]]


def told(evidence: dict[str, Any], truth: Truth) -> frozenset[str] | None:
    """What all records of a step or a tool log tell of together; None where nothing is said of it."""
    found = [truth[record["path"], record["line"]] for record in evidence["records"]]
    found = [tells for tells in found if tells]
    return frozenset.intersection(*found) if found else None


def faults(run: ToldRun, truth: Truth, trajectory: Trajectory, counts: Counter[str]) -> list[str]:
    """What is stated and was not so; links and joins are counted by rule."""
    out, seen = [], set()
    for step in trajectory.steps:
        where = f"step {step.step_id}"
        mine = told(step.evidence, truth)
        if mine is not None and not mine:
            out.append(f"{where} joins two calls by {step.evidence.get('join')}")
            continue
        if step.evidence.get("join"):
            counts[f"join {step.evidence['join']}"] += 1
        seen |= mine or set()
        for position, log in enumerate(step.tool_logs):
            if step.kind != "model":
                done = told(log.evidence, truth)
                if not done:
                    out.append(f"{where} is of two executions")
                seen |= done or set()
            elif log.link != "exact":
                counts["missed"] += 1
                seen |= {key for other in log.evidence.get("candidates", ()) for key in told(other, truth) or ()}
            else:
                counts[f"link {log.evidence['link_rule']}"] += 1
                done = told(log.evidence, truth) or frozenset()
                asked = {run.emits[call][position].key for call in mine or () if position < len(run.emits[call])}
                if run.alike_and_lost(asked, done, truth):
                    counts["undecidable"] += 1
                elif not asked & done:
                    out.append(f"{where} {log.tool_call_id} of {sorted(asked)} is linked to {sorted(done)}")
                elif log.outputs is not None and log.outputs not in [run.results[key] for key in done]:
                    out.append(f"{where} {log.tool_call_id} of {sorted(asked)} states {log.outputs!r}")
                seen |= done
    out += [f"{tells} is in no step" for tells in truth.values() if len(tells) == 1 and not tells & seen]
    return out


@pytest.mark.parametrize("loss", [0.0, 0.3, 0.5])
def test_no_stated_link_is_wrong(tmp_path: Path, loss: float) -> None:
    counts: Counter[str] = Counter()
    for seed in range(SEEDS):
        run = ToldRun(f"{loss} {seed}")
        root = tmp_path / str(seed)
        truth = run.write(root, loss)
        if any(truth.values()):
            source = root / "trace.jsonl" if run.plain else root
            wrong = faults(run, truth, load(source), counts)
            assert not wrong, (seed, wrong, run.__dict__["ids"])
    print(f"loss {loss:.0%}: none wrong;", json.dumps(dict(sorted(counts.items()))))
    assert counts["link tool_call_id"] > SEEDS / 4
