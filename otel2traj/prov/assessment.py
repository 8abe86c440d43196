"""SEM annotations into assessment bundles: claims about nodes, never relations between them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ..canonical import JsonObject, canonical_bytes
from ..errors import EvidenceError
from ..model.unknown import EvidenceClass
from .core import literal, x
from .document import Basis, Builder, Node, name
from .identity import statement_id
from .sem import read_lines

_RULES: Final = {
    "role": "as_role",
    "outcome": "as_outcome",
    "integrity": "as_integrity",
    "marker": "as_marker",
    "exposure": "as_exposure",
    "taint": "as_taint",
}
_TERMS: Final = frozenset({"value", "outcome", "reason", "verdict", "injection", "to", "exposed"})


def assess(builder: Builder, lines: Iterable[bytes], execution: str) -> tuple[str, str]:
    """State every annotation of one SEM; returns its profile and its digest. Raises `EvidenceError` for a SEM of
    another execution."""
    profile = digest = ""
    for record in read_lines(lines):
        if record.get("kind") == "sem":
            profile = str(record["profile"])
            if record.get("execution") != execution:
                raise EvidenceError(f"the SEM is about {record.get('execution')}, the AER about {execution}")
        elif record.get("kind") == "annotation":
            _claim(builder, profile, record)
        elif record.get("kind") == "seal":
            digest = str(record.get("digest"))
    if not profile or not digest:
        raise EvidenceError("the SEM has no head or no seal", code="prov.sem")
    return profile, digest


def _claim(builder: Builder, profile: str, record: JsonObject) -> None:
    rule = _RULES.get(str(record.get("type")))
    if rule is None:
        raise EvidenceError(f"annotation {record.get('id')} is of no known type", code="prov.sem")
    value = record["value"]
    attributes: JsonObject = {"apv:about": name(x(record["target"])), "apv:annotation": record["id"]}
    for key, item in value.items() if isinstance(value, dict) else [("value", value)]:
        if key not in _TERMS:
            raise EvidenceError(f"annotation {record.get('id')} says {key!r}, which has no term", code="prov.sem")
        if key in ("to", "exposed"):
            attributes["apv:exposedTo" if key == "to" else "apv:exposedCall"] = [
                name(x(one)) for one in (item if isinstance(item, list) else [item])
            ]
        else:
            attributes[f"apv:{key}"] = literal(item)
    sources = [str(one) for one in record.get("source") or [record["target"]]]
    on = Basis(EvidenceClass(record["class"]), sources[0], str(record["rule"]))
    key = statement_id(str(record["rule"]), x(record["target"]), canonical_bytes(value).decode("utf-8"), None)
    builder.node(rule, Node(key, "annotation"), on, attributes, bundle=profile)
