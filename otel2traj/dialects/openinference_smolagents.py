"""OpenInference, the instrumentor of smolagents.

https://github.com/Arize-ai/openinference/tree/python-openinference-instrumentation-smolagents-v0.1.43/python/instrumentation/openinference-instrumentation-smolagents
"""

from __future__ import annotations

from .base import Marks
from .oi_instrumentor import OpenInferenceInstrumentor


class OpenInferenceSmolagents(OpenInferenceInstrumentor):
    name = "openinference_smolagents"
    title = "OpenInference for smolagents"
    source = "https://github.com/Arize-ai/openinference/tree/python-openinference-instrumentation-smolagents-v0.1.43/python/instrumentation/openinference-instrumentation-smolagents"
    leaves_out = "tool call ids of executions; earlier calls of the history, which are told as text"
    marks = Marks(scopes=("openinference.instrumentation.smolagents",))


OPENINFERENCE_SMOLAGENTS = OpenInferenceSmolagents()
