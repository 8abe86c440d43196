"""What a dialect is: it says which spans are its own, what they stand for, and what they hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from ..model.evidence import LogRecord, SpanRecord
from ..model.reading import Classified, Reading, Role


class Dialect(Protocol):
    """One way of writing agent runs into spans. Every dialect that recognises a span is asked, in registry order."""

    @property
    def name(self) -> str: ...

    def recognises(self, span: SpanRecord) -> bool:
        """By attributes, scope, event names; never by a version, never by a guess."""
        ...

    def classify(self, span: SpanRecord) -> Classified:
        """Role and identifiers only; touches as few attributes as it can."""
        ...

    def read(self, span: SpanRecord, logs: Sequence[LogRecord]) -> Reading:
        """All the dialect can say of the span, its events and the log records that carry its span id."""
        ...


@dataclass(slots=True)
class LogClassified:
    """What one log record contributes to. Records with equal `key` tell of one call and are read together."""

    role: Role
    key: str
    conversation_id: str | None = None
    agent_name: str | None = None
    fallback_only: bool = False
    """Stands for a step of its own only where no span of the same response or tool call id exists."""


class LogDialect(Protocol):
    """A source that tells its calls in log records with identifiers of their own (Claude Code, Codex, Gemini CLI)."""

    @property
    def name(self) -> str: ...

    def recognises(self, log: LogRecord) -> bool: ...

    def classify(self, log: LogRecord) -> LogClassified | None:
        """None for records that tell nothing of a call."""
        ...

    def read(self, logs: Sequence[LogRecord]) -> Reading:
        """One call from all its log records, in time order."""
        ...
