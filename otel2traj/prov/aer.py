"""Header, steps and summary into one AER: each step's records are written and forgotten before the next.

What is kept between steps grows with the number of messages and calls, by a digest or a name each, never with what
they say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, BinaryIO, Final

from .. import __version__
from ..canonical import JsonObject
from ..model.trajectory import Header, Step, StepKind, StepSource, StepStatus, Summary
from ..model.unknown import UnknownReason
from . import versions
from .closing import Closing, is_harness_file
from .executions import Executions
from .identity import execution_id
from .messages import Messages, Response
from .plain import Redact
from .pointers import answered, by_of, identify, pointers, requested
from .records import Record
from .state import State


class AerProjector:
    """A `StepSink` that writes the AER of one execution to `out`. The package's docstring tells the parameters."""

    def __init__(
        self,
        out: BinaryIO,
        origin: str,
        attempt_path: str,
        *,
        fixtures: Sequence[JsonObject] = (),
        redact: Redact | None = None,
        saved: JsonObject | None = None,
    ) -> None:
        self._state = State(out, redact, saved)
        self._saved = saved
        self._messages = Messages(self._state)
        self._executions = Executions(self._state)
        self._origin, self._attempt = origin, attempt_path
        self._redact = redact
        self._fixtures = fixtures
        self._header = Header()
        self.execution_id = ""
        self.issues: list[str] = []

    @property
    def digest(self) -> str | None:
        """`sha256:…` of the seal, once the projection has ended."""
        return self._state.writer.digest

    def begin(self, header: Header) -> None:
        self._header = header
        hide = self._redact if self._redact is not None else str
        run_id, case_id = (None if one is None else hide(one) for one in (header.run_id, header.case_id))
        self.execution_id = execution_id(hide(self._origin), hide(self._attempt), run_id, case_id)
        record = Record("execution", "ex", "adapter", rule="execution_identity")
        record.say("schema", versions.AER, "adapter", "execution_identity")
        record.say("execution", self.execution_id, "adapter", "execution_identity")
        record.say("origin", self._origin, "config")
        record.say("attempt", self._attempt, "config")
        adapter = {
            "name": versions.ADAPTER,
            "version": versions.ADAPTER_VERSION,
            "software": f"otel2traj {__version__}",
        }
        record.say("adapter", adapter, "adapter", "execution_identity")
        for name in ("run_id", "agent_id", "case_id", "framework"):
            record.say_or_miss(name, getattr(header, name), "config")
        architecture = header.metadata.get("system_architecture")
        record.say_or_miss("architecture", architecture if isinstance(architecture, dict) else None, "config")
        record.miss("started", UnknownReason.NOT_RECORDED)
        record.miss("ended", UnknownReason.NOT_RECORDED)
        self._state.writer.write(record)
        for fixture in self._fixtures:
            self._fixture(str(fixture.get("role", "case")), fixture.get("path"), fixture.get("declares"))
        profile = architecture.get("profile") if isinstance(architecture, dict) else None
        if isinstance(profile, dict):
            self._fixture("profile", profile.get("path"), None)

    def step(self, step: Step) -> None:
        response = self._model_step(step) if step.kind is StepKind.MODEL else None
        self._executions.write(step, response)

    def end(self, summary: Summary) -> None:
        told = any(is_harness_file(str(source.get("path"))) for source in summary.sources)
        harness = self._state.actor("harness", "harness", "config") if summary.inputs and told else None
        if self._saved is not None:
            summary = replace(summary, sources=[self._saved])
        Closing(self._state, self._header, harness).write(summary)
        self.issues = list(summary.warnings)
        if self._saved is not None:
            self.issues.append(
                f"evidence_not_opened: all of this was read from {self._saved['path']}, a saved trajectory"
            )
        if summary.error is not None:
            self.issues.append(f"{summary.error.get('type')}: {summary.error.get('message')}")
        self._state.writer.seal(self.issues, summary.status.value)

    def _fixture(self, role: str, path: Any, declares: Any) -> None:
        record = Record("fixture", self._state.new("f"), "config")
        record.say("role", role, "config")
        record.say_or_miss("path", path if isinstance(path, str) else None, "config")
        record.say_or_miss("injections", declares, "config")
        self._state.writer.write(record)

    def _model_step(self, step: Step) -> Response | None:
        by, source = by_of(step), pointers(step.evidence)
        call_id = self._state.new("mc")
        request, after = self._messages.request(step, by, requested(source))
        model = None if step.model is None else self._state.actor("model", step.model, by)
        response = self._messages.response(step, by, answered(source))
        record = Record("model_call", call_id, by, source=source)
        record.say_or_miss("model", model, by)
        self._state.agent_and_scope(record, step)
        record.say_or_miss("request", request, by)
        record.say_or_miss("parameters", step.input.get("parameters"), by)
        self._outcome(record, step, response, by)
        record.say("order", step.step_id, "adapter", "order_of_start")
        record.say("status", step.status.value, "adapter", "status_of_records")
        record.say_or_miss("purpose", None if step.purpose == "unknown" else step.purpose, by)
        record.say_or_miss("started", _started(step, source), by)
        record.say_or_miss("ended", step.ended_at, by)
        identify(record, step.evidence, by)
        record.after("history_names_call", after)
        self._state.writer.write(record)
        if response is not None:
            self._decision(step, record, response, answered(source))
        return response

    def _outcome(self, record: Record, step: Step, response: Response | None, by: str) -> None:
        output = step.output
        failed = output.get("wire_error") is not None or output.get("error") is not None
        missing = UnknownReason.NOT_APPLICABLE if failed else UnknownReason.NOT_RECORDED
        record.say_or_miss("response", None if response is None else response.message, by, reason=missing)
        record.say_or_miss("finish_reason", output.get("finish_reason"), by, reason=missing)
        record.say_or_miss("usage", output.get("usage"), "adapter", "usage_names", missing)
        for name in ("wire_error", "error", "http_status"):
            if output.get(name) is not None:
                record.say(name, output[name], "interceptor" if name == "wire_error" else by)

    def _decision(self, step: Step, call: Record, response: Response, source: list[JsonObject]) -> None:
        rule = "decision_of_output"
        record = Record("decision", self._state.new("d"), "adapter", rule=rule, source=source)
        record.say_or_miss("outcome", _outcome_of(step, response), "adapter", rule, UnknownReason.NOT_APPLICABLE)
        record.say("model_call", call.id, "adapter", rule)
        record.say("message", response.message, "adapter", rule)
        record.say("calls", [part for part, _ in response.calls], "adapter", rule)
        self._state.writer.write(record)


_CUT_SHORT: Final = ("length", "max_tokens", "content_filter", "safety", "MAX_TOKENS", "SAFETY", "incomplete")


def _outcome_of(step: Step, response: Response) -> str | None:
    """What the answer decides: tools to call, a refusal, an answer. One that was cut, filtered or broke off, or in
    which only the provider ran something, decides nothing that could be read off it."""
    if response.calls:
        return "call_tools"
    output = step.output
    if output.get("refusal") is not None:
        return "refuse"
    if step.status is not StepStatus.COMPLETE or output.get("finish_reason") in _CUT_SHORT:
        return None
    return "answer" if output.get("text") is not None else None


def _started(step: Step, source: list[JsonObject]) -> str | None:
    """The recorded start. A step is ordered by its response's time where the wire recorded no request; that time is
    the start of nothing."""
    what = {record.get("what") for record in source}
    if step.source is not StepSource.FRAMEWORK and what and "request" not in what:
        return None
    return step.started_at
