"""`otel2traj show`: a run, for people to read."""

from __future__ import annotations

import os
import shutil
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class ModeName(StrEnum):
    full = "full"
    truncate_middle = "truncate_middle"
    response_only = "response_only"


class FormatName(StrEnum):
    text = "text"
    markdown = "markdown"
    html = "html"
    json = "json"


class ColorName(StrEnum):
    auto = "auto"
    always = "always"
    never = "never"


PathArgument = Annotated[Path, typer.Argument(help="An attempt directory, a trace file or a saved trajectory.")]
StepOption = Annotated[str | None, typer.Option("--step", help="Steps to show: 7 or 3-7,9 or 12-.")]
AgentOption = Annotated[list[str] | None, typer.Option("--agent", help="Only steps of this agent; repeatable.")]
ToolOption = Annotated[list[str] | None, typer.Option("--tool", help="Only steps that call this tool; repeatable.")]
InputOption = Annotated[list[str] | None, typer.Option("--input", help="Only steps of this Input, e.g. 0002.")]


def register(app: typer.Typer) -> None:
    app.command("show")(show)


def show(
    path: PathArgument,
    mode: Annotated[ModeName, typer.Option(help="How much of each request is shown.")] = ModeName.full,
    step: StepOption = None,
    agent: AgentOption = None,
    tool: ToolOption = None,
    input_: InputOption = None,
    failed: Annotated[bool, typer.Option("--failed", help="Only steps in which something failed.")] = False,
    form: Annotated[FormatName, typer.Option("--format", help="`json` is JSON Lines.")] = FormatName.text,
    budget: Annotated[int | None, typer.Option(min=0, help="Characters the whole text may take.")] = None,
    budget_tokens: Annotated[int | None, typer.Option(min=0, help="The same in estimated tokens.")] = None,
    color: Annotated[ColorName, typer.Option(help="Colour; words and marks say everything too.")] = ColorName.auto,
    fold: Annotated[bool, typer.Option("--fold/--no-fold", help="Fold messages that an earlier step shows.")] = True,
    conversation: Annotated[str | None, typer.Option(help="Which conversation, where there are several.")] = None,
    sources: Annotated[
        bool, typer.Option("--sources", help="List the files that were read and their digests.")
    ] = False,
    inference: Annotated[bool, typer.Option("--inference/--no-inference", help="Show inferred partners.")] = True,
) -> None:
    """Show a run: what happened, what failed, what was not observed, and where the bytes are."""
    from ..api.show import show as run
    from ..errors import UsageError
    from ..renderers.base import Mode, RenderOptions
    from ..renderers.select import Selection, parse_ranges

    if budget is not None and budget_tokens is not None:
        raise UsageError("--budget and --budget-tokens exclude each other")
    terminal = sys.stdout.isatty()
    coloured = terminal and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
    options = RenderOptions(
        mode=Mode(mode.value),
        colour=color is ColorName.always or (color is ColorName.auto and coloured),
        width=shutil.get_terminal_size().columns if terminal else 0,
        wrap=terminal,
        fold=fold,
        inference=inference,
        sources=sources,
        selection=Selection(
            ranges=() if step is None else parse_ranges(step),
            agents=tuple(agent or ()),
            tools=tuple(tool or ()),
            inputs=tuple(input_ or ()),
            failed=failed,
        ),
        budget=budget if budget is not None else budget_tokens,
        budget_in_tokens=budget_tokens is not None,
    )
    run(path, sys.stdout.buffer, form=form.value, options=options, conversation=conversation)
    sys.stdout.buffer.flush()
