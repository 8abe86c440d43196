"""The command tree."""

from __future__ import annotations

import gc
import sys
from importlib import import_module
from typing import Annotated

import typer

from .. import __version__
from .folders import spread
from .guard import guarded
from .verbosity import talk

app = typer.Typer(
    name="otel2traj",
    help="Turn what an agent run leaves behind into one evidence-backed trajectory.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

COMMANDS: tuple[str, ...] = (
    "record",
    "build",
    "info",
    "validate",
    "receive",
    "ledger",
    "forensic",
    "show",
    "view",
    "export",
    "match",
    "attribute",
    "compare",
    "diff",
    "prov",
    "corpus",
    "query",
    "compact",
    "mcp",
    "explain",
    "version",
)
"""Modules of this package, each named as the command or group that its `register(app)` adds; one line adds one."""


def _version(wanted: bool) -> None:
    if wanted:
        print(f"otel2traj {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print it.")] = False,
) -> None:
    pass


def run() -> None:
    """Parse, call, exit."""
    asked = sys.argv[1] if len(sys.argv) > 1 else ""
    for name in (asked,) if asked in COMMANDS else COMMANDS:  # every other one costs start-up and is not needed
        import_module(f".{name}", __package__).register(app)
    talk(app)
    spread(app)
    gc.set_threshold(50_000, 20, 100)  # a build keeps what it makes, and makes no circles worth a search every moment
    if any("://" in word or word == "-" for word in sys.argv):
        from . import door

        guarded(door.through(app, door.urls_of(sys.argv[1:])))
    guarded(app)
