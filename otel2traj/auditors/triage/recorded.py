"""Stage 0 of the diagnosis: what the evidence itself records as the end of the run, before any word is read.

A ledger made from a trajectory carries its `outcome`: how the run ended, every recorded failure, whether it was
recovered. Causes come from the kind of such a failure and from what its code, status, class or errno means.
"""

from __future__ import annotations

from typing import Any, Final

from ...canonical import JsonObject
from ...model.forensic import FailureCategory as Category
from ...model.forensic import Observation, TriggerSeverity
from .base import AGENT, ENVIRONMENT, SYSTEM, Entry, entries, shown
from .thresholds import CONFIDENCE, MEMORY_WORDS, PERMISSION, TOO_LONG, UNKNOWN_AGENT, UNKNOWN_TOOL

_BY_SIGN: Final = {
    "timeout": Category.INFRA_TIMEOUT,
    "connection": Category.INFRA_CONNECTION_FAILED,
    "rate limit": Category.INFRA_RESOURCE_EXHAUSTED,
    "quota": Category.INFRA_RESOURCE_EXHAUSTED,
    "context length": Category.INFRA_RESOURCE_EXHAUSTED,
    "CPU limit": Category.INFRA_RESOURCE_EXHAUSTED,
    "limit of steps or turns": Category.LOGIC_STALL,
    "authentication": Category.SECURITY_UNAUTHORIZED_ACCESS,
    "permission": Category.SECURITY_UNAUTHORIZED_ACCESS,
    "egress denied": Category.POLICY_VIOLATION,
    "content filter": Category.POLICY_VIOLATION,
    "refusal": Category.LOGIC_REFUSAL,
    "no space left": Category.INFRA_DISK_QUOTA,
    "out of memory": Category.INFRA_OOM,
    "overloaded": Category.INFRA_SIMULATOR_EXCEPTION,
    "server error": Category.INFRA_SIMULATOR_EXCEPTION,
    "bad request": Category.INFRA_SIMULATOR_EXCEPTION,
}
_BY_KIND: Final = {
    "refusal": Category.LOGIC_REFUSAL,
    "content filter": Category.POLICY_VIOLATION,
    "answer cut at a length limit": Category.INFRA_RESOURCE_EXHAUSTED,
    "empty answer": Category.LOGIC_ABANDONMENT,
    "arguments are not JSON": Category.POLICY_HALLUCINATION,
    "arguments against the offered schema": Category.POLICY_HALLUCINATION,
    "tool was not offered": Category.POLICY_HALLUCINATION,
    "response cut off": Category.INFRA_CONNECTION_FAILED,
}
"""Kinds that name a cause whatever their code means."""
_CALL_FAULTS: Final = frozenset(
    {"arguments are not JSON", "arguments against the offered schema", "tool was not offered"}
)
_ANSWERED: Final = frozenset({"provider error", "wire error", "model call failed"})
_RAN: Final = frozenset({"tool error"})
_ENDS: Final = frozenset({"input failed", "run failed", "agent error"})
_NAMED: Final = (
    ("verification", Category.LOGIC_STATE_MISMATCH),
    ("parity", Category.PARITY_STATE_DIVERGENCE),
    ("protocolviolation", Category.PARITY_PROTOCOL_VIOLATION),
    ("emptyanswer", Category.LOGIC_ABANDONMENT),
    ("emptyresponse", Category.LOGIC_ABANDONMENT),
    ("sandbox", Category.INFRA_SANDBOX_FAILURE),
    ("container", Category.INFRA_SANDBOX_FAILURE),
    ("docker", Category.INFRA_SANDBOX_FAILURE),
    ("simulator", Category.INFRA_SIMULATOR_EXCEPTION),
    ("environmenterror", Category.INFRA_SIMULATOR_EXCEPTION),
    ("environment_error", Category.INFRA_SIMULATOR_EXCEPTION),
    ("output_matches", Category.LOGIC_PLANNING_ERROR),
    ("harness", Category.INFRA_SIMULATOR_EXCEPTION),
)
"""Parts of an exception's class, or of an error's code, that say which side it is of."""
_PROCESS: Final = frozenset({"non-zero exit", "ended by a signal"})
_CRASHED: Final = frozenset({"SIGSEGV", "SIGBUS", "SIGILL", "SIGABRT"})
_EXIT_TIMEOUT: Final = 124
"""What coreutils' `timeout` ends with."""
_EXIT_KILLED: Final = 137
"""128 and SIGKILL, as shells give it."""


class Recorded:
    name = "recorded"

    def analyze(self, history: list[JsonObject], task_result: JsonObject) -> list[Observation]:
        """One observation for each failure that is not known to be recovered and names a cause."""
        read = entries(history)
        out = []
        told: set[tuple[Any, Category]] = set()
        for number, failure in enumerate(failures_of(task_result)):
            found = cause_of(failure)
            if found is None or failure.get("recovered") is True:
                continue
            where = (failure.get("input_ordinal"), found)
            if failure.get("kind") in _ENDS and where in told:
                continue  # the end of an Input that says again what one of its steps said
            told.add(where)
            out.append(observed(failure, number, found, read))
        return out


def named_by(category: Category) -> list[str]:
    """Which recorded facts name that category: kinds of failures, meanings of codes, parts of an error's class."""
    kinds = [kind for kind, named in _BY_KIND.items() if named is category]
    signs = [sign for sign, named in _BY_SIGN.items() if named is category]
    classes = [f"`{part}` in the class" for part, named in _NAMED if named is category]
    return list(dict.fromkeys((*kinds, *signs, *classes)))


def has_outcome(task_result: JsonObject) -> bool:
    return isinstance(task_result.get("outcome"), dict)


def failures_of(task_result: JsonObject) -> list[JsonObject]:
    outcome = task_result.get("outcome")
    found = outcome.get("failures") if isinstance(outcome, dict) else None
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def ended(task_result: JsonObject) -> str | None:
    """The recorded end: `succeeded`, `failed`, …, `not recorded`; None without an outcome."""
    outcome = task_result.get("outcome")
    end = outcome.get("ended") if isinstance(outcome, dict) else None
    status = end.get("status") if isinstance(end, dict) else None
    return status if isinstance(status, str) else None


def decisive(task_result: JsonObject) -> Observation | None:
    """The recorded failure that the run ended with, as the cause it names; None where none does."""
    found = failures_of(task_result)
    read = entries([item for item in task_result.get("conversation_history") or [] if isinstance(item, dict)])
    if ended(task_result) in (None, "succeeded"):
        return None
    own = [(n, failure) for n, failure in enumerate(found) if failure.get("kind") in _ENDS]
    steps = [
        (n, failure)
        for n, failure in enumerate(found)
        if failure.get("kind") not in _ENDS and failure.get("recovered") is False
    ]
    if ended(task_result) == "not recorded":
        steps = steps[-1:] if steps and _ends_the_record(steps[-1][1], task_result) else []
        own = []
    fault = _call_fault(steps, found)
    chosen: tuple[int, JsonObject] | None = None
    category: Category | None = None
    if fault is not None:
        chosen, category = fault, cause_of(fault[1])
    for number, failure in reversed(own) if chosen is None else ():
        category = cause_of(failure)
        if category is not None:
            chosen = _step_of(failure, steps) or (number, failure)
            break
    for number, failure in reversed(steps) if category is None else ():
        category = cause_of(failure)
        if category is not None:
            chosen = number, failure
            break
    if (chosen is None or category is None) and ended(task_result) == "timed out":
        words = "the run is recorded as timed out"
        return Observation(Category.INFRA_TIMEOUT, words, confidence=CONFIDENCE["high"], pointer="/outcome/ended")
    if chosen is None or category is None:
        return None
    return observed(chosen[1], chosen[0], category, read)


def cause_of(failure: JsonObject) -> Category | None:
    """The category that one recorded failure names by its kind, sign or name; None where it names none."""
    kind, sign = str(failure.get("kind")), failure.get("sign")
    if kind in _BY_KIND:
        return _BY_KIND[kind]
    if kind in _RAN and (sign in ("validation", "bad request") or _no_such(failure)):
        return Category.POLICY_HALLUCINATION
    said = str(failure.get("message") or "").lower()
    if sign == "bad request" and TOO_LONG.search(said) is not None:
        return Category.INFRA_RESOURCE_EXHAUSTED
    if sign == "permission" and PERMISSION.search(said) is not None:
        return None  # somebody was asked and said no
    if isinstance(sign, str) and sign in _BY_SIGN:
        return _BY_SIGN[sign]
    if kind in _PROCESS:
        return _of_process(failure, said)
    if kind in _ENDS:
        named = f"{failure.get('code') or ''} {_class_in(failure)}".lower().replace(" ", "")
        return next((category for part, category in _NAMED if part in named), None)
    if kind in _ANSWERED or kind in _RAN:
        return Category.INFRA_SIMULATOR_EXCEPTION
    return None


def _of_process(failure: JsonObject, said: str) -> Category | None:
    """What the end of a process names by itself: a kill for memory where it says so, the exit code of `timeout`."""
    if failure.get("signal") == "SIGKILL" or failure.get("exit_code") == _EXIT_KILLED:
        return Category.INFRA_OOM if MEMORY_WORDS.search(said) is not None else None
    if failure.get("signal") in _CRASHED:
        return Category.INFRA_SANDBOX_FAILURE
    return Category.INFRA_TIMEOUT if failure.get("exit_code") == _EXIT_TIMEOUT else None


def observed(failure: JsonObject, number: int, category: Category, read: list[Entry]) -> Observation:
    index = _index(failure, category, read)
    told = ": ".join(str(part) for part in (failure.get("code"), failure.get("message")) if part)
    tool = failure.get("tool")
    words = [f"tool {tool}" if isinstance(tool, str) else "", str(failure.get("kind")), shown(told)]
    return Observation(
        category,
        ": ".join(part for part in words if part),
        index=index,
        severity=TriggerSeverity.CRITICAL if category.startswith("security_") else TriggerSeverity.HIGH,
        confidence=CONFIDENCE["high"],
        pointer=None if index is not None else f"/outcome/failures/{number}",
    )


def _index(failure: JsonObject, category: Category, read: list[Entry]) -> int | None:
    """The history entry of the failing step: what ran or answered, or the agent where the fault is in its call."""
    step = failure.get("step_id")
    if step is None:
        return None
    mine = [entry for entry in read if (entry.raw.get("evidence") or {}).get("step_id") == step]
    call = failure.get("tool_call_id")
    if category is not Category.POLICY_HALLUCINATION:
        for entry in mine:
            answered = entry.kind == SYSTEM and failure.get("kind") in _ANSWERED
            if answered or (entry.kind == ENVIRONMENT and call is not None and entry.told.get("tool_call_id") == call):
                return entry.index
    said = next((entry.index for entry in mine if entry.kind == AGENT), None)
    return said if said is not None else mine[0].index if mine else None


def _call_fault(steps: list[tuple[int, JsonObject]], found: list[JsonObject]) -> tuple[int, JsonObject] | None:
    """The fault in a call whose execution is the failure that the run ended with: the call is the cause."""
    if not steps:
        return None
    number, last = steps[-1]
    if last.get("kind") in _CALL_FAULTS:
        return number, last
    call = last.get("tool_call_id")
    for place, failure in enumerate(found):
        if failure.get("kind") in _CALL_FAULTS and call is not None and failure.get("tool_call_id") == call:
            return place, failure
    return None


def _step_of(error: JsonObject, steps: list[tuple[int, JsonObject]]) -> tuple[int, JsonObject] | None:
    """The step whose failure the end of the run repeats."""
    said = " ".join(str(error.get("message") or "").split())
    for number, failure in reversed(steps):
        told = " ".join(str(failure.get("message") or "").split())
        if len(told) >= 8 and (told in said or said in told):
            return number, failure
    same = [one for one in steps if one[1].get("sign") is not None and one[1].get("sign") == error.get("sign")]
    return same[-1] if same else None


def _ends_the_record(failure: JsonObject, task_result: JsonObject) -> bool:
    """Whether the last thing recorded is this failure of an answer: nobody wrote down an end, and nothing followed."""
    if failure.get("kind") not in {*_ANSWERED, *_BY_KIND, "ended by a signal"} - {"empty answer"}:
        return False
    history = [item for item in task_result.get("conversation_history") or [] if isinstance(item, dict)]
    steps = [(item.get("evidence") or {}).get("step_id") for item in history]
    last = max((step for step in steps if isinstance(step, int)), default=None)
    return last is not None and failure.get("step_id") == last


def _no_such(failure: JsonObject) -> bool:
    said = str(failure.get("message") or "").lower()
    return UNKNOWN_TOOL.search(said) is not None or UNKNOWN_AGENT.search(said) is not None


def _class_in(failure: JsonObject) -> str:
    """The class or code that a message begins with, as `StateVerificationError: …` or `state_verification: …`."""
    message: Any = failure.get("message")
    head = message.partition(":")[0] if isinstance(message, str) else ""
    return head if head and " " not in head.strip() else ""
