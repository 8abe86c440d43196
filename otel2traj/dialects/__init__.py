"""Spans, log records and framework events become readings: what each means, with the name of whoever said it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import Final, NamedTuple

from ..messages.nested import RepeatedKeys
from ..messages.represented import is_represented
from ..model.evidence import LogRecord, SpanRecord
from ..model.reading import Classified, Reading, Role
from ..registry import Registry
from .abb_framework import ABB_FRAMEWORK
from .agent_framework import AGENT_FRAMEWORK
from .anthropic_sdk import ANTHROPIC_SDK
from .autogen import AUTOGEN
from .azure_ai_inference import AZURE_AI_INFERENCE
from .base import Declaration, Declared, Dialect, LogClassified, LogDialect, Marks
from .bedrock_agentcore_adot import ADOT_CONTENT_LOGS, BEDROCK_AGENTCORE_ADOT
from .claude_code_logs import CLAUDE_CODE_LOGS
from .claude_code_traces import CLAUDE_CODE_TRACES
from .codex_cli import CODEX_CLI, CODEX_CLI_SPANS
from .crewai_native import CREWAI_NATIVE
from .draft import Draft
from .exceptions import put_exception
from .front import Front, Seen, fold
from .gemini_cli import GEMINI_CLI, GEMINI_CLI_LOGS
from .generic import GENERIC, likeness, step_word
from .github_copilot import GITHUB_COPILOT
from .google_adk import GOOGLE_ADK_V1, GOOGLE_ADK_V2
from .haystack import HAYSTACK
from .http_client_noise import HTTP_CLIENT_NOISE
from .kit import SpanDialect
from .laminar_livekit_voltagent_weave import LAMINAR_LIVEKIT_VOLTAGENT_WEAVE
from .langchain4j import LANGCHAIN4J
from .langfuse import LANGFUSE
from .langsmith import LANGSMITH
from .litellm import LITELLM
from .log_calls import fill_from_logs
from .log_calls import holds_messages as holds_messages
from .log_calls import one_answer as one_answer
from .logfire import LOGFIRE
from .mastra import MASTRA
from .mlflow import MLFLOW, MLFLOW_SEMCONV
from .openai_agents_sdk import OPENAI_AGENTS_SDK
from .opencode import OPENCODE
from .openinference import OPENINFERENCE
from .openinference_instrumentors import (
    OPENINFERENCE_AGNO,
    OPENINFERENCE_BEEAI,
    OPENINFERENCE_CLAUDE_AGENT_SDK,
    OPENINFERENCE_CONVERTED,
    OPENINFERENCE_DSPY,
    OPENINFERENCE_LANGCHAIN,
    OPENINFERENCE_LLAMA_INDEX,
    OPENINFERENCE_OPENAI,
    OPENINFERENCE_OPENAI_AGENTS,
    OPENINFERENCE_SMOLAGENTS,
)
from .openlit import OPENLIT
from .otel_genai_1_37 import OTEL_GENAI_1_37
from .otel_genai_events import OTEL_GENAI_EVENTS
from .otel_genai_pre_1_28 import OTEL_GENAI_PRE_1_28
from .otel_mcp import OTEL_MCP
from .plugins import find
from .pydantic_ai import PYDANTIC_AI
from .repeated import keep_repeated, tell_repeated
from .represented import unrepresent
from .semantic_kernel import SEMANTIC_KERNEL
from .spring_ai import SPRING_AI
from .strands import STRANDS_LATEST, STRANDS_LEGACY
from .table import AttributeTable, Path, UsageKeys, path
from .traceloop_genai import TRACELOOP_GENAI
from .traceloop_legacy import TRACELOOP_LEGACY
from .traceloop_mcp import TRACELOOP_MCP
from .vercel_ai_sdk import VERCEL_AI_SDK_LEGACY, VERCEL_AI_SDK_V7

__all__ = [
    "DIALECTS",
    "LOG_DIALECTS",
    "AttributeTable",
    "Classified",
    "Declaration",
    "Declared",
    "Dialect",
    "Draft",
    "Known",
    "LogClassified",
    "LogDialect",
    "LogRecord",
    "Marks",
    "Reading",
    "Role",
    "SpanDialect",
    "SpanRecord",
    "UsageKeys",
    "classify",
    "conversation_keys",
    "fold",
    "known",
    "likeness",
    "read",
    "recognise",
    "step_word",
    "unmapped_keys",
    "untested",
]

DIALECTS: Registry[Dialect] = Registry(
    "dialect",
    # The order is the precedence, the specific before the general.
    HTTP_CLIENT_NOISE,
    ABB_FRAMEWORK,
    OPENINFERENCE_CONVERTED,
    CLAUDE_CODE_TRACES,
    ANTHROPIC_SDK,
    CODEX_CLI_SPANS,
    GEMINI_CLI,
    GITHUB_COPILOT,
    OPENCODE,
    LANGSMITH,
    MLFLOW,
    MLFLOW_SEMCONV,
    LANGFUSE,
    VERCEL_AI_SDK_LEGACY,
    VERCEL_AI_SDK_V7,
    LOGFIRE,
    PYDANTIC_AI,
    STRANDS_LATEST,
    STRANDS_LEGACY,
    GOOGLE_ADK_V1,
    GOOGLE_ADK_V2,
    CREWAI_NATIVE,
    LITELLM,
    OPENLIT,
    MASTRA,
    AGENT_FRAMEWORK,
    SEMANTIC_KERNEL,
    AZURE_AI_INFERENCE,
    AUTOGEN,
    HAYSTACK,
    SPRING_AI,
    OPENINFERENCE_LANGCHAIN,
    OPENINFERENCE_OPENAI_AGENTS,
    OPENINFERENCE_OPENAI,
    OPENINFERENCE_LLAMA_INDEX,
    OPENINFERENCE_SMOLAGENTS,
    OPENINFERENCE_AGNO,
    OPENINFERENCE_DSPY,
    OPENINFERENCE_BEEAI,
    OPENINFERENCE_CLAUDE_AGENT_SDK,
    OPENINFERENCE,
    TRACELOOP_MCP,
    OPENAI_AGENTS_SDK,
    TRACELOOP_GENAI,
    TRACELOOP_LEGACY,
    OTEL_MCP,
    LAMINAR_LIVEKIT_VOLTAGENT_WEAVE,
    LANGCHAIN4J,
    BEDROCK_AGENTCORE_ADOT,
    OTEL_GENAI_1_37,
    OTEL_GENAI_EVENTS,
    OTEL_GENAI_PRE_1_28,
    GENERIC,
)

LOG_DIALECTS: Registry[LogDialect] = Registry(
    "log dialect", CLAUDE_CODE_LOGS, CODEX_CLI, GEMINI_CLI_LOGS, ADOT_CONTENT_LOGS
)


class Known(NamedTuple):
    """The dialects that are asked: those of other packages, which are the most specific, before those of this one."""

    spans: Registry[Dialect]
    logs: Registry[LogDialect]
    origins: Mapping[str, str]
    """Of each dialect of another package, its distribution and version."""
    tested: Mapping[str, frozenset[str]]
    """Scope names with the versions whose real spans were read in tests."""
    front: Front

    def all(self) -> Iterator[Declared]:
        yield from self.spans
        yield from self.logs


@cache
def known() -> Known:
    """Every dialect, found once in a process. Raises `PluginError` where an installed one is broken."""
    plugins = find({*DIALECTS.names(), *LOG_DIALECTS.names()})
    spans = Registry(DIALECTS.kind, *plugins.spans, *DIALECTS)
    logs = Registry(LOG_DIALECTS.kind, *plugins.logs, *LOG_DIALECTS)
    tested: dict[str, frozenset[str]] = {}
    for dialect in (*spans, *logs):
        for scope, versions in dialect.tested.items():
            tested[scope] = tested.get(scope, frozenset()) | frozenset(versions.split())
    return Known(spans, logs, plugins.origins, tested, Front(spans))


def untested(scope: str, version: str) -> bool:
    """Whether a known scope comes in a version that was not tested. An unknown scope has no version to be tested in."""
    versions = known().tested.get(scope)
    return versions is not None and version != "" and version not in versions


def conversation_keys() -> tuple[Path, ...]:
    """Every place in which a dialect finds the conversation of a span, each once: what a live splitter has to know.

    Made from the dialects' own tables, so that a new one cannot be forgotten. A dialect's own order holds; beyond it,
    places that are one producer's own come before those that many share, since a producer's own dialect is asked before
    the general ones; among equals the order is that of the dialects.
    """
    declared = [
        (*(fields.fields.get("conversation_id", ()) if isinstance(fields, AttributeTable) else ()), *own)
        for dialect in known().all()
        for fields, own in [(getattr(dialect, "fields", None), tuple(map(path, dialect.conversation_keys)))]
    ]
    times = Counter(place for places in declared for place in dict.fromkeys(places))
    before: dict[Path, set[Path]] = {place: set() for places in declared for place in places}
    for places in declared:
        for one, other in pairwise(places):
            before[other].add(one)
    out: list[Path] = []
    while left := [place for place in before if place not in out]:
        free = [place for place in left if before[place] <= set(out)] or left
        out.append(min(free, key=lambda place: times[place] > _SHARED))
    return tuple(out)


_SHARED: Final = 2
"""A place that more dialects than this declare is a convention, not one producer's own."""


def recognise(span: SpanRecord) -> Sequence[Seen]:
    """Who knows the span, for whoever asks more than one question about it."""
    return known().front.recognise(span)


def classify(span: SpanRecord, seen: Sequence[Seen] | None = None) -> Classified:
    """Role and identifiers of a span, for the first pass. `role` is None where no dialect recognises it."""
    front = known().front
    return front.classify(front.recognise(span) if seen is None else seen)


def read(span: SpanRecord, logs: Sequence[LogRecord] = (), seen: Sequence[Seen] | None = None) -> Reading:
    """All that the dialects say of a span, its events, and the log records that tell of it: those that carry its span
    id, and those whose own key is its `log_key`."""
    front = known().front
    with RepeatedKeys() as repeated:
        reading = front.read(front.recognise(span) if seen is None else seen, logs)
        put_exception(reading, span)
        if logs:
            fill_from_logs(reading, span, logs, known().logs)
        if reading.text is not None and is_represented(reading.text):
            unrepresent(reading)
    tell_repeated(reading, repeated, span.ref, span.span_id)
    keep_repeated(reading, span)
    return reading


def unmapped_keys(span: SpanRecord) -> tuple[str, ...]:
    """Attributes in known namespaces that no dialect of the span reads, list positions as `N`, sorted."""
    return known().front.unmapped_keys(span)
