"""`otel2traj forensic`: ledgers to stdout or a file, remarks to stderr."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ..api.forensic import Ledger as ForensicLedger

group = typer.Typer(no_args_is_help=True, help="Write, diagnose and check AgentV Forensic Ledgers.")

LedgerFile = Annotated[Path, typer.Argument(metavar="LEDGER", help="A forensic ledger, or a run with one in it.")]
Run = Annotated[
    Path, typer.Argument(metavar="PATH", help="A forensic ledger, an attempt directory, a trace or a saved trajectory.")
]
Verdict = Annotated[
    str | None,
    typer.Option("--verdict", metavar="VERDICT", help="passed, failed, or a JSON file that says so: its end."),
]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="File to write instead of stdout.")]
Protocol = Annotated[
    str | None,
    typer.Option("--protocol", metavar="A,B,...", help="Steps that must stand in protocol_sequence in this order."),
]


def register(app: typer.Typer) -> None:
    app.add_typer(group, name="forensic")


def _say(line: str) -> None:
    print(line, file=sys.stderr)


def _give(ledger: ForensicLedger, output: Path | None) -> None:
    if output is None:
        ledger.write(sys.stdout.buffer)
        sys.stdout.buffer.flush()
    else:
        ledger.save(output)


@group.command()
def export(
    path: Annotated[Path, typer.Argument(help="An attempt directory, a trace file or a saved trajectory.")],
    output: Output = None,
    telemetry: Annotated[
        list[Path] | None, typer.Option("--telemetry", help="telemetry.csv or OTLP metrics, instead of the attempt's.")
    ] = None,
    protocol: Protocol = None,
    verdict: Verdict = None,
    attempt: Annotated[int, typer.Option("--attempt", min=0, help="The number of this attempt at its task.")] = 1,
) -> None:
    """Write the forensic ledger of a run, diagnosed. Exit 0 written, 3 nothing readable.

    Example: otel2traj forensic export attempt_dir -o ledger.json
    """
    from ..api import forensic

    required = None if protocol is None else forensic.protocol_steps(protocol)
    ledger, warnings = forensic.export(
        path, telemetry=telemetry or (), required=required, attempt=attempt, verdict=verdict
    )
    _give(ledger, output)
    for warning in warnings:
        _say(f"warning: {warning}")


@group.command()
def triage(
    path: Run,
    output: Output = None,
    analyzer: Annotated[
        list[str] | None, typer.Option("--analyzer", metavar="MODULE:ATTR", help="An analyzer of your own; repeatable.")
    ] = None,
    plugins: Annotated[bool, typer.Option(help="Use the analyzers of installed packages.")] = True,
    protocol: Protocol = None,
    verdict: Verdict = None,
) -> None:
    """Add or replace the diagnostic report. Exit 0 where the root cause is success, else 1.

    Example: otel2traj forensic triage attempt_dir
    """
    from ..api import forensic

    custom, skipped = forensic.analyzers(analyzer or (), plugins=plugins)
    required = None if protocol is None else forensic.protocol_steps(protocol)
    found = forensic.ledger_of(path, verdict)
    report, more = forensic.triage(found, custom, required=required)
    _give(found, output)
    for finding in (*skipped, *more):
        _say(f"{finding.severity}: {finding.message}")
    _say(f"root cause: {report['root_cause']}; terminal status: {report['terminal_status']}")
    sys.exit(0 if report["root_cause"] == forensic.FailureCategory.SUCCESS else 1)


@group.command()
def validate(
    ledger: LedgerFile,
    as_json: Annotated[bool, typer.Option("--json", help="One finding a line, as JSON.")] = False,
) -> None:
    """Check a ledger against its JSON Schema and what the schema cannot say. Exit 0 clean, 1 findings.

    Example: otel2traj forensic validate ledger.json
    """
    from ..api import forensic
    from ..canonical import dumps

    findings = forensic.validate(ledger)
    for finding in findings:
        if as_json:
            print(dumps({name: getattr(finding, name) for name in finding.__slots__}).decode())
        else:
            print(f"{finding.severity}: {finding.rule}: {finding.message} at {finding.pointer}")
    _say(f"{ledger.name}: {len(findings)} findings")
    sys.exit(1 if findings else 0)


@group.command()
def explain(path: Run, verdict: Verdict = None) -> None:
    """Print the causal chain for a reader. Exit 0, or 1 where the ledger has no diagnosis.

    Example: otel2traj forensic explain attempt_dir
    """
    from ..api import forensic

    sys.stdout.write(forensic.explain(forensic.ledger_of(path, verdict)))
