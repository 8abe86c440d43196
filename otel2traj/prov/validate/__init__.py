"""AER, SEM and PROV into findings, tier by tier; a tier that did not run says so and never counts as passed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from ...canonical import JsonObject
from ...errors import EvidenceError
from ...model.finding import Finding, Severity
from ..constraints import Document, check_document, document_from_json
from . import aer as _aer
from . import clock as _clock
from . import linkage as _linkage
from . import profile as _profile
from . import roundtrip as _roundtrip
from . import sem as _sem
from . import structure as _structure
from .aer import validate_aer
from .clock import validate_clock
from .linkage import DigestOf, Read, validate_linkage
from .profile import validate_profile
from .resolve import AerIndex
from .roundtrip import NotRun, validate_roundtrip
from .sem import validate_sem
from .structure import is_ours, validate_structure

TIERS: Final = {
    "1": "AER: form, fields, references, seal",
    "2": "SEM: form, targets, classes, seal",
    "3a": "PROV: structure",
    "3b": "PROV: W3C constraints",
    "3c": "PROV: this specification's profile",
    "3d": "PROV: clocks (warnings)",
    "4": "PROV: W3C round trip",
    "5": "evidence linkage",
}
RULES: Final = {
    "1": _aer.RULES,
    "2": _sem.RULES,
    "3a": _structure.RULES,
    "3c": _profile.RULES,
    "3d": _clock.RULES,
    "4": _roundtrip.RULES,
    "5": _linkage.RULES,
}
"""The rules of each tier, with a sentence each. Those of 3b are the constraints of the recommendation."""


@dataclass(slots=True)
class TierResult:
    """What one tier found. `status` is `passed`, `failed` or `not_run`, with the reason in `remarks`."""

    tier: str
    status: str
    findings: list[Finding] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    @property
    def title(self) -> str:
        return TIERS[self.tier]

    def to_json(self) -> JsonObject:
        return {
            "tier": self.tier,
            "title": self.title,
            "status": self.status,
            "remarks": self.remarks,
            "findings": [
                {"rule": f.rule, "severity": f.severity.value, "message": f.message, "pointer": f.pointer}
                for f in self.findings
            ],
        }


def validate_constraints(document: JsonObject | Document) -> list[Finding]:
    """Tier 3b over a PROV-JSON document or statements read from elsewhere."""
    return check_document(document if isinstance(document, Document) else document_from_json(document))


def passed_or_failed(tier: str, findings: list[Finding], remarks: list[str] | None = None) -> TierResult:
    failed = any(one.severity is Severity.ERROR for one in findings)
    return TierResult(tier, "failed" if failed else "passed", findings, remarks or [])


def not_run(tier: str, why: str) -> TierResult:
    return TierResult(tier, "not_run", remarks=[why])


def validate(
    *,
    prov: bytes | None = None,
    aer: Sequence[bytes] | None = None,
    sems: Iterable[Iterable[bytes]] = (),
    read: Read | None = None,
    digest_of: DigestOf | None = None,
    roundtrip: bool = True,
) -> list[TierResult]:
    """All tiers, in order, over what is given. Lines carry their LF. `read` and `digest_of` are
    those of `validate_linkage`."""
    results = [not_run("1", "no AER was given") if aer is None else passed_or_failed("1", validate_aer(aer))]
    index: AerIndex | None = None
    if aer is not None:
        try:
            index = AerIndex(aer)
        except EvidenceError:
            index = None  # tier 1 has said so
    no_aer = "no AER was given" if aer is None else "the AER is malformed: see tier 1"
    sems = list(sems)
    if not sems or index is None:
        results.append(not_run("2", "no SEM was given" if not sems else no_aer))
    else:
        results.append(passed_or_failed("2", [one for sem in sems for one in validate_sem(sem, index)]))
    document, unreadable = (None, []) if prov is None else _structure.parse(prov)
    if prov is None or document is None:
        results.append(
            not_run("3a", "no PROV document was given") if prov is None else passed_or_failed("3a", unreadable)
        )
        why = "no PROV document was given" if prov is None else "the document cannot be read"
        return results + [not_run(tier, why) for tier in ("3b", "3c", "3d", "4", "5")]
    results.append(passed_or_failed("3a", validate_structure(prov)))
    results.append(passed_or_failed("3b", validate_constraints(document)))
    ours = is_ours(document)
    foreign = "the document is not of the apv namespace"
    results.append(passed_or_failed("3c", validate_profile(document)) if ours else not_run("3c", foreign))
    results.append(passed_or_failed("3d", validate_clock(document)))
    results.append(_round(prov, document) if roundtrip else not_run("4", "not asked for"))
    if index is None or not ours:
        results.append(not_run("5", no_aer if ours else foreign))
    else:
        remarks = [] if read is not None else ["raw bytes not looked at: no evidence was given"]
        results.append(passed_or_failed("5", validate_linkage(document, index, read, digest_of), remarks))
    return results


def _round(prov: bytes, document: JsonObject) -> TierResult:
    remarks: list[str] = []
    try:
        return passed_or_failed("4", validate_roundtrip(prov, document, remarks), remarks)
    except NotRun as err:
        return not_run("4", f"{err} ({err.hint})")


__all__ = [
    "RULES",
    "TIERS",
    "AerIndex",
    "DigestOf",
    "NotRun",
    "Read",
    "TierResult",
    "not_run",
    "passed_or_failed",
    "validate",
    "validate_aer",
    "validate_clock",
    "validate_constraints",
    "validate_linkage",
    "validate_profile",
    "validate_roundtrip",
    "validate_sem",
    "validate_structure",
]
