"""OpenInference, the instrumentor of the OpenAI SDK.

https://github.com/Arize-ai/openinference/tree/python-openinference-instrumentation-openai-v0.1.66/python/instrumentation/openinference-instrumentation-openai
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from ..model.evidence import SpanRecord
from .base import Marks
from .oi_instrumentor import OpenInferenceInstrumentor


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
