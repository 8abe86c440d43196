"""Steps into what a reader wants to know first: how the run ended, what failed, who acted, how much it took."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal

from ..canonical import JsonValue
from ..model.link import ExecutionStatus
from ..model.trajectory import Header, Step, StepKind, Summary, ToolLog
from ..outcome import Ended, EndStatus, Failure, Gap, Outcome, OutcomeReader
from .safe import value_text
from .words import cost_of, cost_words


def exit_words(log: ToolLog) -> str | None:
    """`exit 3`, `signal SIGKILL`, or None where no exit status was recorded."""
    if log.exit_status is None:
        return None
    signal = log.exit_status.get("signal")
    code = log.exit_status.get("exitCode")
    words = [] if code is None else [f"exit {code}"]
    return ", ".join(words if signal is None else [*words, f"signal {signal}"]) or "exit status without a code"


@dataclass(slots=True)
class Glance:
    """Grows by a few numbers and one short line a failure; keeps no step. `outcome` is there after `end`."""

    inference: bool = True
    agents: dict[str, int] = field(default_factory=dict)
    links: dict[str, int] = field(default_factory=dict)
    steps: int = 0
    model_steps: int = 0
    executions: int = 0
    inferred: int = 0
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: Decimal | None = None
    """US dollars of the calls that have a price; None where none has."""
    unpriced: int = 0
    """Calls whose cost is not known."""
    first: str | None = None
    last: str | None = None
    answer: JsonValue = None
    """The text of the last answer."""
    answer_of: str | None = None
    """The Input that it answers, where that is known."""
    _reader: OutcomeReader = field(default_factory=OutcomeReader)

    def begin(self, header: Header) -> None:
        self._reader.begin(header)

    def add(self, step: Step) -> None:
        self._reader.step(step)
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
        amount, why = cost_of(step)
        if amount is not None:
            self.cost = amount if self.cost is None else self.cost + amount
        self.unpriced += why is not None
        if step.output.get("text") not in (None, ""):
            self.answer, self.answer_of = step.output["text"], step.input_ordinal
        self.first = self.first if self.first is not None else step.started_at
        ended = step.ended_at if step.ended_at is not None else step.started_at
        self.last = ended if ended is not None else self.last

    def end(self, summary: Summary) -> None:
        self._reader.end(summary)
        if not self.inference:
            for gap in self.outcome.unknowns:
                gap.detail = None if gap.inferred else gap.detail
        told = [item for item in summary.inputs if item.result and item.result.get("output")]
        if told and told[-1].result:
            self.answer, self.answer_of = told[-1].result["output"], told[-1].ordinal
        if len(summary.inputs) < 2:
            self.answer_of = None

    @property
    def outcome(self) -> Outcome:
        return self._reader.outcome

    @property
    def seconds(self) -> float | None:
        """From the start of the first step to the end of the last, where both are times."""
        if self.first is None or self.last is None:
            return None
        try:
            return (datetime.fromisoformat(self.last) - datetime.fromisoformat(self.first)).total_seconds()
        except (ValueError, TypeError):
            return None


def _plus(total: int | None, more: JsonValue) -> int | None:
    if not isinstance(more, int) or isinstance(more, bool):
        return total
    return more if total is None else total + more


def ended_words(ended: Ended) -> tuple[str, str, str]:
    """How a run ended as `(mark, words, reason)`; marks are `✓`, `✗`, `~` and `?`."""
    reason = "" if ended.reason is None else _where(ended.reason)
    if ended.status is EndStatus.SUCCEEDED:
        if ended.caveat is None:
            return "✓", "succeeded", ""
        return "~", "succeeded", f"but the last answer: {ended.caveat.kind}: {ended.caveat.reason}"
    if ended.status is EndStatus.NOT_RECORDED:
        if ended.reason is None:
            return "?", "end not recorded", "no result and no error says how it ended"
        return "✗", "end not recorded, last error", reason
    word = ended.word if ended.status is EndStatus.OTHER and ended.word else str(ended.status)
    return "✗", word, reason or "no reason was recorded"


def _where(failure: Failure) -> str:
    kind = "" if failure.step_id is None else f"step {failure.step_id}: {failure.kind}: "
    return f"{kind}{failure.reason}" if failure.reason else kind.removesuffix(": ") or str(failure.kind)


def inputs_words(outcome: Outcome) -> str | None:
    """`input 0001 failed, 0002 succeeded`, where several Inputs did not all end alike; of many their numbers."""
    words = [end.word if end.word is not None else str(end.status) for end in outcome.inputs]
    if len(set(words)) < 2:
        return None
    if len(words) > 4:
        counts = {word: words.count(word) for word in words}
        return ", ".join(f"{n} {'input' if n == 1 else 'inputs'} {word}" for word, n in counts.items())
    return "input " + ", ".join(f"{end.ordinal} {word}" for end, word in zip(outcome.inputs, words, strict=True))


def total_cost(glance: Glance) -> str | None:
    """What the calls of a run cost together; what has no price is counted beside it. None where nothing has one."""
    if glance.cost is None:
        return None
    known = cost_words(glance.cost)
    return (
        known if not glance.unpriced else f"{known} and {glance.unpriced} of {glance.model_steps} calls without a price"
    )


def recovery_words(failure: Failure) -> str | None:
    return None if failure.recovered is None else "recovered" if failure.recovered else "not recovered"


def gap_words(gap: Gap) -> str:
    what = gap.what if gap.what is not None else f"Input {gap.input_ordinal}" if gap.step_id is None else "(no name)"
    return what if gap.detail is None else f"{what}, {gap.detail}"


def task(header: Header, summary: Summary | None) -> str | None:
    """What the run was to do: the task, else the first prompt."""
    told = header.metadata.get("task_instruction")
    if told is None and summary is not None and summary.inputs:
        told = summary.inputs[0].prompt
    return None if told is None else value_text(told)


def title(header: Header, summary: Summary | None) -> str:
    """What to call the run: its task, else one of its names."""
    told = task(header, summary)
    return told if told is not None else header.case_id or header.run_id or "trajectory"
