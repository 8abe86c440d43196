"""The opened files of one attempt: every record in order, and any record again by its address."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from ..canonical import JsonError, JsonValue, loads_tolerant
from ..errors import EvidenceError
from ..model.evidence import AbbRecord, EvidenceRef, LogRecord, Notice, Source, SourceKind, SpanRecord
from ..model.session import SessionRecord
from ..readers import open_records
from ..readers.abb import Members
from ..readers.abb_otel import AbbOtelFile, is_enveloped
from ..readers.attempt import Attempt, safe_join
from ..readers.base import RecordFile
from ..readers.histories import Body
from ..readers.lines import read_document
from ..readers.repeated import told_twice
from ..readers.wire_files import WireFile, open_wire


class Archive:
    """Opens each source once, keeps it open for reading by reference, and knows which files were read."""

    def __init__(self, attempt: Attempt) -> None:
        self.attempt = attempt
        self.notices: list[Notice] = []
        self._abb: dict[str, WireFile] = {}
        self._records: dict[str, RecordFile] = {}
        self._read: dict[str, Source] = {}
        self._documents: dict[str, JsonValue] = {}
        self._broken: set[str] = set()

    def close(self) -> None:
        for abb in self._abb.values():
            abb.close()
        for records in self._records.values():
            records.close()

    def abb_records(self, source: Source, members: Members | None = None) -> Iterator[AbbRecord | Notice]:
        """Enveloped records of a wire, framework or ACP file, with these members of their `data` or with all.
        Raises `EvidenceError` where the file cannot be opened."""
        file = self._abb[source.path] = open_wire(source, members)
        self._read[source.path] = source
        yield from file.records()

    def otel_records(self, source: Source) -> Iterator[SpanRecord | LogRecord | SessionRecord | Notice]:
        """Spans and log records of any trace file. Raises `EvidenceError` where it is none."""
        enveloped = is_enveloped(source)
        if enveloped and source.kind is not SourceKind.ABB_OTEL_LIVE:
            source.kind = SourceKind.ABB_OTEL
        file: RecordFile = AbbOtelFile(source) if enveloped else open_records(source)
        self._records[source.path] = file
        self._read[source.path] = source
        yield from file.records()

    def form(self, source: Source) -> str | None:
        """The form in which a trace file was read."""
        file = self._records.get(source.path)
        return None if file is None else file.form

    def fetch(self, ref: EvidenceRef) -> AbbRecord | SpanRecord | LogRecord | SessionRecord:
        file = self._abb.get(ref.source)
        return file.fetch(ref) if file is not None else self._records[ref.source].fetch(ref)

    def fetch_abb(self, ref: EvidenceRef) -> AbbRecord:
        return self._abb[ref.source].fetch(ref)

    def fetch_request(self, ref: EvidenceRef, members: Members = ()) -> tuple[AbbRecord, Body]:
        """A wire record with these members of its `data`, and its payload apart, whose history shares its entries."""
        return self._told(*self._abb[ref.source].fetch_request(ref, members))

    def fetch_response(self, ref: EvidenceRef, members: Members = ()) -> tuple[AbbRecord, Body]:
        """The same of a payload without a history."""
        return self._told(*self._abb[ref.source].fetch_response(ref, members))

    def _told(self, record: AbbRecord, body: Body, notices: list[Notice]) -> tuple[AbbRecord, Body]:
        self.notices.extend(notices)
        return record, body

    def repeated(self, ref: EvidenceRef, body: Body) -> Iterator[Notice]:
        """Remarks on members that stand twice in the recorded body."""
        return self._abb[ref.source].repeated(ref, body)

    def digest(self, ref: EvidenceRef) -> str:
        """SHA-256 over the recorded bytes of one record."""
        file = self._abb.get(ref.source)
        raw = file.raw(ref) if file is not None else self._records[ref.source].raw(ref)
        return hashlib.sha256(raw).hexdigest()

    def document(self, path: str) -> JsonValue:
        """A JSON file of the attempt, or None where there is none. Damage is a notice, once."""
        if path in self._documents:
            return self._documents[path]
        value: JsonValue = None
        try:
            source = self.attempt.document(path)
            if source is not None:
                data = read_document(source)
                self._read[path] = source
                value, repairs = loads_tolerant(data)
                self._repaired(path, repairs)
                self.notices.extend(told_twice(data, value, path, None))
        except EvidenceError as err:
            self.notices.append(Notice("unreadable_source", str(err), path))
        except JsonError as err:
            self.notices.append(Notice("unreadable_document", f"not JSON: {err}", path))
            self._broken.add(path)
        self._documents[path] = value
        return value

    def is_read(self, path: str) -> bool:
        """Whether a file was there and could be read."""
        return path in self._read

    def payload(self, folder: str, reference: str) -> JsonValue:
        """A payload file that a span names, relative to the folder of its trace file; kept by nobody."""
        path = f"{folder}/{reference}" if folder and not reference.startswith("/") else reference
        try:
            file = safe_join(self.attempt.root, path)
            if file is None:
                self.notices.append(Notice("missing_payload", "a span names a payload file that is not there", path))
                return None
            source = Source(path, SourceKind.PAYLOAD, file)
            data = read_document(source)
            value, repairs = loads_tolerant(data)
            self._read[path] = source
            self._repaired(path, repairs)
            self.notices.extend(told_twice(data, value, path, None))
            return value
        except EvidenceError as err:
            self.notices.append(Notice("unreadable_source", str(err), path))
        except JsonError as err:
            self.notices.append(Notice("unreadable_document", f"not JSON: {err}", path))
        return None

    def raw_document(self, path: str) -> bytes | None:
        """The bytes of a file of the attempt, or None. What cannot be read is a notice."""
        try:
            source = self.attempt.document(path)
            if source is None:
                return None
            data = read_document(source)
        except EvidenceError as err:
            self.notices.append(Notice("unreadable_source", str(err), path))
            return None
        self._read[path] = source
        return data

    @contextmanager
    def apart(self) -> Iterator[None]:
        """What is read and remarked within is forgotten at the end: one conversation's files are not another's."""
        known, remarked = dict(self._read), len(self.notices)
        try:
            yield
        finally:
            self._read = known
            del self.notices[remarked:]

    def _repaired(self, path: str, repairs: Iterable[str]) -> None:
        for repair in repairs:
            lossy = repair == "invalid-utf-8"
            self.notices.append(Notice("repaired_record", f"read with a repair: {repair}", path, lossy=lossy))

    def sources(self) -> list[Source]:
        """The files that were read, sorted by path."""
        return [self._read[path] for path in sorted(self._read) if self._read[path].sha256 is not None]
