"""OpenInference, the instrumentor of the OpenAI Agents SDK.

https://github.com/Arize-ai/openinference/tree/python-openinference-instrumentation-openai-agents-v2.6.0/python/instrumentation/openinference-instrumentation-openai-agents
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from .base import Marks
from .oi_instrumentor import OpenInferenceInstrumentor


class OpenInferenceOpenAIAgents(OpenInferenceInstrumentor):
    name = "openinference_openai_agents"
    title = "OpenInference for the OpenAI Agents SDK"
    source = "https://github.com/Arize-ai/openinference/tree/python-openinference-instrumentation-openai-agents-v2.6.0/python/instrumentation/openinference-instrumentation-openai-agents"
    leaves_out = "tool call ids of executions"
    tested: ClassVar[Mapping[str, str]] = {"openinference.instrumentation.openai_agents": "2.6.0"}
    marks = Marks(scopes=("openinference.instrumentation.openai_agents",))


OPENINFERENCE_OPENAI_AGENTS = OpenInferenceOpenAIAgents()
