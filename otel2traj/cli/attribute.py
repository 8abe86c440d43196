"""`otel2traj attribute`: which turn most likely decided that a run failed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    app.command("attribute")(attribute)


def attribute(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="An attempt, a trace, a saved run or a Who&When file.")],
    limit: Annotated[int, typer.Option("--limit", min=1, help="How many candidates.")] = 5,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
    judge: Annotated[
        str | None, typer.Option("--judge", metavar="URL", help="Ask a chat-completions server of your own too.")
    ] = None,
    model: Annotated[str | None, typer.Option("--judge-model", metavar="NAME", help="The model to ask there.")] = None,
    timeout: Annotated[float, typer.Option("--judge-timeout", min=1, help="Seconds to wait for it.")] = 300.0,
) -> None:
    """Propose the responsible agent and the decisive step of a failed run. Exit 0, 1 unknown, 3 unreadable.

    `--judge http://127.0.0.1:8000/v1 --judge-model NAME` sends the run's turns to that server; its key comes from
    OTEL2TRAJ_JUDGE_KEY.

    Example: otel2traj attribute attempt_dir
    """
    from ..api.attribute import attribute_run
    from ..api.judge import Judge
    from ..canonical import dumps
    from ..errors import UsageError
    from ..renderers.safe import inline

    if (judge is None) is not (model is None):
        raise UsageError("--judge and --judge-model belong together")
    asked = None if judge is None or model is None else Judge(judge, model, timeout)
    found = attribute_run(run, limit=limit, judge=asked)
    if as_json:
        print(dumps(found.to_json()).decode())
        sys.exit(0 if found.candidates else 1)
    for number, one in enumerate(found.candidates, 1):
        sure = "not measured for runs of this kind" if one.confidence is None else f"right in {one.confidence:.0%}"
        sure = "an assessment, no fact" if one.rule == "judge" else sure
        print(f"{number}. step {one.step}  {inline(one.agent)}  ({one.rule}, {sure})")
        for sign in one.evidence:
            print(f"     {inline(sign)}")
    if found.judged is not None and found.judged.assessment.refused is not None:
        print(f"the judge's answer does not hold: {inline(found.judged.assessment.refused)}", file=sys.stderr)
    if found.unknown is not None:
        print(f"unknown: {found.unknown}", file=sys.stderr)
    sys.exit(0 if found.candidates else 1)
