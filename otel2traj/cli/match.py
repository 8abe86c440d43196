"""`otel2traj match`: a run against another run, or against labels."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    app.command("match")(match)


def match(
    reference: Annotated[Path, typer.Argument(help="A run, or a failure data set (Who&When, TraceElephant).")],
    candidate: Annotated[Path, typer.Argument(help="A run, or predictions as JSON Lines.")],
    ignore: Annotated[list[str] | None, typer.Option("--ignore", help="A field to leave out; repeatable.")] = None,
    task: Annotated[str | None, typer.Option(help="Which task of the data set this run is.")] = None,
    base: Annotated[int | None, typer.Option(min=0, max=1, help="Predictions count steps from 0 or 1.")] = None,
    json: Annotated[bool, typer.Option("--json", help="The whole result as one JSON document.")] = False,
) -> None:
    """Compare two runs step by step; exit 0 when equal, 1 when different.

    Example: otel2traj match good.json bad.json --ignore model
    """
    from ..api import match as api
    from ..canonical import dumps_pretty

    result = api.match(reference, candidate, ignore=ignore or [], task=task, base=base)
    if json:
        sys.stdout.buffer.write(dumps_pretty(result.to_json()) + b"\n")
    else:
        print("\n".join(result.lines()))
    raise typer.Exit(0 if result.equal else 1)
