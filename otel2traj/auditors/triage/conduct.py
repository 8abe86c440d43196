"""Stage 4 of the diagnosis, conduct: messages said again, and the same action turn after turn."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Any, Final

from ...canonical import JsonError, JsonObject, canonical_bytes, loads
from ...model.forensic import FailureCategory as Category
from ...model.forensic import Observation, TriggerSeverity
from .base import AGENT, ENVIRONMENT, SYSTEM, USER, Call, Entry, Rule, entries, shown, words
from .thresholds import (
    COMMAND_KEYS,
    COMPARED,
    CONFIDENCE,
    RANK_LOOP,
    REPEAT_WITHIN,
    SAME_ACTION,
    SHELLS,
    SIMILARITY,
)

RULES: Final = (
    Rule(
        "triage.logic_planning_error",
        Category.LOGIC_PLANNING_ERROR,
        "An agent says what it just said, or says a message again within three of its own, with the same calls; or a "
        "metric named `output_matches` did not hold.",
    ),
)


class Conduct:
    name = "conduct"

    def analyze(self, history: list[JsonObject], task_result: JsonObject) -> list[Observation]:
        out: list[Observation] = []
        for stretch in _stretches(entries(history)):
            spoken = [turn.entry for turn in stretch]
            out += _messages(spoken)
            out += _actions(stretch)
        return sorted(out, key=lambda item: item.index or 0)


class _Turn:
    """An agent entry and what its executions came to: one digest, or None where nothing was recorded."""

    def __init__(self, entry: Entry) -> None:
        self.entry = entry
        self.results: list[bytes] = []
        self.failed = False


def _stretches(all_entries: list[Entry]) -> Iterator[list[_Turn]]:
    """The turns of each agent between two prompts. A turn that failed on its way is no turn: it is tried again."""
    turns: dict[str, list[_Turn]] = {}
    last: dict[int | None, _Turn] = {}
    for entry in all_entries:
        if entry.kind == USER:
            yield from turns.values()
            turns, last = {}, {}
        elif entry.kind == AGENT:
            turn = last[entry.turn] = _Turn(entry)
            turns.setdefault(entry.identity or "", []).append(turn)
        elif entry.kind == SYSTEM and entry.is_error and entry.turn in last:
            last[entry.turn].failed = True
        elif entry.kind == ENVIRONMENT and entry.turn in last and entry.status != "not_observed":
            told = {name: value for name, value in entry.told.items() if name != "tool_call_id"}
            last[entry.turn].results.append(canonical_bytes(told or entry.content))
    for found in turns.values():
        yield [turn for turn in found if not turn.failed]


def _messages(spoken: list[Entry]) -> Iterator[Observation]:
    said = [entry for entry in spoken if entry.text is not None and entry.text.strip()]
    for at, entry in enumerate(said):
        for back in range(1, min(REPEAT_WITHIN, at) + 1):
            before = said[at - back]
            ratio = 1.0 if entry.text == before.text else _ratio(entry.text, before.text) if back == 1 else 0.0
            if ratio > SIMILARITY and _call_keys(entry) == _call_keys(before):
                what = "as the message before" if back == 1 else f"as {back} messages before"
                yield Observation(
                    Category.LOGIC_PLANNING_ERROR,
                    f"said again, {ratio:.2f} alike, {what}: {shown(entry.text, 120)}",
                    index=entry.index,
                    turn_index=entry.turn,
                    rank=RANK_LOOP,
                    confidence=CONFIDENCE["medium"],
                )
                break


def _ratio(one: str | None, other: str | None) -> float:
    first, second = (one or "")[:COMPARED], (other or "")[:COMPARED]
    matcher = SequenceMatcher(None, first, second, autojunk=False)
    if matcher.real_quick_ratio() <= SIMILARITY or matcher.quick_ratio() <= SIMILARITY:
        return 0.0
    return matcher.ratio()


def _call_keys(entry: Entry) -> list[bytes]:
    return [canonical_bytes([call.name, call.arguments]) for call in entry.calls]


def _actions(stretch: list[_Turn]) -> Iterator[Observation]:
    """Turns running with one base action, unless their recorded results differ: that is progress."""
    run: list[_Turn] = []
    action: str | None = None
    for turn in stretch:
        bases = {base_action(call) for call in turn.entry.calls}
        own = next(iter(bases)) if len(bases) == 1 else None
        moved = bool(run) and bool(turn.results) and bool(run[-1].results) and turn.results != run[-1].results
        run = [*run, turn] if own is not None and own == action and not moved else [turn]
        action = own
        if action is not None and len(run) == SAME_ACTION:
            same = all(_call_keys(item.entry) == _call_keys(run[0].entry) for item in run)
            yield Observation(
                Category.LOGIC_STATE_STALL,
                f"{action} in {SAME_ACTION} turns running"
                + (", with the same arguments" if same else "")
                + (", to the same result" if turn.results else ""),
                index=turn.entry.index,
                turn_index=turn.entry.turn,
                severity=TriggerSeverity.MEDIUM if same else TriggerSeverity.LOW,
                rank=RANK_LOOP,
                confidence=CONFIDENCE["medium-high" if same else "weak"],
            )


def base_action(call: Call) -> str | None:
    """The name of the tool; of a shell, the first word of its command without path and without what only wraps it."""
    if call.name is None:
        return None
    for key in COMMAND_KEYS:
        command = _decoded(call.arguments).get(key)
        if command is None:
            continue
        for word in command if isinstance(command, list) else _split(words(command)):
            plain = str(word).rpartition("/")[2]
            if plain and plain not in SHELLS and not plain.startswith("-") and "=" not in plain and not plain.isdigit():
                return plain.split()[0] if plain.split() else plain
    return call.name


def _split(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return command.split()


def _decoded(arguments: Any) -> JsonObject:
    if isinstance(arguments, str):
        try:
            arguments = loads(arguments)
        except JsonError:
            return {}
    return arguments if isinstance(arguments, dict) else {}
