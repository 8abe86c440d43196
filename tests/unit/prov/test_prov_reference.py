"""docs/reference/provenance.md is made from the rules themselves; `--update-golden` writes it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from otel2traj.prov import versions
from otel2traj.prov.rules import CATALOGUES, catalogue
from otel2traj.prov.sem import PROFILES
from otel2traj.prov.validate import RULES, TIERS
from otel2traj.prov.validate.unseen import UNSEEN

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "provenance.md"
_WHO = {"otel2traj": "the adapter", "aprov": "the engine", "sem": "the semantics profiles"}


def page() -> str:
    out = [
        "# Provenance: rules, profiles, versions",
        "",
        "Made from the rules themselves; a test says when it is stale.",
        "",
        "| axis | version |",
        "| --- | --- |",
        f"| execution record | `{versions.AER}` |",
        f"| annotations | `{versions.SEM}` |",
        f"| specification | `{versions.SPECIFICATION}` |",
        f"| vocabulary `apv` | `{versions.VOCABULARY}` |",
        f"| adapter | `{versions.ADAPTER}` {versions.ADAPTER_VERSION} |",
        *(f"| rule catalogue `{name}` | {catalogue(name).version} |" for name in CATALOGUES),
        *(f"| profile `{profile.name}` | {profile.version} |" for profile in PROFILES),
    ]
    for name in CATALOGUES:
        out += [
            "",
            f"## Rules of {_WHO[name]} (`{name}`)",
            "",
            "| rule | class | makes | meaning |",
            "| --- | --- | --- | --- |",
        ]
        for rule in catalogue(name).rules.values():
            where = "" if rule.bundle is None else f" in {rule.bundle}" + (f" ({rule.method})" if rule.method else "")
            out.append(f"| `{rule.id}` | {rule.evidence.value} | {rule.kind}{where} | {rule.meaning} |")
    for tier, title in TIERS.items():
        out += ["", f"## Tier {tier}: {title}", ""]
        if tier not in RULES:
            out.append(
                "Findings are `prov.cN` for constraint N of [PROV-CONSTRAINTS]"
                "(https://www.w3.org/TR/2013/REC-prov-constraints-20130430/), `prov.mandatory` for an argument that "
                "PROV-DM asks for, `prov.unique-mention` and `prov.unique-bundle`."
            )
            continue
        out += ["| rule | what holds |", "| --- | --- |"]
        out += (f"| `{rule}` | {sentence} |" for rule, sentence in RULES[tier].items())
    out += ["", "## What passes without the evidence", ""]
    out += [
        "An AER that was edited and sealed again, with SEM and document derived from it. With `--evidence` each of",
        "these is found. Of a document or a SEM that is checked beside its AER no edit passes. A test makes every kind",
        "of edit on every field of every kind of record: exactly these pass.",
        "",
        "| edit | why | of |",
        "| --- | --- | --- |",
    ]
    for one in UNSEEN:
        of = "; ".join(f"{sort}: {', '.join(fields)}" if fields else sort for sort, fields in one.of.items())
        out.append(f"| {one.edit} | {one.why} | {of} |")
    return "\n".join(out) + "\n"


def test_the_reference_page_is_current(golden: Callable[[Path, bytes], None]) -> None:
    golden(PAGE, page().encode())
