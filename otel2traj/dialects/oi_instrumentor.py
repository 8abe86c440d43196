"""Base of dialects for single OpenInference instrumentors: each says only what the shared conventions do not."""

from __future__ import annotations

from typing import ClassVar

from ..model.evidence import SpanRecord
from .kit import SpanDialect
from .openinference import SWITCH
from .table import AttributeTable


class OpenInferenceInstrumentor(SpanDialect):
    """Recognised by its scope; `openinference` recognises the same span and reads the rest."""

    fields: ClassVar[AttributeTable] = AttributeTable()
    switch_on: ClassVar[str] = SWITCH

    def settle(self, draft: object, span: SpanRecord) -> None:
        """Errors are told by the shared conventions."""
