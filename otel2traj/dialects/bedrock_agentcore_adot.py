"""AWS Distro for OpenTelemetry, Bedrock AgentCore: content leaves the spans of any instrumentor for one log record.

The record carries the span's ids; its event name is the name of the instrumentation scope, its body
`{"input": {"messages": [...]}, "output": {"messages": [...]}}`.
https://github.com/aws-observability/aws-otel-python-instrumentation/blob/v0.13.0/aws-opentelemetry-distro/src/amazon/opentelemetry/distro/llo_handler.py
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from ..canonical import JsonObject, JsonValue
from ..messages import Message, text_part
from ..messages.answer import output_of
from ..messages.nested import decode, ident, string
from ..messages.parts import unwrapped
from ..messages.reader import read_message, role_of
from ..model.evidence import LogRecord
from ..model.reading import Reading, Role
from .base import Declaration, LogClassified, Marks
from .draft import Draft
from .kit import SpanDialect
from .table import AttributeTable
from .tool_payload import tool_input, tool_result

NAME: Final = "bedrock_agentcore_adot"
TITLE: Final = "AWS Distro for OpenTelemetry (Bedrock AgentCore)"
SOURCE: Final = (
    "https://github.com/aws-observability/aws-otel-python-instrumentation/blob/v0.13.0/aws-opentelemetry-distro"
)
SWITCH_ON: Final = "AGENT_OBSERVABILITY_ENABLED=true; export the log records beside the spans"
LEAVES_OUT: Final = "Content on spans. Tool call ids stand only inside the text of the messages."


class BedrockAgentcoreAdot(SpanDialect):
    """Spans of a distro that moved their content into log records; what they stand for, their own dialect says."""

    name = NAME
    title = TITLE
    source = SOURCE
    switch_on = SWITCH_ON
    leaves_out = LEAVES_OUT
    marks = Marks(prefixes=("aws.local.", "aws.genai."), keys=("PlatformType", "aws.span.kind"))
    fields = AttributeTable(conversation_id=("session.id",), known=("aws.", "PlatformType"))


class AdotContentLogs(Declaration):
    """The same records where they name no span: what spoke is not told, so they are no calls. Those that name one are
    content of that span, whatever its dialect (see `log_calls`)."""

    name = NAME
    title = TITLE
    source = SOURCE
    switch_on = SWITCH_ON
    leaves_out = LEAVES_OUT

    def recognises(self, log: LogRecord) -> bool:
        return log.event_name is not None and log.event_name == log.scope_name and content(log) is not None

    def classify(self, log: LogRecord) -> LogClassified | None:
        if log.span_id is not None:
            return None
        key = f"adot:{log.ref.source}:{log.ref.offset}:{log.ref.line}"
        return LogClassified(Role.AGENT, key, conversation_id=ident(log.attributes.get("session.id")))

    def read(self, logs: Sequence[LogRecord]) -> Reading:
        draft = Draft(self.name, {}, Role.AGENT)
        for log in logs:
            body = content(log)
            if body is None:
                continue
            read_content(draft, body)
            draft.put("conversation_id", ident(log.attributes.get("session.id")), "log")
        draft.put("output_text", draft.reading.text, "log")
        return draft.reading


def content(log: LogRecord) -> JsonObject | None:
    """The record's body where it is of this shape."""
    body = log.body
    if isinstance(body, str):
        if not body.startswith('{"') or "messages" not in body:
            return None
        body = decode(body).value
    if not isinstance(body, dict) or not body.keys() <= {"input", "output"}:
        return None
    sides = [body.get("input"), body.get("output")]
    held = any(isinstance(side, dict) and isinstance(side.get("messages"), list) for side in sides)
    return body if held else None


def read_moved_content(role: Role, bodies: Sequence[JsonObject]) -> Reading:
    """What the bodies say of a span of that role."""
    draft = Draft(NAME, {}, role)
    for body in bodies:
        if role is Role.TOOL_EXECUTION:
            _tool(draft, body)
        else:
            read_content(draft, body)
    if role is not Role.MODEL_CALL:
        draft.put("output_text", draft.reading.text, "log")
    return draft.reading


def read_content(draft: Draft, body: Mapping[str, JsonValue]) -> None:
    draft.put_messages([m for item in _side(body, "input") for m in _messages(item)], "log")
    answers = [m for item in _side(body, "output") for m in _messages(item)]
    draft.put_output(output_of(answers, choices=False), "log")


def _side(body: Mapping[str, JsonValue], side: str) -> list[JsonObject]:
    held = body.get(side)
    found = held.get("messages") if isinstance(held, dict) else None
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def _messages(item: JsonObject) -> list[Message]:
    """`{role, content}`; the content is text, or JSON text of blocks, or `{"content": JSON text}`."""
    role = role_of(item.get("role")) or "user"
    inner = decode(item.get("content"), repair=False).value
    reason: str | None = None
    if isinstance(inner, dict):
        reason = string(inner.get("finish_reason"))
        for key in ("message", "content"):
            if inner.get(key) is not None and "role" not in inner:
                inner = decode(inner[key], repair=False).value
                break
    if isinstance(inner, (dict, list)):
        whole = inner if isinstance(inner, dict) and "role" in inner else {"role": role, "content": inner}
        found = read_message(whole, role)
    else:
        found = [Message(role, [text_part(inner)])] if isinstance(inner, str) and inner else []
    if found and reason is not None:
        found[-1].finish_reason = reason
    return found


def _tool(draft: Draft, body: Mapping[str, JsonValue]) -> None:
    for side, field in (("input", "arguments"), ("output", "result")):
        for item in _side(body, side):
            value = decode(item.get("content"), repair=False).value
            if isinstance(value, dict) and value.keys() <= {"role", "content", "message", "id"}:
                draft.put("tool_call_id", ident(value.get("id")), "log")
                value = decode(value.get("content", value.get("message")), repair=False).value
            if field == "arguments":
                draft.put("arguments", tool_input(value), "log")
                continue
            result = tool_result(value)
            if result is not None:
                draft.put("result", unwrapped(result.content), "log")
                draft.put("is_error", result.is_error, "log")


BEDROCK_AGENTCORE_ADOT = BedrockAgentcoreAdot()
ADOT_CONTENT_LOGS = AdotContentLogs()
