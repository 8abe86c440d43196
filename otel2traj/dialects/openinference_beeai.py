"""OpenInference, the instrumentor of BeeAI.

https://github.com/Arize-ai/openinference/tree/python-openinference-instrumentation-beeai-v0.1.30/python/instrumentation/openinference-instrumentation-beeai
"""

from __future__ import annotations

from ..model.evidence import SpanRecord
from ..model.reading import Role
from .base import Marks
from .oi_instrumentor import OpenInferenceInstrumentor
from .openinference import kind_of


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
