"""`otel2traj build`: an attempt directory or a trace file becomes a trajectory, a tree of attempts a data set."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    app.command()(build)


def build(
    path: Annotated[str, typer.Argument(help="An attempt directory, a folder of traces, or one trace file.")],
    write: Annotated[bool, typer.Option("--write", help="Save trajectory.json beside the evidence.")] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File to write, or a directory for several conversations.")
    ] = None,
    recursive: Annotated[bool, typer.Option("--recursive", "-r", help="Build every attempt below PATH.")] = False,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, help="Worker processes.")] = 1,
    no_inference: Annotated[bool, typer.Option("--no-inference", help="Leave out inferred links.")] = False,
    dataset: Annotated[
        str | None, typer.Option(help="Build every attempt below PATH into the Parquet tables of this data set.")
    ] = None,
    engine: Annotated[str, typer.Option(help="With --dataset: local or ray.")] = "local",
    batch: Annotated[int, typer.Option(min=1, help="With --dataset: attempts in one part.")] = 64,
    root: Annotated[str | None, typer.Option("--as", help="With --dataset: the name of PATH in it.")] = None,
    reread: Annotated[bool, typer.Option("--reread", help="With --dataset: trust no file times.")] = False,
) -> None:
    """Build the trajectory of PATH. Without --write, -o or --dataset the document goes to stdout.

    Exit 0 built, 1 built as failed, 2 usage, 3 nothing readable or not to be written, 5 a bug.

    Example: otel2traj build attempt_dir -o trajectory.json
    """
    from ..errors import UsageError
    from ..stores import is_url, local

    if dataset is not None:
        from ..fleet.build import build_dataset
        from ..fleet.places import place_of, tree_of
        from .progress import fleet_progress

        if write or output is not None:
            raise UsageError("--dataset writes tables, --write and -o trajectories", hint="run one after the other")
        with fleet_progress() as show:
            done = build_dataset(
                tree_of(path),
                place_of(dataset),
                root=root,
                engine=engine,
                jobs=jobs,
                batch=batch,
                inference=not no_inference,
                reread=reread,
                report=show,
            )
        print(done.describe(), file=sys.stderr)
        sys.exit(1 if done.failed else 0)
    if write and is_url(path):
        raise UsageError("--write saves beside the evidence, which is at a URL", hint="say where with -o")
    with local(path) as evidence:
        _build(evidence, write, output, recursive, jobs, no_inference)


def _build(path: Path, write: bool, output: Path | None, recursive: bool, jobs: int, no_inference: bool) -> None:
    from ..api.build import build_many, build_path, print_bytes
    from ..api.runs import find_attempts
    from ..stores import as_given
    from .guard import BUG, ask_to_report, report_bug
    from .progress import progress

    below = find_attempts(path) if write or output is not None else []
    if recursive or (below and below != [path]):
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
        where = "" if item.file is None else f" -> {as_given(str(item.file))}"
        print(f"{item.describe()}{where}", file=sys.stderr)
    bug = next((item.bug for item in built if item.bug is not None), None)
    if bug is not None:
        sys.exit(report_bug(bug))
    sys.exit(1 if any(item.failed for item in built) else 0)
