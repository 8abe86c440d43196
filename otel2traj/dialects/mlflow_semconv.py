"""MLflow tracing in the GenAI conventions (`MLFLOW_ENABLE_OTEL_GENAI_SEMCONV`).

https://github.com/mlflow/mlflow/tree/v3.6.0/mlflow/tracing/otel
"""

from __future__ import annotations

from collections.abc import Sequence

from ..messages.nested import string
from ..model.evidence import LogRecord, SpanRecord
from .base import Marks
from .draft import Draft
from .kit import SpanDialect
from .mlflow import plain
from .table import AttributeTable
from .vercel_ai_sdk_legacy import unquote


class MlflowSemconv(SpanDialect):
    name = "mlflow_semconv"
    title = "MLflow tracing in GenAI conventions"
    source = "https://github.com/mlflow/mlflow/tree/v3.6.0/mlflow/tracing/otel"
    switch_on = "MLFLOW_ENABLE_OTEL_GENAI_SEMCONV=true; content is on by default"
    leaves_out = "Cache and reasoning tokens; the requested model, but for a copy of the call's own arguments."
    marks = Marks(scopes=("mlflow.tracing.provider",))
    fields = AttributeTable(known=("model", "temperature", "tools", "messages"))
    hides = ("gen_ai.request.model",)
    """It holds the response's model; the model that was asked for stands under the bare name `model`."""

    def confirms(self, span: SpanRecord) -> bool:
        return "gen_ai.operation.name" in span.attributes and "mlflow.spanType" not in span.attributes

    def fill(self, draft: Draft, span: SpanRecord, logs: Sequence[LogRecord]) -> None:
        operation = draft.attributes.get("gen_ai.operation.name")
        if operation == "execute_tool":
            draft.put("result", unquote(draft, "gen_ai.tool.call.result", "result"))
        elif operation != "invoke_agent":
            asked = string(plain(draft.attributes.get("model")))
            draft.put("request_model", asked or string(draft.attributes.get("gen_ai.request.model")))


MLFLOW_SEMCONV = MlflowSemconv()
