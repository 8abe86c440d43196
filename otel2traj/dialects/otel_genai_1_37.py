"""OpenTelemetry GenAI conventions from 1.37 on: messages as JSON parts on spans, on span events or on log records.

https://github.com/open-telemetry/semantic-conventions/blob/v1.38.0/docs/gen-ai/gen-ai-spans.md
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Final

from ..canonical import JsonValue
from ..messages import Part, PartKind
from ..messages.answer import output_of
from ..messages.nested import decode, ident
from ..messages.parts import unwrapped
from ..messages.reader import system_value
from ..model.evidence import LogRecord, SpanRecord
from ..model.reading import Role
from . import gen_ai_keys as keys
from .base import Marks
from .draft import Draft
from .histories import told, tool_definitions
from .kit import SpanDialect
from .table import AttributeTable, finish

DETAILS: Final = ("gen_ai.client.inference.operation.details", "gen_ai.client.inference.operation.details.v2")
_INVENTED: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*_[0-9]{1,3}")
MESSAGE_KEYS: Final = (
    "gen_ai.input.messages",
    "gen_ai.output.messages",
    "gen_ai.system_instructions",
    "gen_ai.tool.definitions",
)


class OtelGenAi(SpanDialect):
    name = "otel_genai_1_37"
    title = "OpenTelemetry GenAI conventions, 1.37 and later"
    source = "https://github.com/open-telemetry/semantic-conventions/blob/v1.38.0/docs/gen-ai/gen-ai-spans.md"
    switch_on = (
        "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY, EVENT_ONLY or SPAN_AND_EVENT (older packages:"
        " true), with OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental"
    )
    leaves_out = "all message content by default; with EVENT_ONLY tool arguments and results as well"
    namespaces = ("gen_ai.",)
    tested: ClassVar[Mapping[str, str]] = {
        "opentelemetry.instrumentation.genai.langchain": "1.3b0",
        "opentelemetry.instrumentation.genai.openai": "1.3b0",
        "opentelemetry.util.genai.handler": "0.4b0",
    }
    marks = Marks(
        keys=("gen_ai.operation.name", "gen_ai.provider.name", *MESSAGE_KEYS),
        events=DETAILS,
        scopes=("opentelemetry.instrumentation.genai", "opentelemetry.util.genai"),
    )
    fields = AttributeTable(
        request_model=keys.REQUEST_MODEL,
        response_model=keys.RESPONSE_MODEL,
        provider=keys.PROVIDER,
        response_id=("gen_ai.response.id",),
        parameters=keys.PARAMETERS,
        usage=keys.USAGE,
        tool_name=("gen_ai.tool.name",),
        tool_call_id=("gen_ai.tool.call.id",),
        arguments=("gen_ai.tool.call.arguments",),
        agent_name=keys.AGENT_NAME,
        conversation_id=keys.CONVERSATION,
        finish_reason=("gen_ai.response.finish_reasons", "gen_ai.response.finish_reason"),
        extra={
            "previous_response_id": "gen_ai.request.previous_response.id",
            "input_messages_ref": "gen_ai.input.messages_ref",
            "output_messages_ref": "gen_ai.output.messages_ref",
        },
        known=(
            *MESSAGE_KEYS,
            "gen_ai.tool.",
            "gen_ai.agent.",
            "gen_ai.operation.",
            "gen_ai.response.",
            "gen_ai.workflow.",
            "gen_ai.server.",
            "gen_ai.openai.",
            "gen_ai.usage.total",
        ),
    )
    role_key = "gen_ai.operation.name"
    roles: ClassVar = keys.OPERATIONS

    def fill(self, draft: Draft, span: SpanRecord, logs: Sequence[LogRecord]) -> None:
        if draft.role is Role.TOOL_EXECUTION:
            result = span.attributes.get("gen_ai.tool.call.result")
            draft.put("result", plain_result(result))
            for event in _details(event.attributes for event in span.events if event.name in DETAILS):
                draft.put("result", plain_result(event.get("gen_ai.tool.call.result")), "event")
            return
        read_carrier(draft, span.attributes, None)
        for event in _details(event.attributes for event in span.events if event.name in DETAILS):
            read_carrier(draft, event, "event")
        for record in (log for log in logs if log.event_name in DETAILS):
            carrier = dict(record.attributes)
            body = decode(record.body).value
            if isinstance(body, dict):
                carrier.update((key, value) for key, value in body.items() if key not in carrier)
            read_carrier(draft, carrier, "log")
        if is_google(draft.attributes):
            drop_invented_ids(draft)


def is_google(attributes: Mapping[str, Any]) -> bool:
    """Whether the provider is Gemini, whose calls have no ids, so that instrumentations invent some."""
    names = (attributes.get("gen_ai.provider.name"), attributes.get("gen_ai.system"))
    return any(isinstance(name, str) and name.startswith(("gcp.", "gemini", "google")) for name in names)


def drop_invented_ids(draft: Draft) -> None:
    """Removes call ids that are no more than the tool's name and its position (`read_file_0`)."""
    if draft.reading.messages is not None:
        draft.reading.messages = [
            replace(message, parts=_without_invented(message.parts)) for message in draft.reading.messages
        ]
    for position, call in enumerate(draft.reading.tool_calls or ()):
        if call.id == f"{call.name}_{position}":
            call.id = None


def _without_invented(parts: list[Part]) -> list[Part]:
    out: list[Part] = []
    position = 0
    for part in parts:
        invented = False
        if part.kind is PartKind.TOOL_CALL:
            invented = part.id == f"{part.name}_{position}"
            position += 1
        elif part.kind is PartKind.TOOL_RESULT:
            invented = _INVENTED.fullmatch(str(part.id)) is not None
        out.append(replace(part, id=None) if invented else part)
    return out


def _details(events: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """All events of one name on a span, read as one: some producers write one attribute an event."""
    merged: dict[str, Any] = {}
    for attributes in events:
        for key, value in attributes.items():
            merged.setdefault(key, value)
    if merged:
        yield merged


def read_carrier(draft: Draft, attributes: Mapping[str, Any], carrier: str | None) -> None:
    """Messages, instructions, tools and finish reason from one set of attributes."""
    for key, field in (("gen_ai.input.messages", "messages"), ("gen_ai.input.messages_delta", "messages")):
        if attributes.get(key) is not None and draft.reading.messages is None:
            found = told(attributes[key])
            draft.put_messages(found.messages, carrier)
            draft.reading.shared += found.shared
            if found.cut:
                draft.cut(field)
            if key.endswith("_delta"):
                draft.reading.extra["input_messages_delta"] = True
    if attributes.get("gen_ai.output.messages") is not None and not draft.reading.has_output():
        answer = told(attributes["gen_ai.output.messages"], "assistant")
        draft.put_output(output_of(answer.messages, choices=_choices(draft, attributes)), carrier)
        if answer.cut:
            draft.cut("text", "tool_calls")
    system = attributes.get("gen_ai.system_instructions")
    if system is not None:
        draft.put("system", system_value(decode(system).value), carrier)
    tools = attributes.get("gen_ai.tool.definitions")
    draft.put("tools", tool_definitions(tools), carrier)
    if isinstance(tools, str):
        draft.reading.shared += len(tools)
    if carrier is not None:
        draft.put("finish_reason", finish(attributes.get("gen_ai.response.finish_reasons")), carrier)
        draft.put("response_id", ident(attributes.get("gen_ai.response.id")), carrier)


def _choices(draft: Draft, attributes: Mapping[str, Any]) -> bool | None:
    """A response of OpenAI's Responses is one answer in several items, never a choice."""
    found = attributes.get("gen_ai.response.id") or draft.attributes.get("gen_ai.response.id")
    return False if isinstance(found, str) and found.startswith("resp_") else None


def plain_result(value: JsonValue) -> JsonValue:
    """A tool's result: text in content blocks is given as text, the rest as recorded."""
    if not isinstance(value, str):
        return unwrapped(value)
    decoded = decode(value, repair=False).value
    if isinstance(decoded, (dict, list)):
        text = unwrapped(decoded)
        if isinstance(text, str):
            return text
    return value


OTEL_GENAI_1_37 = OtelGenAi()
