"""What a record file is: bytes of any form, read once in order and again by address."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from ..model.evidence import EvidenceRef, LogRecord, Notice, Source, SpanRecord
from ..model.session import SessionRecord
from .inflate import Stream
from .outline import Head


class RecordFile(Protocol):
    """An opened file of spans or log records.

    After `records` is exhausted, `source.sha256` and `source.size` are those of the file's own (compressed) bytes.
    """

    source: Source
    form: str
    """The form that was found, e.g. `otlp-json`, `otlp-proto+zstd`, `jaeger`."""

    def records(self) -> Iterator[SpanRecord | LogRecord | SessionRecord | Notice]:
        """Every record in file order. Damaged records come as notices with path and line; nothing else is raised."""
        ...

    def fetch(self, ref: EvidenceRef) -> SpanRecord | LogRecord | SessionRecord:
        """The record at an address that `records` gave."""
        ...

    def raw(self, ref: EvidenceRef) -> bytes:
        """The bytes of that record, for digests."""
        ...

    def close(self) -> None: ...


class Described(Protocol):
    """What the reference says of a form: a line in docs/reference/file-forms.md is made of it."""

    @property
    def name(self) -> str: ...

    @property
    def writer(self) -> str:
        """Who writes such files."""
        ...

    @property
    def obtain(self) -> str:
        """How to get one."""
        ...

    @property
    def tried(self) -> str:
        """Versions whose files were read, or what the fixtures are built after."""
        ...

    @property
    def loses(self) -> str | None:
        """What a file in this form cannot tell."""
        ...


class Reader(Described, Protocol):
    """One form of record file: a line in `READERS`."""

    def recognises(self, head: Head) -> bool:
        """Whether a stream that begins so is in this form."""
        ...

    def open(self, source: Source, stream: Stream) -> RecordFile: ...
