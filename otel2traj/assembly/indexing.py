"""The first pass: every record of an attempt is read once, classified, and kept as a head or counted."""

from __future__ import annotations

from collections.abc import Callable

from ..dialects import known, untested
from ..errors import EvidenceError
from ..evidence import Index
from ..model.evidence import LogRecord, Notice, Source, SourceKind, SpanRecord
from ..model.session import SessionRecord
from ..readers.attempt import Layout
from .archive import Archive
from .index_abb import WIRE_MEMBERS, add_acp, add_framework, add_wire
from .index_otel import add_log, add_span
from .index_session import add_session
from .readings import Readings

Progress = Callable[[str, int], None]
"""Called with a source path and the records read of it so far."""


def index_attempt(archive: Archive, index: Index, readings: Readings, progress: Progress | None = None) -> None:
    """Read every source of the attempt. A source that cannot be opened is a notice, and the others are read."""
    index.notices.extend(archive.attempt.notices)
    for source in archive.attempt.sources:
        try:
            _index_source(index, archive, readings, source, progress)
        except EvidenceError as err:
            if err.error_code == "evidence.unknown_form" and archive.attempt.layout is Layout.BARE:
                message = f"passed over: it {str(err).removeprefix(f'{source.path} ')}"
                index.notices.append(Notice("foreign_file", message, source.path, lossy=False))
            else:
                index.notices.append(Notice("unreadable_source", str(err), source.path))
    index.finish()
    for (scope, version), path in index.scopes.items():
        if untested(scope, version):
            message = f"{scope} {version}: its spans are read by their attributes, in a version not tested with"
            index.notices.append(Notice("untested_version", message, path, lossy=False))
    origins = known().origins
    if origins:
        asked = {name: head.source for head in index.span_heads() for name in head.dialects if name in origins}
        for name, path in sorted(asked.items()):
            message = f"spans are read by the dialect {name} of {origins[name]}, which is no part of this package"
            index.notices.append(Notice("foreign_dialect", message, path, lossy=False))


def _index_source(
    index: Index, archive: Archive, readings: Readings, source: Source, progress: Progress | None
) -> None:
    count = 0
    if source.kind in (SourceKind.WIRE, SourceKind.FRAMEWORK, SourceKind.ACP):
        add = {SourceKind.WIRE: add_wire, SourceKind.FRAMEWORK: add_framework, SourceKind.ACP: add_acp}[source.kind]
        members = WIRE_MEMBERS if source.kind is SourceKind.WIRE else None
        for item in archive.abb_records(source, members):
            count += 1
            if isinstance(item, Notice):
                index.notices.append(item)
            else:
                add(index, item, source)
            if progress is not None and count % 4096 == 0:
                progress(source.path, count)
        _nothing_in(index, archive, source, count)
        return
    for record in archive.otel_records(source):
        count += 1
        if isinstance(record, SpanRecord):
            add_span(index, archive, readings, record, source)
        elif isinstance(record, SessionRecord):
            add_session(index, record, source)
        elif isinstance(record, LogRecord):
            add_log(index, record, source)
        else:
            index.notices.append(record)
        if progress is not None and count % 4096 == 0:
            progress(source.path, count)
    _nothing_in(index, archive, source, count)


def _nothing_in(index: Index, archive: Archive, source: Source, count: int) -> None:
    """A recorder's file of an attempt that holds no record: something was to be recorded, and was not, or is not
    where it should be."""
    expected = source.kind not in (SourceKind.OTLP_LOGS, SourceKind.ABB_OTEL_LIVE)
    if count == 0 and expected and archive.attempt.layout is not Layout.BARE:
        index.notices.append(Notice("empty_source", "no record is in it", source.path))
