"""OpenAI Agents SDK through the contributed OpenTelemetry instrumentation, which writes objects as their Python repr.

https://github.com/open-telemetry/opentelemetry-python-contrib/tree/opentelemetry-instrumentation-openai-agents-v2%3D%3D0.1.0/instrumentation-genai/opentelemetry-instrumentation-openai-agents-v2
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

from ..canonical import JsonObject, JsonValue
from ..messages import Message, PartKind
from ..messages.answer import output_of
from ..messages.nested import decode, decode_repr
from ..messages.reader import read_message, read_messages
from ..messages.represented import represented
from ..model.evidence import LogRecord, SpanRecord
from ..model.reading import Role
from .base import Marks
from .draft import Draft
from .kit import SpanDialect
from .table import AttributeTable

PLACEHOLDER: Final = "OpenAI Agent"
"""The name of an agent that the instrumentation gives to every span but the agent's own."""


class OpenAIAgentsSdk(SpanDialect):
    name = "openai_agents_sdk"
    title = "OpenAI Agents SDK (contributed OpenTelemetry instrumentation)"
    source = (
        "https://github.com/open-telemetry/opentelemetry-python-contrib/tree/opentelemetry-instrumentation-openai-agents-v2%3D%3D0.1.0/instrumentation-genai"
        "/opentelemetry-instrumentation-openai-agents-v2"
    )
    switch_on = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=span_and_event"
    leaves_out = "tool call ids of executions; tool results in the messages; calls beside a text in one answer"
    tested: ClassVar[Mapping[str, str]] = {"opentelemetry.instrumentation.genai.openai_agents": "1.3b0"}
    marks = Marks(scopes=("opentelemetry.instrumentation.openai_agents",))
    fields = AttributeTable(known=("gen_ai.agent.",))

    def confirms(self, span: SpanRecord) -> bool:
        return "traceloop.span.kind" not in span.attributes and "gen_ai.agent.description" in span.attributes

    def hidden(self, span: SpanRecord) -> tuple[str, ...]:
        """The placeholder is no agent's name, and the messages are read here alone."""
        messages = ("gen_ai.input.messages", "gen_ai.output.messages")
        placeholder = span.attributes.get("gen_ai.agent.name") == PLACEHOLDER
        return ("gen_ai.agent.name", *messages) if placeholder else messages

    def role(self, span: SpanRecord) -> Role | None:
        return Role.CHAIN if span.attributes.get("gen_ai.operation.name") == "unknown" else None

    def fill(self, draft: Draft, span: SpanRecord, logs: Sequence[LogRecord]) -> None:
        attributes = span.attributes
        if attributes.get("gen_ai.operation.name") not in ("chat", "text_completion"):
            return
        asked = decode(attributes.get("gen_ai.input.messages"))
        draft.put_messages(unrepr_messages(asked.value))
        answer = decode(attributes.get("gen_ai.output.messages"))
        draft.put_output(output_of(unrepr_messages(answer.value, "assistant"), choices=False))
        if asked.cut:
            draft.cut("messages")
        if answer.cut:
            draft.cut("text", "tool_calls")


def unrepr_messages(value: JsonValue, role: str | None = None) -> list[Message]:
    """Messages whose text parts may be reprs of response items."""
    out: list[Message] = []
    for message in read_messages(value, role):
        content: list[JsonValue] = []
        for part in message.parts:
            item = unrepr(part.text) if part.kind is PartKind.TEXT and part.text is not None else None
            content.append(part.to_json() if item is None else item)
        value = {"role": message.role, "content": content, "finish_reason": message.finish_reason}
        out.extend(read_message(value))
    return out


def unrepr(text: str) -> JsonObject | None:
    """The response item that a repr stands for (`ResponseFunctionToolCall(call_id='...')`, or a dict), else None."""
    if text.startswith("{'"):
        found = decode_repr(text)
        return found if isinstance(found, dict) and isinstance(found.get("type"), str) else None
    item = represented(text)
    return item if isinstance(item, dict) and isinstance(item.get("type"), str) else None


OPENAI_AGENTS_SDK = OpenAIAgentsSdk()
