"""The nouns of the AgentV Forensic Ledger 1.6.0: failure categories, observations, and the state of a workspace.

Field names and value lists are those of the ledger's schema; see `docs/how-to/forensic.md` for the choices made where
the schema leaves one.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from ..canonical import JsonObject, canonical_bytes
from ..timestamps import parse_ns

VERSION: Final = "1.6.0"
ANALYZER_GROUP: Final = "otel2traj.analyzers"
"""The entry point group in which installed packages name analyzers of their own."""

_DIGEST: Final = re.compile(r"(?:sha256:)?([0-9a-f]{64})")


class FailureCategory(StrEnum):
    """Every value that `root_cause`, `terminal_status` and `trigger` can have."""

    SUCCESS = "success"
    INFRA_SIMULATOR_EXCEPTION = "infra_simulator_exception"
    INFRA_TIMEOUT = "infra_timeout"
    INFRA_CONNECTION_FAILED = "infra_connection_failed"
    INFRA_OOM = "infra_oom"
    INFRA_DISK_QUOTA = "infra_disk_quota"
    INFRA_SANDBOX_FAILURE = "infra_sandbox_failure"
    INFRA_RESOURCE_EXHAUSTED = "infra_resource_exhausted"
    LOGIC_STALL = "logic_stall"
    LOGIC_REFUSAL = "logic_refusal"
    LOGIC_PLANNING_ERROR = "logic_planning_error"
    LOGIC_STATE_MISMATCH = "logic_state_mismatch"
    LOGIC_STATE_STALL = "logic_state_stall"
    LOGIC_UNCERTAINTY = "logic_uncertainty"
    LOGIC_ABANDONMENT = "logic_abandonment"
    LOGIC_OBJECTIVE_MISALIGNMENT = "logic_objective_misalignment"
    POLICY_VIOLATION = "policy_violation"
    POLICY_HALLUCINATION = "policy_hallucination"
    POLICY_DACON_LEAK = "policy_dacon_leak"
    POLICY_KNOWLEDGE_STALENESS = "policy_knowledge_staleness"
    SECURITY_PII_LEAK = "security_pii_leak"
    SECURITY_UNAUTHORIZED_ACCESS = "security_unauthorized_access"
    SECURITY_SANDBOX_ESCAPE = "security_sandbox_escape"
    SECURITY_IDENTITY_HITL_FAILURE = "security_identity_hitl_failure"
    PARITY_STATE_DIVERGENCE = "parity_state_divergence"
    PARITY_PROTOCOL_VIOLATION = "parity_protocol_violation"
    PARTIAL_PASS = "partial_pass"
    UNKNOWN_FAILURE = "unknown_failure"


OLD_NAMES: Final = {"infra_docker_failure": FailureCategory.INFRA_SANDBOX_FAILURE}
"""Names that earlier ledgers used."""


def category(name: object) -> FailureCategory | None:
    """The category of that name in either case, or None."""
    if not isinstance(name, str):
        return None
    word = name.strip().lower()
    try:
        return OLD_NAMES[word] if word in OLD_NAMES else FailureCategory(word)
    except ValueError:
        return None


class TriggerSeverity(StrEnum):
    """How bad a trigger is, in the ledger's words."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"


@dataclass(slots=True)
class Observation:
    """One thing that an analyzer saw in a ledger.

    `index` is the position in `conversation_history`, from 0; `turn_index` follows from it where it is None.
    `confidence` is between 0 and 1. `pointer` is a JSON pointer into the ledger, where the evidence is no
    history entry.
    """

    category: FailureCategory
    evidence: str
    index: int | None = None
    turn_index: int | None = None
    severity: TriggerSeverity = TriggerSeverity.MEDIUM
    rank: int = 0
    confidence: float = 0.7
    pointer: str | None = None
    suggestion: str | None = None
    timestamp: float | None = None


def epoch(text: str | None) -> float | None:
    """A recorded ISO-8601 time as Unix seconds to the microsecond, or None where there is none to read."""
    ns = parse_ns(text)
    return None if ns is None else seconds(ns)


def seconds(ns: int) -> float:
    """Nanoseconds as seconds to the microsecond: a double holds no more of them today."""
    return round(ns / 1e9, 6)


def snapshot(manifest: JsonObject) -> str:
    """The SHA3-256 of a manifest's canonical JSON, 64 hexadecimal digits without a prefix."""
    return hashlib.sha3_256(canonical_bytes(manifest)).hexdigest()


class Workspace:
    """What recorded file changes tell of a workspace.

    Its manifest is the difference to the recorded start, `{path: {"content", "mode"?} | null}`: a path that is back
    where it began is not in it, so two equal manifests of one run are two equal workspaces.
    """

    def __init__(self) -> None:
        self._start: dict[str, JsonObject | None] = {}
        self._now: dict[str, JsonObject | None] = {}
        self._unknown: set[str] = set()

    def apply(self, change: JsonObject) -> None:
        """One entry of `file_changes`, in the order recorded."""
        path, old = change.get("path"), change.get("old_path")
        if not isinstance(path, str):
            return
        before, _ = _entry(change, "before")
        after, known = _entry(change, "after")
        if isinstance(old, str):
            self._start.setdefault(old, before)
            self._start.setdefault(path, None)
            self._now[old] = None
            self._unknown.discard(old)
        else:
            self._start.setdefault(path, before)
        self._now[path] = after
        (self._unknown.discard if known else self._unknown.add)(path)

    def manifest(self) -> JsonObject | None:
        """None where the content of a changed path was not recorded."""
        if self._unknown:
            return None
        return {path: now for path, now in sorted(self._now.items()) if now != self._start[path]}


def _entry(change: JsonObject, side: str) -> tuple[JsonObject | None, bool]:
    """What stands at a path before or after a change, None where nothing does, and whether that is known."""
    kind = change.get("change_type")
    if kind == ("deleted" if side == "after" else "created"):
        return None, True
    digest, mode, size = (change.get(f"{side}_{name}") for name in ("hash", "mode", "size"))
    if digest is None and mode is None and size is None:
        return None, kind is None
    out: JsonObject = {}
    if isinstance(mode, int):
        out["mode"] = mode
    if change.get("file_type") == "directory":
        return {"type": "directory", **out}, True
    match = _DIGEST.fullmatch(digest) if isinstance(digest, str) else None
    out["content"] = "unknown" if match is None else f"sha256:{match.group(1)}"
    return out, match is not None and change.get("complete") is not False


def is_subsequence(required: list[Any], recorded: list[Any]) -> bool:
    """Whether the required steps stand in the recorded ones in their order, others between them allowed."""
    return first_missing(required, recorded) is None


def first_missing(required: list[Any], recorded: list[Any]) -> int | None:
    """The position of the first required step that is not met in order, or None."""
    at = 0
    for item in recorded:
        if at < len(required) and item == required[at]:
            at += 1
    return None if at == len(required) else at
