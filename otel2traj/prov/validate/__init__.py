"""AER, SEM and PROV into findings, tier by tier; a tier that did not run says so and never counts as passed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from ... import __version__
from ...canonical import JsonObject
from ...errors import EvidenceError, Otel2TrajError
from ...model.finding import Finding, Severity
from ..constraints import Document, check_document, document_from_json
from . import aer as _aer
from . import clock as _clock
from . import derivation as _derivation
from . import linkage as _linkage
from . import profile as _profile
from . import roundtrip as _roundtrip
from . import sem as _sem
from . import structure as _structure
from .aer import validate_aer
from .clock import validate_clock
from .derivation import compare_records, other_version, validate_derivation
from .linkage import DigestOf, Read, validate_linkage
from .places import validate_places
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
    "6": "derived again: AER from evidence, SEM and PROV from AER",
}
RULES: Final = {
    "1": _aer.RULES,
    "2": _sem.RULES,
    "3a": _structure.RULES,
    "3c": _profile.RULES,
    "3d": _clock.RULES,
    "4": _roundtrip.RULES,
    "5": _linkage.RULES,
    "6": _derivation.RULES,
}
"""The rules of each tier, with a sentence each. Those of 3b are the constraints of the recommendation."""


Project = Callable[[Sequence[bytes]], Iterable[bytes]]
"""Makes the AER of the same evidence again, with the origin, attempt and fixtures that the given one names."""


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
    again: Project | None = None,
) -> list[TierResult]:
    """All tiers, in order, over what is given. Lines carry their LF. `read` and `digest_of` are
    those of `validate_linkage`; `again` projects the AER from its evidence once more, given the one that is checked."""
    document, unreadable = (None, []) if prov is None else _structure.parse(prov)
    sems_given = [list(sem) for sem in sems]
    last = _derived_again(prov, document, aer, sems_given, again)
    results = [not_run("1", "no AER was given")]
    others = [] if aer is None else _aer.remarks(aer)
    if aer is not None:
        results = [passed_or_failed("1", validate_aer(aer), others)]
    index: AerIndex | None = None
    if aer is not None:
        try:
            index = AerIndex(aer)
        except EvidenceError:
            index = None  # tier 1 has said so
    malformed = "the AER is malformed: see tier 1" if not others else "the AER is not in the form that is read here"
    no_aer = "no AER was given" if aer is None else malformed
    if aer is not None and document is not None and not is_ours(document):
        results[0] = _not_about(results[0])
    if not sems_given or index is None:
        results.append(not_run("2", "no SEM was given" if not sems_given else no_aer))
    else:
        results.append(passed_or_failed("2", [one for sem in sems_given for one in validate_sem(sem, index)]))
    if prov is None or document is None:
        results.append(
            not_run("3a", "no PROV document was given") if prov is None else passed_or_failed("3a", unreadable)
        )
        why = "no PROV document was given" if prov is None else "the document cannot be read"
        return [*results, *(not_run(tier, why) for tier in ("3b", "3c", "3d", "4", "5")), last]
    results.append(passed_or_failed("3a", validate_structure(prov, None if unreadable else document)))
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
        linked = validate_linkage(document, index, read, digest_of)
        linked += [] if read is None or aer is None else validate_places(aer, read)
        results.append(passed_or_failed("5", linked, remarks))
    return [*results, last]


def _not_about(tier: TierResult) -> TierResult:
    """An AER was given, and the document is not of this vocabulary: it cannot be about it."""
    message = "the document is not of the apv namespace, so it is not about the AER that was given"
    return TierResult("1", "failed", [*tier.findings, Finding("aer.document", message)], tier.remarks)


def _derived_again(
    data: bytes | None,
    document: JsonObject | None,
    aer: Sequence[bytes] | None,
    sems: Sequence[Sequence[bytes]],
    again: Project | None,
) -> TierResult:
    if aer is None:
        return not_run("6", "no AER was given")
    others = bool(_aer.remarks(aer))
    if others and not _is_read(aer):
        return not_run("6", "made by another adapter, in a form that is not read here")
    findings = [] if others else other_version(aer, f"otel2traj {__version__}")
    findings += validate_derivation(document, aer, sems, data)
    remarks = []
    if others:
        remarks.append("the AER was not derived again: made by another adapter, which is not at hand")
    elif again is None:
        remarks.append("the AER was not derived again: no evidence was given")
    else:
        try:
            findings += compare_records("derivation.aer", aer, again(aer))
        except Otel2TrajError as err:
            findings.append(Finding("derivation.impossible", f"from the evidence: {type(err).__name__}: {err}"))
    return passed_or_failed("6", findings, remarks)


def _is_read(aer: Sequence[bytes]) -> bool:
    try:
        AerIndex(aer)
    except EvidenceError:
        return False
    return True


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
    "compare_records",
    "is_ours",
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
