"""Header, steps and summary into one AER: each step's records are written and forgotten before the next.

What is kept between steps grows with the number of messages and calls, by a digest or a name each, never with what
they say.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Final

from .. import __version__
from ..canonical import JsonObject, sha256_canonical
from ..model.link import ExecutionStatus, LinkStatus
from ..model.trajectory import Header, Step, StepKind, Summary, ToolLog
from ..model.unknown import UnknownReason
from . import versions
from .closing import Closing
from .identity import execution_id
from .plain import Redact
from .pointers import by_of, log_by, pointers, producer
from .records import AerWriter, Record, cited

_PARTS: Final = ("reasoning", "text", "refusal")
_INFERRED: Final = ("reported_result", "name_arguments", "name")
_CALL_ID_KEYS: Final = frozenset({"id", "tool_call_id", "tool_use_id", "call_id"})
_IDENTIFIERS: Final = ("interaction_id", "call_id", "framework_span_id", "trace_id", "otel_span_id")
_DIGESTS: Final = ("request_sha256", "response_sha256")


@dataclass(slots=True)
class _Response:
    """The message a model answered with, and the parts of it that are tool calls."""

    message: str
    calls: list[tuple[str, str | None]] = field(default_factory=list)
    """(part id, tool call id)"""


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
    ) -> None:
        self._writer = AerWriter(out, redact)
        self._origin, self._attempt = origin, attempt_path
        self._fixtures = fixtures
        self._counts: dict[str, int] = {}
        self._actors: dict[tuple[str, str], str] = {}
        self._messages: dict[tuple[str | None, int, str], str] = {}
        self._tools: dict[str, str] = {}
        self._emitted: dict[str, set[str]] = {}
        self._scopes: set[str] = set()
        self._header = Header()
        self.execution_id = ""
        self.issues: list[str] = []

    @property
    def digest(self) -> str | None:
        """`sha256:…` of the seal, once the projection has ended."""
        return self._writer.digest

    def _new(self, prefix: str) -> str:
        number = self._counts.get(prefix, 0)
        self._counts[prefix] = number + 1
        return f"{prefix}{number}"

    # -- the sink ---------------------------------------------------------------------------------------------------

    def begin(self, header: Header) -> None:
        self._header = header
        self.execution_id = execution_id(self._origin, self._attempt, header.run_id, header.case_id)
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
        self._writer.write(record)
        for fixture in self._fixtures:
            self._fixture(fixture.get("role", "case"), fixture.get("path"), fixture.get("declares"))
        profile = architecture.get("profile") if isinstance(architecture, dict) else None
        if isinstance(profile, dict):
            self._fixture("profile", profile.get("path"), None)

    def _fixture(self, role: str, path: Any, declares: Any) -> None:
        record = Record("fixture", self._new("f"), "config")
        record.say("role", role, "config")
        record.say_or_miss("path", path if isinstance(path, str) else None, "config")
        record.say_or_miss("injections", declares, "config")
        self._writer.write(record)

    def step(self, step: Step) -> None:
        response = self._model_step(step) if step.kind is StepKind.MODEL else None
        for position, log in enumerate(step.tool_logs):
            if log.execution_status is not ExecutionStatus.NOT_OBSERVED:
                self._execution(step, log, response, position)

    def end(self, summary: Summary) -> None:
        harness = self._actor("harness", "harness", "config") if summary.inputs else None
        Closing(self._writer, self._new, self._header, self._scopes, harness).write(summary)
        self.issues = list(summary.warnings)
        if summary.error is not None:
            self.issues.append(f"{summary.error.get('type')}: {summary.error.get('message')}")
        self._writer.seal(self.issues, summary.status.value)

    # -- who and when -----------------------------------------------------------------------------------------------

    def _actor(self, role: str, name: str, by: str, rule: str | None = None) -> str:
        known = self._actors.get((role, name))
        if known is not None:
            return known
        record = Record("actor", self._new("a"), by, rule=rule)
        record.say("role", role, by, rule)
        record.say("name", name, by, rule)
        self._writer.write(record)
        self._actors[role, name] = record.id
        return record.id

    def _agent_and_scope(self, record: Record, step: Step) -> None:
        agent = None if step.agent_name is None else self._actor("agent", step.agent_name, "adapter", "agent_name")
        record.say_or_miss("agent", agent, "adapter", "agent_name")
        if step.input_ordinal is None:
            record.miss("scope", UnknownReason.NOT_RECORDED)
        else:
            self._scopes.add(step.input_ordinal)
            record.say("scope", f"s{step.input_ordinal}", "adapter", "scope_of_record")

    # -- model calls ------------------------------------------------------------------------------------------------

    def _model_step(self, step: Step) -> _Response | None:
        by, source = by_of(step), pointers(step.evidence)
        call_id = self._new("mc")
        request, shared, after = self._request(step, by, source)
        tools = self._tool_definitions(step, by, source)
        model = None if step.model is None else self._actor("model", step.model, by)
        failed = step.output.get("wire_error")
        response = self._response(step, by, source)
        record = Record("model_call", call_id, by, source=source)
        record.say_or_miss("model", model, by)
        self._agent_and_scope(record, step)
        if shared:
            record.say("request", request, "adapter", "message_same_position")
        else:
            record.say_or_miss("request", request, by)
        record.say_or_miss("tools", tools, by)
        record.say_or_miss("parameters", step.input.get("parameters"), by)
        missing = UnknownReason.NOT_RECORDED if failed is None else UnknownReason.NOT_APPLICABLE
        message = None if response is None else response.message
        record.say_or_miss("response", message, by, reason=missing)
        record.say_or_miss("finish_reason", step.output.get("finish_reason"), by, reason=missing)
        record.say_or_miss("usage", step.output.get("usage"), "adapter", "usage_names", missing)
        record.say("order", step.step_id, "adapter", "order_of_start")
        record.say("status", step.status.value, "adapter", "status_of_records")
        record.say_or_miss("purpose", None if step.purpose == "unknown" else step.purpose, by)
        record.say_or_miss("started", step.started_at, by)
        record.say_or_miss("ended", step.ended_at, by)
        if failed is not None:
            record.say("wire_error", failed, "interceptor")
        _identify(record, step.evidence, by)
        record.after("history_names_call", after)
        self._writer.write(record)
        if response is not None:
            self._decision(step, record, response, by, source)
        return response

    def _request(self, step: Step, by: str, source: list[JsonObject]) -> tuple[list[str] | None, bool, set[str]]:
        """The messages the model received, whether any was recorded before, and the responses that came before."""
        given: list[tuple[int, Any]] = []
        if step.input.get("system") is not None:
            given.append((-1, {"role": "system", "content": step.input["system"]}))
        messages = step.input.get("messages")
        if messages is not None:
            given += enumerate(messages if isinstance(messages, list) else [messages])
        elif not given:
            return None, False, set()
        out: list[str] = []
        shared = False
        after: set[str] = set()
        for position, message in given:
            key = (step.agent_name, position, sha256_canonical(message))
            known = self._messages.get(key)
            if known is not None:
                shared = True
                out.append(known)
                continue
            out.append(self._message(message, position, by, source))
            self._messages[key] = out[-1]
            for call_id in call_ids(message):
                holders = self._emitted.get(call_id, set())
                after |= holders if len(holders) == 1 else set()
        return out, shared, after

    def _message(self, message: Any, position: int, by: str, source: list[JsonObject]) -> str:
        record = Record("message", self._new("m"), by, source=source)
        known = message if isinstance(message, dict) else {}
        role, kind = known.get("role"), known.get("type")
        record.say_or_miss("role", role if isinstance(role, str) else None, by)
        if isinstance(kind, str):
            record.say("type", kind, by)
        record.say("direction", "request", by)
        record.say("position", position, by)
        record.say("content", message, by)
        self._writer.write(record)
        return record.id

    def _tool_definitions(self, step: Step, by: str, source: list[JsonObject]) -> str | None:
        tools = step.input.get("tools")
        if tools is None:
            return None
        digest = sha256_canonical(tools)
        if digest not in self._tools:
            record = Record("generic_artefact", self._new("ga"), by, source=source)
            record.say("role", "tool_definitions", by)
            record.say("content", tools, by)
            self._writer.write(record)
            self._tools[digest] = record.id
        return self._tools[digest]

    def _response(self, step: Step, by: str, source: list[JsonObject]) -> _Response | None:
        output = step.output
        calls = output.get("tool_calls") or []
        parts: list[JsonObject] = [
            {"type": name, "content": output[name]} for name in _PARTS if output.get(name) is not None
        ]
        first = len(parts)
        parts += (
            {"type": "tool_call", "call_id": c.get("id"), "name": c.get("name"), "arguments": c.get("arguments")}
            for c in calls
        )
        parts += ({"type": "other", "content": part} for part in output.get("other_parts") or [])
        if not parts:
            return None
        record = Record("message", self._new("m"), by, source=source)
        response = _Response(record.id)
        for number, part in enumerate(parts):
            part["id"] = f"{record.id}-{number}"
            if part["type"] == "tool_call":
                response.calls.append((part["id"], part["call_id"]))
        rule = None
        if output.get("tool_calls_source") == "graph_node":
            rule = "graph_node_calls"
        elif output.get("output_source") == "framework":
            rule = "framework_output"
        record.say("role", "assistant", by)
        record.say("direction", "response", by)
        record.say("parts", parts, by if rule is None else "source", rule)
        if output.get("choices") is not None:
            record.say("choices", output["choices"], by)
        _call_notes(record, step, response)
        self._writer.write(record)
        for call in calls[: len(parts) - first]:
            if call.get("id") is not None:
                self._emitted.setdefault(call["id"], set()).add(record.id)
        return response

    def _decision(self, step: Step, call: Record, response: _Response, by: str, source: list[JsonObject]) -> None:
        record = Record("decision", self._new("d"), "adapter", rule="decision_of_output", source=source)
        refused = step.output.get("refusal") is not None
        outcome = "call_tools" if response.calls else "refuse" if refused else "answer"
        record.say("outcome", outcome, "adapter", "decision_of_output")
        record.say("model_call", call.id, "adapter", "decision_of_output")
        record.say("message", response.message, "adapter", "decision_of_output")
        record.say("calls", [part for part, _ in response.calls], "adapter", "decision_of_output")
        self._writer.write(record)

    # -- tool executions --------------------------------------------------------------------------------------------

    def _execution(self, step: Step, log: ToolLog, response: _Response | None, position: int) -> None:
        by, source = log_by(log), pointers(log.evidence)
        evidence = log.evidence
        if step.kind is StepKind.TOOL_ONLY:
            source = source or pointers(step.evidence)
            evidence = {**step.evidence, **{k: v for k, v in log.evidence.items() if v is not None}}
        identifier = self._new("te")
        result = None if log.outputs is None else self._result(log, by, source)
        record = Record("tool_execution", identifier, by, source=source)
        record.say_or_miss("name", log.tool_name, by)
        record.say_or_miss("tool_call_id", log.tool_call_id, by)
        record.say_or_miss("arguments", log.input_arguments, by)
        record.say_or_miss("result", result, by)
        part = None if response is None else part_of(response, log, position)
        if log.link is LinkStatus.EXACT and part is not None and response is not None:
            rule = cited("tool_call_id_unique", producer(log))
            record.say("call", part, "adapter", rule)
            if not rule.endswith("_unverified"):
                record.after("call_before_execution", {response.message})
        else:
            ambiguous = log.link is LinkStatus.AMBIGUOUS or bool(evidence.get("candidates"))
            record.miss("call", UnknownReason.AMBIGUOUS if ambiguous else UnknownReason.NOT_RECORDED)
        record.say("status", log.execution_status.value, "adapter", "execution_status")
        record.say_or_miss("exit_status", log.exit_status, "client")
        self._agent_and_scope(record, step)
        if step.kind is StepKind.TOOL_ONLY:
            record.say("order", step.step_id, "adapter", "order_of_start")
        own = step.kind is StepKind.TOOL_ONLY
        record.say_or_miss("started", evidence.get("started_at", step.started_at if own else None), by)
        record.say_or_miss("ended", evidence.get("ended_at", step.ended_at if own else None), by)
        _identify(record, evidence, by)
        self._writer.write(record)

    def _result(self, log: ToolLog, by: str, source: list[JsonObject]) -> str:
        record = Record("generic_artefact", self._new("ga"), by, source=source)
        record.say("role", "tool_result", by)
        record.say("content", log.outputs, by)
        self._writer.write(record)
        return record.id


def _identify(record: Record, evidence: JsonObject, by: str) -> None:
    for name in _IDENTIFIERS:
        if evidence.get(name) is not None:
            derived = name == "interaction_id"
            record.say(name, evidence[name], "adapter" if derived else by, "interaction_identity" if derived else None)
    for name in _DIGESTS:
        if evidence.get(name) is not None:
            record.say(name, evidence[name], "adapter", "payload_digest")
    if evidence.get("join") is not None:
        record.say("join", evidence["join"], "adapter", f"join_{evidence['join']}")
    if isinstance(evidence.get("said_by"), dict):
        record.say("said_by", evidence["said_by"], "adapter", "dialect_reading")


def part_of(response: _Response, log: ToolLog, position: int) -> str | None:
    """The call part that a log stands for: the one at its place where the ids agree, else the only one of that id."""
    if position < len(response.calls) and response.calls[position][1] == log.tool_call_id:
        return response.calls[position][0]
    same = [part for part, call_id in response.calls if call_id == log.tool_call_id]
    return same[0] if len(same) == 1 else None


def _call_notes(record: Record, step: Step, response: _Response) -> None:
    """What is known, and what is not, of the execution of each call: never more than the evidence says."""
    notes: dict[str, JsonObject] = {}
    for position, log in enumerate(step.tool_logs):
        part = part_of(response, log, position)
        if part is None or (log.link is LinkStatus.EXACT and log.execution_status is not ExecutionStatus.NOT_OBSERVED):
            continue
        ambiguous = log.link is LinkStatus.AMBIGUOUS
        record.miss(f"{part}/execution", UnknownReason.AMBIGUOUS if ambiguous else UnknownReason.NOT_RECORDED)
        if ambiguous and log.evidence.get("candidates"):
            notes.setdefault("candidates", {})[part] = list(log.evidence["candidates"])
        inferred = log.evidence.get("inferred")
        if isinstance(inferred, dict) and inferred.get("rule") in _INFERRED:
            notes.setdefault(f"inferred_{inferred['rule']}", {})[part] = inferred.get("interaction_id")
    for position, log in enumerate(step.tool_logs):
        part = part_of(response, log, position)
        if part is not None and isinstance(log.evidence.get("reported_result"), dict):
            notes.setdefault("reported", {})[part] = log.evidence["reported_result"]
    for name, value in sorted(notes.items()):
        rule = {"candidates": "tool_call_id_ambiguous", "reported": "reported_by_request"}.get(name, name)
        record.say(name, value, "adapter", rule)


def call_ids(value: Any, depth: int = 0) -> Iterator[str]:
    """Every string under a key that holds tool call ids in one of the providers' message forms."""
    if depth > 8:
        return
    if isinstance(value, dict):
        for key, item in value.items():
            if isinstance(item, str):
                if key in _CALL_ID_KEYS:
                    yield item
            else:
                yield from call_ids(item, depth + 1)
    elif isinstance(value, list):
        for item in value:
            yield from call_ids(item, depth + 1)
