"""OpenTelemetry GenAI conventions 1.28 to 1.36: one event for each message, in log records or on the span.

https://github.com/open-telemetry/semantic-conventions/blob/v1.36.0/docs/gen-ai/gen-ai-events.md
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final, NamedTuple

from ..canonical import JsonValue
from ..messages import Message
from ..messages.answer import output_of
from ..messages.nested import decode, ident
from ..messages.reader import read_message
from ..model.evidence import LogRecord, SpanRecord
from ..model.reading import Role
from . import gen_ai_keys as keys
from .base import Marks
from .draft import Draft
from .kit import SpanDialect
from .table import AttributeTable

INPUT_EVENTS: Final[dict[str, str]] = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}
CHOICE: Final = "gen_ai.choice"
EVENTS: Final = (*INPUT_EVENTS, CHOICE)


class OneEvent(NamedTuple):
    """A message event, wherever it stood: its name, and what it says as one object."""

    name: str
    said: Mapping[str, Any]
    carrier: str


class OtelGenAiEvents(SpanDialect):
    name = "otel_genai_events_1_28_1_36"
    title = "OpenTelemetry GenAI conventions 1.28 to 1.36"
    source = "https://github.com/open-telemetry/semantic-conventions/blob/v1.36.0/docs/gen-ai/gen-ai-events.md"
    switch_on = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true; without it the events come with empty bodies"
    leaves_out = "tool definitions and reasoning text"
    tested: ClassVar[Mapping[str, str]] = {"opentelemetry.instrumentation.google_genai": "1.3b0"}
    marks = Marks(keys=("gen_ai.operation.name", "gen_ai.system"), events=EVENTS)
    fields = AttributeTable(
        request_model=keys.REQUEST_MODEL,
        response_model=keys.RESPONSE_MODEL,
        provider=("gen_ai.system", "gen_ai.provider.name"),
        response_id=("gen_ai.response.id",),
        parameters=keys.PARAMETERS,
        usage=keys.USAGE,
        agent_name=keys.AGENT_NAME,
        conversation_id=keys.CONVERSATION,
        tool_name=("gen_ai.tool.name",),
        tool_call_id=("gen_ai.tool.call.id",),
        finish_reason=("gen_ai.response.finish_reasons",),
    )
    role_key = "gen_ai.operation.name"
    roles: ClassVar = keys.OPERATIONS
    covered_by = "otel_genai_1_37"

    def fill(self, draft: Draft, span: SpanRecord, logs: Sequence[LogRecord]) -> None:
        if draft.role is Role.TOOL_EXECUTION:
            return
        read_events(draft, list(span_events(span)))
        read_events(draft, list(log_events(logs)))


def span_events(span: SpanRecord) -> Iterator[OneEvent]:
    """Message events on the span itself: a body in `gen_ai.event.content`, or the attributes are the body."""
    for event in span.events:
        if event.name in EVENTS:
            content = event.attributes.get("gen_ai.event.content")
            body = decode(content).value if content is not None else None
            yield OneEvent(event.name, body if isinstance(body, dict) else unfold(event.attributes), "event")


def log_events(logs: Sequence[LogRecord]) -> Iterator[OneEvent]:
    """Message events in log records, in the order they arrived, or by `CHAT_MESSAGE_INDEX` where one is recorded."""
    found = [log for log in logs if log.event_name in EVENTS]
    if found and all(isinstance(log.attributes.get("CHAT_MESSAGE_INDEX"), int) for log in found):
        found.sort(key=lambda log: int(log.attributes["CHAT_MESSAGE_INDEX"]))
    for log in found:
        body = decode(log.body).value
        said = (
            body if isinstance(body, dict) else {"content": body} if isinstance(body, str) and body else log.attributes
        )
        yield OneEvent(str(log.event_name), said, "log")


def unfold(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Event attributes whose values are JSON text, decoded."""
    return {key: decode(value, repair=False).value for key, value in attributes.items()}


def read_events(draft: Draft, events: Sequence[OneEvent]) -> None:
    """The messages before the first choice are the input, the choices the output."""
    messages: list[Message] = []
    answers: list[tuple[int, Message]] = []
    carrier = events[0].carrier if events else None
    for event in events:
        role = INPUT_EVENTS.get(event.name)
        if role is not None:
            messages.extend(input_message(event.said, role))
            continue
        answer = choice(event.said)
        if answer is not None:
            answers.append((index_of(event.said, len(answers)), answer))
    draft.put_messages(messages, carrier)
    if answers:
        answers.sort(key=lambda pair: pair[0])
        distinct = len({index for index, _ in answers}) > 1
        draft.put_output(output_of([answer for _, answer in answers], choices=distinct), carrier)


def index_of(said: Mapping[str, Any], fallback: int) -> int:
    """Which choice an event tells of."""
    index = said.get("index")
    if isinstance(index, str) and index.isdigit() and len(index) < 9:
        return int(index)
    return index if isinstance(index, int) and not isinstance(index, bool) else fallback


def input_message(said: Mapping[str, Any], role: str) -> list[Message]:
    """One message of the request. The event names the role; a body may name another of its own."""
    value = dict(said)
    if role == "tool" and ident(value.get("tool_call_id")) is None:
        value["tool_call_id"] = value.get("id")
    word = value.get("role")
    value["role"] = word if isinstance(word, str) and word else role
    if not any(key in value for key in ("content", "parts", "tool_calls", "contents")):
        return []
    return [message for message in read_message(value) if message.parts]


def choice(said: Mapping[str, Any]) -> Message | None:
    """One choice of the answer, or None where the event has no content (content capture off)."""
    inner: JsonValue = said.get("message")
    reason = said.get("finish_reason")
    value: dict[str, Any] = (
        dict(inner) if isinstance(inner, dict) else dict(said) if inner is None else {"content": inner}
    )
    value.pop("finish_reason", None)
    if isinstance(said.get("tool_calls"), list) and "tool_calls" not in value:
        value["tool_calls"] = said["tool_calls"]
    value["role"] = "assistant"
    found = read_message(value)
    answer = found[0] if found else Message("assistant", [])
    if isinstance(reason, str) and reason:
        answer.finish_reason = reason
    return answer if answer.parts or answer.finish_reason is not None else None


OTEL_GENAI_EVENTS = OtelGenAiEvents()
