"""Stage 1 of the diagnosis: what the metrics say of the whole run, and what a failed one is named."""

from __future__ import annotations

from typing import Any, Final

from ...canonical import JsonObject
from ...model.forensic import FailureCategory as Category
from ...model.forensic import Observation, TriggerSeverity
from .base import Rule
from .thresholds import CONFIDENCE, METRIC_NAMES, RANK_METRIC

RULES: Final = (
    Rule("triage.success", Category.SUCCESS, "All metrics succeeded, and the task's status is absent or success."),
    Rule("triage.partial_pass", Category.PARTIAL_PASS, "Some metrics succeeded and some did not, with such a status."),
    Rule(
        "triage.logic_state_mismatch",
        Category.LOGIC_STATE_MISMATCH,
        "A metric named `state_verification` did not hold.",
    ),
    Rule(
        "triage.parity_state_divergence",
        Category.PARITY_STATE_DIVERGENCE,
        "A metric named `parity` did not hold, or an error of the environment speaks of parity or a mismatch.",
    ),
)


def verdict(task_result: JsonObject) -> Category | None:
    """What the metrics say of the whole run, or None where they leave it open."""
    metrics = _metrics(task_result)
    status = task_result.get("status")
    if not metrics or not (status is None or str(status).lower() == "success"):
        return None
    held = sum(item.get("success") is True for item in metrics)
    if held == len(metrics):
        return Category.SUCCESS
    return Category.PARTIAL_PASS if held else None


class Metrics:
    name = "metrics"

    def analyze(self, history: list[JsonObject], task_result: JsonObject) -> list[Observation]:
        out: list[Observation] = []
        if verdict(task_result) is not None:
            return out
        for number, item in enumerate(_metrics(task_result)):
            if item.get("success") is not False:
                continue
            name = str(item.get("metric"))
            found = next((category for part, category in METRIC_NAMES if part in name.lower()), None)
            if found is not None:
                out.append(
                    Observation(
                        found,
                        f"metric {name} did not hold{_numbers(item)}",
                        severity=TriggerSeverity.HIGH,
                        rank=RANK_METRIC,
                        confidence=CONFIDENCE["medium-high"],
                        pointer=f"/metrics/{number}",
                    )
                )
        return out


def _metrics(task_result: JsonObject) -> list[JsonObject]:
    found: Any = task_result.get("metrics")
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def _numbers(item: JsonObject) -> str:
    told = [f"{name} {item[name]}" for name in ("score", "threshold") if item.get(name) is not None]
    return f" ({', '.join(told)})" if told else ""
