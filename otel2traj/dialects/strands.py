"""Strands Agents, with message events and in the latest conventions.

Each `source` has the version that was read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ..messages import PartKind
from ..messages.nested import decode, decode_arguments
from ..messages.reader import read_messages
from ..model.evidence import LogRecord, SpanRecord
from ..model.reading import Role
from .base import Marks
from .draft import Draft
from .kit import SpanDialect
from .otel_genai_1_37 import DETAILS, plain_result
from .otel_genai_events import CHOICE, OneEvent, read_events, span_events
from .table import AttributeTable

SOURCE: Final = "https://github.com/strands-agents/sdk-python/blob/v1.62.0/src/strands/telemetry/tracer.py"
SCOPE: Final = "strands.telemetry.tracer"


class StrandsLegacy(SpanDialect):
    """Strands Agents as it writes by default: message events on the span, with Bedrock Converse blocks as JSON text."""

    name = "strands_legacy"
    title = "Strands Agents, message events"
    source = SOURCE
    switch_on = "on by default"
    leaves_out = "response ids and models; the system prompt and the tools on model spans; the provider's name"
    marks = Marks(scopes=(SCOPE,), keys=("event_loop.cycle_id", "gen_ai.event.start_time"))
    fields = AttributeTable(
        conversation_id=("session.id",),
        known=(
            "gen_ai.event.",
            "event_loop.",
            "gen_ai.agent.tools",
            "system_prompt",
            "tool.status",
            "gen_ai.usage.total",
        ),
    )

    def role(self, span: SpanRecord) -> Role | None:
        return Role.CHAIN if "event_loop.cycle_id" in span.attributes else None

    def fill(self, draft: Draft, span: SpanRecord, logs: Sequence[LogRecord]) -> None:
        operation = span.attributes.get("gen_ai.operation.name")
        if operation == "chat":
            read_events(draft, [_unfolded(event) for event in span_events(span)])
        elif operation == "execute_tool":
            for event in span.events:
                if event.name == "gen_ai.tool.message":
                    draft.put("arguments", decode_arguments(event.attributes.get("content")), "event")
                elif event.name == CHOICE:
                    draft.put("result", plain_result(event.attributes.get("message")), "event")
            read_status(draft, span)


def _unfolded(event: OneEvent) -> OneEvent:
    said = {key: decode(value).value if key in ("content", "message") else value for key, value in event.said.items()}
    return OneEvent(event.name, said, event.carrier)


def read_status(draft: Draft, span: SpanRecord) -> None:
    """The status that a tool result has in Bedrock's terms."""
    for key in ("gen_ai.tool.status", "tool.status"):
        status = span.attributes.get(key)
        if isinstance(status, str):
            draft.put("is_error", status == "error")


STRANDS_LEGACY = StrandsLegacy()


class StrandsLatest(SpanDialect):
    """Strands Agents with the latest GenAI conventions: several events of one name, one attribute each."""

    name = "strands_latest"
    title = "Strands Agents, latest conventions"
    source = SOURCE
    switch_on = "OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental"
    leaves_out = "response ids and models; the provider's name"
    marks = Marks(events=DETAILS)

    def confirms(self, span: SpanRecord) -> bool:
        return span.scope_name.startswith(SCOPE) or span.attributes.get("gen_ai.provider.name") == "strands-agents"

    def role(self, span: SpanRecord) -> Role | None:
        return Role.CHAIN if "event_loop.cycle_id" in span.attributes else None

    def fill(self, draft: Draft, span: SpanRecord, logs: Sequence[LogRecord]) -> None:
        """On a tool span the input message is the call, the output message its result: no model spoke."""
        if span.attributes.get("gen_ai.operation.name") != "execute_tool":
            return
        for event in span.events:
            if event.name not in DETAILS:
                continue
            for key in ("gen_ai.input.messages", "gen_ai.output.messages"):
                for message in read_messages(event.attributes.get(key)):
                    for part in message.parts:
                        if part.kind is PartKind.TOOL_CALL:
                            draft.put("arguments", part.value, "event")
                            draft.put("tool_call_id", part.id, "event")
                        elif part.kind is PartKind.TOOL_RESULT:
                            draft.put("result", plain_result(part.answer), "event")
                            draft.put("tool_call_id", part.id, "event")
        read_status(draft, span)


STRANDS_LATEST = StrandsLatest()
