"""`otel2traj view`: a run, or many, as one page for the browser."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, NoReturn

import typer


class PageName(StrEnum):
    page = "page"
    report = "report"


def register(app: typer.Typer) -> None:
    app.command("view")(view)


def view(
    paths: Annotated[
        list[Path], typer.Argument(help="Attempts, folders of attempts, trace files, saved trajectories.")
    ],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="The page to write.")] = None,
    serve: Annotated[bool, typer.Option("--serve", help="Serve to this machine and follow runs that grow.")] = False,
    host: Annotated[str, typer.Option(help="With --serve: a loopback address.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="With --serve: the port; 0 takes a free one.")] = 0,
    form: Annotated[
        PageName, typer.Option("--format", help="`report`: everything on one sheet, for print.")
    ] = PageName.page,
    diff: Annotated[bool, typer.Option("--diff", help="Two runs side by side, where they parted.")] = False,
    raw: Annotated[bool, typer.Option("--raw/--no-raw", help="Put the recorded bytes into the page.")] = True,
    inference: Annotated[bool, typer.Option("--inference/--no-inference", help="Show inferred partners.")] = True,
) -> None:
    """Write one self-contained HTML page that opens from disk, or serve one that follows growing runs.

    Exit 0 written, 1 written but a run could not be read or, with --diff, the runs differ, 2 usage, 3 nothing readable.

    Example: otel2traj view attempt_dir -o run.html
    """
    from ..errors import UsageError

    if diff:
        _side_by_side(paths, output, serve)
    if serve == (output is not None):
        raise UsageError("give either -o PAGE.html or --serve")
    if serve and form is PageName.report:
        raise UsageError("a report is a file", hint="give -o PAGE.html")
    if output is None:
        from ..server.live_page import serve as run

        run(paths, host=host, port=port, inference=inference, say=_say)
        return
    from ..api.view import view as write

    made = write(paths, output, raw=raw, inference=inference, report=form is PageName.report)
    for label, reason in made.unread:
        _say(f"could not read {label}: {reason}")
    _say(f"{made.runs} {'run' if made.runs == 1 else 'runs'}, {made.steps} steps -> {output}")
    sys.exit(1 if made.unread else 0)


def _side_by_side(paths: list[Path], output: Path | None, serve: bool) -> NoReturn:
    """What `otel2traj diff A B --html PAGE` does; it exits as that does."""
    from ..errors import UsageError
    from .diff import diff

    if len(paths) != 2 or output is None or serve:
        raise UsageError("--diff takes two runs and a page", hint="otel2traj view A B --diff -o PAGE.html")
    diff(paths[0], paths[1], html=output)
    raise typer.Exit


def _say(text: str) -> None:
    print(f"otel2traj: {text}", file=sys.stderr, flush=True)
