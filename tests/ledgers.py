"""Ledgers for tests: one that even `--strict` finds clean, and its parts made consistent again after a change."""

from __future__ import annotations

import io
from collections.abc import Iterable
from decimal import Decimal
from typing import Any
from unittest.mock import patch

from otel2traj.auditors.ledger import Options, Verdict, audit
from otel2traj.canonical import JsonObject, canonical_bytes, loads
from otel2traj.model.finding import Finding
from otel2traj.model.ledger import seal, state_hash
from otel2traj.model.ledger_cost import RATE_UNIT, Totals
from otel2traj.model.ledger_state import first_state, next_state
from otel2traj.model.trajectory import SdkInput, Trajectory
from otel2traj.writers.ledger import LedgerSink
from tests.factory import not_observed, play, step, tool_log, trajectory

TIMES = {"started_at": "2026-01-02T03:04:01.800Z", "ended_at": "2026-01-02T03:04:01.900Z"}


def good_trajectory() -> Trajectory:
    """Two model calls of a model with a known price; an execution with an exit code and one that nobody observed; a
    file change; a result file."""
    calls = [{"id": "call_1", "name": "shell", "arguments": {"cmd": "ls"}}, {"id": "call_2", "name": "search"}]
    usage = {"input_tokens": 1000, "output_tokens": 50, "cache_read_input_tokens": 400}
    first = step(
        1,
        tool_log(
            "call_1",
            "shell",
            input_arguments={"cmd": "ls"},
            outputs="a.txt\n",
            exit_status={"exitCode": 0, "signal": None},
            evidence=TIMES,
        ),
        not_observed("call_2", "search"),
        model="gpt-4o",
        output={"text": None, "reasoning": "Look first.", "tool_calls": calls, "usage": usage},
    )
    last = step(2, model="gpt-4o", output={"text": "Done.", "usage": {"input_tokens": 1200, "output_tokens": 7}})
    change = {"path": "a.txt", "change_type": "created", "after_hash": "sha256:" + "1" * 64}
    return trajectory(
        first,
        last,
        inputs=[SdkInput("0001", "input-1", "Do it.", [1, 2], {"status": "succeeded"}, [change])],
        sources=[{"path": "steps/0001/result.json", "sha256": "a" * 64}],
    )


RATE = {"unit": RATE_UNIT, "provider": "openai", "matched": "gpt-4o", "by": "table"} | {
    "input": "2.5",
    "output": "10",
    "cache_read": "1.25",
}


def export(what: Trajectory) -> bytes:
    out = io.BytesIO()
    play(what, LedgerSink(out))
    return out.getvalue()


def good_ledger() -> bytes:
    """The good ledger, the same whichever price table is installed."""
    table = {"package": "genai-prices", "version": "0.0.0"}
    with (
        patch("otel2traj.prices.rate", lambda model, first, last: (dict(RATE), None)),
        patch("otel2traj.prices.source", lambda: table),
    ):
        return export(good_trajectory())


def events(ledger: bytes) -> list[Any]:
    return [loads(line) for line in ledger.splitlines()]


def good() -> list[Any]:
    """pending · Input · think · tool · unobserved · think · file change and result · succeeded."""
    return events(good_ledger())


def written(items: Iterable[JsonObject]) -> bytes:
    """As they stand, one a line."""
    return b"".join(canonical_bytes(item) + b"\n" for item in items)


def sealed(items: Iterable[JsonObject]) -> bytes:
    """With the event chain made again, and nothing else."""
    out, previous = b"", None
    for item in items:
        line, previous = seal({key: value for key, value in item.items() if key != "event_hash"}, previous)
        out += line
    return out


def consistent(items: Iterable[JsonObject]) -> bytes:
    """With states, state hashes, totals and the event chain made again: only what was changed is wrong."""
    state, totals, out = first_state(), Totals(), []
    for given in items:
        item = dict(given)
        state = next_state(state, item)
        if "state" in item:
            item["state"] = state
        if "state_hash" in item:
            item["state_hash"] = state_hash(state)
        if isinstance(item.get("cost"), dict):
            totals.add(item["cost"])
        if "totals" in item:
            item["totals"] = totals.to_json()
        out.append(item)
    return sealed(out)


def judge(ledger: bytes, **options: Any) -> tuple[Verdict, list[Finding]]:
    """The verdict and the failures."""
    found: list[Finding] = []
    limits = [None if options.get(name) is None else Decimal(options[name]) for name in ("max_usd", "max_seconds")]
    verdict = audit(
        io.BytesIO(ledger),
        found.append,
        Options(options.get("strict", False), *limits, options.get("expect_end")),
        derived=options.get("derived"),
    )
    return verdict, [finding for finding in found if finding.severity == "error"]
