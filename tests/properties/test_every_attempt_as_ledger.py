"""Every shipped attempt as a ledger: clean, the same twice, replaying itself, its sums the recorded usage."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from otel2traj.api.source import drive
from otel2traj.auditors.ledger import replay
from otel2traj.auditors.ledger.schema import check
from otel2traj.errors import EvidenceError
from otel2traj.model.link import ExecutionStatus
from otel2traj.model.trajectory import Collect
from otel2traj.writers.ledger import LedgerSink
from tests.ledgers import events, judge

FIXTURES = Path(__file__).parent.parent.parent / "fixtures"
CASES = sorted(path for path in (FIXTURES / "attempts").glob("*") if path.is_dir())
ATTEMPTS = [path / "attempt" if (path / "attempt").is_dir() else path for path in CASES]
ATTEMPTS.append(FIXTURES / "ledger" / "adk-parallel" / "attempt")


@pytest.mark.parametrize("attempt", ATTEMPTS, ids=lambda path: str(path.relative_to(FIXTURES)))
def test_an_attempt_as_a_ledger(attempt: Path) -> None:
    collected, one, other = Collect(), io.BytesIO(), io.BytesIO()
    try:
        drive(attempt, collected, LedgerSink(one))
    except EvidenceError:
        return  # an attempt that shows a refusal
    drive(attempt, LedgerSink(other))
    trajectory = collected.trajectory
    verdict, found = judge(one.getvalue())
    assert found == []
    assert one.getvalue() == other.getvalue()
    assert replay(io.BytesIO(one.getvalue()), io.BytesIO(other.getvalue())).reproduced
    assert check(io.BytesIO(one.getvalue()), lambda finding: pytest.fail(finding.message)) == 0

    usages = [step.output.get("usage") or {} for step in trajectory.steps]
    assert verdict.totals.sums["tokens_in"] == sum(usage.get("input_tokens") or 0 for usage in usages)
    assert verdict.totals.sums["tokens_out"] == sum(usage.get("output_tokens") or 0 for usage in usages)

    told = events(one.getvalue())
    logs = [log for step in trajectory.steps for log in step.tool_logs]
    grounded = sum(event["type"] == "tool" for event in told)
    blocked = sum("call" in event for event in told)
    assert grounded + blocked == len(logs)
    assert grounded <= sum(log.execution_status is not ExecutionStatus.NOT_OBSERVED for log in logs)
    if told[-1]["outcome"] == "succeeded":
        assert all((item.result or {}).get("status") == "succeeded" for item in trajectory.summary.inputs)
        digests = {source["path"]: source["sha256"] for source in trajectory.summary.sources}
        for result in told[-1]["evidence"]["results"]:
            assert digests[result["path"]] == result["sha256"]
