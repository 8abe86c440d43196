"""Steps to the other lists of a forensic ledger: offered tools, transports, states of the workspace."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ..canonical import JsonObject, JsonValue
from ..model.forensic import Workspace, snapshot
from ..model.trajectory import SdkInput, Step, StepSource, Summary
from ..outcome import Failure, Outcome
from .chat_messages import tools_of

Transport = Callable[[list[JsonObject]], str | None]
"""The records of a step to the transport that they name themselves, or None."""

_ACP_FILE: Final = "acp-events.jsonl"
_INCOMPLETE: Final = ("file_evidence_incomplete", "replay_incomplete")


class ToolRegistry:
    """Tools by name as they were first defined. `conflicts` names those that were defined otherwise later."""

    def __init__(self) -> None:
        self.tools: JsonObject = {}
        self.conflicts: set[str] = set()
        self._texts: dict[str, JsonObject] = {}

    def add(self, tools: JsonValue) -> None:
        for function in (item["function"] for item in tools_of(tools)[0]):
            name = function.get("name")
            if not isinstance(name, str):
                continue
            known = self._texts.setdefault(name, function)
            if known is function:
                self.tools[name] = _interface(function)
            elif known != function:
                self.conflicts.add(name)


def _interface(function: JsonObject) -> JsonObject:
    schema: Any = function.get("parameters")
    properties = schema.get("properties") if isinstance(schema, dict) else None
    names = list(properties) if isinstance(properties, dict) else []
    out: JsonObject = {"parameters": names, "description": function.get("description")}
    if not names and (not isinstance(schema, dict) or schema.get("additionalProperties") is not False):
        out["open"] = True
    return out


def protocol(step: Step, transport: Transport | None) -> str | None:
    """How a model call travelled: `sse`, `http` or `grpc` by its wire records, else `stdio` where ACP told of it, else
    `mcp` where a tool of the turn was reached that way, else None."""
    records = _records(step.evidence)
    if step.source is not StepSource.FRAMEWORK:
        parameters: Any = step.input.get("parameters")
        stream = parameters.get("stream") if isinstance(parameters, dict) else None
        if isinstance(stream, bool):
            return "sse" if stream else "http"
        named = None if transport is None else transport(records)
        return "http" if named is None else named
    logs = [log.evidence for log in step.tool_logs]
    theirs = [item for said in logs for item in _records(said)]
    if any(str(item.get("path")).rpartition("/")[2] == _ACP_FILE for item in (*records, *theirs)):
        return "stdio"
    told = [said.get("said_by") for said in logs]
    if any("mcp" in str(name) for said_by in told if isinstance(said_by, dict) for name in said_by.values()):
        return "mcp"
    return None


def _records(evidence: JsonObject) -> list[JsonObject]:
    found = evidence.get("records")
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


class States:
    """The workspace after each Input of which file evidence was recorded, as `(turn, hash)`."""

    def __init__(self, summary: Summary) -> None:
        self._paths = [str(source.get("path")) for source in summary.sources]
        self._inputs = len(summary.inputs)
        self._workspace = Workspace()
        self._known = not any(warning.startswith(_INCOMPLETE) for warning in summary.warnings)
        self.snapshots: list[tuple[int, str]] = []

    def input(self, item: SdkInput, last_turn: int | None) -> None:
        """Takes the Inputs in their order. After one without file evidence nothing is known any more."""
        self._known = self._known and self._recorded(item.ordinal)
        for change in item.file_changes:
            self._workspace.apply(change)
        manifest = self._workspace.manifest() if self._known else None
        if manifest is None or last_turn is None:
            return
        if self.snapshots and self.snapshots[-1][0] >= last_turn:
            return
        self.snapshots.append((last_turn, snapshot(manifest)))

    def _recorded(self, ordinal: str) -> bool:
        if "replay/events.jsonl" in self._paths:
            return True
        found = [path for path in self._paths if path.rpartition("/")[2] == "file-evidence.json"]
        return len(found) == self._inputs or any(f"/{ordinal}/" in f"/{path}" for path in found)


def outcome_json(outcome: Outcome) -> JsonObject:
    """How the run ended and every recorded failure, as the ledger keeps them for its diagnosis."""
    ended = outcome.ended
    return {
        "ended": {"status": ended.status, "word": ended.word, "said_by": ended.said_by},
        "inputs": [{"ordinal": end.ordinal, "status": end.status, "word": end.word} for end in outcome.inputs],
        "failures": [_failure(failure) for failure in outcome.failures],
        "unknowns": [
            {"kind": gap.kind, "step_id": gap.step_id, "what": gap.what, "pointer": gap.pointer}
            for gap in outcome.unknowns
        ],
    }


_TOLD: Final = (
    *("code", "message", "step_id", "input_ordinal", "agent", "tool", "tool_call_id", "http_status"),
    *("exit_code", "signal", "sign", "recovered"),
)


def _failure(failure: Failure) -> JsonObject:
    told = {name: getattr(failure, name) for name in _TOLD}
    return {
        "kind": failure.kind,
        **{name: value for name, value in told.items() if value is not None or name == "recovered"},
        "pointer": failure.pointer,
        "records": failure.records,
    }
