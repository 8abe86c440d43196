"""The frame of a dialect: marks, roles and a table as data, and one hook for what a table cannot say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from ..model.evidence import LogRecord, SpanRecord
from ..model.reading import Classified, Reading, Role
from .base import Declaration, Marks
from .draft import Draft
from .table import AttributeTable

STEP_ROLES: Final = frozenset({Role.MODEL_CALL, Role.TOOL_EXECUTION, Role.AGENT})
STATUS_ERROR: Final = 2


class SpanDialect(Declaration):
    """Base of dialects whose facts are mostly data.

    A subclass gives `name`, the four descriptions, `marks`, `fields`, and either `role_key` with `roles` or its own
    `role`. It overrides `confirms` where values decide, and `fill` for messages, results and all else that needs code.
    A specific dialect needs to say only what the general one (`otel_genai_1_37`, `openinference`) does not: all that
    recognise a span are asked, and the first to say something is heard.
    """

    marks: ClassVar[Marks]
    fields: ClassVar[AttributeTable] = AttributeTable()
    role_key: ClassVar[str] = ""
    roles: ClassVar[Mapping[str, Role]] = {}
    hides: ClassVar[tuple[str, ...]] = ()
    covered_by: ClassVar[str] = ""
    """The dialect before this one that reads all that this one reads of a span's attributes, and alike: where it was
    heard, this one need not be asked of a span without events and log records."""

    def hidden(self, span: SpanRecord) -> tuple[str, ...]:
        return self.hides

    def confirms(self, span: SpanRecord) -> bool:
        return True

    def recognises(self, span: SpanRecord) -> bool:
        events = [event.name for event in span.events]
        return self.marks.fit(span.scope_name, span.attributes, events, span.name) and self.confirms(span)

    def role(self, span: SpanRecord) -> Role | None:
        """What the span stands for; None where this dialect does not say."""
        value = span.attributes.get(self.role_key) if self.role_key else None
        return self.roles.get(value) if isinstance(value, str) else None

    def who(self, span: SpanRecord) -> str | None:
        """The acting agent as the span itself names it."""
        return self.fields.first("agent_name", span.attributes)

    def classify(self, span: SpanRecord) -> Classified:
        role = self.role(span)
        found = Classified(role, (self.name,))
        attributes = span.attributes
        found.conversation_id = self.fields.first("conversation_id", attributes)
        if role in STEP_ROLES:
            found.agent_name = self.who(span)
            found.agent_path = self.fields.first("agent_path", attributes)
        return found

    def read(self, span: SpanRecord, logs: Sequence[LogRecord]) -> Reading:
        draft = Draft(self.name, span.attributes, self.role(span))
        self.fill(draft, span, logs)
        self.fields.fill(draft)
        self.settle(draft, span)
        return draft.reading

    def fill(self, draft: Draft, span: SpanRecord, logs: Sequence[LogRecord]) -> None:
        """Called before the table: what is put here goes before what the table finds."""

    def settle(self, draft: Draft, span: SpanRecord) -> None:
        """Called after the table: errors of the span; override to correct what is known to be false."""
        errors(draft, span)

    def knows(self, key: str) -> bool:
        return self.fields.knows(key) or key == self.role_key


def errors(draft: Draft, span: SpanRecord) -> None:
    """`is_error` and `error` from the span's status, `error.type`, and exception events."""
    attributes = span.attributes
    failed = span.status_code == STATUS_ERROR or "error.type" in attributes
    message: Any = None
    for event in span.events:
        if event.name == "exception":
            failed = True
            text = event.attributes.get("exception.message")
            kind = event.attributes.get("exception.type")
            message = text if isinstance(text, str) and text else kind
    if not failed:
        if draft.role is Role.TOOL_EXECUTION and draft.reading.is_error is None and span.status_code == 1:
            draft.put("is_error", False)
        return
    draft.put("is_error", True)
    if not isinstance(message, str) or not message:
        message = span.status_message or attributes.get("error.message") or attributes.get("error.type")
    draft.put("error", message if isinstance(message, str) and message else None)
