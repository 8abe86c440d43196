"""A forensic ledger to findings: its published JSON Schema, and what the schema cannot say."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from ...canonical import JsonObject, loads
from ...model.finding import Finding
from ...model.forensic import VERSION
from ..json_schema import compiled, pointer, violations
from .base import AGENT, entries

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator

Invariant = Callable[[JsonObject], Iterator[tuple[str, str, str]]]
"""A ledger to `(rule, message, JSON pointer)`."""

_MARKS: Final = ("conversation_history", "turns_taken", "protocol_sequence", "state_snapshots")


@cache
def _validator() -> Draft202012Validator:
    return compiled(schema())


@cache
def schema() -> JsonObject:
    """The published JSON Schema of the `task_result` object."""
    value = loads(files("otel2traj").joinpath(f"schemas/agentv-forensic-ledger-{VERSION}.schema.json").read_bytes())
    assert isinstance(value, dict)
    return value


def looks_forensic(document: Any) -> bool:
    """Whether an object is a forensic ledger, if perhaps a bad one."""
    return isinstance(document, dict) and sum(name in document for name in _MARKS) >= 2


def check(task_result: JsonObject, base: str = "") -> list[Finding]:
    """Findings on a ledger; `base` is the JSON pointer under which it stands in its file."""
    found: list[Finding] = []
    errors = sorted(violations(_validator(), task_result), key=lambda error: list(map(str, error[0])))
    for path, message in errors:
        found.append(Finding("forensic.json-schema", message, pointer=f"{base}{pointer(path)}" or "/"))
    broken = {str(path[0]) for path, _ in errors if path}
    broken.update(name for name in schema()["required"] if name not in task_result)
    for needs, invariant in _INVARIANTS:
        if broken.isdisjoint(needs):
            found += [
                Finding(rule, message, pointer=f"{base}{where}") for rule, message, where in invariant(task_result)
            ]
    return found


def _turns(task_result: JsonObject) -> Iterator[tuple[str, str, str]]:
    taken = task_result.get("turns_taken")
    if type(taken) is not int:
        return
    history = _list(task_result, "conversation_history")
    said = {entry.turn for entry in entries(history) if entry.kind == AGENT and "turn_index" in entry.raw}
    if said and len(said) != taken:
        yield "forensic.turns-taken", f"turns_taken is {taken}, the history has {len(said)} turns", "/turns_taken"
    for at, entry in enumerate(history):
        turn = entry.get("turn_index") if isinstance(entry, dict) else None
        if type(turn) is int and turn >= taken:
            yield "forensic.turn-exists", f"turn {turn} of {taken}, counted from 0", f"/conversation_history/{at}"


def _beside(values: str, turns: str) -> Invariant:
    def invariant(task_result: JsonObject) -> Iterator[tuple[str, str, str]]:
        told, taken = task_result.get(turns), task_result["turns_taken"]
        if not isinstance(told, list):
            return
        if len(told) != len(_list(task_result, values)):
            yield "forensic.turns-beside", f"{turns} and {values} differ in length", f"/{turns}"
        if any(one >= other for one, other in pairwise(told)):
            yield "forensic.turns-beside", f"{turns} do not increase", f"/{turns}"
        if told and told[-1] >= taken:
            yield "forensic.turn-exists", f"turn {told[-1]} of {taken}, counted from 0", f"/{turns}"

    return invariant


def _telemetry(task_result: JsonObject) -> Iterator[tuple[str, str, str]]:
    samples = _list(task_result, "resource_telemetry")
    for at, (before, sample) in enumerate(pairwise(samples), 1):
        if sample["timestamp"] < before["timestamp"]:
            message = f"a sample of {sample['timestamp']} after one of {before['timestamp']}"
            yield "forensic.telemetry-order", message, f"/resource_telemetry/{at}"


def _chain(task_result: JsonObject) -> Iterator[tuple[str, str, str]]:
    report: Any = task_result.get("diagnostic_report")
    taken = task_result.get("turns_taken")
    last: float | None = None
    for at, link in enumerate(report.get("causal_chain") or [] if isinstance(report, dict) else []):
        if not isinstance(link, dict):
            continue
        where = f"/diagnostic_report/causal_chain/{at}"
        turn, time = link.get("turn_index"), link.get("timestamp")
        if type(turn) is int and type(taken) is int and turn >= taken:
            yield "forensic.turn-exists", f"turn {turn} of {taken}, counted from 0", f"{where}/turn_index"
        if isinstance(time, (int, float)):
            if last is not None and time < last:
                yield "forensic.chain-order", f"a trigger of {time} after one of {last}", where
            last = time
        pointer = link.get("pointer")
        target = pointer.get("ledger") if isinstance(pointer, dict) else None
        if isinstance(target, str) and resolve(task_result, target) is None:
            yield "forensic.pointer", f"{target} leads nowhere", f"{where}/pointer"


_INVARIANTS: Final[tuple[tuple[frozenset[str], Invariant], ...]] = (
    (frozenset({"turns_taken", "conversation_history"}), _turns),
    (
        frozenset({"turns_taken", "protocol_sequence", "protocol_sequence_turns"}),
        _beside("protocol_sequence", "protocol_sequence_turns"),
    ),
    (
        frozenset({"turns_taken", "state_snapshots", "state_snapshot_turns"}),
        _beside("state_snapshots", "state_snapshot_turns"),
    ),
    (frozenset({"resource_telemetry"}), _telemetry),
    (frozenset({"turns_taken", "conversation_history", "diagnostic_report"}), _chain),
)
"""What the schema cannot say, each with the members that must have their shape for it to be asked."""


def resolve(document: Any, pointer: str) -> Any:
    """What a JSON pointer leads to, or None."""
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(document, dict):
            document = document.get(name)
        elif isinstance(document, list) and name.isascii() and name.isdigit() and int(name) < len(document):
            document = document[int(name)]
        else:
            return None
    return document


def _list(task_result: JsonObject, name: str) -> list[Any]:
    value = task_result.get(name)
    return value if isinstance(value, list) else []
