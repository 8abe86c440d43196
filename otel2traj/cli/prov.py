"""`otel2traj prov`: the provenance of one attempt, and the tiers that check it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

group = typer.Typer(no_args_is_help=True, help="W3C PROV of a run, and its validation.")

Output = Annotated[Path | None, typer.Option("--output", "-o", help="File to write instead of stdout.")]


def register(app: typer.Typer) -> None:
    app.add_typer(group, name="prov")


@group.command()
def export(
    path: Annotated[Path, typer.Argument(help="An attempt directory, a trace file or a saved trajectory.")],
    output: Output = None,
    aer: Annotated[Path | None, typer.Option("--aer", help="Write the execution record here as well.")] = None,
    sem: Annotated[Path | None, typer.Option("--sem", help="Write the annotations here as well.")] = None,
    profile: Annotated[str, typer.Option(help="Semantics profile: default or injection.")] = "default",
    emit_content: Annotated[bool, typer.Option("--emit-content", help="Put message text into the document.")] = False,
    evidence: Annotated[
        Path | None, typer.Option("--evidence", help="What a saved trajectory was made from: read, and compared.")
    ] = None,
) -> None:
    """Write one PROV-JSON document. Exit 0 written, 2 unknown profile, 3 nothing readable.

    Example: otel2traj prov export attempt_dir -o prov.json --aer aer.json
    """
    from ..api import prov

    options = {"aer": aer, "sem": sem, "profile": profile, "emit_content": emit_content, "evidence": evidence}
    if output is None:
        done = prov.export(path, sys.stdout.buffer, **options)  # type: ignore[arg-type]
        sys.stdout.buffer.flush()
    else:
        done = prov.export_file(path, output, **options)
    print(f"{done.execution}: {done.digest}, {len(done.issues)} issues", file=sys.stderr)


@group.command()
def validate(
    file: Annotated[Path, typer.Argument(help="PROV-JSON, PROV-N, an AER or a SEM.")],
    aer: Annotated[Path | None, typer.Option("--aer", help="The AER it was derived from: tiers 1, 2 and 5.")] = None,
    sem: Annotated[list[Path] | None, typer.Option("--sem", help="A SEM of that AER: tier 2.")] = None,
    evidence: Annotated[
        Path | None, typer.Option("--evidence", help="The attempt: tier 5 takes the digests of the raw bytes again.")
    ] = None,
    roundtrip: Annotated[bool, typer.Option(help="Tier 4: through the W3C notations and back.")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="One tier a line, as JSON.")] = False,
) -> None:
    """Check FILE in every tier that applies. Exit 0 clean, 1 findings, 3 not readable.

    Example: otel2traj prov validate prov.json --aer aer.json
    """
    from ..api import prov
    from ..canonical import dumps

    results = prov.check(file, aer=aer, sems=tuple(sem or ()), evidence=evidence, roundtrip=roundtrip)
    for result in results:
        if as_json:
            print(dumps(result.to_json()).decode())
            continue
        print(f"tier {result.tier:2} {result.status:7} {result.title}")
        for remark in result.remarks:
            print(f"  note: {remark}")
        for one in result.findings:
            where = "" if one.pointer is None else f" at {one.pointer}"
            print(f"  {one.severity}: {one.rule}: {one.message}{where}")
    failed = [result.tier for result in results if result.status == "failed"]
    ran = sum(result.status != "not_run" for result in results)
    print(f"{file.name}: {ran} of {len(results)} tiers ran, {len(failed)} failed", file=sys.stderr)
    sys.exit(1 if failed else 0)


@group.command()
def rdf(document: Annotated[Path, typer.Argument(help="A PROV-JSON document that was written here.")]) -> None:
    """Print a document as PROV-O (TriG), with plain and qualified triples. Exit 0 printed, 3 not readable.

    Example: otel2traj prov rdf prov.json
    """
    from ..api import prov

    for line in prov.rdf(document):
        sys.stdout.write(line)


@group.command()
def draw(
    document: Annotated[Path, typer.Argument(help="A PROV-JSON document that was written here.")],
    node: Annotated[str, typer.Argument(help="A node of core: mc0 (a model call), te0 (an execution), m2, ...")],
    output: Output = None,
) -> None:
    """Draw one step and what is stated around it, as an inert SVG. Exit 0 drawn, 3 not readable or no such node.

    Example: otel2traj prov draw prov.json mc0 -o mc0.svg
    """
    from ..api import prov
    from ..files import replacing

    data = prov.draw(document, node).encode()
    if output is None:
        sys.stdout.buffer.write(data)
        return
    with replacing(output) as out:
        out.write(data)


@group.command()
def why(
    document: Annotated[Path, typer.Argument(help="A PROV-JSON document.")],
    claim: Annotated[str, typer.Argument(help="The id of a statement, a pointer into the AER, or a text of the run.")],
    aer: Annotated[Path | None, typer.Option("--aer", help="The AER it was derived from.")] = None,
    evidence: Annotated[Path | None, typer.Option("--evidence", help="The attempt: the bytes are opened.")] = None,
    limit: Annotated[int, typer.Option(help="So many claims are printed.")] = 10,
) -> None:
    """Print the chain from a claim to the recorded bytes. Exit 0 all holds, 1 something does not, 3 not readable.

    Example: otel2traj prov why prov.json "The service is down" --evidence attempt_dir
    """
    from ..api import prov
    from ..prov.why import lines_of

    claims = list(prov.why(document, claim, aer=aer, evidence=evidence))
    for one in claims[:limit]:
        print("\n".join(lines_of(one)))
    faults = sum(len(one.faults) for one in claims)
    more = f", {len(claims) - limit} not shown" if len(claims) > limit else ""
    print(f"{len(claims)} claims{more}, {faults} faults", file=sys.stderr)
    sys.exit(1 if faults else 0)
