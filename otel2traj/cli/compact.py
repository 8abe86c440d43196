"""`otel2traj compact`: a data set of many small files becomes one of few large ones."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    app.command()(compact)


def compact(dataset: Annotated[Path, typer.Argument(help="A data set that `build --dataset` made.")]) -> None:
    """Write a data set anew in few large files; every long text stands once, and none that no row names."""
    from ..fleet import compact as fleet
    from ..fleet.place import Folder

    before, after = fleet.compact(Folder(dataset))
    print(f"{before} files became {after}", file=sys.stderr)
