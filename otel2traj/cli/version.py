"""`otel2traj version`: what is installed, for reports."""

from __future__ import annotations

from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    app.command("version")(version)


def version(
    as_json: Annotated[
        bool, typer.Option("--json", help="With Python, platform and the libraries that read bytes.")
    ] = False,
) -> None:
    """Print the version.

    Example: otel2traj version --json
    """
    from .. import __version__

    if not as_json:
        typer.echo(f"otel2traj {__version__}")
        return
    import platform
    from importlib import metadata

    from ..canonical import dumps
    from ..model.trajectory import BUILDER_VERSION, SCHEMA

    libraries = ("orjson", "msgspec", "protobuf", "zstandard", "rfc8785", "opentelemetry-sdk", "typer")
    told = {
        "otel2traj": __version__,
        "schema": SCHEMA,
        "builder_version": BUILDER_VERSION,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "libraries": {name: metadata.version(name) for name in libraries},
    }
    typer.echo(dumps(told).decode())
