"""An instance into findings: each rule of PROV-CONSTRAINTS that it breaks, with the statement that shows it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ...model.finding import Finding
from .order import Edge as _Edge
from .order import Order, components
from .solve import NONE, Solver, finding
from .statements import ELEMENTS, KINDS, Document, Statement

_TYPES: Final[dict[str, tuple[str | None, ...]]] = {
    "used": ("activity", "entity", None),
    "wasGeneratedBy": ("entity", "activity", None),
    "wasInvalidatedBy": ("entity", "activity", None),
    "wasStartedBy": ("activity", "entity", "activity", None),
    "wasEndedBy": ("activity", "entity", "activity", None),
    "wasInformedBy": ("activity", "activity"),
    "wasDerivedFrom": ("entity", "entity", "activity", None, None),
    "wasAttributedTo": ("entity", "agent"),
    "wasAssociatedWith": ("activity", "agent", "entity"),
    "actedOnBehalfOf": ("agent", "agent", "activity"),
    "alternateOf": ("entity", "entity"),
    "specializationOf": ("entity", "entity"),
    "hadMember": ("entity", "entity"),
    "mentionOf": ("entity", "entity", "entity"),
}
"""Constraint 50: the type that each position gives to what stands there."""

_DISJOINT: Final = frozenset(
    {
        "used",
        "wasGeneratedBy",
        "wasInvalidatedBy",
        "wasStartedBy",
        "wasEndedBy",
        "wasInformedBy",
        "wasAttributedTo",
        "wasAssociatedWith",
        "actedOnBehalfOf",
    }
)
"""Constraint 53 lists these nine; a derivation or an influence may share an identifier with another relation."""


def check_instance(statements: Iterable[Statement]) -> list[Finding]:
    """Every constraint that the statements of one instance break, in the order of the recommendation."""
    solver = Solver(statements)
    solver.infer()
    solver.merge()
    found = solver.out.findings
    found += _overlaps(solver)
    found += _specialization(solver)
    found += _typing(solver)
    found += Order(solver).findings()
    return sorted(found, key=lambda one: (one.rule, one.pointer or "", one.message))


def check_document(document: Document) -> list[Finding]:
    """The findings of the top level and of every bundle: each is an instance of its own."""
    found = check_instance(document.statements)
    for name, statements in document.bundles.items():
        found += (
            Finding(one.rule, f"in bundle {name}: {one.message}", one.severity, one.pointer)
            for one in check_instance(statements)
        )
    found += (
        finding("unique-bundle", f"the document has two bundles of the name {name}", name) for name in document.repeated
    )
    return found


def _overlaps(solver: Solver) -> list[Finding]:
    """53 and 54: an identifier stands for one relation, and for no object as well."""
    out: list[Finding] = []
    kinds: dict[int, dict[str, str]] = {}
    objects: dict[int, str] = {}
    for name, rows in solver.out.facts.items():
        for row in rows:
            root = solver.terms.find(row.id)
            if name in ELEMENTS:
                objects[root] = name
            elif KINDS[name].identified and solver.terms.text(root) is not None:
                kinds.setdefault(root, {}).setdefault(name, row.place)
    for root, names in kinds.items():
        several = sorted(_DISJOINT & names.keys())
        shown = solver.terms.show(root)
        if len(several) > 1:
            out.append(finding(53, f"{shown} identifies {' and '.join(several)}", names[several[-1]]))
        if root in objects:
            first = min(names)
            out.append(finding(54, f"{shown} identifies {first} and an {objects[root]}", names[first]))
    return out


def _specialization(solver: Solver) -> list[Finding]:
    """52 with 19: nothing is a specialization of itself, through however many others."""
    find = solver.terms.find
    facts = solver.out.facts["specializationOf"]
    edges = [_Edge(("", find(f.args[1])), ("", find(f.args[0])), 52, True, f.place) for f in facts]
    component = components(edges)
    return [
        finding(52, f"{solver.terms.show(edge.after[1])} would be a specialization of itself", edge.place)
        for edge in edges
        if component[edge.before] == component[edge.after]
    ]


def _typing(solver: Solver) -> list[Finding]:
    """50, 55 and 56: what each position says of its term; entity and activity exclude each other."""
    find, terms = solver.terms.find, solver.terms
    none = find(terms.constant(NONE))
    seen: dict[int, dict[str, str]] = {}
    for name in ELEMENTS:
        for row in solver.out.facts[name]:
            seen.setdefault(find(row.id), {}).setdefault(name, row.place)
    for name, types in _TYPES.items():
        for row in solver.out.facts[name]:
            for term, kind in zip(row.args, types, strict=True):
                if kind is not None and find(term) != none:
                    seen.setdefault(find(term), {}).setdefault(kind, row.place)
    for term in solver.out.declared:
        seen.setdefault(term, {}).setdefault("entity", "")
    out = [
        finding(55, f"{terms.show(term)} is used as an entity and as an activity", kinds["activity"])
        for term, kinds in seen.items()
        if "entity" in kinds and "activity" in kinds
    ]
    out += (
        finding(56, f"{terms.show(row.args[0])} is an empty collection and has a member", row.place)
        for row in solver.out.facts["hadMember"]
        if find(row.args[0]) in solver.out.empty
    )
    return out
