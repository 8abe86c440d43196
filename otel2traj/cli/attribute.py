"""`otel2traj attribute`: which turn most likely decided that a run failed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    app.command("attribute")(attribute)


def attribute(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="An attempt, a trace, a saved run or a Who&When file.")],
    limit: Annotated[int, typer.Option("--limit", min=1, help="How many candidates.")] = 5,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Propose the responsible agent and the decisive step of a failed run. Exit 0, 1 unknown, 3 unreadable."""
    from ..api.attribute import attribute_run
    from ..canonical import dumps
    from ..renderers.safe import inline

    found = attribute_run(run, limit=limit)
    if as_json:
        print(dumps(found.to_json()).decode())
        sys.exit(0 if found.candidates else 1)
    for number, one in enumerate(found.candidates, 1):
        sure = "not measured for runs of this kind" if one.confidence is None else f"right in {one.confidence:.0%}"
        print(f"{number}. step {one.step}  {inline(one.agent)}  ({one.rule}, {sure})")
        for sign in one.evidence:
            print(f"     {inline(sign)}")
    if found.unknown is not None:
        print(f"unknown: {found.unknown}", file=sys.stderr)
    sys.exit(0 if found.candidates else 1)
