"""OpenInference, the instrumentor of DSPy.

https://github.com/Arize-ai/openinference/tree/python-openinference-instrumentation-dspy-v0.1.48/python/instrumentation/openinference-instrumentation-dspy
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from ..model.evidence import LogRecord, SpanRecord
from .base import Marks
from .draft import Draft
from .oi_instrumentor import OpenInferenceInstrumentor
from .openinference import kind_of


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
