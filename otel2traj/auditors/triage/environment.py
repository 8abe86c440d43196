"""Stage 3 of the diagnosis: what the environment and the system say of themselves."""

from __future__ import annotations

from typing import Final

from ...canonical import JsonObject
from ...model.forensic import FailureCategory as Category
from ...model.forensic import Observation, TriggerSeverity
from ...model.forensic import category as category_of
from .base import ENVIRONMENT, SYSTEM, Entry, Rule, entries, shown, spoken
from .thresholds import (
    CONFIDENCE,
    ERROR_CODES,
    ERROR_WORDS,
    HTTP_STATUSES,
    PERMISSION,
    QUOTED,
    RANK_CONNECTION,
    RANK_ENVIRONMENT,
    RANK_EXPLICIT,
    RANK_POLICY,
    STATUSES,
    UNKNOWN_TOOL,
)

_TOLD: Final = "The environment or the system gives this category as the status."
UNOBSERVABLE: Final = {
    Category.POLICY_DACON_LEAK: "what data is under control is written in a policy, which no record of a run holds",
    Category.SECURITY_IDENTITY_HITL_FAILURE: "who approved is recorded nowhere, and a refusal is the control at work",
    Category.LOGIC_UNCERTAINTY: "how sure a model was is in no field, and words of doubt are no failure",
    Category.LOGIC_OBJECTIVE_MISALIGNMENT: "what was wanted beyond the task's text is not recorded",
    Category.POLICY_KNOWLEDGE_STALENESS: "what was true on the day of the run is not in its record",
}
"""Categories that no recorded fact names, each with the reason: only an environment, a system or an analyzer of the
user's own can say them."""
RULES: Final = (
    Rule(
        "triage.policy_violation",
        Category.POLICY_VIOLATION,
        "The environment's status says so, or the proxy recorded that it denied the egress of a call.",
    ),
    Rule("triage.policy_dacon_leak", Category.POLICY_DACON_LEAK, "The environment's status is `dacon_leak`."),
    Rule("triage.infra_oom", Category.INFRA_OOM, "An error of the environment says that memory ran out."),
    Rule(
        "triage.infra_disk_quota", Category.INFRA_DISK_QUOTA, "An error of the environment says that the disk is full."
    ),
    Rule(
        "triage.infra_sandbox_failure",
        Category.INFRA_SANDBOX_FAILURE,
        "An error of the environment speaks of its container or sandbox.",
    ),
    Rule(
        "triage.infra_timeout",
        Category.INFRA_TIMEOUT,
        "An Input ended in a timeout, a call was answered with 408 or 504, or an error speaks of a timeout.",
    ),
    Rule(
        "triage.infra_connection_failed",
        Category.INFRA_CONNECTION_FAILED,
        "The proxy recorded a transport error, or an error of the environment speaks of a connection.",
    ),
    Rule(
        "triage.security_unauthorized_access",
        Category.SECURITY_UNAUTHORIZED_ACCESS,
        "The environment's status says so, a call was answered with 401 or 403, or an error says access was denied.",
    ),
    Rule(
        "triage.infra_simulator_exception",
        Category.INFRA_SIMULATOR_EXCEPTION,
        "An error of the environment that no other rule names.",
    ),
    Rule(
        "triage.security_identity_hitl_failure",
        Category.SECURITY_IDENTITY_HITL_FAILURE,
        _TOLD,
    ),
    Rule("triage.logic_uncertainty", Category.LOGIC_UNCERTAINTY, _TOLD),
    Rule("triage.logic_abandonment", Category.LOGIC_ABANDONMENT, "An answer is empty, or the status says so."),
    Rule("triage.logic_objective_misalignment", Category.LOGIC_OBJECTIVE_MISALIGNMENT, _TOLD),
    Rule("triage.policy_knowledge_staleness", Category.POLICY_KNOWLEDGE_STALENESS, _TOLD),
)
_RANKS: Final = {Category.INFRA_CONNECTION_FAILED: RANK_CONNECTION}
_POLICY: Final = ("policy_", "security_")


class Environment:
    name = "environment"

    def analyze(self, history: list[JsonObject], task_result: JsonObject) -> list[Observation]:
        found = (observe(entry) for entry in entries(history))
        return [item for item in found if item is not None]


def observe(entry: Entry) -> Observation | None:
    """What one entry of the environment or the system gives away, or None. Only its own status makes it an error."""
    if entry.kind not in (ENVIRONMENT, SYSTEM):
        return None
    told = entry.told
    marked = category_of(told.get("root_cause")) or category_of(told.get("failure_category"))
    if marked is not None and marked is not Category.SUCCESS:
        return _told(entry, marked, RANK_EXPLICIT, "certain", "named as the root cause")
    status = category_of(entry.status) or STATUSES.get(entry.status or "")
    if status is not None and status is not Category.SUCCESS:
        return _told(entry, status, _rank(status), "certain", f"status {entry.status}")
    if not entry.is_error:
        return None
    code, http = told.get("error_code"), told.get("http_status")
    if isinstance(code, str) and code in ERROR_CODES:
        return _told(entry, ERROR_CODES[code], _rank(ERROR_CODES[code]), "high", f"error code {code}")
    if type(http) is int and http in HTTP_STATUSES:
        return _told(entry, HTTP_STATUSES[http], _rank(HTTP_STATUSES[http]), "high", f"HTTP status {http}")
    error = spoken(told.get("error", told.get("result"))).lower()
    bare = QUOTED.sub(" ", error)
    if UNKNOWN_TOOL.search(error) is not None or PERMISSION.search(error) is not None:
        return None  # the first is told by the rule that reads calls
    for category, pattern in ERROR_WORDS:
        if pattern.search(bare) is not None:
            return _told(entry, category, _rank(category), "medium", "")
    return _told(entry, Category.INFRA_SIMULATOR_EXCEPTION, RANK_ENVIRONMENT, "low", "")


def _rank(category: Category) -> int:
    return RANK_POLICY if category.startswith(_POLICY) else _RANKS.get(category, RANK_ENVIRONMENT)


def _told(entry: Entry, category: Category, rank: int, confidence: str, why: str) -> Observation:
    told = entry.told
    error = shown(spoken(told.get("error", told.get("message", told.get("result")))))
    tool = told.get("tool")
    parts = [f"tool {tool}" if isinstance(tool, str) else "", why, error]
    severe = TriggerSeverity.CRITICAL if category.startswith("security_") else TriggerSeverity.HIGH
    return Observation(
        category,
        ": ".join(part for part in parts if part) or f"status {entry.status}",
        index=entry.index,
        turn_index=entry.turn,
        severity=TriggerSeverity.MEDIUM if confidence == "low" else severe,
        rank=rank,
        confidence=CONFIDENCE[confidence],
    )
