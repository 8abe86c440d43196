"""GitHub Copilot (VS Code and CLI): the GenAI conventions and keys of its own.

https://code.visualstudio.com/docs/agents/guides/monitoring-agents
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from ..model.reading import Role
from .base import Marks
from .kit import SpanDialect
from .table import AttributeTable, UsageKeys


class GithubCopilot(SpanDialect):
    name = "github_copilot"
    title = "GitHub Copilot Chat and CLI"
    source = "https://code.visualstudio.com/docs/agents/guides/monitoring-agents"
    switch_on = "COPILOT_OTEL_ENABLED=true and COPILOT_OTEL_CAPTURE_CONTENT=true"
    leaves_out = "Content unless captured; JSON values are cut at 64 KB."
    namespaces = (
        "github.copilot.",
        "copilot_chat.",
    )
    marks = Marks(prefixes=("github.copilot.", "copilot_chat."))
    role_key = "gen_ai.operation.name"
    roles: ClassVar[Mapping[str, Role]] = {"execute_hook": Role.NONE, "embeddings": Role.NONE}
    fields = AttributeTable(
        conversation_id=("gen_ai.conversation.id", "copilot_chat.chat_session_id", "copilot_chat.session_id"),
        agent_name=("gen_ai.agent.name",),
        finish_reason=("gen_ai.response.finish_reasons",),
        usage=UsageKeys(reasoning=("gen_ai.usage.reasoning.output_tokens", "gen_ai.usage.reasoning_tokens")),
        known=("github.copilot.", "copilot_chat."),
    )


GITHUB_COPILOT = GithubCopilot()
