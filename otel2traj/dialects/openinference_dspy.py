"""OpenInference, the instrumentor of DSPy.

https://github.com/Arize-ai/openinference/tree/main/python/instrumentation/openinference-instrumentation-dspy
"""

from __future__ import annotations

from .base import Marks
from .oi_instrumentor import OpenInferenceInstrumentor


class OpenInferenceDspy(OpenInferenceInstrumentor):
    name = "openinference_dspy"
    title = "OpenInference for DSPy"
    source = (
        "https://github.com/Arize-ai/openinference/tree/main/python/instrumentation/openinference-instrumentation-dspy"
    )
    leaves_out = "response ids, and tool call ids"
    marks = Marks(scopes=("openinference.instrumentation.dspy",))


OPENINFERENCE_DSPY = OpenInferenceDspy()
