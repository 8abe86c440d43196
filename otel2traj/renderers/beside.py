"""What stands beside an answer, a tool's output or an Input: one short line each, whole in the file."""

from __future__ import annotations

from collections import Counter

from ..canonical import JsonObject, JsonValue
from ..model.trajectory import SdkInput, Step, ToolLog
from .blocks import Block, Line, Quote, Tone, Words
from .safe import value_text

_TOLD = frozenset(("acp_permissions", "acp_terminals", "acp_kind", "metadata"))
"""Members of what is recorded that are told otherwise, or say only where in a graph a span stood."""
_MOST = 160
"""How many characters of a value a line shows."""


def beside_answer(step: Step) -> list[Block]:
    """Members of the response that no reading names: `output.extra`."""
    return _values("beside the answer", step.output.get("extra"), 1)


def beside_tool(log: ToolLog) -> list[Block]:
    """Who was asked for permission, what a terminal showed, and the rest that the recorder told of a tool."""
    recorded = log.evidence.get("recorded")
    if not isinstance(recorded, dict):
        return []
    out: list[Block] = []
    for asked in _objects(recorded.get("acp_permissions")):
        out.append(_permission(asked))
    for terminal in _objects(recorded.get("acp_terminals")):
        out += _terminal(terminal, log.outputs)
    rest = {key: recorded[key] for key in recorded if key not in _TOLD}
    return out + _values("recorded beside it", rest, 2)


def input_events(item: SdkInput) -> list[Block]:
    """The events of an Input, counted by name in the order of the first of each."""
    evidence = item.extra.get("evidence")
    events = _objects(evidence.get("events")) if isinstance(evidence, dict) else []
    if not events:
        return []
    names = Counter(_name(event) for event in events)
    told = ", ".join(name if number == 1 else f"{number} {name}" for name, number in names.items())
    return [Line([("events ", Tone.DIM), (_short(told), Tone.DIM)], 2)]


def _name(event: JsonObject) -> str:
    data = event.get("data")
    update = data.get("update") if isinstance(data, dict) else None
    name = update.get("sessionUpdate") if isinstance(update, dict) else None
    return name if isinstance(name, str) else str(event.get("event"))


def _permission(asked: JsonObject) -> Block:
    options = [(option.get("optionId"), option.get("name")) for option in _objects(asked.get("options"))]
    outcome = asked.get("outcome")
    chosen = outcome.get("optionId") if isinstance(outcome, dict) else None
    said = value_text(outcome.get("outcome") if isinstance(outcome, dict) else outcome)
    if chosen is not None:
        said += " " + value_text(next((name for key, name in options if key == chosen and name), chosen))
    names = ", ".join(value_text(name or key) for key, name in options)
    return Line([("asked for permission: ", Tone.STRONG), (said, Tone.PLAIN), (f"  of {names}", Tone.DIM)], 2)


def _terminal(terminal: JsonObject, outputs: JsonValue) -> list[Block]:
    arguments = terminal.get("args")
    words = [terminal.get("command"), *(arguments if isinstance(arguments, list) else [])]
    command = " ".join(value_text(word) for word in words if word is not None)
    cut: list[Words] = [("  its beginning is cut", Tone.WARN)] if terminal.get("truncated") is True else []
    out: list[Block] = [Line([("terminal ", Tone.DIM), (_short(command), Tone.DIM), *cut], 2)]
    text = terminal.get("output")
    if text in (None, "") or text == outputs or (isinstance(outputs, dict) and text in outputs.values()):
        return out
    return [*out, Quote(value_text(text), 3)]


def _values(what: str, members: JsonValue, depth: int) -> list[Block]:
    if not isinstance(members, dict) or not members:
        return []
    told = ", ".join(f"{key} {value_text(value)}" for key, value in members.items())
    return [Line([(f"{what}: ", Tone.DIM), (_short(told), Tone.DIM)], depth)]


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _MOST else f"{text[:_MOST]}… ({len(text) - _MOST} more characters)"


def _objects(value: JsonValue) -> list[JsonObject]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
