"""Logfire's spans of provider SDKs: the GenAI conventions, and a second span for the answer of a stream.

https://github.com/pydantic/logfire/tree/v4.15.0/logfire/_internal/integrations/llm_providers
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from ..model.evidence import LogRecord, SpanRecord
from ..model.reading import Role
from .base import Marks
from .bodies import read_request, read_response, usage_of
from .draft import Draft
from .kit import STATUS_ERROR, SpanDialect
from .table import AttributeTable

_ANSWERS = ("gen_ai.output.messages", "gen_ai.response.id", "gen_ai.usage.output_tokens", "response_data")


class Logfire(SpanDialect):
    name = "logfire"
    title = "Logfire (OpenAI, Anthropic and other SDKs)"
    source = "https://github.com/pydantic/logfire/tree/v4.15.0/logfire/_internal/integrations/llm_providers"
    switch_on = "on by default; scrubbing may replace values"
    leaves_out = "Reasoning text of chat completions; tool executions."
    tested: ClassVar[Mapping[str, str]] = {"logfire.openai": "5.4.0"}
    marks = Marks(scopes=("logfire.",), keys=("logfire.span_type", "request_data"))
    fields = AttributeTable(known=("logfire.", "code.", "request_data", "response_data", "gen_ai.usage.raw"))

    def confirms(self, span: SpanRecord) -> bool:
        return "request_data" in span.attributes and "logfire.span_type" in span.attributes

    def role(self, span: SpanRecord) -> Role | None:
        """A streamed call is told twice, and no identifier joins the two: the span of the request, which ends when the
        stream opens and has no answer, and a span of no length with the answer. The second one is the call."""
        attributes = span.attributes
        opened = attributes.get("logfire.span_type") == "span" and span.status_code != STATUS_ERROR
        if opened and span.end_ns is not None and not any(key in attributes for key in _ANSWERS):
            return Role.CHAIN
        if "gen_ai.operation.name" in attributes:
            return None
        return Role.MODEL_CALL if isinstance(attributes.get("gen_ai.request.model"), str) else None

    def fill(self, draft: Draft, span: SpanRecord, logs: Sequence[LogRecord]) -> None:
        if draft.role is Role.CHAIN:
            return
        draft.put_usage(usage_of(draft.json("gen_ai.usage.raw")))
        if "gen_ai.input.messages" not in draft.attributes:
            read_request(draft, draft.json("request_data", "messages"))
        if "gen_ai.output.messages" not in draft.attributes:
            answer = draft.json("response_data", "text")
            read_response(draft, answer)
            if isinstance(answer, dict) and isinstance(answer.get("combined_chunk_content"), str):
                draft.put("text", answer["combined_chunk_content"])


LOGFIRE = Logfire()
