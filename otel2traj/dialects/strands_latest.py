"""Strands Agents with the latest GenAI conventions: several events of one name, one attribute each.

https://github.com/strands-agents/sdk-python/blob/v1.62.0/src/strands/telemetry/tracer.py
"""

from __future__ import annotations

from collections.abc import Sequence

from ..messages import PartKind
from ..messages.reader import read_messages
from ..model.evidence import LogRecord, SpanRecord
from ..model.reading import Role
from .base import Marks
from .draft import Draft
from .kit import SpanDialect
from .otel_genai_1_37 import DETAILS, plain_result
from .strands_legacy import SCOPE, SOURCE, read_status


class StrandsLatest(SpanDialect):
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
