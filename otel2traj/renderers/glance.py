"""Steps into what a reader wants to know first: what failed, what was not observed, who acted, how much it took."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from ..canonical import JsonValue
from ..model.link import ExecutionStatus, LinkStatus
from ..model.trajectory import Header, Step, StepKind, StepStatus, Summary, ToolLog
from .safe import value_text
from .select import exit_failed, tool_failed

_DETAIL = 200


class Trouble(StrEnum):
    """What can be wrong with a step or a call, worst first; the words are those that are shown."""

    STEP_FAILED = "step failed"
    TOOL_ERROR = "tool error"
    EXIT_NONZERO = "non-zero exit"
    STEP_INCOMPLETE = "no response recorded"
    AMBIGUOUS = "ambiguous link"
    NOT_OBSERVED = "not observed"


FAILURES = frozenset({Trouble.STEP_FAILED, Trouble.TOOL_ERROR, Trouble.EXIT_NONZERO, Trouble.STEP_INCOMPLETE})


@dataclass(frozen=True, slots=True)
class Problem:
    trouble: Trouble
    step_id: int
    agent: str | None
    what: str
    detail: str


def exit_words(log: ToolLog) -> str | None:
    """`exit 3`, `signal SIGKILL`, or None where no exit status was recorded."""
    if log.exit_status is None:
        return None
    signal = log.exit_status.get("signal")
    code = log.exit_status.get("exitCode")
    words = [] if code is None else [f"exit {code}"]
    return ", ".join(words if signal is None else [*words, f"signal {signal}"]) or "exit status without a code"


def _brief(value: JsonValue) -> str:
    return "" if value is None else value_text(value)[:_DETAIL]


def log_problem(step: Step, log: ToolLog, *, inference: bool = True) -> Problem | None:
    """The worst thing that is recorded about one tool log."""
    name = log.tool_name if log.tool_name is not None else "(no name recorded)"
    words = exit_words(log)
    detail = _brief(log.outputs)
    if exit_failed(log) and words is not None:
        detail = f"{words}: {detail}" if detail else words
    if log.execution_status is ExecutionStatus.ERROR:
        trouble = Trouble.TOOL_ERROR
    elif exit_failed(log):
        trouble = Trouble.EXIT_NONZERO
    elif log.link is LinkStatus.AMBIGUOUS:
        trouble, detail = Trouble.AMBIGUOUS, ""
    elif log.execution_status is ExecutionStatus.NOT_OBSERVED:
        trouble, detail = Trouble.NOT_OBSERVED, ""
        guess = log.evidence.get("inferred") if inference else None
        if isinstance(guess, dict):
            detail = f"inferred, not linked: step {guess.get('step_id')}"
    else:
        return None
    return Problem(trouble, step.step_id, step.agent_name, name, detail)


def step_problems(step: Step, *, inference: bool = True) -> list[Problem]:
    """What is wrong with a step and with its calls; a failed execution that is a step of its own counts once."""
    found: list[Problem] = []
    error = step.output.get("wire_error")
    if step.kind is StepKind.TOOL_ONLY and any(tool_failed(log) for log in step.tool_logs):
        pass
    elif step.status is StepStatus.FAILED:
        found.append(
            Problem(Trouble.STEP_FAILED, step.step_id, step.agent_name, step.model or "model call", _brief(error))
        )
    elif step.status is StepStatus.INCOMPLETE:
        found.append(
            Problem(Trouble.STEP_INCOMPLETE, step.step_id, step.agent_name, step.model or "call", _brief(error))
        )
    found += [problem for log in step.tool_logs if (problem := log_problem(step, log, inference=inference)) is not None]
    return found


@dataclass(slots=True)
class Glance:
    """Grows by a few numbers and one short line a problem; keeps no step."""

    inference: bool = True
    problems: list[Problem] = field(default_factory=list)
    agents: dict[str, int] = field(default_factory=dict)
    links: dict[str, int] = field(default_factory=dict)
    steps: int = 0
    model_steps: int = 0
    executions: int = 0
    inferred: int = 0
    tokens_in: int | None = None
    tokens_out: int | None = None

    def add(self, step: Step) -> None:
        self.steps += 1
        self.model_steps += step.kind is StepKind.MODEL
        name = step.agent_name if step.agent_name is not None else "(agent not recorded)"
        self.agents[name] = self.agents.get(name, 0) + 1
        for log in step.tool_logs:
            self.links[log.link] = self.links.get(log.link, 0) + 1
            self.executions += log.execution_status is not ExecutionStatus.NOT_OBSERVED
            self.inferred += "inferred" in log.evidence
        usage = step.output.get("usage")
        if isinstance(usage, dict):
            self.tokens_in = _plus(self.tokens_in, usage.get("input_tokens"))
            self.tokens_out = _plus(self.tokens_out, usage.get("output_tokens"))
        self.problems += step_problems(step, inference=self.inference)

    @property
    def failures(self) -> list[Problem]:
        return [problem for problem in self.problems if problem.trouble in FAILURES]

    @property
    def unsure(self) -> list[Problem]:
        return [problem for problem in self.problems if problem.trouble not in FAILURES]


def _plus(total: int | None, more: JsonValue) -> int | None:
    if not isinstance(more, int) or isinstance(more, bool):
        return total
    return more if total is None else total + more


def title(header: Header, summary: Summary | None) -> str:
    """What the run was about: the task, else the first prompt, else its names."""
    task = header.metadata.get("task_instruction")
    if task is None and summary is not None and summary.inputs:
        task = summary.inputs[0].prompt
    if task is not None:
        return value_text(task)
    return header.case_id or header.run_id or "trajectory"
