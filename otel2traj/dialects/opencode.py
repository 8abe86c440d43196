"""OpenCode's own spans around those of the AI SDK: what a call is for, and the tools' wrapper.

https://github.com/sst/opencode/blob/v1.18.33/packages/opencode/src/session/prompt.ts
"""

from __future__ import annotations

from typing import Final

from ..messages.nested import string
from ..model.evidence import SpanRecord
from ..model.reading import Classified, Role
from .base import Marks
from .kit import SpanDialect
from .table import AttributeTable

_PURPOSES: Final = {"SessionPrompt.ensureTitle": "title", "SessionCompaction.process": "compaction"}


class OpenCode(SpanDialect):
    """`ai.telemetry.functionId` is a label of its telemetry (`session.llm`), and no agent's name."""

    name = "opencode"
    title = "OpenCode"
    source = "https://github.com/sst/opencode/blob/v1.18.33/packages/opencode/src/session/prompt.ts"
    switch_on = "experimental.openTelemetry: true in opencode.json; OTEL_EXPORTER_OTLP_ENDPOINT"
    leaves_out = "The agent's name. Content stands in the AI SDK's spans below its own."
    marks = Marks(scopes=("opencode",))
    fields = AttributeTable(
        conversation_id=("session.id",), known=("tool.", "message.id", "operation.name", "resource.name")
    )
    hides = ("ai.telemetry.functionId",)

    def role(self, span: SpanRecord) -> Role | None:
        if any(name.startswith(("ai.", "gen_ai.", "http.")) for name in span.attributes):
            return None
        return Role.CHAIN if span.name in _PURPOSES else Role.NONE

    def classify(self, span: SpanRecord) -> Classified:
        found = super().classify(span)
        found.purpose = _PURPOSES.get(string(span.name) or "")
        return found


OPENCODE = OpenCode()
