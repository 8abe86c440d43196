"""OpenInference, one instrumentor at a time: each says only what the shared conventions do not.

https://github.com/Arize-ai/openinference/tree/main/python/instrumentation; each `source` has the version that was read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

from ..messages.answer import output_of
from ..messages.nested import decode, string
from ..model.evidence import LogRecord, SpanRecord
from ..model.reading import Classified, Role
from .base import Marks
from .draft import Draft
from .kit import SpanDialect
from .oi_content import is_schema
from .oi_messages import oi_messages
from .openinference import KIND, SWITCH, has_model_evidence, kind_of
from .table import AttributeTable


class OpenInferenceInstrumentor(SpanDialect):
    """Recognised by its scope; `openinference` recognises the same span and reads the rest."""

    fields: ClassVar[AttributeTable] = AttributeTable()
    switch_on: ClassVar[str] = SWITCH

    def settle(self, draft: object, span: SpanRecord) -> None:
        """Errors are told by the shared conventions."""


class OpenInferenceConverted(SpanDialect):
    """Says only what the span stands for, before the native dialect is asked; `openinference` reads the content."""

    name = "openinference_converted"
    title = "OpenInference converters (Pydantic AI, Strands, OpenLIT, OpenLLMetry, Agent Framework, Vercel)"
    source = (
        "https://github.com/Arize-ai/openinference/tree/python-openinference-instrumentation-strands-agents-v0.1.12/python/instrumentation"
        "/openinference-instrumentation-strands-agents"
    )
    switch_on = SWITCH
    leaves_out = "what the native instrumentation leaves out"
    marks = Marks(keys=(KIND,))

    def confirms(self, span: SpanRecord) -> bool:
        return not span.scope_name.startswith(("openinference.", "@arizeai/"))

    def role(self, span: SpanRecord) -> Role | None:
        """An agent or a chain that carries model attributes of its children is no call of its own."""
        kind = kind_of(span)
        if kind == "AGENT":
            return Role.AGENT
        return Role.CHAIN if kind == "CHAIN" else None


OPENINFERENCE_CONVERTED = OpenInferenceConverted()


class OpenInferenceAgno(OpenInferenceInstrumentor):
    name = "openinference_agno"
    title = "OpenInference for Agno"
    source = "https://github.com/Arize-ai/openinference/tree/python-openinference-instrumentation-agno-v1.0.15/python/instrumentation/openinference-instrumentation-agno"
    leaves_out = "tool call ids of executions"
    tested: ClassVar[Mapping[str, str]] = {"openinference.instrumentation.agno": "1.0.15"}
    marks = Marks(scopes=("openinference.instrumentation.agno",))

    def fill(self, draft: Draft, span: SpanRecord, logs: Sequence[LogRecord]) -> None:
        """`tool.parameters` are the arguments here, an object also where `input.value` is bare."""
        if kind_of(span) == "TOOL":
            parameters = decode(span.attributes.get("tool.parameters"), repair=False).value
            if isinstance(parameters, dict) and not is_schema(parameters):
                draft.put("arguments", parameters)


OPENINFERENCE_AGNO = OpenInferenceAgno()


class OpenInferenceBeeai(OpenInferenceInstrumentor):
    name = "openinference_beeai"
    title = "OpenInference for BeeAI"
    source = "https://github.com/Arize-ai/openinference/tree/python-openinference-instrumentation-beeai-v0.1.30/python/instrumentation/openinference-instrumentation-beeai"
    leaves_out = "tool call ids of executions"
    marks = Marks(scopes=("openinference.instrumentation.beeai",))

    def role(self, span: SpanRecord) -> Role | None:
        """Every event of the emitter can become a span: the error of a model call is a second one of kind LLM."""
        if kind_of(span) == "LLM" and span.name == "error":
            return Role.NONE
        return None


OPENINFERENCE_BEEAI = OpenInferenceBeeai()


class OpenInferenceClaudeAgentSdk(OpenInferenceInstrumentor):
    name = "openinference_claude_agent_sdk"
    title = "OpenInference for the Claude Agent SDK"
    source = "https://github.com/Arize-ai/openinference/tree/python-openinference-instrumentation-claude-agent-sdk-v0.1.22/python/instrumentation/openinference-instrumentation-claude-agent-sdk"
    leaves_out = "model calls: one agent span carries the answers of the whole run"
    tested: ClassVar[Mapping[str, str]] = {"openinference.instrumentation.claude_agent_sdk": "0.1.22"}
    marks = Marks(scopes=("openinference.instrumentation.claude_agent_sdk",))

    def fill(self, draft: Draft, span: SpanRecord, logs: Sequence[LogRecord]) -> None:
        """The answers of all calls of a run stand on the agent's span, one after the other."""
        if kind_of(span) == "AGENT":
            draft.put_output(output_of(oi_messages(draft, "llm.output_messages.").messages, choices=False))


OPENINFERENCE_CLAUDE_AGENT_SDK = OpenInferenceClaudeAgentSdk()


class OpenInferenceDspy(OpenInferenceInstrumentor):
    name = "openinference_dspy"
    title = "OpenInference for DSPy"
    source = "https://github.com/Arize-ai/openinference/tree/python-openinference-instrumentation-dspy-v0.1.48/python/instrumentation/openinference-instrumentation-dspy"
    leaves_out = "response ids, and tool call ids"
    tested: ClassVar[Mapping[str, str]] = {"openinference.instrumentation.dspy": "0.1.48"}
    marks = Marks(scopes=("openinference.instrumentation.dspy",))

    def fill(self, draft: Draft, span: SpanRecord, logs: Sequence[LogRecord]) -> None:
        """A tool has no name of its own but that of the span, which is the tool's and the method's."""
        if kind_of(span) == "TOOL" and "tool.name" not in span.attributes:
            draft.put("tool_name", span.name.removesuffix(".__call__") or None, "span name")


OPENINFERENCE_DSPY = OpenInferenceDspy()


class OpenInferenceLangChain(OpenInferenceInstrumentor):
    name = "openinference_langchain"
    title = "OpenInference for LangChain and LangGraph"
    source = "https://github.com/Arize-ai/openinference/tree/python-openinference-instrumentation-langchain-v0.1.80/python/instrumentation/openinference-instrumentation-langchain"
    leaves_out = (
        "the tool call id of an execution that raised; the parameter name of a one-argument tool;"
        " all but the first prompt of a batch"
    )
    tested: ClassVar[Mapping[str, str]] = {"openinference.instrumentation.langchain": "0.1.80"}
    marks = Marks(scopes=("openinference.instrumentation.langchain",))

    def role(self, span: SpanRecord) -> Role | None:
        """The kind AGENT is given to every run with "agent" in its name: what it holds decides."""
        if kind_of(span) != "AGENT":
            return None
        if "llm.invocation_parameters" in span.attributes or "llm.token_count.prompt" in span.attributes:
            return Role.MODEL_CALL
        return Role.TOOL_EXECUTION if "tool.name" in span.attributes else Role.CHAIN


OPENINFERENCE_LANGCHAIN = OpenInferenceLangChain()


_SETUP: Final = re.compile(r"current_agent_name='([^'\\\\]+)'\)\"\}$")
_LONGEST_NAME: Final = 256


class OpenInferenceLlamaIndex(OpenInferenceInstrumentor):
    name = "openinference_llama_index"
    title = "OpenInference for LlamaIndex"
    source = "https://github.com/Arize-ai/openinference/tree/python-openinference-instrumentation-llama-index-v4.6.1/python/instrumentation/openinference-instrumentation-llama-index"
    leaves_out = "tool call ids of executions; request parameters but for those of the model object"
    tested: ClassVar[Mapping[str, str]] = {"openinference.instrumentation.llama_index": "4.6.1"}
    marks = Marks(scopes=("openinference.instrumentation.llama_index",))

    def role(self, span: SpanRecord) -> Role | None:
        """`_prepare_chat_with_tools` has the kind LLM and only builds the arguments of the call after it."""
        if kind_of(span) == "LLM" and span.name.endswith("._prepare_chat_with_tools") and not has_model_evidence(span):
            return Role.NONE
        return None

    def classify(self, span: SpanRecord) -> Classified:
        """The step of an agent workflow in which the model is called is started with an `AgentSetup`, told as the repr
        of its class with the agent's name last."""
        found = super().classify(span)
        given = span.attributes.get("input.value")
        if kind_of(span) == "CHAIN" and isinstance(given, str) and '"ev": "AgentSetup(' in given[:_LONGEST_NAME]:
            told = _SETUP.search(given[-_LONGEST_NAME:])
            found.agent_name = None if told is None else told.group(1)
        return found


OPENINFERENCE_LLAMA_INDEX = OpenInferenceLlamaIndex()


class OpenInferenceOpenAI(OpenInferenceInstrumentor):
    name = "openinference_openai"
    title = "OpenInference for the OpenAI SDK"
    source = "https://github.com/Arize-ai/openinference/tree/python-openinference-instrumentation-openai-v0.1.66/python/instrumentation/openinference-instrumentation-openai"
    leaves_out = "tool executions: an SDK runs none"
    tested: ClassVar[Mapping[str, str]] = {"openinference.instrumentation.openai": "0.1.66"}
    marks = Marks(scopes=("openinference.instrumentation.openai",))

    def confirms(self, span: SpanRecord) -> bool:
        return not span.scope_name.startswith("openinference.instrumentation.openai_")


OPENINFERENCE_OPENAI = OpenInferenceOpenAI()


class OpenInferenceOpenAIAgents(OpenInferenceInstrumentor):
    name = "openinference_openai_agents"
    title = "OpenInference for the OpenAI Agents SDK"
    source = "https://github.com/Arize-ai/openinference/tree/python-openinference-instrumentation-openai-agents-v2.6.0/python/instrumentation/openinference-instrumentation-openai-agents"
    leaves_out = "tool call ids of executions"
    tested: ClassVar[Mapping[str, str]] = {"openinference.instrumentation.openai_agents": "2.6.0"}
    marks = Marks(scopes=("openinference.instrumentation.openai_agents",))


OPENINFERENCE_OPENAI_AGENTS = OpenInferenceOpenAIAgents()


_RUN: Final = ".run"
_CLASSES: Final = frozenset({"MultiStepAgent", "CodeAgent", "ToolCallingAgent"})
"""What stands in the place of the name where an agent has none. Managed agents always have one."""


class OpenInferenceSmolagents(OpenInferenceInstrumentor):
    name = "openinference_smolagents"
    title = "OpenInference for smolagents"
    source = "https://github.com/Arize-ai/openinference/tree/python-openinference-instrumentation-smolagents-v0.1.43/python/instrumentation/openinference-instrumentation-smolagents"
    leaves_out = "tool call ids of executions; earlier calls of the history, which are told as text"
    tested: ClassVar[Mapping[str, str]] = {"openinference.instrumentation.smolagents": "0.1.43"}
    marks = Marks(scopes=("openinference.instrumentation.smolagents",))

    def who(self, span: SpanRecord) -> str | None:
        """The instrumentor writes an agent's name nowhere but into the name of its run: `<name>.run`, the same that the
        run of its manager lists as `smolagents.managed_agents.N.name`."""
        if kind_of(span) != "AGENT" or not span.name.endswith(_RUN):
            return None
        name = string(span.name.removesuffix(_RUN))
        return None if name in _CLASSES else name


OPENINFERENCE_SMOLAGENTS = OpenInferenceSmolagents()
