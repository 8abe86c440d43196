"""What a dialect is: it says which spans are its own, what they stand for, and what they hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

from ..model.evidence import LogRecord, SpanRecord
from ..model.reading import Classified, Reading, Role


@dataclass(frozen=True, slots=True)
class Marks:
    """What a dialect is known by, any one of them: told by the names on a span alone, so that the answer can be kept
    for all spans of one form. Scope names are prefixes; a scope is never the only mark of a dialect that has others."""

    scopes: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()
    """Beginnings of attribute names."""
    events: tuple[str, ...] = ()
    """Names of span events."""
    span_names: tuple[str, ...] = ()
    """Beginnings of span names; only where a producer leaves nothing else."""

    def fit(self, scope: str, keys: Iterable[str], events: Iterable[str], span_name: str = "") -> bool:
        if self.scopes and scope.startswith(self.scopes):
            return True
        if self.span_names and span_name.startswith(self.span_names):
            return True
        if (self.keys or self.prefixes) and any(key in self.keys or key.startswith(self.prefixes) for key in keys):
            return True
        return bool(self.events) and any(event in self.events for event in events)


class Declared(Protocol):
    """What a dialect says of itself, once: the reference page, `info`, the live splitter and the tests ask it here."""

    @property
    def name(self) -> str: ...

    @property
    def title(self) -> str:
        """The instrumentation in its own words, e.g. `OpenInference`."""
        ...

    @property
    def source(self) -> str:
        """Link to the convention or the code that writes it, at the exact version that was read."""
        ...

    @property
    def switch_on(self) -> str:
        """How its content is switched on: a variable, an argument, or that it is on by default."""
        ...

    @property
    def leaves_out(self) -> str:
        """What it never records, in a sentence."""
        ...

    @property
    def namespaces(self) -> tuple[str, ...]:
        """Beginnings of the attribute names that are its own: `info` lists those of them that nobody reads."""
        ...

    @property
    def tested(self) -> Mapping[str, str]:
        """Scope names, each with the versions (between spaces) whose real spans the reading was tested with. Never a
        gate: another version is a warning."""
        ...

    @property
    def conversation_keys(self) -> tuple[str, ...]:
        """Where a conversation's id stands beside the keys of a table: `key`, or `key#path` inside its JSON."""
        ...


class Declaration:
    """Base of every dialect: the texts each of them gives, and what it may leave unsaid."""

    name: ClassVar[str]
    title: ClassVar[str]
    source: ClassVar[str]
    switch_on: ClassVar[str]
    leaves_out: ClassVar[str]
    namespaces: ClassVar[tuple[str, ...]] = ()
    tested: ClassVar[Mapping[str, str]] = {}
    conversation_keys: ClassVar[tuple[str, ...]] = ()


class Dialect(Declared, Protocol):
    """One way of writing agent runs into spans. Every dialect that recognises a span is asked, in registry order."""

    @property
    def marks(self) -> Marks: ...

    def confirms(self, span: SpanRecord) -> bool:
        """Whether a span that bears one of the marks is really its own; looks at values."""
        ...

    def recognises(self, span: SpanRecord) -> bool:
        """Marks and values together; never by a version, never by a guess."""
        ...

    def classify(self, span: SpanRecord) -> Classified:
        """Role and identifiers only; touches as few attributes as it can. Role None: no opinion."""
        ...

    def read(self, span: SpanRecord, logs: Sequence[LogRecord]) -> Reading:
        """All the dialect can say of the span, its events and the log records that carry its span id."""
        ...

    def hidden(self, span: SpanRecord) -> tuple[str, ...]:
        """Attributes that do not mean what their name says in this producer's spans: no later dialect is shown them.
        A name that ends in a dot stands for all that begin with it."""
        ...

    def knows(self, key: str) -> bool:
        """Whether it reads, or knowingly leaves, the attribute of that name (digits may be folded to `N`)."""
        ...


@dataclass(slots=True)
class LogClassified:
    """What one log record contributes to. Records with equal `key` tell of one call and are read together."""

    role: Role
    key: str
    conversation_id: str | None = None
    agent_name: str | None = None
    turn: str | None = None
    """The producer's own id of the prompt that the record belongs to."""
    fallback_only: bool = False
    """Stands for a step of its own only where no span of the same response or tool call id exists."""
    also: tuple[str, ...] = ()
    """Other keys of the same call that stand on this record: groups that share a key are one group."""
    own_span: bool = False
    """The record's span id is that of the call itself, not of something around it: where such a span with this role
    exists, the record is content of it."""


class LogDialect(Declared, Protocol):
    """A source that tells its calls in log records with identifiers of their own (Claude Code, Codex, Gemini CLI)."""

    def recognises(self, log: LogRecord) -> bool: ...

    def classify(self, log: LogRecord) -> LogClassified | None:
        """None for records that tell nothing of a call."""
        ...

    def read(self, logs: Sequence[LogRecord]) -> Reading:
        """One call from all its log records, in time order."""
        ...
