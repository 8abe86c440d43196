"""`otel2traj build`: an attempt directory or a trace file becomes a trajectory."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    app.command()(build)


def build(
    path: Annotated[Path, typer.Argument(help="An attempt directory, a folder of traces, or one trace file.")],
    write: Annotated[bool, typer.Option("--write", help="Save trajectory.json beside the evidence.")] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File to write, or a directory for several conversations.")
    ] = None,
    recursive: Annotated[bool, typer.Option("--recursive", "-r", help="Build every attempt below PATH.")] = False,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, help="Worker processes.")] = 1,
    no_inference: Annotated[bool, typer.Option("--no-inference", help="Leave out inferred links.")] = False,
) -> None:
    """Build the trajectory of PATH. Without --write or -o the document goes to stdout.

    Exit 0 built, 1 built as failed, 2 usage, 3 nothing readable or not to be written, 5 a bug.
    """
    from ..api.build import build_many, build_path, print_bytes
    from .guard import BUG, ask_to_report, report_bug
    from .progress import progress

    if recursive:
        failed, bugs = 0, 0
        for line in build_many(path, jobs=jobs, write=write, output=output, inference=not no_inference):
            failed += line.failed
            bugs += line.bug
            print(line.text)
        if bugs:
            ask_to_report()
        sys.exit(BUG if bugs else 1 if failed else 0)
    with progress() as report:
        if not write and output is None:
            built = print_bytes(path, sys.stdout.buffer, inference=not no_inference, progress=report, jobs=jobs)
        else:
            built = build_path(path, write=write, output=output, inference=not no_inference, progress=report, jobs=jobs)
    for item in built:
        where = "" if item.file is None else f" -> {item.file}"
        print(f"{item.describe()}{where}", file=sys.stderr)
    bug = next((item.bug for item in built if item.bug is not None), None)
    if bug is not None:
        sys.exit(report_bug(bug))
    sys.exit(1 if any(item.failed for item in built) else 0)
