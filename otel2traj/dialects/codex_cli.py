"""Codex CLI: log records that tell its calls, and spans that tell none.

Each `source` has the version that was read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ..messages.nested import decode_arguments, ident, redacted, string
from ..model.evidence import LogRecord, SpanRecord
from ..model.reading import Classified, Reading, Role
from .base import Declaration, LogClassified, Marks
from .draft import Draft
from .kit import SpanDialect
from .table import AttributeTable, UsageKeys, count, make_usage

_SERVICES: Final = ("codex", "codex-cli", "codex_cli_rs", "codex_exec", "codex_tui")
_STREAMS: Final = ("sse_event", "websocket_event")
_COMPLETED: Final = ("response.completed", "response.failed", "response.incomplete")


class CodexCli(Declaration):
    """A completed response is logged twice: once as an event of the stream, which has only a duration, and once with
    its token counts (or with the error of reading it). The second one is the call. No record names a response."""

    name = "codex_cli"
    title = "Codex CLI"
    source = "https://github.com/openai/codex/tree/0136a731d73e681bbc7826c9cf7ae2ae09d89fe9/codex-rs/otel"
    switch_on = "[otel] exporter and log_user_prompt=true, log_agent_responses=true in config.toml"
    leaves_out = "Everything the model was sent, and all it wrote but the final answer of a turn. Tool output is cut."

    def recognises(self, log: LogRecord) -> bool:
        return _event(log) is not None

    def classify(self, log: LogRecord) -> LogClassified | None:
        attributes = log.attributes
        event = _event(log)
        session = ident(attributes.get("conversation.id"))
        unique = f"{log.ref.source}:{log.ref.offset}:{log.ref.line}"
        if event in _STREAMS:
            told = "input_token_count" in attributes or ("error.message" in attributes and not _timed(attributes))
            if attributes.get("event.kind") not in _COMPLETED or not told:
                return None
            return LogClassified(Role.MODEL_CALL, f"codex.model:{unique}", session)
        if event == "tool_result":
            key = ident(attributes.get("call_id")) or unique
            return LogClassified(Role.TOOL_EXECUTION, f"codex.tool:{session}:{key}", session, fallback_only=True)
        if event == "user_prompt":
            return LogClassified(Role.AGENT, f"codex.prompt:{unique}", session)
        if event == "agent_response":
            key = ident(attributes.get("item.id")) or unique
            return LogClassified(Role.AGENT, f"codex.answer:{session}:{key}", session)
        return None

    def read(self, logs: Sequence[LogRecord]) -> Reading:
        events = {_event(log) for log in logs}
        role = Role.AGENT
        if "tool_result" in events:
            role = Role.TOOL_EXECUTION
        elif events & set(_STREAMS):
            role = Role.MODEL_CALL
        draft = Draft(self.name, {}, role)
        for log in logs:
            attributes = log.attributes
            draft.put("conversation_id", ident(attributes.get("conversation.id")), "log")
            if role is Role.MODEL_CALL:
                _model(draft, attributes)
            elif role is Role.TOOL_EXECUTION:
                _tool(draft, attributes)
            else:
                asked = attributes.get("prompt")
                draft.put("input_text", asked if isinstance(asked, str) and not redacted(asked) else None, "log")
                draft.put("output_text", string(attributes.get("response")), "log")
                if attributes.get("response_truncated") in (True, "true"):
                    draft.cut("output_text")
        return draft.reading


def _event(log: LogRecord) -> str | None:
    """The name of a Codex event. From 0.60 on the record's own name is a place in Codex's source, and the event's name
    an attribute."""
    for named in (log.attributes.get("event.name"), log.event_name):
        if isinstance(named, str) and named.startswith("codex."):
            return named.removeprefix("codex.")
    named = log.attributes.get("event.name")
    return named if log.resource.get("service.name") in _SERVICES and isinstance(named, str) else None


def _timed(attributes: Mapping[str, Any]) -> bool:
    return "duration_ms" in attributes


def _model(draft: Draft, attributes: Mapping[str, Any]) -> None:
    draft.put("request_model", string(attributes.get("model")) or string(attributes.get("slug")), "log")
    draft.put_usage(
        make_usage(
            count(attributes.get("input_token_count")),
            count(attributes.get("output_token_count")),
            count(attributes.get("cached_token_count")),
            None,
            count(attributes.get("reasoning_token_count")),
        ),
        "log",
    )
    failed = string(attributes.get("error.message"))
    if failed is not None:
        draft.put("is_error", True, "log")
        draft.put("error", failed, "log")


def _tool(draft: Draft, attributes: Mapping[str, Any]) -> None:
    draft.put("tool_name", string(attributes.get("tool_name")), "log")
    draft.put("tool_call_id", ident(attributes.get("call_id")), "log")
    draft.put("arguments", decode_arguments(attributes.get("arguments")), "log")
    draft.put("result", attributes.get("output"), "log")
    if attributes.get("success") in (False, "false"):
        draft.put("is_error", True, "log")
    else:  # Codex calls a command that ran a success, whatever its exit status was
        draft.reading.no_outcome = True
    if draft.reading.is_error:
        draft.put("error", string(attributes.get("output")), "log")
    server = string(attributes.get("mcp_server"))
    if server is not None:
        draft.reading.extra["mcp_server"] = server


CODEX_CLI = CodexCli()


SAMPLING: Final = "try_run_sampling_request"
"""The span around one request: what is answered and every tool that the answer asked for run below it."""
_ANSWER: Final = "handle_responses"
_USAGE: Final = "gen_ai.usage.output_tokens"


class CodexCliSpans(SpanDialect):
    """Codex CLI's spans: which calls there were, which tools ran below which of them, and token counts; no content."""

    name = "codex_cli_spans"
    title = "Codex CLI spans"
    source = CODEX_CLI.source
    switch_on = "[otel] trace_exporter in config.toml"
    leaves_out = "All content: messages, arguments, results; response ids; whether a tool succeeded."
    marks = Marks(scopes=("codex",))
    fields = AttributeTable(
        request_model=("model",),
        conversation_id=("conversation.id",),
        tool_name=("tool_name",),
        usage=UsageKeys(
            input=("gen_ai.usage.input_tokens",),
            output=(_USAGE,),
            cache_read=("gen_ai.usage.cache_read.input_tokens",),
            cache_write=("gen_ai.usage.cache_write.input_tokens",),
            reasoning=("codex.usage.reasoning_output_tokens",),
        ),
        known=("codex.", "turn.", "turn_id", "call_id", "tool_source", "cwd"),
    )

    def role(self, span: SpanRecord) -> Role | None:
        if span.name == SAMPLING or (span.name == _ANSWER and _USAGE in span.attributes):
            return Role.MODEL_CALL
        if "call_id" in span.attributes and span.attributes.get("tool_name") == span.name:
            return Role.TOOL_EXECUTION  # a span of another name beside it tells of the call, and runs nothing
        return Role.CHAIN if span.name in ("run_turn", "session_task.turn", "run_sampling_request") else Role.NONE

    def classify(self, span: SpanRecord) -> Classified:
        found = super().classify(span)
        found.encloses = span.name == SAMPLING
        return found

    def fill(self, draft: Draft, span: SpanRecord, logs: Sequence[LogRecord]) -> None:
        if draft.role is Role.TOOL_EXECUTION:
            draft.put("tool_call_id", ident(span.attributes.get("call_id")))
            draft.put("tool_name", string(span.attributes.get("tool_name")))
            draft.reading.no_outcome = True


CODEX_CLI_SPANS = CodexCliSpans()
