"""Why a value is missing, and how good a value is."""

from __future__ import annotations

from enum import StrEnum


class UnknownReason(StrEnum):
    """AgentPROV's closed list of reasons for a declared unknown."""

    NOT_RECORDED = "not_recorded"
    LOST = "lost"
    OVERWRITTEN = "overwritten"
    WITHHELD = "withheld"
    AMBIGUOUS = "ambiguous"
    NOT_CAPTURED = "not_captured"
    NOT_APPLICABLE = "not_applicable"


class EvidenceClass(StrEnum):
    """AgentPROV's evidence classes, strongest first: a combination is as good as its weakest part."""

    OBSERVED = "O"
    DERIVED = "D"
    INFERRED = "I"

    @staticmethod
    def weakest(*classes: EvidenceClass) -> EvidenceClass:
        order = list(EvidenceClass)
        return max(classes, key=order.index)
