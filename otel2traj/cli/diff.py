"""`otel2traj diff`: where one run parted from another."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    app.command("diff")(diff)


def diff(
    a: Annotated[Path, typer.Argument(metavar="A", help="A run: an attempt, a trace or a saved trajectory.")],
    b: Annotated[Path, typer.Argument(metavar="B", help="The run to hold against it.")],
    ignore: Annotated[list[str] | None, typer.Option("--ignore", help="A field to leave out; repeatable.")] = None,
    width: Annotated[int, typer.Option("--width", min=30, help="Columns.")] = 60,
    lines: Annotated[int, typer.Option("--lines", min=1, help="Lines of each field.")] = 12,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,
    html: Annotated[Path | None, typer.Option("--html", help="Write both side by side as a page.")] = None,
) -> None:
    """Name the first divergence of two runs, then what differs. Exit 0 equal, 1 different, 2 usage, 3 unreadable.

    Example: otel2traj diff good.json bad.json --html diff.html
    """
    from ..api import diff as api
    from ..canonical import dumps_pretty

    found = api.diff(a, b, ignore=tuple(ignore or ()))
    if html is not None:
        api.page(found, html)
    elif as_json:
        sys.stdout.buffer.write(dumps_pretty(found.to_json()) + b"\n")
    else:
        print("\n".join(api.lines(found, width, lines)))
    sys.exit(0 if found.equal else 1)
