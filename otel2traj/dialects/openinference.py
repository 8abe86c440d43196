"""OpenInference: the conventions that all its instrumentors share.

https://github.com/Arize-ai/openinference/blob/python-openinference-semantic-conventions-v0.1.42/spec/semantic_conventions.md
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

from ..messages.nested import string
from ..model.evidence import LogRecord, SpanRecord
from ..model.reading import Role
from .base import Marks
from .draft import Draft
from .kit import STATUS_ERROR, SpanDialect
from .oi_content import read_model, read_tool, read_whole, visible
from .table import AttributeTable, UsageKeys

SOURCE: Final = (
    "https://github.com/Arize-ai/openinference/blob/python-openinference-semantic-conventions-v0.1.42"
    "/spec/semantic_conventions.md"
)
SWITCH: Final = "on by default; OPENINFERENCE_HIDE_INPUTS, _HIDE_OUTPUTS and their kin replace it by __REDACTED__"
KIND: Final = "openinference.span.kind"
ROLES: Final[dict[str, Role]] = {
    "LLM": Role.MODEL_CALL,
    "TOOL": Role.TOOL_EXECUTION,
    "AGENT": Role.AGENT,
    **dict.fromkeys(("CHAIN", "PROMPT", "DECISION", "UNKNOWN"), Role.CHAIN),
    **dict.fromkeys(("RETRIEVER", "EMBEDDING", "RERANKER", "GUARDRAIL", "EVALUATOR"), Role.NONE),
}
MODEL_EVIDENCE: Final = (
    "llm.input_messages.",
    "llm.output_messages.",
    "llm.prompts.",
    "llm.choices.",
    "llm.token_count.",
)
USAGE: Final = UsageKeys(
    input=("llm.token_count.prompt",),
    output=("llm.token_count.completion",),
    cache_read=("llm.token_count.prompt_details.cache_read", "llm.token_count.prompt_details.cache_input"),
    cache_write=("llm.token_count.prompt_details.cache_write",),
    reasoning=("llm.token_count.completion_details.reasoning",),
)


def kind_of(span: SpanRecord) -> str | None:
    """The span kind in capitals, as the convention writes it."""
    kind = span.attributes.get(KIND)
    return kind.upper() if isinstance(kind, str) else None


class OpenInference(SpanDialect):
    name = "openinference"
    title = "OpenInference"
    source = SOURCE
    switch_on = SWITCH
    leaves_out = "in most instrumentors the tool call id of an execution, and the response id"
    namespaces = (
        "llm.",
        "openinference.",
        "tool.",
        "input.",
        "output.",
        "agent.",
        "session.",
    )
    tested: ClassVar[Mapping[str, str]] = {
        "openinference.instrumentation.anthropic": "3.1.0",
        "openinference.instrumentation.autogen_agentchat": "0.1.22",
        "openinference.instrumentation.crewai": "1.1.21",
        "openinference.instrumentation.google_adk": "1.0.5",
        "openinference.instrumentation.google_genai": "1.4.14",
    }
    marks = Marks(keys=(KIND,), prefixes=MODEL_EVIDENCE, scopes=("openinference.", "@arizeai/openinference"))
    fields = AttributeTable(
        request_model=("llm.request.model_name", "llm.invocation_parameters#model", "llm.model_name"),
        response_model=("llm.response.model_name", "llm.model_name"),
        provider=("llm.provider", "llm.system"),
        conversation_id=("session.id", "metadata#thread_id", "metadata.thread_id"),
        agent_name=("agent.name", "metadata#lc_agent_name", "metadata.lc_agent_name"),
        agent_path=("metadata#langgraph_checkpoint_ns", "metadata#checkpoint_ns", "metadata.langgraph_checkpoint_ns"),
        finish_reason=("llm.finish_reason",),
        usage=USAGE,
        tool_name=("tool.name",),
        tool_call_id=("tool.id", "tool.call_id", "tool_call.id"),
        known=(
            "llm.",
            "input.",
            "output.",
            "tool.",
            "metadata",
            "graph.node.",
            "agent.",
            "session.",
            "user.",
            "openinference.",
            "embedding.",
            "reranker.",
            "retrieval.",
            "tag.",
        ),
    )

    def role(self, span: SpanRecord) -> Role | None:
        kind = kind_of(span)
        if kind is None:
            # The kind is among the first attributes that a limit drops; what only model calls have is left.
            dropped = any(key.startswith(("llm.output_messages.", "llm.token_count.")) for key in span.attributes)
            return Role.MODEL_CALL if dropped and span.dropped_attributes else None
        role = ROLES.get(kind, Role.CHAIN)
        if role is Role.MODEL_CALL and not has_model_evidence(span):
            return Role.CHAIN
        return role

    def who(self, span: SpanRecord) -> str | None:
        """Instrumentors without `agent.name` give an agent as the node of their display graph."""
        found = super().who(span)
        attributes = span.attributes
        if found is not None or kind_of(span) != "AGENT" or "gen_ai.agent.name" in attributes:
            return found
        return string(attributes.get("graph.node.name")) or string(attributes.get("graph.node.id"))

    def fill(self, draft: Draft, span: SpanRecord, logs: Sequence[LogRecord]) -> None:
        if draft.role is Role.MODEL_CALL:
            read_model(draft)
            if span.status_code != STATUS_ERROR and not draft.reading.has_output():
                plain = draft.json("output.value")
                draft.put("text", plain if isinstance(plain, str) and visible(plain) else None)
        elif draft.role is Role.TOOL_EXECUTION:
            read_tool(draft)
            draft.put("tool_name", string(span.attributes.get("tool.name")))
            draft.put("tool_name", string(span.name), "span name")
        else:
            read_whole(draft)


def has_model_evidence(span: SpanRecord) -> bool:
    """Whether an LLM span tells of a call: messages, prompts or tokens; a failed or hidden one at least a model."""
    attributes = span.attributes
    if any(key.startswith(MODEL_EVIDENCE) for key in attributes):
        return True
    return "llm.model_name" in attributes and span.status_code == STATUS_ERROR


OPENINFERENCE = OpenInference()
