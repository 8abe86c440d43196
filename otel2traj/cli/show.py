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


class SortName(StrEnum):
    name = "name"
    end = "end"
    steps = "steps"
    tools = "tools"
    tokens = "tokens"
    time = "time"


class PartName(StrEnum):
    all = "all"
    head = "head"
    steps = "steps"


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
    only: Annotated[PartName, typer.Option("--only", help="The head of the run, or its steps.")] = PartName.all,
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
    pager: Annotated[bool, typer.Option("--pager/--no-pager", help="On a terminal: long text by $PAGER.")] = True,
    sort: Annotated[SortName, typer.Option("--sort", help="Order of the runs of a folder.")] = SortName.name,
) -> None:
    """Show a run: what happened, what failed, what was not observed, and where the bytes are.

    A folder of runs is listed: name, end, reason, steps, tools, tokens, time; --failed leaves those that did not end
    well, --format json is one object a line.

    Example: otel2traj show attempt_dir --step 3-5 --mode truncate_middle
    """
    if path.is_dir():
        from ..api.runs import is_folder_of_runs

        if is_folder_of_runs(path):
            raise typer.Exit(_list(path, failed, form, sort))
    from ..api.show import show as run
    from ..errors import UsageError
    from ..renderers.base import Mode, Part, RenderOptions
    from ..renderers.select import Selection, parse_ranges

    if budget is not None and budget_tokens is not None:
        raise UsageError("--budget and --budget-tokens exclude each other")
    terminal = sys.stdout.isatty()
    coloured = terminal and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
    options = RenderOptions(
        mode=Mode(mode.value),
        part=Part(only.value),
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
    from .pager import paged

    with paged(wanted=pager and form in (FormatName.text, FormatName.markdown)) as out:
        run(path, out, form=form.value, options=options, conversation=conversation)


def _list(folder: Path, failed: bool, form: FormatName, sort: SortName) -> int:
    """The runs of a folder, a line each. 0; 1 where one cannot be read; 3 where none can."""
    from ..api.compare import read_runs
    from ..canonical import dumps
    from ..renderers.safe import inline

    runs, unread = read_runs([folder])
    keys = {
        SortName.name: lambda run: (run.name,),
        SortName.end: lambda run: (run.ended, run.name),
        SortName.steps: lambda run: (-run.steps, run.name),
        SortName.tools: lambda run: (-run.tools, run.name),
        SortName.tokens: lambda run: (-run.tokens_in - run.tokens_out, run.name),
        SortName.time: lambda run: (-(run.seconds or 0.0), run.name),
    }
    shown = sorted((run for run in runs if not failed or run.ended != "succeeded"), key=keys[sort])
    for run in shown:
        if form is FormatName.json:
            print(dumps(run.row()).decode())
            continue
        time = "–" if run.seconds is None else f"{run.seconds:.1f} s"
        tokens = f"{run.tokens_in + run.tokens_out} tokens"
        why = f"  {inline(run.reason)[:80]}" if run.reason and run.ended != "succeeded" else ""
        counts = f"{run.steps:4} steps {run.tools:4} tools {tokens:>14} {time:>9}"
        print(f"{run.ended:13} {counts}  {inline(run.name)}{why}")
    for name, reason in unread:
        print(f"unreadable: {inline(name)}: {inline(reason)}", file=sys.stderr)
    return 0 if not unread else 1 if runs else 3
