"""The versions of instrumentation whose real spans the readings were tested with. Never a gate: only a warning."""

from __future__ import annotations

from typing import Final

TESTED: Final[dict[str, frozenset[str]]] = {
    scope: frozenset(versions.split())
    for scope, versions in {
        "agent_framework": "1.23.0",
        "azure.core.tracing.ext.opentelemetry_span": "1.0.0b13",
        "com.anthropic.claude_code.events": "2.1.332",
        "com.anthropic.claude_code.tracing": "1.0.0",
        "com.anthropic.sdk.python": "2.14.0",
        "gcp.vertex.agent": "2.13.0",
        "langfuse-sdk": "5.0.4",
        "logfire.openai": "5.4.0",
        "openinference.instrumentation.agno": "1.0.15",
        "openinference.instrumentation.anthropic": "3.1.0",
        "openinference.instrumentation.autogen_agentchat": "0.1.22",
        "openinference.instrumentation.claude_agent_sdk": "0.1.22",
        "openinference.instrumentation.crewai": "1.1.21",
        "openinference.instrumentation.dspy": "0.1.48",
        "openinference.instrumentation.google_adk": "1.0.5",
        "openinference.instrumentation.google_genai": "1.4.14",
        "openinference.instrumentation.langchain": "0.1.80",
        "openinference.instrumentation.llama_index": "4.6.1",
        "openinference.instrumentation.openai": "0.1.66",
        "openinference.instrumentation.openai_agents": "2.6.0",
        "openinference.instrumentation.smolagents": "0.1.43",
        "opentelemetry.instrumentation.agno": "0.62.4",
        "opentelemetry.instrumentation.anthropic": "0.62.4",
        "opentelemetry.instrumentation.crewai.instrumentation": "0.36.0",
        "opentelemetry.instrumentation.genai.langchain": "1.3b0",
        "opentelemetry.instrumentation.genai.openai": "1.3b0",
        "opentelemetry.instrumentation.genai.openai_agents": "1.3b0",
        "opentelemetry.instrumentation.google_genai": "1.3b0",
        "opentelemetry.instrumentation.google_generativeai": "0.21.5",
        "opentelemetry.instrumentation.langchain": "0.62.4",
        "opentelemetry.instrumentation.llamaindex": "0.62.4",
        "opentelemetry.instrumentation.mcp.instrumentation": "0.62.4",
        "opentelemetry.instrumentation.openai.v1": "0.62.4",
        "opentelemetry.instrumentation.openai_agents": "0.62.4",
        "opentelemetry.util.genai.handler": "0.4b0",
        "pydantic-ai": "2.68.0",
    }.items()
}


def untested(scope: str, version: str) -> bool:
    """Whether a known scope comes in a version that was not tested. An unknown scope has no version to be tested in."""
    known = TESTED.get(scope)
    return known is not None and version != "" and version not in known
