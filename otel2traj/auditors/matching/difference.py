"""Two runs, aligned, to what differs: the first divergence with its lines, then every other step, then the whole."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import unified_diff
from typing import Any

from ...canonical import JsonObject, JsonValue, dumps_pretty
from ...messages import Message, PartKind
from ...model.trajectory import Step, Trajectory
from ...timestamps import parse_ns
from .compare import Comparison, Row
from .marks import failures_of

_CONTEXT = 1


@dataclass(frozen=True, slots=True)
class Change:
    """One field of a pair of steps: its lines as a unified diff without headings (`-` of A, `+` of B)."""

    field: str
    lines: tuple[str, ...]

    def to_json(self) -> JsonObject:
        return {"field": self.field, "lines": list(self.lines)}


@dataclass(slots=True)
class StepChange:
    """One row of the alignment that is not equal."""

    verdict: str
    a: int | None
    b: int | None
    agent_a: str | None
    agent_b: str | None
    rule: str | None
    changes: list[Change] = field(default_factory=list)

    def to_json(self) -> JsonObject:
        return {
            "verdict": self.verdict,
            "a_step": self.a,
            "b_step": self.b,
            "a_agent": self.agent_a,
            "b_agent": self.agent_b,
            "rule": self.rule,
            "changes": [one.to_json() for one in self.changes],
        }


@dataclass(frozen=True, slots=True)
class Total:
    """One figure of both runs; None where it was not recorded."""

    name: str
    a: float | str | None
    b: float | str | None

    def to_json(self) -> JsonObject:
        return {"name": self.name, "a": self.a, "b": self.b}


def step_changes(comparison: Comparison, a: Trajectory, b: Trajectory) -> Iterator[StepChange]:
    """Every row that is not equal, in the order of the alignment; the lines of each field where they differ."""
    ours, theirs = ({step.step_id: step for step in run.steps} for run in (a, b))
    for row in comparison.rows:
        if row.verdict == "equal":
            continue
        left = None if row.reference is None else ours[row.reference.step_id]
        right = None if row.candidate is None else theirs[row.candidate.step_id]
        change = StepChange(
            row.verdict,
            None if left is None else left.step_id,
            None if right is None else right.step_id,
            None if left is None else left.agent_name,
            None if right is None else right.agent_name,
            row.rule,
        )
        if left is not None and right is not None:
            change.changes = [one for name in row.fields if (one := _change(name, row, left, right)) is not None]
        else:
            only = left if left is not None else right
            assert only is not None
            sign = "-" if right is None else "+"
            change.changes = [Change("step", tuple(f"{sign}{line}" for line in _outline(only)))]
        yield change


def _change(name: str, row: Row, left: Step, right: Step) -> Change | None:
    if name == "input.messages":
        return _messages(row, left, right)
    lines = tuple(_lines(_value(name, left), _value(name, right)))
    return Change(name, lines) if lines else None


def _messages(row: Row, left: Step, right: Step) -> Change | None:
    """From the first message in which the two requests part: what comes before is the same."""
    at = row.parting or 0
    ours, theirs = (
        _spoken([one for one in step.conversation().messages if one.at is None or one.at >= at])
        for step in (left, right)
    )
    lines = tuple(_lines(ours, theirs))
    if lines:
        return Change(f"input.messages from {at + 1}", lines)
    raw = tuple(_lines(_value("input.messages", left), _value("input.messages", right)))
    return Change("input.messages", raw) if raw else None


def _spoken(messages: list[Message]) -> str:
    out = []
    for message in messages:
        out.append(f"[{message.role}]")
        for part in message.parts:
            if part.kind is PartKind.TOOL_CALL:
                out.append(f"call {part.name} {_text(part.value)}")
            elif part.kind is PartKind.TOOL_RESULT:
                out.append(f"result {_text(part.answer)}")
            else:
                out.append(part.text if part.text is not None else _text(part.raw))
    return "\n".join(out)


def _value(name: str, step: Step) -> JsonValue:
    if name == "tool_logs":
        return [
            {
                "tool": log.tool_name,
                "arguments": log.input_arguments,
                "outputs": log.outputs,
                "status": str(log.execution_status),
                "exit": log.exit_status,
                "link": str(log.link),
            }
            for log in step.tool_logs
        ]
    if name == "failures":
        return failures_of(step)
    if name == "output.tool_calls":
        calls: Any = step.output.get("tool_calls") or []
        return [{"name": call.get("name"), "arguments": call.get("arguments")} for call in calls]
    where, _, key = name.partition(".")
    if key:
        held = step.input if where == "input" else step.output
        return held.get(key)
    value: JsonValue = getattr(step, name)
    return value


def _lines(left: JsonValue, right: JsonValue) -> Iterator[str]:
    found = unified_diff(_text(left).splitlines(), _text(right).splitlines(), lineterm="", n=_CONTEXT)
    for number, line in enumerate(found):
        if number >= 2 and not line.startswith("@@"):
            yield line


def _text(value: JsonValue) -> str:
    return value if isinstance(value, str) else "" if value is None else dumps_pretty(value).decode("utf-8", "replace")


def _outline(step: Step) -> Iterator[str]:
    yield f"{step.kind} {step.agent_name or 'agent unknown'}"
    text = step.output.get("text")
    if isinstance(text, str):
        yield from text.splitlines()[:3]
    for log in step.tool_logs:
        yield f"tool {log.tool_name} {log.execution_status}"


def totals(a: Trajectory, b: Trajectory, cost_a: str | None, cost_b: str | None) -> list[Total]:
    """Steps, calls, tokens, cost and time of both runs."""
    rows = [Total(name, *(read(run) for run in (a, b))) for name, read in _TOTALS]
    return [*rows, Total("cost (USD)", cost_a, cost_b)]


def _tokens(run: Trajectory, name: str) -> float | None:
    found = [usage.get(name) for step in run.steps if isinstance(usage := step.output.get("usage"), dict)]
    known = [value for value in found if type(value) is int]
    return sum(known) if known else None


def _seconds(run: Trajectory) -> float | None:
    starts = [at for step in run.steps if (at := parse_ns(step.started_at or "")) is not None]
    ends = [at for step in run.steps if (at := parse_ns(step.ended_at or "")) is not None]
    return round((max(ends) - min(starts)) / 1e9, 3) if starts and ends else None


_TOTALS = (
    ("steps", lambda run: len(run.steps)),
    ("model calls", lambda run: sum(step.kind == "model" for step in run.steps)),
    ("tool calls", lambda run: sum(len(step.tool_logs) for step in run.steps)),
    ("input tokens", lambda run: _tokens(run, "input_tokens")),
    ("output tokens", lambda run: _tokens(run, "output_tokens")),
    ("seconds", _seconds),
)
