"""`otel2traj validate`: a saved document against its schema, its invariants and its evidence."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    app.command()(validate)


def validate(
    file: Annotated[Path, typer.Argument(help="A saved trajectory or ledger.")],
    evidence: Annotated[
        Path | None, typer.Option("--evidence", help="The attempt directory: take every digest again.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One finding a line, as JSON.")] = False,
) -> None:
    """Check FILE against its published JSON Schema and its contract's invariants. Exit 0 clean, 1 findings."""
    from dataclasses import asdict

    from ..api.validate import validate as run
    from ..canonical import dumps

    findings = run(file, evidence=evidence)
    for finding in findings:
        if as_json:
            print(dumps(asdict(finding)).decode())
        else:
            where = "" if finding.pointer is None else f" at {finding.pointer}"
            print(f"{finding.severity}: {finding.rule}: {finding.message}{where}")
    print(f"{file.name}: {len(findings)} findings", file=sys.stderr)
    sys.exit(1 if findings else 0)
