"""Assertions about a run, for tests: on an attempt directory, a trace file, a saved trajectory or a recorded run.

Nothing here asks a model. A failed assertion prints the steps that matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from .api.block import Run as Recorded
from .canonical import dumps
from .model.link import ExecutionStatus, LinkStatus
from .model.trajectory import Step, StepKind, StepStatus, ToolLog, Trajectory

Run = Path | str | Trajectory | Recorded


def trajectory_of(run: Run) -> Trajectory:
    """The trajectory of any run. Raises `EvidenceError` where nothing can be read."""
    from .api.source import load

    if isinstance(run, Trajectory):
        return run
    if isinstance(run, Recorded):
        return run.trajectory
    return load(Path(run))


def tool_calls(run: Run) -> list[ToolLog]:
    """Every tool call and every execution without one, in order of steps."""
    return [log for _, log in _logs(trajectory_of(run))]


def assert_tool_called(
    run: Run, name: str, arguments: Mapping[str, Any] | None = None, *, times: int | None = None
) -> None:
    """The tool was called, with at least these arguments where they are given, and so often where `times` says it."""
    trajectory = trajectory_of(run)
    found = [
        (step, log)
        for step, log in _logs(trajectory)
        if log.tool_name == name and (arguments is None or _has(log.input_arguments, arguments))
    ]
    wanted = name if arguments is None else f"{name} with {dumps(dict(arguments)).decode()}"
    if not found:
        _fail(f"{wanted} was never called", _logs(trajectory))
    if times is not None and len(found) != times:
        _fail(f"{wanted} was called {len(found)} times, not {times}", found)


def assert_tool_not_called(run: Run, name: str) -> None:
    found = [(step, log) for step, log in _logs(trajectory_of(run)) if log.tool_name == name]
    if found:
        _fail(f"{name} was called", found)


def assert_tool_order(run: Run, names: Sequence[str]) -> None:
    """These tools were called in this order; others may stand between them."""
    logs = list(_logs(trajectory_of(run)))
    rest = iter(log.tool_name for _, log in logs)
    for name in names:
        if name not in rest:
            _fail(f"{name} was not called at its place in {' → '.join(names)}", logs)


def assert_no_failure(run: Run) -> None:
    """No step failed and no tool execution ended in an error."""
    trajectory = trajectory_of(run)
    failed = [(step, log) for step, log in _logs(trajectory) if log.execution_status is ExecutionStatus.ERROR]
    steps = [step for step in trajectory.steps if step.status is StepStatus.FAILED]
    if failed or steps:
        numbers = ", ".join(str(step.step_id) for step in steps)
        _fail(f"{len(failed)} tool executions failed, failed steps: {numbers or 'none'}", failed)


def assert_max_model_calls(run: Run, most: int) -> None:
    trajectory = trajectory_of(run)
    calls = [step for step in trajectory.steps if step.kind is StepKind.MODEL]
    if len(calls) > most:
        raise AssertionError("\n".join([f"{len(calls)} model calls, more than {most}", *map(_step, calls)]))


def assert_max_tokens(run: Run, most: int) -> None:
    """Input and output tokens of all model calls. A call whose usage was not recorded fails: the sum is not known."""
    calls = [step for step in trajectory_of(run).steps if step.kind is StepKind.MODEL]
    total = 0
    for step in calls:
        usage = step.output.get("usage") or {}
        counts = [usage.get(name) for name in ("input_tokens", "output_tokens")]
        if not all(isinstance(count, int) for count in counts):
            raise AssertionError(f"the tokens of step {step.step_id} are not recorded\n{_step(step)}")
        total += sum(count for count in counts if isinstance(count, int))
    if total > most:
        raise AssertionError("\n".join([f"{total} tokens, more than {most}", *map(_step, calls)]))


def assert_all_linked(run: Run) -> None:
    """Every call was executed and linked exactly, and no execution stands without a call."""
    loose = [
        (step, log)
        for step, log in _logs(trajectory_of(run))
        if log.link is not LinkStatus.EXACT or log.execution_status is ExecutionStatus.NOT_OBSERVED
    ]
    if loose:
        _fail(f"{len(loose)} tool calls or executions without an exact link", loose)


def _logs(trajectory: Trajectory) -> Iterator[tuple[Step, ToolLog]]:
    for step in trajectory.steps:
        for log in step.tool_logs:
            yield step, log


def _has(given: Any, wanted: Mapping[str, Any]) -> bool:
    return isinstance(given, dict) and all(name in given and given[name] == value for name, value in wanted.items())


def _fail(message: str, logs: Any) -> None:
    lines = [_line(step, log) for step, log in logs]
    raise AssertionError("\n".join([message, *(lines or ["no tool was called"])]))


def _line(step: Step, log: ToolLog) -> str:
    arguments = dumps(log.input_arguments).decode("utf-8", "replace")[:200]
    return f"  step {step.step_id}: {log.tool_name} {arguments} · {log.execution_status} · link {log.link}"


def _step(step: Step) -> str:
    return f"  step {step.step_id}: {step.model} · {step.status}"
