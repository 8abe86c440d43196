"""`otel2traj record`: run a command and keep what it did as an attempt directory with its trajectory."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    app.command("record", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})(record)


def record(
    command: Annotated[list[str], typer.Argument(help="The command and its arguments, after `--`.")],
    out: Annotated[
        Path | None, typer.Option("--out", help="The attempt directory; default: a new one below otel2traj-runs/.")
    ] = None,
    input_: Annotated[str | None, typer.Option("--input", help="The task, as text.")] = None,
    workspace: Annotated[Path | None, typer.Option(help="Folder whose changes are kept; default: this one.")] = None,
    files: Annotated[bool, typer.Option("--files/--no-files", help="Keep file changes.")] = True,
    upstream: Annotated[
        list[str] | None, typer.Option("--upstream", help="NAME=URL of a model API, e.g. openai=http://…/v1.")
    ] = None,
    instrument: Annotated[
        bool, typer.Option("--instrument", help="Python: start OpenTelemetry's auto-instrumentation in the command.")
    ] = False,
    proxy: Annotated[
        bool, typer.Option("--proxy", help="Also lead what honours HTTPS_PROXY alone; needs otel2traj[proxy].")
    ] = False,
    max_body: Annotated[int, typer.Option(min=1, help="Largest recorded body (MiB); calls pass whole.")] = 64,
    show: Annotated[bool, typer.Option("--show/--no-show", help="Show the run on stderr when it ends.")] = True,
) -> None:
    """Run COMMAND and record its model calls, telemetry, file changes and end; then build and show the trajectory.

    Exits as the command does: its code, 128 and the number after a signal, 127 or 126 where it cannot be run.

    Example: otel2traj record -- python agent.py
    """
    from ..api.record import default_out
    from ..api.record import record as run
    from ..errors import UsageError
    from ..recording.recorder import Options

    given = {}
    for item in upstream or ():
        name, equals, url = item.partition("=")
        if not equals:
            raise UsageError(f"--upstream {item!r} names no URL", hint="--upstream NAME=URL")
        given[name] = url
    target = default_out(command) if out is None else out
    options = Options(target, input_, workspace, files, given, max_body << 20, instrument=instrument, proxy=proxy)
    code = run(options, command, say=_say)
    if show:
        _show(target)
    raise typer.Exit(code)


def _show(target: Path) -> None:
    from ..api.show import show as run
    from ..errors import Otel2TrajError
    from ..renderers.base import Mode, RenderOptions

    try:
        run(target, sys.stderr.buffer, options=RenderOptions(mode=Mode.TRUNCATE_MIDDLE, budget=6000))
        sys.stderr.buffer.flush()
    except Otel2TrajError as err:
        _say(str(err))
    _say(f"kept in {target}; see `otel2traj show {target}`, `otel2traj view {target} -o page.html`")


def _say(text: str) -> None:
    print(f"otel2traj: {text}", file=sys.stderr, flush=True)
