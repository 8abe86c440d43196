"""`otel2traj validate`: a saved file of any kind, handed to its checker."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    app.command()(validate)


def validate(
    file: Annotated[Path, typer.Argument(help="A trajectory, ledger, forensic ledger, AER, SEM or PROV file.")],
    evidence: Annotated[
        Path | None, typer.Option("--evidence", help="What it was made from: derive again and compare.")
    ] = None,
    aer: Annotated[Path | None, typer.Option("--aer", help="The AER of a SEM or a PROV document.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One finding a line, as JSON.")] = False,
) -> None:
    """Tell by its content what FILE is, and check it: schema, invariants, hashes.

    Example: otel2traj validate trajectory.json --evidence attempt_dir
    """
    from dataclasses import asdict

    from ..api.validate import kind_of
    from ..api.validate import validate as run
    from ..canonical import dumps

    kind = kind_of(file)
    findings = run(file, evidence=evidence, aer=aer)
    for finding in findings:
        if as_json:
            print(dumps(asdict(finding)).decode())
        else:
            where = "" if finding.pointer is None else f" at {finding.pointer}"
            print(f"{finding.severity}: {finding.rule}: {finding.message}{where}")
    errors = sum(finding.severity == "error" for finding in findings)
    print(f"{file.name}: {kind}, {errors} errors, {len(findings) - errors} remarks", file=sys.stderr)
    sys.exit(1 if errors else 0)
