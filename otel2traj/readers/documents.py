"""JSON that is not OTLP into records: what all foreign forms share. A form says where its records stand and what one
means; finding, addressing and repairing is done here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple

from ..canonical import JsonError, JsonObject, dumps, loads_evidence, loads_tolerant
from ..errors import EvidenceError
from ..model.evidence import EvidenceRef, LogRecord, Notice, Source, SpanRecord
from .context import OffsetTable, Repairs
from .framing import Doc, documents
from .inflate import Stream
from .otlp_dict import Repaired
from .outline import Head, Path, extents
from .repeated import told_twice

Context = dict[str, Any]


class Place(NamedTuple):
    """Records stand at `record`; what they share is said by the object at `container` around them."""

    container: Path
    record: Path


class DocumentForm(ABC):
    """One foreign form: its name, where its records stand in a document, and what of a span it cannot hold."""

    name: ClassVar[str]
    writer: ClassVar[str]
    obtain: ClassVar[str]
    tried: ClassVar[str]
    loses: ClassVar[str | None] = None
    places: ClassVar[tuple[Place, ...]]

    @abstractmethod
    def recognises(self, head: Head) -> bool:
        """Whether a stream that begins so is in this form."""

    def context(self, container: JsonObject) -> Context:
        """What the records inside share."""
        return {}

    @abstractmethod
    def read(self, data: JsonObject, context: Context, ref: EvidenceRef, repairs: Repaired) -> Any:
        """The record of one object, None where it is none. Raises `ValueError` for what cannot be read."""

    def passes_over(self, data: JsonObject) -> bool:
        """Whether a document without records is one of this form that tells of no step: metrics beside spans."""
        return False

    def open(self, source: Source, stream: Stream) -> DocumentFile:
        return DocumentFile(self, source, stream)


class DocumentFile:
    """A file in a foreign form. See `RecordFile`."""

    def __init__(self, form: DocumentForm, source: Source, stream: Stream) -> None:
        self.source = source
        self.form = form.name if stream.container == "" else f"{form.name}+{stream.container}"
        self._form = form
        self._stream = stream
        self._records = frozenset(place.record for place in form.places)
        self._containers = frozenset(place.container for place in form.places)
        self._container_of = {place.record: place.container for place in form.places}
        self._contexts: OffsetTable[Context] = OffsetTable({})
        self._repairs = Repairs(source.path)
        self._begun = False
        self._any = False
        self._passed = 0

    def records(self) -> Iterator[SpanRecord | LogRecord | Notice]:
        self._begun = True
        self._stream.rewind()
        self._contexts, self._repairs, self._passed = OffsetTable({}), Repairs(self.source.path), 0
        yield from self._stream.notices
        for doc in documents(self._stream, _whole):
            if isinstance(doc, Notice):
                yield doc
            else:
                yield from self._document(doc)
        seen = len(self._stream.notices)
        self.source.sha256, self.source.size = self._stream.finish()
        yield from self._stream.notices[seen:]
        yield from self._repairs.notices()
        if self._passed:
            message = f"{self._passed} documents of metrics"
            yield Notice("skipped_records", message, self.source.path, lossy=False)
        if self._any and self._form.loses is not None:
            yield Notice("lossy_form", f"{self._form.name}: {self._form.loses}", self.source.path, lossy=False)

    def _document(self, doc: Doc) -> Iterator[SpanRecord | LogRecord | Notice]:
        contexts: dict[Path, Context] = {}
        line, counted = doc.line, doc.start
        found = False
        for start, end, path in extents(doc.buffer, doc.start, doc.end, self._records | self._containers):
            line, counted = line + doc.lines(counted, start), start
            repairs = Repaired()
            try:
                value, names = loads_tolerant(doc.buffer[start:end])
            except (JsonError, RecursionError) as err:
                found = True
                yield Notice("unreadable_record", str(err), self.source.path, line)
                continue
            if not isinstance(value, dict):
                continue
            if path in self._containers:
                contexts[path] = self._form.context(value)
            if path not in self._records:
                continue
            repairs.extend(names)
            context = contexts.get(self._container_of[path], {})
            ref = EvidenceRef(self.source.path, doc.base + start, end - start, line)
            try:
                record = self._form.read(value, context, ref, repairs)
            except (ValueError, TypeError, AttributeError, OverflowError) as err:
                found = True
                yield Notice("unreadable_record", f"{self._form.name}: {err}", self.source.path, line)
                continue
            if record is None:
                continue
            found = True
            self._any = True
            self._contexts.put(ref.offset, context)
            yield from told_twice(doc.buffer[start:end], value, self.source.path, line)
            for repair in repairs:
                if repair == "invalid-utf-8":
                    yield Notice("repaired_record", repair, self.source.path, line)
                else:
                    self._repairs.note(repair, line)
            if isinstance(record, SpanRecord) and (record.trace_id == "" or record.span_id == ""):
                missing = "trace id" if record.trace_id == "" else "span id"
                yield Notice("missing_id", f"span {record.name!r} has no {missing}", self.source.path, line)
            yield record
        if not found and not self._says_nothing(doc):
            yield Notice("unreadable_line", f"no {self._form.name} document", self.source.path, doc.line)

    def _says_nothing(self, doc: Doc) -> bool:
        """Whether a document without records is one of this form all the same: an empty list of them."""
        try:
            value, _ = loads_tolerant(doc.buffer[doc.start : doc.end])
        except (JsonError, RecursionError):
            return False
        if isinstance(value, dict) and self._form.passes_over(value):
            self._passed += 1
            return True
        return isinstance(value, dict) and any(
            record and record[0] in value and record != place.container
            for place in self._form.places
            for record in (place.record,)
        )

    def fetch(self, ref: EvidenceRef) -> SpanRecord | LogRecord:
        if not self._begun:
            for _ in self.records():
                pass
        record: SpanRecord | LogRecord | None = None
        try:
            value, _ = loads_tolerant(self.raw(ref))
            if isinstance(value, dict):
                record = self._form.read(value, self._contexts.at(ref.offset), ref, Repaired())
        except (ValueError, TypeError, AttributeError, OverflowError, RecursionError):
            record = None
        if record is None:
            raise EvidenceError(f"no record at {ref.source}:{ref.offset}", hint="has the file changed?")
        return record

    def raw(self, ref: EvidenceRef) -> bytes:
        return self._stream.pread(ref.offset, ref.length)

    def close(self) -> None:
        self._stream.close()


def _whole(doc: Doc) -> bool:
    try:
        return isinstance(loads_evidence(doc.text()), dict)
    except JsonError:
        return False


def as_text(value: Any) -> str:
    """Text as it stands, everything else as compact JSON: how products put structured content into attributes."""
    return value if isinstance(value, str) else dumps(value).decode("utf-8", "surrogatepass")


def put(attributes: dict[str, Any], name: str, value: Any) -> None:
    """Sets an attribute unless nothing was said; what is no scalar becomes JSON text."""
    if value is not None:
        attributes[name] = value if isinstance(value, (str, int, float)) else as_text(value)


def as_dict(value: Any) -> JsonObject:
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def parsed(value: Any) -> Any:
    """The JSON value inside a text, where it is an object or a list; else the value itself."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return loads_evidence(value)
        except JsonError:
            return value
    return value
