"""Stage 4 of the diagnosis, tools: calls of what was never offered."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from ...canonical import JsonError, JsonObject, loads
from ...model.forensic import FailureCategory as Category
from ...model.forensic import Observation, TriggerSeverity
from .base import AGENT, ENVIRONMENT, SYSTEM, Call, Entry, Rule, entries, shown, spoken
from .thresholds import CONFIDENCE, INVENTED, UNKNOWN_TOOL

RULES: Final = (
    Rule(
        "triage.policy_hallucination",
        Category.POLICY_HALLUCINATION,
        "An agent calls a tool or gives a parameter that `tool_registry` does not know and that no recorded execution "
        "took, the environment says that there is no such tool, or the agent finds its own tool missing.",
    ),
)


class Tools:
    name = "tools"

    def analyze(self, history: list[JsonObject], task_result: JsonObject) -> list[Observation]:
        registry = task_result.get("tool_registry")
        known: JsonObject = registry if isinstance(registry, dict) else {}
        read = entries(history)
        ran, refused = _executions(read)
        there = {entry.told.get("tool") for entry in read if entry.kind == ENVIRONMENT and entry.status == "success"}
        known = {**{name: None for name in there if isinstance(name, str)}, **known} if known else known
        called: set[str] = set()
        out: list[Observation] = []
        for entry in read:
            if entry.kind == AGENT:
                called.update(call.id for call in entry.calls if call.id is not None)
                out += _calls(entry, known, ran, refused)
                if entry.text is not None and not entry.calls and INVENTED.search(entry.text.lower()) is not None:
                    out.append(_seen(entry, f"the agent found it missing: {shown(entry.text, 160)}", "weak"))
            elif _refuses(entry) and entry.told.get("tool_call_id") not in called:
                out.append(_seen(entry, f"the environment knows no such tool: {shown(_error(entry), 160)}", "high"))
        return out


def _refuses(entry: Entry) -> bool:
    """Whether the environment or the system says that what was called does not exist."""
    told = entry.kind in (ENVIRONMENT, SYSTEM) and entry.is_error
    return told and UNKNOWN_TOOL.search(_error(entry).lower()) is not None


def _error(entry: Entry) -> str:
    return spoken(entry.told.get("error", entry.told.get("result")))


def _executions(read: list[Entry]) -> tuple[set[str], dict[str, str]]:
    """Call ids that ran, and those of which the environment says that there is no such tool or parameter."""
    ran: set[str] = set()
    refused: dict[str, str] = {}
    for entry in read:
        call_id = entry.told.get("tool_call_id")
        if entry.kind == ENVIRONMENT and isinstance(call_id, str):
            if entry.status == "success":
                ran.add(call_id)
            elif _refuses(entry):
                refused[call_id] = _error(entry)
    return ran, refused


def _calls(entry: Entry, known: JsonObject, ran: set[str], refused: dict[str, str]) -> Iterator[Observation]:
    for call in entry.calls:
        if call.id is not None and call.id in refused:
            yield _seen(entry, f"call of {call.name}: {shown(refused[call.id], 160)}", "certain")
        elif known and call.name is not None and entry.raw.get("tools_recorded") is not False:
            if call.id is not None and call.id in ran:
                continue
            if call.name not in known:
                yield _seen(entry, f"call of {call.name}, which is not among the tools offered", "high")
            else:
                extra = _undeclared(call, known[call.name])
                if extra:
                    names = ", ".join(extra)
                    yield _seen(entry, f"call of {call.name} with {names}, which it does not declare", "high")


def _undeclared(call: Call, interface: Any) -> list[str]:
    """Parameters that an interface does not declare. One that declares none and forbids none takes any."""
    declared = interface.get("parameters") if isinstance(interface, dict) else None
    if not isinstance(declared, (list, dict)) or interface.get("open") is True:
        return []
    arguments: Any = call.arguments
    if isinstance(arguments, str):
        try:
            arguments = loads(arguments)
        except JsonError:
            return []
    return [name for name in arguments if name not in declared] if isinstance(arguments, dict) else []


def _seen(entry: Entry, evidence: str, confidence: str) -> Observation:
    return Observation(
        Category.POLICY_HALLUCINATION,
        evidence,
        index=entry.index,
        turn_index=entry.turn,
        severity=TriggerSeverity.LOW if confidence == "weak" else TriggerSeverity.HIGH,
        confidence=CONFIDENCE[confidence],
    )
