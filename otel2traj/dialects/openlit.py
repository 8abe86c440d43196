"""OpenLIT: the GenAI conventions, with parameters nobody gave and tool lists on model spans.

https://github.com/openlit/openlit/tree/py-1.35.0/sdk/python/src/openlit
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

from ..messages.nested import decode_arguments
from ..model.evidence import LogRecord, SpanRecord
from ..model.reading import Role
from .base import Marks
from .draft import Draft
from .kit import SpanDialect
from .table import AttributeTable

_INVENTED: Final[Mapping[str, tuple[object, ...]]] = {
    "gen_ai.request.temperature": (1.0, "1.0"),
    "gen_ai.request.top_p": (1.0, "1.0"),
    "gen_ai.request.seed": (0, "", "0"),
    "gen_ai.request.presence_penalty": (0.0, "0.0"),
    "gen_ai.request.frequency_penalty": (0.0, "0.0"),
    "gen_ai.request.max_tokens": (-1, "-1"),
}
"""Values that stand on every span, whatever the caller asked for."""
_LISTS: Final = ("gen_ai.tool.name", "gen_ai.tool.call.id", "gen_ai.tool.args", "gen_ai.tool.call.arguments")


class Openlit(SpanDialect):
    name = "openlit"
    title = "OpenLIT SDK"
    source = "https://github.com/openlit/openlit/tree/py-1.35.0/sdk/python/src/openlit"
    switch_on = "capture_message_content=True (the default)"
    leaves_out = "Tool calls of some streamed providers; which of its default parameters the caller really gave."
    marks = Marks(scopes=("openlit.",), keys=("gen_ai.tool.args", "gen_ai.sdk.version"))
    role_key = "gen_ai.operation.name"
    roles: ClassVar[Mapping[str, Role]] = {"chat": Role.MODEL_CALL, "invoke_workflow": Role.CHAIN}
    fields = AttributeTable(
        known=("gen_ai.tool.args", "gen_ai.sdk.", "gen_ai.usage.cost", "gen_ai.environment", "gen_ai.application_name"),
    )

    def role(self, span: SpanRecord) -> Role | None:
        if self.role_key not in span.attributes and span.name in ("GET", "POST"):
            return Role.NONE
        if span.attributes.get(self.role_key) == "execute_tool" and "gen_ai.tool.name" not in span.attributes:
            return Role.CHAIN
        return super().role(span)

    def fill(self, draft: Draft, span: SpanRecord, logs: Sequence[LogRecord]) -> None:
        if draft.attributes.get(self.role_key) == "execute_tool":
            draft.put("arguments", decode_arguments(draft.attributes.get("gen_ai.tool.args")))

    def hidden(self, span: SpanRecord) -> tuple[str, ...]:
        attributes = span.attributes
        hidden = [key for key, values in _INVENTED.items() if key in attributes and attributes[key] in values]
        if attributes.get(self.role_key) == "chat":
            hidden.extend(key for key in _LISTS if key in attributes)
        return tuple(hidden)


OPENLIT = Openlit()
