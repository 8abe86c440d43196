"""Spans and log records to heads: by trace and span id, or by the keys that log records bear themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from .. import dialects
from ..anyvalue import LazyAttributes, OddAttributes
from ..errors import some_of
from ..evidence import Index
from ..model.evidence import LogRecord, Notice, Source, SpanRecord
from ..model.heads import Part, Recorder, SpanHead
from ..model.reading import Role
from .archive import Archive
from .readings import Readings

_NAMED: Final = 5
"""Span ids that one notice names."""


def add_span(index: Index, archive: Archive, readings: Readings, span: SpanRecord, source: Source) -> None:
    """One OpenTelemetry span. A finished span replaces its live snapshots; a repeated one is counted and dropped."""
    index.counts["spans"] += 1
    key = (span.trace_id, span.span_id)
    if "" in key:  # nobody can mean it by its id: it stands for itself, however often it was sent
        key = (span.trace_id, f"sha256:{archive.digest(span.ref)}")
    before = index.otel.get(key)
    if before is not None and before.ordinal != source.ordinal and _is_another(archive, before, span):
        key = (span.trace_id, index.span_of_input(span.span_id, source.ordinal))
        before = index.otel.get(key)
    if before is not None:
        if not _replaces(index, archive, before, span):
            return
        readings.forget(before)
    _look_at(index, span, f"span {span.span_id}")
    known = dialects.recognise(span)
    found = dialects.classify(span, known)
    head = SpanHead(
        recorder=Recorder.OTEL,
        source=source.path,
        ordinal=source.ordinal,
        trace_id=span.trace_id if span.trace_id != "" else None,
        span_id=span.span_id,
        parent_id=span.parent_span_id,
        role=found.role or Role.NONE,
        start_ns=span.start_ns,
        end_ns=span.end_ns,
        parts=[Part("span", span.ref)],
        dialects=found.dialects,
        scope=span.scope_name,
        agent_name=found.agent_name,
        agent_path=found.agent_path,
        conversation_id=found.conversation_id,
        turn=found.turn,
        purpose=found.purpose,
        encloses=found.encloses is True,
        framework_span_id=found.framework_span_id,
        otel_span_id=span.span_id if span.span_id != "" else None,
        finished=_ended(span),
        failed=span.status_code == 2,
    )
    index.otel[key] = head
    if head.role is Role.MODEL_CALL or head.role is Role.TOOL_EXECUTION:
        readings.take(head, span, known)
        index.no_steps.pop(key, None)
    else:
        word = dialects.step_word(span.attributes)
        if word is not None:
            index.no_steps[key] = word, source.path
    if found.role is not None:
        index.scopes.setdefault((span.scope_name, span.scope_version), source.path)
    if found.log_key is not None:
        index.log_key_spans[(source.ordinal or "", found.log_key)] = head
    if found.role is None:
        index.counts["spans.unrecognised"] += 1
        _note_likeness(index, span)
    if span.dropped_attributes or span.dropped_events:
        index.notices.append(
            Notice(
                "dropped_attributes",
                f"span {span.span_id} lost {span.dropped_attributes} attributes and {span.dropped_events} events"
                " to a limit of the SDK",
                span.ref.source,
                span.ref.line,
            )
        )


def no_steps(index: Index) -> Iterator[Notice]:
    """One notice for each file and word: spans that say they are steps, which their dialects read as none: copies of
    others, halves of a stream, wrappers without a call of their own."""
    groups: dict[tuple[str, str], list[str]] = {}
    for (_, span_id), (word, path) in sorted(index.no_steps.items()):
        groups.setdefault((path, word), []).append(span_id)
    for (path, word), ids in groups.items():
        what = f"{len(ids)} spans say {word} and tell of no step of their own, as their dialects read them"
        message = f"{what}: {some_of(ids, _NAMED)}"
        yield Notice("no_step", message, path, lossy=False)


def _look_at(index: Index, record: SpanRecord | LogRecord, what: str) -> None:
    """Decodes the attributes, since every dialect will look, and most at many; what is odd of them is told."""
    for event in record.events if isinstance(record, SpanRecord) else ():
        event.attributes = _plain(index, record, event.attributes, f"{what}, event {event.name}")
    record.attributes = _plain(index, record, record.attributes, what)


def _plain(index: Index, record: SpanRecord | LogRecord, attributes: Mapping[str, Any], what: str) -> Mapping[str, Any]:
    if isinstance(attributes, LazyAttributes):
        attributes = attributes.plain()
    if not isinstance(attributes, OddAttributes):
        return attributes
    told = (
        ("unreadable_value", attributes.odd, "of no known kind of value, kept as recorded"),
        ("repeated_key", attributes.repeated, "given more than once; the last stands"),
    )
    for code, names, message in told:
        if names:
            message = f"{what}: {', '.join(names)} {message}"
            index.notices.append(Notice(code, message, record.ref.source, record.ref.line))
    return attributes


def _note_likeness(index: Index, span: SpanRecord) -> None:
    """A span that no dialect gives a role and that looks like a call or an execution is counted; one that holds a
    model's answer under an operation that nobody knows is told of."""
    like = dialects.likeness(span.attributes)
    if like is None:
        return
    index.counts[f"spans.unread_{like}_like"] += 1
    operation = span.attributes.get("gen_ai.operation.name")
    if like == "model" and operation is not None:
        message = f"span {span.span_id} holds a model's answer; its operation {operation!r} is not known"
        index.notices.append(Notice("unknown_operation", message, span.ref.source, span.ref.line))


def _ended(span: SpanRecord) -> bool:
    return not span.live and span.end_ns is not None


def _replaces(index: Index, archive: Archive, before: SpanHead, span: SpanRecord) -> bool:
    if not before.finished:
        return True
    if not _ended(span):
        return False
    index.counts["spans.duplicate"] += 1
    if archive.digest(before.parts[0].ref) == archive.digest(span.ref):
        return False
    first = archive.fetch(before.parts[0].ref)
    later, earlier = (isinstance(first, SpanRecord) and _says_more(*two) for two in ((span, first), (first, span)))
    stands = "the one that says more stands" if later or earlier else "the first stands"
    message = f"span {span.span_id} was recorded twice with different content; {stands}"
    lossy = not (later or earlier)
    index.notices.append(Notice("duplicate_span", message, span.ref.source, span.ref.line, lossy=lossy))
    return later


def _says_more(one: SpanRecord, other: SpanRecord) -> bool:
    """Whether a recording of a span says all that another one says, and something besides."""
    if (one.name, one.parent_span_id, one.start_ns) != (other.name, other.parent_span_id, other.start_ns):
        return False
    if other.status_code and one.status_code != other.status_code:
        return False
    mine, theirs = dict(one.attributes), dict(other.attributes)
    if any(key not in mine or mine[key] != value for key, value in theirs.items()):
        return False
    events = [(event.name, dict(event.attributes)) for event in one.events]
    if any((event.name, dict(event.attributes)) not in events for event in other.events):
        return False
    return len(mine) > len(theirs) or len(events) > len(other.events) or one.status_code != other.status_code


def _is_another(archive: Archive, before: SpanHead, span: SpanRecord) -> bool:
    """Whether a span of another Input has the ids of this one by chance: both ended, and neither repeats the other."""
    if not before.finished or not _ended(span) or archive.digest(before.parts[0].ref) == archive.digest(span.ref):
        return False
    first = archive.fetch(before.parts[0].ref)
    return isinstance(first, SpanRecord) and not (_says_more(first, span) or _says_more(span, first))


def add_log(index: Index, log: LogRecord, source: Source) -> None:
    """One OpenTelemetry log record: with a call of its own, or as content of the span it names."""
    index.counts["logs"] += 1
    _look_at(index, log, "a log record")
    for dialect in dialects.known().logs:
        if not dialect.recognises(log):
            continue
        found = dialect.classify(log)
        if found is None:
            continue
        key = (source.ordinal or "", f"{dialect.name}:{found.key}")
        head = index.log_groups.get(key)
        if head is None:
            head = index.log_groups[key] = SpanHead(
                recorder=Recorder.LOGS,
                source=source.path,
                ordinal=source.ordinal,
                trace_id=log.trace_id,
                span_id=found.key,
                parent_id=log.span_id,
                role=found.role,
                start_ns=log.time_ns,
                end_ns=log.time_ns,
                dialects=(dialect.name,),
                agent_name=found.agent_name,
                conversation_id=found.conversation_id,
                turn=found.turn,
                fallback_only=found.fallback_only,
            )
        for told in (found.key, *found.also):
            members = index.log_keys.setdefault((source.ordinal or "", told), [])
            if key not in members:
                members.append(key)
        head.parts.append(Part("log", log.ref))
        head.agent_name = head.agent_name or found.agent_name
        head.of_span = head.of_span or found.own_span
        head.fallback_only = head.fallback_only or found.fallback_only
        if log.time_ns is not None:
            head.start_ns = min(head.start_ns or log.time_ns, log.time_ns)
            head.end_ns = max(head.end_ns or log.time_ns, log.time_ns)
        return
    if log.span_id is not None:
        index.span_logs.setdefault((log.trace_id or "", log.span_id), []).append(Part("log", log.ref))
    else:
        index.counts["logs.without_span"] += 1
        if dialects.holds_messages(log):
            index.loose_logs.append(Part("log", log.ref))
