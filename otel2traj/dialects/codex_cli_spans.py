"""Codex CLI's spans: which calls there were, which tools ran below which of them, and token counts; no content.

https://github.com/openai/codex/blob/0136a731d73e681bbc7826c9cf7ae2ae09d89fe9/codex-rs/core/src/codex.rs (codex 0.171)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ..messages.nested import ident, string
from ..model.evidence import LogRecord, SpanRecord
from ..model.reading import Classified, Role
from .base import Marks
from .codex_cli import CODEX_CLI
from .draft import Draft
from .kit import SpanDialect
from .table import AttributeTable, UsageKeys

SAMPLING: Final = "try_run_sampling_request"
"""The span around one request: what is answered and every tool that the answer asked for run below it."""
_ANSWER: Final = "handle_responses"
_USAGE: Final = "gen_ai.usage.output_tokens"


class CodexCliSpans(SpanDialect):
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
