"""Attribute names that the OpenTelemetry GenAI conventions and their many followers share."""

from __future__ import annotations

from typing import Final

from ..model.reading import Role
from .table import UsageKeys

MODEL_OPERATIONS: Final = (
    "chat",
    "generate_content",
    "text_completion",
    "message",
    "completion",
    "generate_text",
    "realtime_inference",
    "generate_live_content",
)

OPERATIONS: Final[dict[str, Role]] = {
    **dict.fromkeys(MODEL_OPERATIONS, Role.MODEL_CALL),
    "execute_tool": Role.TOOL_EXECUTION,
    "invoke_agent": Role.AGENT,
    "create_agent": Role.NONE,
    **dict.fromkeys(
        ("invoke_workflow", "plan", "agent_step", "execute_task", "execute_event_loop_cycle", "goto"), Role.CHAIN
    ),
    **dict.fromkeys(
        (
            "embeddings",
            "embedding",
            "retrieval",
            "rerank",
            "fetch_response",
            "vector_db_retrieve",
            "create_memory",
            "search_memory",
            "update_memory",
            "delete_memory",
        ),
        Role.NONE,
    ),
}

REQUEST_MODEL: Final = ("gen_ai.request.model",)
RESPONSE_MODEL: Final = ("gen_ai.response.model",)
PROVIDER: Final = ("gen_ai.provider.name", "gen_ai.system")
CONVERSATION: Final = ("gen_ai.conversation.id",)
AGENT_NAME: Final = ("gen_ai.agent.name",)

PARAMETERS: Final[dict[str, str]] = {
    "temperature": "gen_ai.request.temperature",
    "top_p": "gen_ai.request.top_p",
    "top_k": "gen_ai.request.top_k",
    "max_tokens": "gen_ai.request.max_tokens",
    "seed": "gen_ai.request.seed",
    "stop": "gen_ai.request.stop_sequences",
    "frequency_penalty": "gen_ai.request.frequency_penalty",
    "presence_penalty": "gen_ai.request.presence_penalty",
    "n": "gen_ai.request.choice.count",
    "stream": "gen_ai.request.stream",
    "reasoning_effort": "gen_ai.request.reasoning.level",
    "output_type": "gen_ai.output.type",
}

USAGE: Final = UsageKeys(
    input=("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"),
    output=("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"),
    cache_read=(
        "gen_ai.usage.cache_read.input_tokens",
        "gen_ai.usage.cache_read_input_tokens",
        "gen_ai.usage.input_tokens.cached",
    ),
    cache_write=(
        "gen_ai.usage.cache_write.input_tokens",
        "gen_ai.usage.cache_creation.input_tokens",
        "gen_ai.usage.cache_creation_input_tokens",
        "gen_ai.usage.cache_write_input_tokens",
    ),
    reasoning=("gen_ai.usage.reasoning.output_tokens", "gen_ai.usage.reasoning_tokens"),
)

LANGGRAPH: Final = ("langgraph_checkpoint_ns", "checkpoint_ns")
"""LangGraph's own metadata keys for the namespace of a task, the full one first."""
