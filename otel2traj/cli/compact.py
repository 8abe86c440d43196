"""`otel2traj compact`: a data set of many small files becomes one of few large ones."""

from __future__ import annotations

import sys
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    app.command()(compact)


def compact(dataset: Annotated[str, typer.Argument(help="A data set that `build --dataset` made.")]) -> None:
    """Write a data set anew in few large files; every long text stands once, and none that no row names.

    Example: otel2traj compact runs
    """
    from ..fleet import compact as fleet
    from ..fleet.places import place_of

    before, after = fleet.compact(place_of(dataset))
    print(f"{before} files became {after}", file=sys.stderr)
