"""`otel2traj compare`: many runs of one task, and what goes with failure."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    app.command("compare")(compare)


def compare(
    runs: Annotated[list[Path], typer.Argument(metavar="RUNS...", help="Runs, or folders of attempts.")],
    passed: Annotated[list[str] | None, typer.Option("--passed", help="Glob over names of passed runs.")] = None,
    failed: Annotated[list[str] | None, typer.Option("--failed", help="Glob over names of failed runs.")] = None,
    verdicts: Annotated[Path | None, typer.Option("--verdicts", help="JSON object: name to passed or failed.")] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="How many elements.")] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,
) -> None:
    """Rank what happened by how it goes with failure. Exit 0 ranked, 1 nothing to rank, 2 usage, 3 unreadable.

    Example: otel2traj compare runs
    """
    from ..api.compare import compare_runs
    from ..canonical import dumps_pretty
    from ..renderers.safe import inline

    found = compare_runs(runs, passed=passed or (), failed=failed or (), verdicts=verdicts)
    spectrum = found.spectrum
    if as_json:
        sys.stdout.buffer.write(dumps_pretty(found.to_json(limit)) + b"\n")
        sys.exit(0 if spectrum.ranked else 1)
    for word, group in (("failed", spectrum.failed), ("passed", spectrum.passed), ("no verdict", found.undecided)):
        for run in group:
            why = f"  {inline(run.reason)[:60]}" if run.reason else ""
            tokens = f"{run.tokens_in}/{run.tokens_out} tokens"
            print(f"{word:10} {inline(run.name)}  {run.steps} steps, {run.tools} tool calls, {tokens}{why}")
    for name, reason in found.unread:
        print(f"unread     {inline(name)}: {inline(reason)}", file=sys.stderr)
    if spectrum.remark is not None:
        print(f"note: {spectrum.remark}", file=sys.stderr)
    if spectrum.ranked:
        print("\nochiai  dstar  failed with/without  passed with/without")
    for agent, ranked in replace(spectrum, ranked=spectrum.ranked[:limit]).by_agent().items():
        print(f"{inline(agent) if agent is not None else 'no agent'}")
        for one in ranked:
            star = "inf" if one.dstar == float("inf") else f"{one.dstar:.2f}"
            counts = f"{one.failed_with}/{one.failed_without}", f"{one.passed_with}/{one.passed_without}"
            kind = f"{one.element.kind} {inline(one.element.name)}"
            print(f"  {one.ochiai:.2f}  {star:>5}  {counts[0]:>6} {counts[1]:>6}  {kind}")
            print(f"                             first: {inline(one.example[0])} step {one.example[1]}")
    sys.exit(0 if spectrum.ranked else 1)
