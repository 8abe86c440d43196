"""Words of the command line, each one call of the api."""

from __future__ import annotations


def main() -> None:
    """Entry point of the `otel2traj` script."""
    from .app import run

    run()
