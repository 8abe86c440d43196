"""`otel2traj explain`: what a warning code of a trajectory means."""

from __future__ import annotations

from typing import Annotated

import typer

from ..errors import UsageError


def register(app: typer.Typer) -> None:
    app.command("explain")(explain)


def explain(
    code: Annotated[
        str | None, typer.Argument(metavar="CODE", help="A code, as `code: message` begins with it.")
    ] = None,
) -> None:
    """Say what a warning means, whether a trajectory with it can be complete, and where to look. Without CODE: all.

    Example: otel2traj explain ambiguous_link
    """
    from ..assembly.warnings import CODES, LOSSY

    if code is None:
        for name in sorted(CODES):
            typer.echo(name)
        return
    name = code.partition(":")[0].strip()
    if name not in CODES:
        near = [known for known in sorted(CODES) if name and (name in known or known in name)]
        hint = f"did you mean {', '.join(near[:5])}?" if near else "`otel2traj explain` lists all codes"
        raise UsageError(f"there is no warning {name!r}", hint=hint)
    typer.echo(f"{name}\n\n  {CODES[name]}\n")
    if name in LOSSY:
        typer.echo("  Something of the run is lost or undecided: a trajectory with it is `partial`, never `complete`.")
    else:
        typer.echo("  A remark: whether the trajectory is `partial` for it depends on the case.")
    typer.echo(
        "  The place in brackets, (path:line), is the record that it is about; `show --sources` lists the files."
    )
