"""A forensic ledger to findings: its published JSON Schema, and what the schema cannot say."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from ...canonical import JsonObject, loads
from ...model.finding import Finding
from ...model.forensic import VERSION
from .base import AGENT, entries

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

_MARKS: Final = ("conversation_history", "turns_taken", "protocol_sequence", "state_snapshots")


@cache
def _validator() -> Validator:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(schema())


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
    for error in sorted(_validator().iter_errors(task_result), key=lambda error: list(map(str, error.absolute_path))):
        where = "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in error.absolute_path)
        message = error.message if len(error.message) <= 300 else f"{error.message[:297]}..."
        found.append(Finding("forensic.json-schema", message, pointer=f"{base}{where}" or "/"))
    broken = {(finding.pointer or "")[len(base) :].split("/")[1] for finding in found if "/" in (finding.pointer or "")}
    for rule, message, where in _invariants(task_result):
        if where.split("/")[1] not in broken:
            found.append(Finding(rule, message, pointer=f"{base}{where}"))
    return found


def _invariants(task_result: JsonObject) -> Iterator[tuple[str, str, str]]:
    yield from _turns(task_result)
    for values, turns in (
        ("protocol_sequence", "protocol_sequence_turns"),
        ("state_snapshots", "state_snapshot_turns"),
    ):
        yield from _beside(task_result, values, turns)
    last: float | None = None
    for at, sample in enumerate(_list(task_result, "resource_telemetry")):
        time = sample.get("timestamp") if isinstance(sample, dict) else None
        if isinstance(time, (int, float)):
            if last is not None and time < last:
                yield "forensic.telemetry-order", f"a sample of {time} after one of {last}", f"/resource_telemetry/{at}"
            last = time
    yield from _chain(task_result)


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


def _beside(task_result: JsonObject, values: str, turns: str) -> Iterator[tuple[str, str, str]]:
    told = task_result.get(turns)
    taken = task_result.get("turns_taken")
    if not isinstance(told, list):
        return
    if len(told) != len(_list(task_result, values)):
        yield "forensic.turns-beside", f"{turns} and {values} differ in length", f"/{turns}"
    if any(one >= other for one, other in pairwise(told)):
        yield "forensic.turns-beside", f"{turns} do not increase", f"/{turns}"
    if type(taken) is int and told and told[-1] >= taken:
        yield "forensic.turn-exists", f"turn {told[-1]} of {taken}, counted from 0", f"/{turns}"


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
