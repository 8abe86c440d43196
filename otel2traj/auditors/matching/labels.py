"""Failure data sets to labelled cases, with every step number counted from 1.

TraceElephant (arXiv 2604.22708) counts steps from 1. Who&When counts from 0 over `history`, so 1 is added: at
`history[mistake_step]` stands the agent that the label names."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass

from ...canonical import JsonError, JsonObject, JsonValue, loads
from ...errors import UsageError
from ...model.trajectory import Header, Step, StepKind, StepSource, StepStatus, Summary, TrajectoryStatus
from .marks import Marks, MarkSink

_ASIDE = re.compile(r"\s*\([^()]*\)\s*$")


@dataclass(slots=True)
class Case:
    """One labelled run. `step` counts from 1; None where the label is open or cannot be read."""

    task_id: str
    form: str
    base: int
    """How the data set itself counts, which is how predictions for it are read."""
    agent: str | None
    step: int | None
    steps: Marks | None
    """The run's own steps, where the data set ships them."""


def agent_key(name: str) -> str:
    """Names as labels mean them: `Orchestrator (-> WebSurfer)` is the Orchestrator; case says nothing."""
    return _ASIDE.sub("", name).strip().casefold()


def who_and_when(data: JsonObject, name: str) -> Case:
    """A Who&When file. Agents are `name` where the item has one (Algorithm-Generated), else `role` (Hand-Crafted)."""
    history = data.get("history")
    items = [item for item in history if isinstance(item, dict)] if isinstance(history, list) else []
    steps = [_step(n, _word(item, "name", "role"), {"text": item.get("content")}) for n, item in enumerate(items, 1)]
    counted = _number(data.get("mistake_step"))
    task = data.get("question_ID")
    return Case(
        task if isinstance(task, str) else name,
        "who_and_when",
        0,
        _word(data, "mistake_agent"),
        None if counted is None else counted + 1,
        _marks(steps, {"agent_name", "output.text"}),
    )


def trace_elephant(metadata: JsonObject, records: JsonValue, name: str) -> Case:
    """A TraceElephant folder: `trace_metadata.json` with `step_records.json`, or the older `summary.json` with
    `history.json`, whose steps have `request` and `response`."""
    steps: list[Step] = []
    recorded = {"agent_name", "input.messages", "output.text", "output.tool_calls"}
    for n, item in enumerate(records if isinstance(records, list) else [], 1):
        if not isinstance(item, dict):
            continue
        request = item.get("input", item.get("request"))
        output = _completion(item.get("output", item.get("response")))
        if output is None:
            recorded -= {"output.text", "output.tool_calls"}
        step = _step(n, _word(item, "agent_name"), output if output is not None else {})
        step.input = request if isinstance(request, dict) else {"messages": request}
        steps.append(step)
    shipped = isinstance(records, list)
    return Case(
        name,
        "trace_elephant",
        1,
        _word(metadata, "mistake_agent"),
        _number(metadata.get("mistake_step")),
        _marks(steps, recorded) if shipped else None,
    )


def one_number(value: JsonValue) -> int | None:
    """The one whole number that a prediction names: `12`, `"12"`, `"Step 12"`. Two numbers name none."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    found = re.findall(r"-?\d+(?:\.\d+)?", value) if isinstance(value, str) else []
    return int(found[0]) if len(found) == 1 and "." not in found[0] else None


def _number(value: JsonValue) -> int | None:
    return one_number(value)


def _word(item: JsonObject, *keys: str) -> str | None:
    for key in keys:
        value = item.get(key)
        if isinstance(value, str) and value:
            return value
    return None


def _step(n: int, agent: str | None, output: JsonObject) -> Step:
    source, status = StepSource.FRAMEWORK, StepStatus.COMPLETE
    return Step(n, None, agent, StepKind.MODEL, source, None, None, None, None, status, {}, output, [], {})


def _completion(value: JsonValue) -> JsonObject | None:
    """A completion object, or its JSON text, as a step's output; None for text forms that are no JSON."""
    if isinstance(value, str):
        try:
            value = loads(value)
        except JsonError:
            return None
    choices = value.get("choices") if isinstance(value, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    if not isinstance(message, dict):
        return None
    calls: list[JsonObject] = []
    emitted = message.get("tool_calls")
    for call in emitted if isinstance(emitted, list) else []:
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict):
            arguments = function.get("arguments")
            with suppress(JsonError):
                arguments = loads(arguments) if isinstance(arguments, str) else arguments
            calls.append({"id": call.get("id"), "name": function.get("name"), "arguments": arguments})
    return {"text": message.get("content"), "tool_calls": calls}


def _marks(steps: list[Step], recorded: set[str]) -> Marks:
    sink = MarkSink(agent_key)
    sink.begin(Header())
    for step in steps:
        sink.step(step)
    sink.end(Summary(TrajectoryStatus.COMPLETE))
    sink.marks.recorded = frozenset(recorded)
    return sink.marks


def choose(cases: list[Case], task: str | None, candidate: Marks) -> Case:
    """The case a run belongs to: the one named, the only one, or the one whose id is the run's case id."""
    if task is not None:
        found = [case for case in cases if case.task_id == task]
    elif len(cases) == 1:
        found = cases
    else:
        found = [case for case in cases if case.task_id in (candidate.case_id, candidate.run_id)]
    if len(found) == 1:
        return found[0]
    names = ", ".join(case.task_id for case in cases[:5])
    raise UsageError(
        f"{len(found)} of {len(cases)} labelled tasks fit this run",
        hint=f"name one with --task ({names}{', ...' if len(cases) > 5 else ''})",
    )
