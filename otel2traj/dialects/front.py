"""The room's front: every dialect that recognises a span is asked, in order, and what they say becomes one reading."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import fields as dataclass_fields
from typing import Final

from ..model.evidence import LogRecord, Notice, SpanRecord
from ..model.reading import Classified, Reading
from ..registry import Registry
from .base import Dialect
from .draft import fill_usage
from .kit import SpanDialect
from .veil import veil

IDENTIFIERS: Final = ("response_id", "tool_call_id")
_MERGED_APART: Final = frozenset({"role", "said_by", "truncated", "extra", "notices", "usage"})
_FIELDS: Final = tuple(field.name for field in dataclass_fields(Reading) if field.name not in _MERGED_APART)
_DIGITS: Final = re.compile(r"(?<=\.)[0-9]+(?=\.|$)")
_MAX_FORMS: Final = 8192

Candidate = tuple[Dialect, bool]
"""A dialect whose mark a form bears, and whether values must confirm it."""


class Front:
    """Asks the dialects of a registry. Which of them may recognise a span depends on names alone (scope, attributes
    with indices folded, events), so the answer is kept per form of span and two hundred thousand spans cost little."""

    def __init__(self, dialects: Registry[Dialect]) -> None:
        self._dialects = tuple(dialects)
        self._asks = {dialect.name: _must_confirm(dialect) for dialect in self._dialects}
        self._by_names = tuple(d for d in self._dialects if d.marks.span_names)
        self._exact: dict[tuple[str, ...], tuple[Candidate, ...]] = {}
        self._folded: dict[frozenset[str], tuple[Candidate, ...]] = {}
        self._key_folds: dict[str, str] = {}

    def candidates(self, span: SpanRecord) -> tuple[Candidate, ...]:
        """Dialects whose marks the span bears, in order."""
        form = (span.scope_name, *span.attributes)
        if span.events:
            form = (*form, "\0", *{event.name: None for event in span.events})
        found = self._exact.get(form)
        if found is None:
            found = self._resolve(span)
            if len(self._exact) >= _MAX_FORMS:
                self._exact.clear()
            self._exact[form] = found
        if self._by_names:
            named = [d for d in self._by_names if span.name.startswith(d.marks.span_names)]
            if named and any(d not in [c for c, _ in found] for d in named):
                chosen = {d.name for d in named} | {d.name for d, _ in found}
                found = tuple((d, self._asks[d.name]) for d in self._dialects if d.name in chosen)
        return found

    def _resolve(self, span: SpanRecord) -> tuple[Candidate, ...]:
        folds = self._key_folds
        keys: set[str] = set()
        for key in span.attributes:
            folded = folds.get(key)
            if folded is None:
                folded = fold(key)
                if len(folds) < 65536:
                    folds[key] = folded
            keys.add(folded)
        events = {event.name for event in span.events}
        form = frozenset(keys | {f"\0scope {span.scope_name}"} | {f"\0event {name}" for name in events})
        found = self._folded.get(form)
        if found is None:
            found = tuple(
                (dialect, self._asks[dialect.name])
                for dialect in self._dialects
                if dialect.marks.fit(span.scope_name, keys, events)
            )
            if len(self._folded) >= _MAX_FORMS:
                self._folded.clear()
            self._folded[form] = found
        return found

    def recognising(self, span: SpanRecord) -> list[Dialect]:
        return [d for d, ask in self.candidates(span) if not ask or d.confirms(span)]

    def classify(self, span: SpanRecord) -> Classified:
        """Role and identifiers: the first dialect that says one is heard. `role` None: nobody knows the span."""
        merged: Classified | None = None
        names: list[str] = []
        for dialect, ask in self.candidates(span):
            if ask and not dialect.confirms(span):
                continue
            names.append(dialect.name)
            said = dialect.classify(span)
            span = veil(span, dialect.hidden(span))
            if merged is None:
                merged = said
                continue
            if merged.role is None:
                merged.role = said.role
            if merged.agent_name is None:
                merged.agent_name = said.agent_name
            if merged.agent_path is None:
                merged.agent_path = said.agent_path
            if merged.conversation_id is None:
                merged.conversation_id = said.conversation_id
            if merged.framework_span_id is None:
                merged.framework_span_id = said.framework_span_id
            if merged.log_key is None:
                merged.log_key = said.log_key
        if merged is None:
            return Classified()
        merged.dialects = tuple(names)
        return merged

    def read(self, span: SpanRecord, logs: Sequence[LogRecord] = ()) -> Reading:
        """One reading of all dialects: each fills what is still missing; identifiers that differ are told."""
        merged: Reading | None = None
        for dialect in self.recognising(span):
            said = dialect.read(span, logs)
            span = veil(span, dialect.hidden(span))
            if merged is None:
                merged = said
            else:
                merge(merged, said, span)
        return Reading() if merged is None else merged

    def unmapped_keys(self, span: SpanRecord) -> tuple[str, ...]:
        """Attributes in the namespaces of this room that no dialect of the span reads, digits folded, sorted."""
        dialects = self.recognising(span)
        out: set[str] = set()
        for key in span.attributes:
            if not key.startswith(NAMESPACES):
                continue
            folded = fold(key)
            if folded in out or any(d.knows(key) or d.knows(folded) for d in dialects):
                continue
            out.add(folded)
        return tuple(sorted(out))


NAMESPACES: Final = (
    "gen_ai.", "llm.", "openinference.", "traceloop.", "langsmith.", "mlflow.", "langfuse.", "ai.", "pydantic_ai.",
    "gcp.vertex.agent.", "crewai.", "haystack.", "mastra.", "litellm.", "spring.ai.", "github.copilot.", "mcp.",
    "copilot_chat.", "tool.", "input.", "output.", "agent.", "session.", "abb.", "lmnr.", "lk.", "voltagent.",
    "semantic_kernel.",
)  # fmt: skip


def fold(key: str) -> str:
    """The name of an attribute with its list positions as `N`."""
    return _DIGITS.sub("N", key)


def merge(into: Reading, said: Reading, span: SpanRecord) -> None:
    """Fills the fields that `into` lacks."""
    if into.role is None:
        into.role = said.role
    for name in IDENTIFIERS:
        first, second = getattr(into, name), getattr(said, name)
        if first is not None and second is not None and first != second:
            into.notices.append(
                Notice(
                    "dialects_disagree",
                    f"{name} of span {span.span_id} is {first!r} by {into.said_by.get(name, '?')}"
                    f" and {second!r} by {said.said_by.get(name, '?')}",
                    span.ref.source,
                    span.ref.line,
                )
            )
    for name in _FIELDS:
        value = getattr(said, name)
        if name == "system" and any(message.role == "system" for message in into.messages or ()):
            continue  # the same instructions, told by another dialect as a message
        if value is not None and getattr(into, name) is None:
            setattr(into, name, value)
            if name in said.said_by:
                into.said_by[name] = said.said_by[name]
            if name in said.truncated:
                into.truncated.add(name)
    if said.usage is not None:
        if into.usage is None:
            into.usage = said.usage
            into.said_by["usage"] = said.said_by.get("usage", "?")
        else:
            fill_usage(into.usage, said.usage)
    for key, value in said.extra.items():
        into.extra.setdefault(key, value)
    into.notices.extend(said.notices)


def _must_confirm(dialect: Dialect) -> bool:
    return not (isinstance(dialect, SpanDialect) and type(dialect).confirms is SpanDialect.confirms)


def names(dialects: Iterable[Dialect]) -> tuple[str, ...]:
    return tuple(dialect.name for dialect in dialects)
