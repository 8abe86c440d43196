"""A trajectory to what became of the run: how it ended, every recorded failure in order, and what is not known."""

from .codec import failure_to_json, outcome_to_json
from .failure import Ended, EndStatus, Failure, FailureKind, Gap, GapKind, InputEnd, Outcome
from .inputs import input_end
from .reader import OutcomeReader
from .signs import Sign
from .steps import step_failures, step_gaps

__all__ = [
    "EndStatus",
    "Ended",
    "Failure",
    "FailureKind",
    "Gap",
    "GapKind",
    "InputEnd",
    "Outcome",
    "OutcomeReader",
    "Sign",
    "failure_to_json",
    "input_end",
    "outcome_to_json",
    "step_failures",
    "step_gaps",
]
