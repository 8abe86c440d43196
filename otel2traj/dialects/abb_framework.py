"""ABB framework spans: one OpenTelemetry span for each span of the framework recorder (`abb.kind`)."""

from __future__ import annotations

from typing import ClassVar

from ..messages.nested import ident
from ..model.evidence import SpanRecord
from ..model.reading import Classified, Role
from .base import Marks
from .kit import SpanDialect
from .table import AttributeTable


class AbbFramework(SpanDialect):
    name = "abb_framework"
    title = "ABB framework recorder"
    source = "https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/"
    switch_on = "on by default; payloads stand in `otel-payloads/` beside the spans"
    leaves_out = "tool definitions and request parameters (the recorder keeps only a callback's metadata)"
    namespaces = ("abb.",)
    marks = Marks(prefixes=("abb.",))
    fields = AttributeTable(known=("abb.",))
    role_key = "abb.kind"
    roles: ClassVar = {"llm": Role.MODEL_CALL, "tool": Role.TOOL_EXECUTION, "chain": Role.CHAIN}

    def classify(self, span: SpanRecord) -> Classified:
        found = super().classify(span)
        found.framework_span_id = ident(span.attributes.get("abb.framework_span_id"))
        return found


ABB_FRAMEWORK = AbbFramework()
