"""OpenInference, the instrumentor of LlamaIndex.

https://github.com/Arize-ai/openinference/tree/python-openinference-instrumentation-llama-index-v4.6.1/python/instrumentation/openinference-instrumentation-llama-index
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar, Final

from ..model.evidence import SpanRecord
from ..model.reading import Classified, Role
from .base import Marks
from .oi_instrumentor import OpenInferenceInstrumentor
from .openinference import has_model_evidence, kind_of

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
