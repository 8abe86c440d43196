"""`otel2traj corpus`: many attempts as one sealed corpus, and how somebody else checks it."""

from __future__ import annotations

import dataclasses
import functools
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any, ParamSpec

import typer

from ..errors import EvidenceError, Otel2TrajError

group = typer.Typer(no_args_is_help=True, help="Many attempts as one corpus: import, derive, seal, check.")

P = ParamSpec("P")
Corpus = Annotated[Path, typer.Argument(help="The corpus, DIR or DIR.partial.")]
Jobs = Annotated[int, typer.Option("-j", "--jobs", help="Worker processes; the bytes are the same for any number.")]
AsJson = Annotated[bool, typer.Option("--json", help="The result, or the error, as one JSON object.")]
Out = Annotated[Path | None, typer.Option("--out", help="Write a new version of the corpus here.")]
Profile = Annotated[Path | None, typer.Option("--profile", help="Source profile (TOML): redaction, withholding.")]


def register(app: typer.Typer) -> None:
    app.add_typer(group, name="corpus")


def _coded(command: Callable[P, None]) -> Callable[P, None]:
    """Errors carry their code: in the text, or as an object with `--json`."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            command(*args, **kwargs)
        except (Otel2TrajError, OSError) as failed:
            err = failed if isinstance(failed, Otel2TrajError) else _io(failed)
            if kwargs.get("as_json"):
                _json({"error": {"code": err.error_code, "message": str(err), "hint": err.hint}})
            else:
                print(f"error: {err.error_code}: {err}", file=sys.stderr)
                if err.hint is not None:
                    print(f"hint: {err.hint}", file=sys.stderr)
            sys.exit(err.exit_code)

    return run


def _io(err: OSError) -> Otel2TrajError:
    """A full disk, a directory without permission: said like any other error, and the same command goes on later."""
    what = err.strerror if err.strerror is not None else str(err)
    return EvidenceError(f"{what}: {err.filename}", hint="make room or give access; run it again", code="corpus.io")


def _json(value: Any) -> None:
    from ..canonical import dumps

    print(dumps(value).decode())


def _plain(value: Any) -> dict[str, Any]:
    return dataclasses.asdict(value)


def _findings(found: Iterable[Any]) -> None:
    for one in found:
        print(f"{one.severity}: {one.rule}: {one.message}")


@group.command("import")
@_coded
def import_(
    root: Annotated[Path, typer.Argument(help="A directory of attempts, an archive, or a trace file.")],
    corpus: Corpus,
    jobs: Jobs = 1,
    name: Annotated[str | None, typer.Option("--name", help="Name of the origin; default: the directory's.")] = None,
    profile: Profile = None,
    withhold_raw: Annotated[
        bool, typer.Option("--withhold-raw", help="Leave these raw objects out when the corpus is sealed.")
    ] = False,
    max_member: Annotated[int, typer.Option(help="Largest member of an archive, inflated, in bytes.")] = 256 << 20,
    max_archive: Annotated[int, typer.Option(help="Most an archive may inflate to, in bytes.")] = 1 << 30,
    as_json: AsJson = False,
) -> None:
    """Store the raw bytes, register every candidate, and map what was recorded. Run it again to go on.

    Example: otel2traj corpus import runs corpus -j 2
    """
    from ..api import corpus as api

    limits = api.Limits(member_bytes=max_member, total_bytes=max_archive)
    done = api.import_root(
        root, corpus, jobs=jobs, name=name, profile=profile, withhold_raw=withhold_raw, limits=limits
    )
    if as_json:
        _json(_plain(done))
        return
    counts = done.counts
    print(f"{', '.join(done.origins)}: {done.mapped} candidates mapped, {done.kept} were mapped before")
    statuses = ", ".join(f"{count} {status}" for status, count in counts["by_status"].items())
    print(f"{counts['executions']} executions ({statuses}); {counts['candidates']} candidates registered")
    for reason, count in counts["candidates_by_reason"].items():
        print(f"  {reason}: {count}")


@group.command()
@_coded
def derive(corpus: Corpus, out: Out = None, jobs: Jobs = 1, as_json: AsJson = False) -> None:
    """Derive SEM and PROV of every execution. Exit 4 for a sealed or an incomplete corpus.

    Example: otel2traj corpus derive corpus -j 2
    """
    from ..api import corpus as api

    done = api.derive(corpus, out, jobs)
    if as_json:
        _json(_plain(done))
        return
    print(f"{done.corpus}: {done.derived} executions derived, {done.kept} had been")


@group.command()
@_coded
def validate(
    corpus: Corpus,
    jobs: Jobs = 1,
    roundtrip: Annotated[bool, typer.Option(help="Tier 4: through the W3C notations and back.")] = True,
    as_json: AsJson = False,
) -> None:
    """Check every execution in every tier, and the tree. Exit 0 clean, 1 findings.

    Example: otel2traj corpus validate corpus --no-roundtrip
    """
    from ..api import corpus as api

    done = api.validate(corpus, jobs, roundtrip=roundtrip)
    if as_json:
        _json({**_plain(done), "clean": done.clean})
        sys.exit(0 if done.clean else 1)
    _findings(done.tree)
    for execution, results in done.executions.items():
        for result in results:
            for one in result["findings"]:
                print(f"{one['severity']}: {execution}: tier {result['tier']}: {one['rule']}: {one['message']}")
    for tier, counts in done.tiers.items():
        print(f"tier {tier:2} " + ", ".join(f"{count} {status}" for status, count in counts.items()))
    dirty = len(done.executions)
    print(f"{done.corpus}: {done.count} executions, {dirty} not clean, {len(done.tree)} findings of the tree")
    sys.exit(0 if done.clean else 1)


@group.command()
@_coded
def package(
    corpus: Corpus,
    version: Annotated[str, typer.Option("--version", help="Semantic version of the corpus.")] = "1.0.0",
    licence: Annotated[list[Path] | None, typer.Option("--license", help="Licence text of the evidence.")] = None,
    as_json: AsJson = False,
) -> None:
    """Seal the working tree: DIR.partial becomes DIR. Prints the root digest. Exit 4 where it may not be sealed.

    Example: otel2traj corpus package corpus --version 1.0.0
    """
    from ..api import corpus as api

    done = api.package(corpus, version, tuple(licence or ()))
    if as_json:
        _json(_plain(done))
        return
    print(f"{done.corpus} {done.version}: sealed, {done.executions} executions, {done.files} files")
    print(f"root sha256:{done.root}")


@group.command()
@_coded
def verify(
    corpus: Corpus,
    root: Annotated[str | None, typer.Option("--root", help="The root digest that you got by another way.")] = None,
    as_json: AsJson = False,
) -> None:
    """Check a sealed corpus against its seal and its indexes. Exit 0 unchanged, 1 findings, 4 not sealed.

    Example: otel2traj corpus verify corpus
    """
    from ..api import corpus as api

    done = api.verify(corpus, root)
    if as_json:
        _json(_plain(done))
    else:
        _findings(done.findings)
        print(f"{done.corpus} {done.version}: {done.files} files, {len(done.findings)} findings")
        print(f"root sha256:{done.root}")
    sys.exit(1 if done.findings else 0)


@group.command()
@_coded
def recompute(
    corpus: Corpus, out: Out = None, jobs: Jobs = 1, profile: Profile = None, as_json: AsJson = False
) -> None:
    """Derive everything again from the raw bytes and compare. Exit 0 the same bytes, 1 differences.

    Example: otel2traj corpus recompute corpus -j 2
    """
    from ..api import corpus as api

    done = api.recompute(corpus, out, jobs=jobs, profile=profile)
    if as_json:
        _json(_plain(done))
    else:
        _findings(done.findings)
        for remark in done.remarks:
            print(f"note: {remark}", file=sys.stderr)
        print(f"{done.corpus}: {done.same} executions the same, {done.differing} differ, {done.skipped} not derived")
    sys.exit(1 if done.findings else 0)


@group.command()
@_coded
def purge(
    corpus: Corpus,
    sha256: Annotated[str, typer.Argument(help="Digest of a raw object.")],
    keep_executions: Annotated[
        bool, typer.Option("--keep-executions", help="Keep what was derived from it; by default that goes too.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Take a raw object out of a working tree for good; WITHHELD.json lists it. Exit 4 for a sealed corpus.

    Example: otel2traj corpus purge corpus 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
    """
    from ..api import corpus as api

    said = api.purge(corpus, sha256, keep_executions=keep_executions)
    if as_json:
        _json(said)
        return
    print(f"withheld: {len(said['objects'])} raw objects, {len(said['executions'])} executions")


@group.command()
@_coded
def export(
    corpus: Corpus,
    in_toto: Annotated[Path | None, typer.Option("--in-toto", help="Write an in-toto Statement here.")] = None,
    bagit: Annotated[Path | None, typer.Option("--bagit", help="Write a BagIt bag into this new directory.")] = None,
    ro_crate: Annotated[
        Path | None, typer.Option("--ro-crate", help="Write an RO-Crate into this new directory.")
    ] = None,
    published: Annotated[str | None, typer.Option(help="With --ro-crate: its date, which no corpus records.")] = None,
    as_json: AsJson = False,
) -> None:
    """Write the seal of a corpus in a form that other tools read; the corpus stays as it is.

    Example: otel2traj corpus export corpus --bagit bag
    """
    from ..api import corpus as api
    from ..canonical import loads
    from ..errors import UsageError
    from ..files import replacing

    if in_toto is None and bagit is None and ro_crate is None:
        raise UsageError("nothing to write", hint="--in-toto FILE, --bagit DIR, --ro-crate DIR")
    if (ro_crate is None) != (published is None):
        raise UsageError("an RO-Crate has a date of publication", hint="--ro-crate DIR --published 2026-05-01")
    done: dict[str, Any] = {}
    if in_toto is not None:
        data = api.in_toto(corpus)
        statement: Any = loads(data)
        with replacing(in_toto) as stream:
            stream.write(data)
        done["in_toto"] = {"subjects": len(statement["subject"])}
    if bagit is not None:
        done["bagit"] = {"files": api.bagit(corpus, bagit)}
    if ro_crate is not None and published is not None:
        done["ro_crate"] = {"files": api.ro_crate(corpus, ro_crate, published)}
    if as_json:
        _json(done)
        return
    for form, facts in done.items():
        print(f"{form}: " + ", ".join(f"{count} {what}" for what, count in facts.items()))


@group.command()
@_coded
def info(corpus: Corpus, as_json: AsJson = False) -> None:
    """Tell what a corpus holds; nothing is checked.

    Example: otel2traj corpus info corpus
    """
    from ..api import corpus as api

    found = api.info(corpus)
    if as_json:
        _json(found)
        return
    version = "" if found["version"] is None else f" {found['version']}"
    print(f"{found['corpus']}{version}: {found['state']}, {found['schema']}, {found['software']}")
    if found["root"] is not None:
        print(f"root sha256:{found['root']}")
    for source in found["sources"]:
        size = f"{source.get('files', 0)} files, {source.get('bytes', 0)} bytes"
        print(f"  {source['origin']}: {source['state']}, {size}, {source.get('pin', 'not pinned yet')}")
    counts = found["counts"]
    print(f"{counts['executions']} executions, {found['derived']} derived, {found['validated']} validated")
    print(f"{counts['candidates']} candidates: {counts['candidates_by_status']}")
    print(f"withheld: {found['withheld']['objects']} raw objects, {found['withheld']['executions']} executions")
