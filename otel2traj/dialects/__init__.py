"""Spans, log records and framework events become readings: what each means, with the name of whoever said it."""

from __future__ import annotations

from collections.abc import Sequence

from ..model.evidence import LogRecord, SpanRecord
from ..model.reading import Classified, Reading
from ..registry import Registry
from .abb_framework import ABB_FRAMEWORK
from .base import Dialect, LogDialect
from .front import Front
from .http_client_noise import HTTP_CLIENT_NOISE
from .openinference import OPENINFERENCE
from .otel_genai_1_37 import OTEL_GENAI_1_37
from .otel_genai_events import OTEL_GENAI_EVENTS
from .otel_genai_pre_1_28 import OTEL_GENAI_PRE_1_28
from .otel_mcp import OTEL_MCP

DIALECTS: Registry[Dialect] = Registry(
    "dialect",
    # The order is the precedence, the specific before the general. Places of those to come:
    HTTP_CLIENT_NOISE,
    ABB_FRAMEWORK,
    # openinference_converted
    # claude_code, anthropic_sdk, gemini_cli, github_copilot
    # langsmith, mlflow, mlflow_semconv, langfuse, vercel_ai_sdk_legacy, vercel_ai_sdk_v7
    # pydantic_ai, strands_latest, strands_legacy, google_adk_v1, google_adk_v2
    # crewai_native, litellm, openlit, mastra, agent_framework, semantic_kernel, azure_ai_inference
    # autogen, haystack, spring_ai
    OPENINFERENCE,
    # traceloop_genai, traceloop_legacy, openai_agents_sdk
    OTEL_MCP,
    # laminar_livekit_voltagent_weave, langchain4j, bedrock_agentcore_adot
    OTEL_GENAI_1_37,
    OTEL_GENAI_EVENTS,
    OTEL_GENAI_PRE_1_28,
)

LOG_DIALECTS: Registry[LogDialect] = Registry("log dialect")

_FRONT = Front(DIALECTS)


def classify(span: SpanRecord) -> Classified:
    """Role and identifiers of a span, for the first pass. `role` is None where no dialect recognises it."""
    return _FRONT.classify(span)


def read(span: SpanRecord, logs: Sequence[LogRecord] = ()) -> Reading:
    """All that the dialects say of a span, its events, and the log records that carry its span id."""
    return _FRONT.read(span, logs)


def unmapped_keys(span: SpanRecord) -> tuple[str, ...]:
    """Attributes in known namespaces that no dialect of the span reads, list positions as `N`, sorted."""
    return _FRONT.unmapped_keys(span)
