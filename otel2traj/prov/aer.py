"""Header, steps and summary into one AER: each step's records are written and forgotten before the next.

What is kept between steps grows with the number of messages and calls, by a digest or a name each, never with what
they say.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, BinaryIO, Final

from .. import __version__
from ..canonical import JsonObject
from ..model.trajectory import Header, Step, StepKind, StepSource, StepStatus, Summary
from ..model.unknown import UnknownReason
from . import versions
from .cited import Cited
from .closing import Closing, is_harness_file
from .executions import Executions
from .identity import execution_id
from .messages import ANSWERED, ASKED, Messages, Response
from .places import Opens
from .plain import Redact
from .pointers import answered, identify, pointers, requested
from .records import Record
from .state import State
from .tree import Side


class AerProjector:
    """A `StepSink` that writes the AER of one execution to `out`. The package's docstring tells the parameters."""

    def __init__(
        self,
        out: BinaryIO,
        origin: str,
        attempt_path: str,
        *,
        read: Opens | None = None,
        fixtures: Sequence[JsonObject] = (),
        redact: Redact | None = None,
        saved: JsonObject | None = None,
        refused: Sequence[str] = (),
        naming: dict[str, list[JsonObject]] | None = None,
    ) -> None:
        self._refused = refused
        self._naming = naming
        self._state = State(out, redact, read, saved)
        self._saved = saved
        self._messages = Messages(self._state)
        self._executions = Executions(self._state)
        self._origin, self._attempt = origin, attempt_path
        self._redact = redact
        self._fixtures = fixtures
        self._header: Header | None = None
        self._begun = False
        self.execution_id = ""
        self.issues: list[str] = []

    @property
    def naming(self) -> dict[str, list[JsonObject]]:
        """Agent -> the records of the spans that name it, as the header told them."""
        return self._state.naming

    @property
    def digest(self) -> str | None:
        """`sha256:…` of the seal, once the projection has ended."""
        return self._state.writer.digest

    def begin(self, header: Header) -> None:
        self._header = header
        self._state.naming = header.naming if self._naming is None else self._naming
        hide = self._redact if self._redact is not None else str
        run_id, case_id = (None if one is None else hide(one) for one in (header.run_id, header.case_id))
        self.execution_id = execution_id(hide(self._origin), hide(self._attempt), run_id, case_id)

    def step(self, step: Step) -> None:
        self._open(pointers(step.evidence), step.input_ordinal)
        response = self._model_step(step) if step.kind is StepKind.MODEL else None
        self._executions.write(step, response)
        self._state.opened.forget()

    def end(self, summary: Summary) -> None:
        self._open([])
        paths = [str(source.get("path")) for source in summary.sources]
        papers = self._state.papers([path for path in paths if is_harness_file(path)])
        told = any(is_harness_file(path) for path in paths)
        if self._saved is not None:
            summary = replace(summary, sources=[self._saved])
        header = self._header if self._header is not None else Header()
        Closing(self._state, header, papers, harness=bool(summary.inputs) and told).write(summary)
        self.issues = [*summary.warnings, *(f"evidence_refused: {one}" for one in self._refused)]
        if self._saved is not None:
            self.issues.append(
                f"evidence_not_opened: all of this was read from {self._saved['path']}, a saved trajectory"
            )
        if summary.error is not None:
            self.issues.append(f"{summary.error.get('type')}: {summary.error.get('message')}")
        self._state.writer.seal(self.issues, summary.status.value)
        self._state.opened.forget()

    def _open(self, first: list[JsonObject], ordinal: str | None = None) -> None:
        """The record of the execution, and what it was given: cited are the run's own papers, else its first step."""
        if self._begun:
            return
        self._begun = True
        header = self._header if self._header is not None else Header()
        asked = [] if ordinal is None else [layout.format(ordinal) for layout in _REQUESTS]
        papers = self._state.papers(["run.json", *asked, *(str(one.get("path")) for one in self._fixtures)])
        cited = self._state.cited(papers or first)
        rule = "execution_identity"
        record = Record("execution", "ex", cited, rule=rule)
        record.derive("schema", versions.AER, rule)
        record.derive("execution", self.execution_id, rule)
        record.derive("origin", self._origin, rule)
        record.derive("attempt", self._attempt, rule)
        adapter = {
            "name": versions.ADAPTER,
            "version": versions.ADAPTER_VERSION,
            "software": f"otel2traj {__version__}",
        }
        record.derive("adapter", adapter, rule)
        for name in ("run_id", "agent_id", "case_id", "framework"):
            if name == "run_id" and not papers and self._saved is None:
                record.derive_or_miss(name, header.run_id, "run_of_records")
            else:
                record.say_or_miss(name, getattr(header, name))
        architecture = header.metadata.get("system_architecture")
        told = isinstance(architecture, dict) and any(one is not None for one in architecture.values())
        record.say_or_miss("architecture", architecture if told else None)
        record.miss("started", UnknownReason.NOT_RECORDED)
        record.miss("ended", UnknownReason.NOT_RECORDED)
        self._state.writer.write(record)
        for fixture in self._fixtures:
            self._fixture(cited, str(fixture.get("role", "case")), fixture.get("path"), fixture.get("declares"))
        profile = architecture.get("profile") if isinstance(architecture, dict) else None
        if isinstance(profile, dict):
            self._fixture(cited, "profile", profile.get("path"), None)

    def _fixture(self, cited: Cited, role: str, path: Any, declares: Any) -> None:
        own = [one for one in cited.sources if one["path"] == path]
        cited = self._state.cited(own) if own else cited
        record = Record("fixture", self._state.new("f"), cited, rule="given_file")
        record.derive("role", role, "given_file")
        record.derive_or_miss("path", path if isinstance(path, str) else None, "given_file")
        record.say_or_miss("injections", declares)
        self._state.writer.write(record)

    def _model_step(self, step: Step) -> Response | None:
        source = pointers(step.evidence)
        cited, answer = self._state.cited(source), self._state.cited(answered(source), Side.ANSWERED)
        call_id = self._state.new("mc")
        request, after = self._messages.request(step, self._state.cited(requested(source), Side.ASKED))
        model = None if step.model is None else self._state.actor("model", step.model, cited)
        response = self._messages.response(step, answer)
        record = Record("model_call", call_id, cited, key=_KEY)
        record.say_or_miss("model", model, stands=step.model)
        self._state.agent_and_scope(record, step, cited)
        cut = set(step.evidence.get("truncated") or ())
        if request is None:
            record.miss("request", UnknownReason.LOST if cut & set(ASKED) else UnknownReason.NOT_RECORDED)
        else:
            record.refer("request", request)
        record.say_or_miss("parameters", step.input.get("parameters"))
        self._outcome(record, step, response)
        record.derive("order", step.step_id, "order_of_start")
        record.derive("status", step.status.value, "status_of_records")
        record.say_or_miss("purpose", None if step.purpose == "unknown" else step.purpose)
        record.time_or_miss("started", _started(step, source))
        record.time_or_miss("ended", step.ended_at)
        identify(record, step.evidence)
        record.after("history_names_call", after)
        self._state.writer.write(record)
        if response is not None:
            self._decision(step, record, response, answer)
        return response

    def _outcome(self, record: Record, step: Step, response: Response | None) -> None:
        output = step.output
        failed = output.get("wire_error") is not None or output.get("error") is not None
        missing = UnknownReason.NOT_APPLICABLE if failed else UnknownReason.NOT_RECORDED
        if response is None:
            lost = set(ANSWERED) & set(step.evidence.get("truncated") or ())
            record.miss("response", UnknownReason.LOST if lost else missing)
        else:
            record.refer("response", response.record)
        record.say_or_miss("finish_reason", output.get("finish_reason"), missing)
        record.derive_or_miss("usage", output.get("usage"), "usage_names", missing)
        for name in ("wire_error", "error", "http_status"):
            if output.get(name) is not None:
                record.say(name, output[name])

    def _decision(self, step: Step, call: Record, response: Response, cited: Cited) -> None:
        rule = "decision_of_output"
        record = Record("decision", self._state.new("d"), cited, rule=rule)
        record.derive_or_miss("outcome", _outcome_of(step, response), rule, UnknownReason.NOT_APPLICABLE)
        record.derive("model_call", call.id, rule)
        record.derive("message", response.message, rule)
        record.derive("calls", [part for part, _ in response.calls], rule)
        self._state.writer.write(record)


_REQUESTS: Final = ("steps/{}/request.json", "evaluation/inputs/{}/request.json")
"""Where a harness writes which agent and framework it asked, of one Input (see docs/reference: the attempt layouts)."""
_KEY: Final = ("call_id", "otel_span_id", "framework_span_id", "response_id", "request", "response")
_WHOLE: Final = frozenset(
    {
        *("stop", "endturn", "stopsequence", "eos", "eostoken", "eot", "complete", "completed", "finish", "finished"),
        *("done", "end", "success", "finishreasonstop", "stopreasonstop"),
    }
)
"""Finish reasons of an answer that ended by itself, in lower case without signs. One that is not known ends nothing."""
_OWN_CALL: Final = re.compile(
    r"tool_?use|tool_?call|_call$|executable_?code|code_?execution|server_?tool|web_?search", re.I
)


def _outcome_of(step: Step, response: Response) -> str | None:
    """What the answer decides: tools to call, a refusal, an answer. One that was cut, filtered or broke off, or in
    which the provider ran something of its own, decides nothing that could be read off it."""
    if response.calls:
        return "call_tools"
    output = step.output
    if output.get("refusal") is not None:
        return "refuse"
    reason = output.get("finish_reason")
    ended = reason is None or (isinstance(reason, str) and re.sub("[^a-z]", "", reason.lower()) in _WHOLE)
    broken = output.get("wire_error") is not None or output.get("error") is not None
    if step.status is not StepStatus.COMPLETE or not ended or broken or _cut(response):
        return None
    if any(_own_call(part) for part in output.get("other_parts") or ()):
        return None
    return "answer" if output.get("text") is not None else None


def _cut(response: Response) -> bool:
    return UnknownReason.LOST.value in response.record.data["unknown"].values()


def _own_call(part: object) -> bool:
    words = (part, *(part.get("type", ""), *part)) if isinstance(part, dict) else ()
    return any(isinstance(word, str) and _OWN_CALL.search(word) is not None for word in words)


def _started(step: Step, source: list[JsonObject]) -> str | None:
    """The recorded start. A step is ordered by its response's time where the wire recorded no request; that time is
    the start of nothing."""
    what = {record.get("what") for record in source}
    if step.source is not StepSource.FRAMEWORK and what and "request" not in what:
        return None
    return step.started_at
