"""An outcome as JSON: what is None is left out, but for `recovered`, whose None says that it is not known."""

from __future__ import annotations

from dataclasses import asdict

from ..canonical import JsonObject
from .failure import Failure, Outcome


def outcome_to_json(outcome: Outcome) -> JsonObject:
    """`{"ended", "inputs", "failures", "unknowns"}`, each failure with its one line `reason`."""
    ended = outcome.ended
    return {
        "ended": {
            **_told({"status": ended.status, "word": ended.word, "said_by": ended.said_by}),
            "reason": None if ended.reason is None else failure_to_json(ended.reason),
            "caveat": None if ended.caveat is None else failure_to_json(ended.caveat),
        },
        "inputs": [
            {
                **_told(
                    {"ordinal": end.ordinal, "status": end.status, "word": end.word, "stop_reason": end.stop_reason}
                ),
                "error": None if end.error is None else failure_to_json(end.error),
            }
            for end in outcome.inputs
        ],
        "failures": [failure_to_json(failure) for failure in outcome.failures],
        "unknowns": [_told(asdict(gap)) for gap in outcome.unknowns],
    }


def failure_to_json(failure: Failure) -> JsonObject:
    """One failure with its `reason`, the pointer into the trajectory and the records behind it."""
    return {**_told(asdict(failure)), "reason": failure.reason, "recovered": failure.recovered}


def _told(fields: JsonObject) -> JsonObject:
    return {key: value for key, value in fields.items() if value is not None}
