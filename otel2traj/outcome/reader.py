"""The sink that reads the outcome of a run, from fresh evidence and from a saved trajectory alike."""

from __future__ import annotations

from typing import Any, Final

from ..canonical import JsonObject
from ..model.trajectory import Header, Step, StepKind, StepStatus, Summary
from .failure import Ended, EndStatus, Failure, FailureKind, Gap, GapKind, InputEnd, Outcome
from .inputs import end_status, error_of, input_end, span_errors
from .steps import step_failures, step_gaps

_ORDER: Final = (EndStatus.FAILED, EndStatus.TIMEOUT, EndStatus.CANCELLED, EndStatus.OTHER)
"""Of several Inputs the first that ended so says how the run ended."""
_ANSWER: Final = frozenset(
    {FailureKind.REFUSAL, FailureKind.CONTENT_FILTER, FailureKind.LENGTH, FailureKind.EMPTY, FailureKind.CUT}
)
_SAME: Final = 12
"""Characters from which on one message that stands within another counts as the same error told again."""


class OutcomeReader:
    """Keeps the failures and gaps of the steps, and for each agent of an Input the last step that was answered."""

    name = "outcome"

    def __init__(self) -> None:
        self._failures: list[Failure] = []
        self._gaps: list[Gap] = []
        self._answered: dict[tuple[str | None, str | None], int] = {}
        self._anyone: dict[str | None, int] = {}
        self._last_model = 0
        self._run: JsonObject = {}
        self._outcome: Outcome | None = None

    def begin(self, header: Header) -> None:
        told = header.metadata.get("run_result")
        self._run = told if isinstance(told, dict) else {}

    def step(self, step: Step) -> None:
        self._failures += step_failures(step)
        self._gaps += step_gaps(step)
        if step.kind is StepKind.MODEL:
            self._last_model = step.step_id
            if step.status is StepStatus.COMPLETE:
                self._answered[step.input_ordinal, step.agent_name] = step.step_id
                self._anyone[step.input_ordinal] = step.step_id

    def end(self, summary: Summary) -> None:
        ends = [input_end(item, number) for number, item in enumerate(summary.inputs)]
        for end in ends:
            if end.error is not None and not end.error.records:
                end.error.records = _result_file(summary, end.ordinal)
        by_ordinal = {end.ordinal: end for end in ends}
        spans = [error for number, item in enumerate(summary.inputs) for error in span_errors(item, number)]
        for failure in self._failures:
            ended = by_ordinal.get(failure.input_ordinal or "")
            if failure.recovered is None or (ended is not None and ended.status is EndStatus.FAILED):
                failure.recovered = self._recovered(failure, by_ordinal)
        for error in spans:
            ended = by_ordinal.get(error.input_ordinal or "")
            error.recovered = True if ended is not None and ended.status is EndStatus.SUCCEEDED else None
        failures = _merge(self._failures, [error for error in spans if not self._told(error, ends)], ends)
        for number, end in enumerate(ends):
            if end.status is EndStatus.NOT_RECORDED and end.error is None:
                self._gaps.append(Gap(GapKind.NO_RESULT, input_ordinal=end.ordinal, pointer=f"/inputs/{number}/result"))
        self._outcome = Outcome(self._ended(summary, ends, failures), ends, failures, self._gaps)

    @property
    def outcome(self) -> Outcome:
        if self._outcome is None:
            raise ValueError("the trajectory has not ended")
        return self._outcome

    def _recovered(self, failure: Failure, ends: dict[str, InputEnd]) -> bool | None:
        """Whether the run went on: by the recorded end of the Input, else by a later answer to the same agent."""
        end = ends.get(failure.input_ordinal or "")
        if end is not None and end.error is not None and repeats(end.error, failure):
            return False
        step = failure.step_id or 0
        if self._answered.get((failure.input_ordinal, failure.agent), 0) > step:
            return True
        if end is not None and end.status is EndStatus.SUCCEEDED:
            return None if failure.kind in _ANSWER and step == self._last_model else True
        return None if self._anyone.get(failure.input_ordinal, 0) > step else False

    def _told(self, error: Failure, ends: list[InputEnd]) -> bool:
        """Whether an agent span only passes on what a step or the Input's result says."""
        same = [failure for failure in self._failures if failure.input_ordinal == error.input_ordinal]
        also = [end.error for end in ends if end.error is not None and end.ordinal == error.input_ordinal]
        return any(repeats(error, failure) for failure in (*same, *also))

    def _ended(self, summary: Summary, ends: list[InputEnd], failures: list[Failure]) -> Ended:
        if summary.error is not None:
            error = error_of({"error": summary.error}, FailureKind.BUILD, "")
            failures.append(error or Failure(FailureKind.BUILD, pointer="/error"))
            return Ended(EndStatus.FAILED, "failed", "build", failures[-1])
        last = next((failure for failure in reversed(failures) if failure.recovered is False), None)
        for status in _ORDER:
            for end in ends:
                if end.status is status:
                    own = end.error or self._last_of(end.ordinal, failures)
                    return Ended(status, end.word, "input_result", own)
        run = end_status(self._run.get("status"))
        if all(end.status is EndStatus.SUCCEEDED for end in ends) and ends:
            return Ended(EndStatus.SUCCEEDED, ends[-1].word, "input_result", caveat=self._caveat(failures))
        error = error_of(self._run, FailureKind.RUN, "/metadata/run_result")
        if error is not None and not any(repeats(error, failure) for failure in failures):
            failures.append(error)
        if run is EndStatus.NOT_RECORDED:
            return Ended(EndStatus.FAILED if error else run, None, "run" if error else None, error or last)
        word: Any = self._run.get("status")
        if run is EndStatus.SUCCEEDED:
            return Ended(run, word, "run", caveat=self._caveat(failures))
        return Ended(run, word, "run", error or last)

    def _last_of(self, ordinal: str, failures: list[Failure]) -> Failure | None:
        mine = [failure for failure in failures if failure.input_ordinal == ordinal and failure.recovered is not True]
        return mine[-1] if mine else None

    def _caveat(self, failures: list[Failure]) -> Failure | None:
        return next((f for f in failures if f.kind in _ANSWER and f.step_id == self._last_model), None)


def _result_file(summary: Summary, ordinal: str) -> list[JsonObject]:
    """The file that holds the result of an Input, as the build read it."""
    files = [source for source in summary.sources if str(source.get("path")).rpartition("/")[2] == "result.json"]
    mine = [source for source in files if f"/{ordinal}/" in f"/{source['path']}"]
    if not mine and len(files) == len(summary.inputs) == 1:
        mine = files
    return [{"path": s["path"], "sha256": s.get("sha256"), "what": "result"} for s in mine]


def repeats(error: Failure, failure: Failure) -> bool:
    """Whether two records tell of one error: the message of one stands in the other's."""
    ours, theirs = (_core(item) for item in (error, failure))
    short, long = sorted((ours, theirs), key=len)
    return len(short) >= _SAME and short in long


def _core(failure: Failure) -> str:
    """The message without the name of its class, its white space folded."""
    text = " ".join((failure.message or "").split())
    name = (failure.code or "").rpartition(".")[2]
    if name and text.startswith(f"{name}: "):
        text = text[len(name) + 2 :]
    return text


def _merge(steps: list[Failure], spans: list[Failure], ends: list[InputEnd]) -> list[Failure]:
    """All failures in recorded order: those of an Input's steps, then of its agents, then its own end."""
    if not spans and not any(end.error is not None for end in ends):
        return steps
    after: dict[str | None, list[Failure]] = {}
    for end in ends:
        mine = [error for error in spans if error.input_ordinal == end.ordinal]
        if end.error is not None:
            end.error.recovered = False
            mine.append(end.error)
        after[end.ordinal] = mine
    out: list[Failure] = []
    last = {failure.input_ordinal: number for number, failure in enumerate(steps)}
    for number, failure in enumerate(steps):
        out.append(failure)
        if last[failure.input_ordinal] == number and failure.input_ordinal in after:
            out += after.pop(failure.input_ordinal)
    for rest in after.values():
        out += rest
    return out
