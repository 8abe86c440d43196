"""Claude Code's log events: requests and responses whole, token counts and tool results, joined by request id.

https://code.claude.com/docs/en/monitoring-usage (claude-code 2.1.332)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from ..messages.nested import decode, decode_arguments, ident, redacted, string
from ..model.evidence import LogRecord
from ..model.reading import Reading, Role
from .base import Declaration, LogClassified
from .bodies import read_request, read_response
from .claude_code_traces import PREFIX, request_key, tool_key
from .draft import Draft
from .table import count, make_usage

_MODEL: Final = frozenset(
    {"api_request", "api_error", "api_request_body", "api_response_body", "assistant_response", "api_refusal"}
)
_CALLS: Final = frozenset({"api_request", "api_error"})
"""Events that stand for a call of their own even without an identifier."""


class ClaudeCodeLogs(Declaration):
    """Nearly all events carry the span id of the interaction, so a call is known by its own recorded ids alone: the
    request id, the id of the request's body, the tool use id."""

    name = "claude_code_logs"
    conversation_keys = ("session.id",)
    title = "Claude Code log events"
    source = "https://code.claude.com/docs/en/monitoring-usage"
    switch_on = (
        "CLAUDE_CODE_ENABLE_TELEMETRY=1, OTEL_LOGS_EXPORTER=otlp; OTEL_LOG_RAW_API_BODIES=1, OTEL_LOG_USER_PROMPTS=1, "
        "OTEL_LOG_TOOL_DETAILS=1 and OTEL_LOG_ASSISTANT_RESPONSES=1 for content"
    )
    leaves_out = "Tool output (only its size); bodies over the limit are cut or kept as a file reference."
    tested: ClassVar[Mapping[str, str]] = {"com.anthropic.claude_code.events": "2.1.332"}

    def recognises(self, log: LogRecord) -> bool:
        if log.scope_name.startswith("com.anthropic.claude_code.events"):
            return True
        return isinstance(log.body, str) and log.body.startswith(PREFIX)

    def classify(self, log: LogRecord) -> LogClassified | None:
        attributes = log.attributes
        session = ident(attributes.get("session.id"))
        event = _event(log)
        if event in _MODEL:
            keys = _keys(attributes)
            if not keys and event in _CALLS:
                keys = [f"claude_code.event:{session}:{attributes.get('event.sequence', log.ref.offset)}"]
            if not keys:
                return None
            return LogClassified(
                Role.MODEL_CALL, keys[0], session, agent_name(attributes), fallback_only=True, also=tuple(keys[1:])
            )
        if event == "tool_result":
            tool_use_id = ident(attributes.get("tool_use_id"))
            key = tool_key(tool_use_id) if tool_use_id is not None else _sequence_key(session, log)
            return LogClassified(Role.TOOL_EXECUTION, key, session, agent_name(attributes), fallback_only=True)
        if event == "user_prompt":
            prompt = ident(attributes.get("prompt.id"))
            return LogClassified(Role.AGENT, f"claude_code.prompt:{prompt or _sequence_key(session, log)}", session)
        return None

    def read(self, logs: Sequence[LogRecord]) -> Reading:
        events = {_event(log) for log in logs}
        role = Role.AGENT
        if "tool_result" in events:
            role = Role.TOOL_EXECUTION
        elif events & _MODEL:
            role = Role.MODEL_CALL
        draft = Draft(self.name, {}, role)
        for log in sorted(logs, key=lambda log: 0 if _event(log).endswith("_body") else 1):
            draft.put("conversation_id", ident(log.attributes.get("session.id")), "log")
            draft.put("agent_name", agent_name(log.attributes), "log")
            if role is Role.MODEL_CALL:
                _model(draft, _event(log), log.attributes)
            elif role is Role.TOOL_EXECUTION:
                _tool(draft, log.attributes)
            else:
                draft.put("input_text", _said(log.attributes, "prompt", "prompt_text"), "log")
        return draft.reading


def agent_name(attributes: Mapping[str, Any]) -> str | None:
    return string(attributes.get("query_source")) or string(attributes.get("agent_id"))


def _event(log: LogRecord) -> str:
    named = log.event_name or (log.body if isinstance(log.body, str) else "")
    return named.removeprefix(PREFIX)


def _keys(attributes: Mapping[str, Any]) -> list[str]:
    request_id = ident(attributes.get("request_id"))
    body_id = ident(attributes.get("request_body_id"))
    keys = [] if request_id is None else [request_key(request_id)]
    return keys if body_id is None else [*keys, f"claude_code.body:{body_id}"]


def _sequence_key(session: str | None, log: LogRecord) -> str:
    return f"claude_code.event:{session}:{log.attributes.get('event.sequence', log.ref.offset)}"


def _said(attributes: Mapping[str, Any], *names: str) -> str | None:
    for name in names:
        value = attributes.get(name)
        if isinstance(value, str) and not redacted(value):
            return value
    return None


def _model(draft: Draft, event: str, attributes: Mapping[str, Any]) -> None:
    request_id = ident(attributes.get("request_id"))
    if request_id is not None:
        draft.reading.extra.setdefault("request_id", request_id)
    if event == "api_request_body":
        _body(draft, attributes, read_request, "messages", "system", "tools")
        draft.put("request_model", string(attributes.get("model")), "log")
    elif event == "api_response_body":
        _body(draft, attributes, read_response, "text", "tool_calls")
        draft.put("response_id", ident(attributes.get("message.id")), "log")
        draft.put("response_model", string(attributes.get("model")), "log")
    elif event == "assistant_response":
        draft.put("text", _said(attributes, "response"), "log")
    elif event == "api_request":
        draft.put("response_model", string(attributes.get("model")), "log")
        draft.put_usage(
            make_usage(
                count(attributes.get("input_tokens")),
                count(attributes.get("output_tokens")),
                count(attributes.get("cache_read_tokens")),
                count(attributes.get("cache_creation_tokens")),
                input_excludes_cache=True,
            ),
            "log",
        )
    else:
        draft.put("is_error", True, "log")
        draft.put("error", string(attributes.get("error")), "log")
        draft.put("request_model", string(attributes.get("model")), "log")
        code = count(attributes.get("status_code"))
        draft.reading.http_status = code if code is not None and code >= 400 else None
    for name in ("attempt", "status_code"):
        if attributes.get(name) is not None:
            draft.reading.extra.setdefault(name, attributes[name])


def _body(draft: Draft, attributes: Mapping[str, Any], reader: Any, *fields: str) -> None:
    """The provider's body, or what is left of it: bodies over the limit are cut, or stand in a file beside."""
    decoded = decode(attributes.get("body"))
    if decoded.value is not None and not isinstance(decoded.value, str):
        reader(draft, decoded.value, "log")
    if decoded.cut or attributes.get("body_truncated") in (True, "true"):
        draft.cut(*fields)
    if attributes.get("body_ref") is not None:
        draft.reading.extra.setdefault(f"{fields[0]}_ref", attributes["body_ref"])


def _tool(draft: Draft, attributes: Mapping[str, Any]) -> None:
    draft.put("tool_name", string(attributes.get("tool_name")), "log")
    draft.put("tool_call_id", ident(attributes.get("tool_use_id")), "log")
    given = attributes.get("tool_input")
    if given is not None and not redacted(given):
        draft.put("arguments", decode_arguments(given), "log")
    draft.put("result", _said(attributes, "tool_result", "tool_output"), "log")
    success = attributes.get("success")
    if success in (True, "true", False, "false"):
        draft.put("is_error", success in (False, "false"), "log")
    draft.put("error", string(attributes.get("error")), "log")


CLAUDE_CODE_LOGS = ClaudeCodeLogs()
