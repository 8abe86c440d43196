"""OpenInference, the instrumentor of Agno.

https://github.com/Arize-ai/openinference/tree/python-openinference-instrumentation-agno-v1.0.15/python/instrumentation/openinference-instrumentation-agno
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from ..messages.nested import decode
from ..model.evidence import LogRecord, SpanRecord
from .base import Marks
from .draft import Draft
from .oi_content import is_schema
from .oi_instrumentor import OpenInferenceInstrumentor
from .openinference import kind_of


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
