"""The room's front: every dialect that recognises a span is asked, in order, and what they say becomes one reading."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import fields as dataclass_fields
from dataclasses import replace
from typing import Final, NamedTuple

from ..model.evidence import LogRecord, Notice, SpanRecord
from ..model.reading import Classified, Reading
from ..registry import Registry
from .base import Dialect
from .draft import fill_usage
from .kit import STEP_ROLES, SpanDialect
from .veil import veil
from .whole import settle

IDENTIFIERS: Final = ("response_id", "tool_call_id")
_MERGED_APART: Final = frozenset({"role", "said_by", "truncated", "extra", "notices", "usage", "shared"})
_DIGITS: Final = re.compile(r"(?<=\.)[0-9]+(?=\.|$)")
_MAX_FORMS: Final = 8192


class Candidate(NamedTuple):
    """A dialect whose mark a form bears."""

    dialect: Dialect
    asks: bool
    """Whether values must confirm it."""
    hides: bool
    """Whether it may hide attributes from the dialects after it."""
    plain: SpanDialect | None
    """The dialect itself where it classifies as the kit does, so that only what is missing need be looked up."""


class Asked(NamedTuple):
    """A candidate for spans of one form."""

    dialect: Dialect
    asks: bool
    hides: bool
    plain: SpanDialect | None
    there: frozenset[str]
    """Which of `FIRST` the dialect may find on such a span."""


Seen = tuple[Asked, SpanRecord]
"""A dialect that recognised a span, and the span without what the dialects before it know to be something else."""

FIRST: Final = frozenset({"conversation_id", "agent_name", "agent_path"})


class Front:
    """Asks the dialects of a registry. Which of them may recognise a span depends on names alone (scope, attributes
    with indices folded, events), so the answer is kept per form of span and two hundred thousand spans cost little."""

    def __init__(self, dialects: Registry[Dialect]) -> None:
        self._dialects = tuple(dialects)
        self._namespaces = tuple(name for dialect in self._dialects for name in dialect.namespaces)
        self._candidates = {dialect.name: _candidate(dialect) for dialect in self._dialects}
        self._span_names = tuple(name for d in self._dialects for name in d.marks.span_names)
        self._exact: dict[tuple[str, ...], tuple[Asked, ...]] = {}
        self._folded: dict[frozenset[str], tuple[Candidate, ...]] = {}
        self._key_folds: dict[str, str] = {}

    def candidates(self, span: SpanRecord) -> tuple[Asked, ...]:
        """Dialects whose marks the span bears, in order."""
        form = (span.scope_name, *span.attributes)
        if span.events:
            form = (*form, "\0", *{event.name: None for event in span.events})
        found = self._exact.get(form)
        if found is None:
            found = tuple(Asked(*candidate, _there(candidate, form)) for candidate in self._resolve(span))
            if len(self._exact) >= _MAX_FORMS:
                self._exact.clear()
            self._exact[form] = found
        if self._span_names and span.name.startswith(self._span_names):
            chosen = {candidate.dialect.name for candidate in found}
            chosen |= {d.name for d in self._dialects if span.name.startswith(d.marks.span_names or ("\0",))}
            found = tuple(Asked(*self._candidates[d.name], FIRST) for d in self._dialects if d.name in chosen)
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
                self._candidates[dialect.name]
                for dialect in self._dialects
                if dialect.marks.fit(span.scope_name, keys, events)
            )
            if len(self._folded) >= _MAX_FORMS:
                self._folded.clear()
            self._folded[form] = found
        return found

    def recognise(self, span: SpanRecord) -> list[Seen]:
        """The dialects whose own the span is, in order, each with the span as it is to see it."""
        found: list[Seen] = []
        for asked in self.candidates(span):
            dialect = asked.dialect
            if asked.asks and not dialect.confirms(span):
                continue
            found.append((asked, span))
            if asked.hides:
                span = veil(span, dialect.hidden(span))
        return found

    def classify(self, known: Sequence[Seen]) -> Classified:
        """Role and identifiers: the first dialect that says one is heard. `role` None: nobody knows the span."""
        found = Classified()
        told: dict[str, Classified] = {}
        for asked, seen in known:
            if asked.plain is None:
                said = told[asked.dialect.name] = asked.dialect.classify(seen)
                found.role = said.role if found.role is None else found.role
            elif found.role is None:
                found.role = asked.plain.role(seen)
        acts = found.role in STEP_ROLES
        for asked, seen in known:
            plain, there = asked.plain, asked.there
            if plain is None:
                _fill(found, told[asked.dialect.name])
            elif there:
                fields = plain.fields
                if found.conversation_id is None and "conversation_id" in there:
                    found.conversation_id = fields.first("conversation_id", seen.attributes)
                if acts:
                    if found.agent_name is None and "agent_name" in there:
                        found.agent_name = plain.who(seen)
                    if found.agent_path is None and "agent_path" in there:
                        found.agent_path = fields.first("agent_path", seen.attributes)
        found.dialects = tuple([asked.dialect.name for asked, _ in known])
        return found

    def read(self, known: Sequence[Seen], logs: Sequence[LogRecord] = ()) -> Reading:
        """One reading of all dialects: each fills what is still missing; identifiers that differ are told."""
        merged: Reading | None = None
        heard: list[str] = []
        for asked, span in known:
            dialect, plain = asked.dialect, asked.plain
            if plain is not None and plain.covered_by in heard and not (span.events or logs):
                assert merged is not None
                if not merged.notices:
                    continue
            heard.append(dialect.name)
            said = _read(dialect, span, logs)
            if merged is None:
                merged = said
            else:
                merge(merged, said, span)
        if merged is None:
            return Reading()
        settle(merged)
        return merged

    def unmapped_keys(self, span: SpanRecord) -> tuple[str, ...]:
        """Attributes in the namespaces of the dialects that no dialect of the span reads, digits folded, sorted."""
        dialects = [asked.dialect for asked, _ in self.recognise(span)]
        out: set[str] = set()
        for key in span.attributes:
            if not key.startswith(self._namespaces):
                continue
            folded = fold(key)
            if folded in out or any(d.knows(key) or d.knows(folded) for d in dialects):
                continue
            out.add(folded)
        return tuple(sorted(out))


def fold(key: str) -> str:
    """The name of an attribute with its list positions as `N`."""
    return _DIGITS.sub("N", key)


def merge(into: Reading, said: Reading, span: SpanRecord) -> None:
    """Fills the fields that `into` lacks."""
    if into.role is None:
        into.role = said.role
    for name in IDENTIFIERS:
        second = getattr(said, name)
        if second is None:
            continue
        first = getattr(into, name)
        if first is None or first == second:
            continue
        message = f"{name} of span {span.span_id} is {first!r} by {into.said_by.get(name, '?')} and {second!r} by "
        if not any(notice.message.startswith(message) for notice in into.notices):
            message += said.said_by.get(name, "?")
            into.notices.append(Notice("dialects_disagree", message, span.ref.source, span.ref.line))
    have = vars(into)
    instructed = said.system is not None and any(message.role == "system" for message in into.messages or ())
    if into.is_error is None and said.is_error is not None:
        into.is_error = said.is_error
        if "is_error" in said.said_by:
            into.said_by["is_error"] = said.said_by["is_error"]
        if "is_error" in said.truncated:
            into.truncated.add("is_error")
    for name, value in vars(said).items():
        if value is None or name in _MERGED_APART:
            continue
        if name == "system" and instructed:
            continue  # the same instructions, told by another dialect as a message
        if name == "error" and into.is_error is False:
            continue  # a status that a more specific dialect knows to be no error
        if have.get(name) is None:
            have[name] = value
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
    into.shared += said.shared


_CLASSIFIED: Final = tuple(
    field.name for field in dataclass_fields(Classified) if field.name not in ("role", "dialects")
)


def _read(dialect: Dialect, span: SpanRecord, logs: Sequence[LogRecord]) -> Reading:
    """One dialect's reading. Content that nests deeper than can be walked costs the reading, not the build."""
    try:
        said = dialect.read(span, logs)
        if said.notices:
            said.notices = [n if n.path is not None else _placed(n, span) for n in said.notices]
        return said
    except RecursionError:
        message = f"the content of span {span.span_id} nests too deeply for {dialect.name} to read"
        notice = Notice("unreadable_record", message, span.ref.source, span.ref.line)
        return Reading(role=dialect.classify(span).role, notices=[notice])


def _placed(notice: Notice, span: SpanRecord) -> Notice:
    return replace(notice, message=f"{notice.message} (span {span.span_id})", path=span.ref.source, line=span.ref.line)


def _fill(found: Classified, said: Classified) -> None:
    for name in _CLASSIFIED:
        if getattr(found, name) is None:
            setattr(found, name, getattr(said, name))


def _there(candidate: Candidate, names: Sequence[str]) -> frozenset[str]:
    plain = candidate.plain
    if plain is None:
        return FIRST
    found = {name for name in FIRST if any(key in names for key in plain.fields.keys_of(name))}
    if type(plain).who is not SpanDialect.who:
        found.add("agent_name")
    return frozenset(found)


def _candidate(dialect: Dialect) -> Candidate:
    if not isinstance(dialect, SpanDialect):
        return Candidate(dialect, True, True, None)
    kind = type(dialect)
    hides = kind.hidden is not SpanDialect.hidden or bool(kind.hides)
    plain = dialect if kind.classify is SpanDialect.classify else None
    return Candidate(dialect, kind.confirms is not SpanDialect.confirms, hides, plain)
