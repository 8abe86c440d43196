"""`otel2traj ledger`: results to stdout; PASS, FAIL and INFO lines to stderr, in the words of the contract."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import UsageError

if TYPE_CHECKING:
    from ..auditors.ledger import Options
    from ..model.finding import Finding

group = typer.Typer(no_args_is_help=True, help="Write and audit trajectory-ledger-v1 files.")

Ledger = Annotated[Path, typer.Argument(help="A trajectory-ledger-v1 file.")]
MaxUsd = Annotated[
    str | None, typer.Option("--max-usd", metavar="X", help="Fail where the total is over X US dollars.")
]
MaxSeconds = Annotated[str | None, typer.Option("--max-seconds", metavar="Y", help="Fail where the total is over Y.")]


def register(app: typer.Typer) -> None:
    app.add_typer(group, name="ledger")


def _say(line: str) -> None:
    print(line, file=sys.stderr)


def _tell(finding: Finding) -> None:
    _say(f"{'INFO' if finding.severity == 'note' else 'FAIL'}: {finding.message}")


def _options(strict: bool, max_usd: str | None, max_seconds: str | None, expect_end: str | None = None) -> Options:
    from decimal import Decimal, InvalidOperation

    from ..auditors.ledger import Options
    from ..model.ledger import DIGEST

    limits: list[Decimal | None] = []
    for name, text in (("--max-usd", max_usd), ("--max-seconds", max_seconds)):
        try:
            limit = None if text is None else Decimal(text)
        except InvalidOperation as err:
            raise UsageError(f"{name} {text!r} is no number") from err
        if limit is not None and not (limit.is_finite() and limit >= 0):
            raise UsageError(f"{name} {text!r} is no amount")
        limits.append(limit)
    if expect_end is not None and DIGEST.fullmatch(expect_end) is None:
        raise UsageError(f"--expect-end {expect_end!r} is no 'sha256:' and 64 lower-case hex digits")
    return Options(strict, limits[0], limits[1], expect_end)


@group.command()
def export(
    trajectory: Annotated[Path, typer.Argument(help="An attempt directory, a trace file or a saved trajectory.")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File to write instead of stdout.")] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Fail where a model call has no price.")] = False,
) -> None:
    """Write the ledger of a run. Exit 0 written, 1 under --strict with an unknown price, 3 nothing readable.

    Example: otel2traj ledger export attempt_dir -o ledger.jsonl
    """
    from ..api import ledger

    if output is None:
        done = ledger.export(trajectory, sys.stdout.buffer)
        sys.stdout.buffer.flush()
    else:
        done = ledger.export_file(trajectory, output)
    warnings = done.warnings
    for warning in warnings:
        _say(f"{'FAIL' if strict else 'INFO'}: {warning}")
    _say(f"INFO: event chain ends in {done.end_hash}")
    sys.exit(1 if strict and warnings else 0)


@group.command()
def append(
    ledger: Ledger, event: Annotated[str, typer.Argument(metavar="JSON", help="The event, or - to read it from stdin.")]
) -> None:
    """Append one event, checked in its place. Exit 0, or 1 where it is not valid: then nothing is written.

    Example: otel2traj ledger append run.ledger.jsonl '{"type": "note"}'
    """
    from ..api import ledger as api

    try:
        step = api.append(ledger, sys.stdin.read() if event == "-" else event)
    except api.Refused as err:
        for finding in err.findings:
            _tell(finding)
        sys.exit(1)
    _say(f"INFO: appended step {step}")


@group.command()
def audit(
    ledger: Ledger,
    strict: Annotated[bool, typer.Option("--strict", help="Partial and unknown costs fail.")] = False,
    max_usd: MaxUsd = None,
    max_seconds: MaxSeconds = None,
    expect_end: Annotated[
        str | None, typer.Option("--expect-end", metavar="HASH", help="The hash in which the chain must end.")
    ] = None,
    evidence: Annotated[
        Path | None, typer.Option("--evidence", metavar="DIR", help="What it was exported from: derive it again.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Findings to stdout, one JSON object a line.")] = False,
) -> None:
    """Check every event against every rule. Exit 0 clean, 1 with any FAIL.

    Example: otel2traj ledger audit ledger.jsonl --evidence attempt_dir
    """
    from ..api import ledger as api
    from ..canonical import dumps

    def tell(finding: Finding) -> None:
        if as_json:
            sys.stdout.buffer.write(dumps({name: getattr(finding, name) for name in finding.__slots__}) + b"\n")
        _tell(finding)

    verdict = api.audit(ledger, tell, _options(strict, max_usd, max_seconds, expect_end), evidence)
    _say(verdict.line())
    sys.exit(0 if verdict.clean else 1)


@group.command()
def seal(
    ledger: Ledger,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File to write instead of stdout.")] = None,
) -> None:
    """Write an in-toto Statement of a clean ledger, to sign with your own tool. Exit 0, or 1: not clean.

    Example: otel2traj ledger seal run.ledger.jsonl -o run.seal.json
    """
    from ..api import ledger as api

    verdict, data = api.seal_file(ledger, _tell)
    if data is None:
        _say(verdict.line() if not verdict.clean else "FAIL: a ledger without an event chain has no end to seal")
        sys.exit(1)
    if output is None:
        sys.stdout.buffer.write(data)
    else:
        api.save(output, data)


@group.command()
def cost(ledger: Ledger, max_usd: MaxUsd = None, max_seconds: MaxSeconds = None) -> None:
    """Print tokens_in, tokens_out, seconds and usd. Exit 0, or 1 over a budget or with a broken line.

    Example: otel2traj ledger cost ledger.jsonl
    """
    from ..api import ledger as api

    failed = False

    def tell(finding: Finding) -> None:
        nonlocal failed
        failed = True
        _tell(finding)

    totals = api.cost(ledger, tell, _options(False, max_usd, max_seconds))
    for unit, count in totals.nulls.items():
        if count:
            _say(f"INFO: '{unit}' is unknown for {count} event(s)")
    print(totals.text())
    sys.exit(1 if failed else 0)


@group.command()
def replay(
    first: Annotated[Path, typer.Argument(metavar="A", help="The ledger of the recorded run.")],
    second: Annotated[Path | None, typer.Argument(metavar="[B]", help="The ledger of the run again.")] = None,
) -> None:
    """Derive the states from the events; compare them with the recorded ones and, where given, with those of B.

    Exit 0 where all agree up to the end or to a recorded non-determinism, 1 at the first divergence.

    Example: otel2traj ledger replay ledger.jsonl
    """
    from ..api import ledger as api

    result = api.replay_files(first, second)
    for name, place in (("A", result.first), ("B", result.second)):
        if result.position is not None and (name == "A" or second is not None):
            what = "has ended" if place is None else f"step {place.step} ({place.type}) {place.state_hash}"
            _say(f"INFO: {name} {what}")
    for remark in result.remarks:
        _say(f"INFO: {remark}")
    if result.honoured is not None:
        detail = result.honoured.event.get("detail")
        why = "" if detail is None else f": {detail}"
        _say(f"INFO: non-determinism was recorded at step {result.count}{why}")
    _say(result.line())
    sys.exit(0 if result.reproduced else 1)


@group.command("record-non-det")
def record_non_det(
    ledger: Ledger,
    step: Annotated[int, typer.Argument(help="Step of the new event, after the last recorded one.")],
    detail: Annotated[str | None, typer.Option("--detail", help="What diverged.")] = None,
    at: Annotated[
        int | None, typer.Option("--at", metavar="POSITION", help="Where `replay` diverged; default the new event.")
    ] = None,
    timestamp: Annotated[str | None, typer.Option("--timestamp", help="When it was seen; default now.")] = None,
) -> None:
    """Append an observe event with non_determinism true. Exit 0, or 1 where the step is out of order.

    Example: otel2traj ledger record-non-det run.ledger.jsonl 18 --at 7 --detail "the tool gave another value"
    """
    from datetime import UTC, datetime

    from ..api import ledger as api

    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    try:
        api.record_non_determinism(ledger, step, now if timestamp is None else timestamp, detail, at)
    except api.Refused as err:
        for finding in err.findings:
            _tell(finding)
        sys.exit(1)
    _say(f"INFO: recorded non-determinism at step {step}")
