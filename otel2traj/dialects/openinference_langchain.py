"""OpenInference, the instrumentor of LangChain and LangGraph.

https://github.com/Arize-ai/openinference/tree/python-openinference-instrumentation-langchain-v0.1.80/python/instrumentation/openinference-instrumentation-langchain
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from ..model.evidence import SpanRecord
from ..model.reading import Role
from .base import Marks
from .oi_instrumentor import OpenInferenceInstrumentor
from .openinference import kind_of


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
