"""`otel2traj mcp`: runs for a coding agent, over the Model Context Protocol."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    app.command()(mcp)


def mcp(
    root: Annotated[Path, typer.Argument(help="The folder that holds the runs; nothing outside it is read.")] = Path(),
) -> None:
    """Serve the runs below ROOT to a coding agent over standard input and output: list, outcome, step, search.

    It reads and never writes. A coding agent starts it by itself; docs/how-to/mcp.md has the settings.

    Example: otel2traj mcp runs
    """
    from ..errors import UsageError

    try:
        from ..server.mcp import serve
    except ModuleNotFoundError as err:
        if (err.name or "").partition(".")[0] not in ("mcp", "pydantic"):
            raise
        raise UsageError("the protocol's package is not installed", hint="pip install 'otel2traj[mcp]'") from err
    serve(root)
