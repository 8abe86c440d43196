"""`otel2traj export`: a trajectory in the formats other tools read."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    app.command("export")(export)


def export(
    path: Annotated[
        Path | None, typer.Argument(help="An attempt directory, a trace file or a saved trajectory.")
    ] = None,
    to: Annotated[str | None, typer.Option("--to", help="A format; see --list.")] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="A file, or a folder; else stdout.")] = None,
    redact: Annotated[Path | None, typer.Option("--redact", help="A redaction profile (TOML).")] = None,
    conversation: Annotated[str | None, typer.Option(help="Which conversation, where there are several.")] = None,
    inference: Annotated[bool, typer.Option("--inference/--no-inference", help="Keep inferred partners.")] = True,
    list_: Annotated[bool, typer.Option("--list", help="List the formats and stop.")] = False,
) -> None:
    """Write a trajectory in another format; what the format cannot hold is in docs/reference/exports.md.

    Example: otel2traj export attempt_dir --to inspect -o run.json
    """
    from ..api import export as api
    from ..errors import UsageError

    if list_:
        print("\n".join(api.names()))
        return
    if path is None or to is None:
        raise UsageError("export needs a path and --to NAME", hint=f"--to is one of: {', '.join(api.names())}")
    result = api.export(
        path,
        to,
        output=output,
        stdout=sys.stdout.buffer,
        redact=redact,
        inference=inference,
        conversation=conversation,
    )
    sys.stdout.flush()
    for line in result.remarks():
        print(line, file=sys.stderr)
