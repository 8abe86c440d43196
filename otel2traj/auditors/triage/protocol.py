"""Stage 2 of the diagnosis: the required steps of a protocol, in order among the recorded ones."""

from __future__ import annotations

from typing import Final

from ...canonical import JsonObject
from ...model.forensic import FailureCategory as Category
from ...model.forensic import Observation, TriggerSeverity, first_missing
from .base import Rule
from .thresholds import CONFIDENCE, RANK_PROTOCOL

RULES: Final = (
    Rule(
        "triage.parity_protocol_violation",
        Category.PARITY_PROTOCOL_VIOLATION,
        "The steps of `protocol_sequence_required` do not stand in `protocol_sequence` in their order, or an error of "
        "the environment speaks of a protocol.",
    ),
)


class ProtocolSequence:
    name = "protocol-sequence"

    def analyze(self, history: list[JsonObject], task_result: JsonObject) -> list[Observation]:
        required, recorded = task_result.get("protocol_sequence_required"), task_result.get("protocol_sequence")
        if not isinstance(required, list) or not isinstance(recorded, list) or not required or not recorded:
            return []
        missing = first_missing(required, recorded)
        if missing is None:
            return []
        return [
            Observation(
                Category.PARITY_PROTOCOL_VIOLATION,
                f"required step {missing + 1} of {len(required)}, {required[missing]!r}, is not in the recorded "
                "sequence after the steps before it",
                severity=TriggerSeverity.HIGH,
                rank=RANK_PROTOCOL,
                confidence=CONFIDENCE["certain"],
                pointer="/protocol_sequence",
            )
        ]
