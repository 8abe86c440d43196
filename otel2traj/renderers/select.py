"""Words like `3-7,9` into the steps that are shown."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..errors import UsageError
from ..model.trajectory import Header, Step, StepStatus, Summary, ToolLog
from ..outcome import step_failures

_RANGE = re.compile(r"\A\s*(\d+)?\s*(-)?\s*(\d+)?\s*\Z")


def parse_ranges(text: str) -> tuple[tuple[int, int | None], ...]:
    """`3-7,9,12-` as pairs of first and last step; an open end is None. Raises `UsageError`."""
    pairs: list[tuple[int, int | None]] = []
    for word in text.split(","):
        match = _RANGE.match(word)
        if match is None or (match[1] is None and match[3] is None) or (match[2] is None and match[3] is not None):
            raise UsageError(f"not a step or a range of steps: {word!r}", hint="for example 7 or 3-7,9 or 12-")
        first = int(match[1]) if match[1] is not None else 1
        last = first if match[2] is None else int(match[3]) if match[3] is not None else None
        if last is not None and last < first:
            raise UsageError(f"the range {word.strip()} ends before it begins")
        pairs.append((first, last))
    return tuple(pairs)


def exit_failed(log: ToolLog) -> bool:
    """Whether the recorded exit status is another than a plain 0."""
    status = log.exit_status
    if status is None:
        return False
    code = status.get("exitCode")
    return (code is not None and code != 0) or status.get("signal") is not None


def step_failed(step: Step) -> bool:
    """Whether the step records a failure of any kind, or was never answered."""
    return step.status is not StepStatus.COMPLETE or bool(step_failures(step))


class Taken:
    """A `StepSink` that sees whether a selection takes any step, and what there is to take."""

    def __init__(self, selection: Selection) -> None:
        self._selection = selection
        self._any = selection.everything or selection.failed
        self._steps = 0
        self._agents: dict[str, None] = {}
        self._tools: dict[str, None] = {}
        self._inputs: dict[str, None] = {}

    def begin(self, header: Header) -> None:
        return None

    def step(self, step: Step) -> None:
        self._steps = step.step_id
        self._any = self._any or self._selection.takes(step)
        if step.agent_name is not None:
            self._agents.setdefault(step.agent_name)
        if step.input_ordinal is not None:
            self._inputs.setdefault(step.input_ordinal)
        for log in step.tool_logs:
            if log.tool_name is not None:
                self._tools.setdefault(log.tool_name)

    def end(self, summary: Summary) -> None:
        """Raises `UsageError` where steps are asked for by a name or number of which there is none."""
        if self._any:
            return
        there = [f"steps 1 to {self._steps}" if self._steps else "no steps"]
        for word, names, asked in (
            ("agents", self._agents, self._selection.agents),
            ("tools", self._tools, self._selection.tools),
            ("Inputs", self._inputs, self._selection.inputs),
        ):
            if asked:
                there.append(f"{word} {', '.join(names) or 'none'}")
        raise UsageError("no step is as asked for", hint=f"there are {'; '.join(there)}")


@dataclass(frozen=True, slots=True)
class Selection:
    """Which steps are shown: all conditions must hold; an empty one always holds.

    An agent is meant by its whole name or by any level of a nested one (`researcher` finds `lead/researcher`).
    """

    ranges: tuple[tuple[int, int | None], ...] = ()
    agents: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    failed: bool = False

    @property
    def everything(self) -> bool:
        return self == Selection()

    def takes(self, step: Step) -> bool:
        if self.ranges and not any(a <= step.step_id and (b is None or step.step_id <= b) for a, b in self.ranges):
            return False
        if self.agents:
            name = step.agent_name
            if name is None or not any(a == name or a in name.split("/") for a in self.agents):
                return False
        if self.inputs and (step.input_ordinal is None or step.input_ordinal.lstrip("0") not in self._ordinals()):
            return False
        if self.tools and not self._calls_tool(step):
            return False
        return not self.failed or step_failed(step)

    def _ordinals(self) -> set[str]:
        return {ordinal.lstrip("0") for ordinal in self.inputs}

    def _calls_tool(self, step: Step) -> bool:
        names = {log.tool_name for log in step.tool_logs}
        calls = step.output.get("tool_calls")
        if isinstance(calls, list):
            names.update(call.get("name") for call in calls if isinstance(call, dict))
        return any(tool in names for tool in self.tools)
