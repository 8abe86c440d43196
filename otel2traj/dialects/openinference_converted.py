"""Spans of another dialect that an OpenInference processor rewrote: the scope is native, both families stand there.

https://github.com/Arize-ai/openinference/tree/python-openinference-instrumentation-pydantic-ai-v0.1.30/python/instrumentation
"""

from __future__ import annotations

from ..model.evidence import SpanRecord
from ..model.reading import Role
from .base import Marks
from .kit import SpanDialect
from .openinference import KIND, SWITCH, kind_of


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
